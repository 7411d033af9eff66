//! The embeddable handle: it keeps the configuration current, resolves model names and carries calls out. It has no HTTP
//! server and no notion of users.

mod commit;
mod continuation;
mod resolve;
mod tick;

pub use commit::CommitError;
pub use continuation::Continued;
pub use resolve::{Candidate, Question, Refusal, Resolution, ResolveError, Rule, SkipReason, Skipped, judge};
pub use tick::{ExtraRead, TickError, Ticked};

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::engine::answer::Answer;
use crate::engine::attempt::{self, ClientCall, Unanswered};
use crate::engine::continuation::Owners;
use crate::engine::health::Health;
use crate::engine::select::Plan;
use crate::engine::settle::Settlement;
use crate::engine::snapshot::Snapshot;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::store::vault::Vault;

/// One isolate's view of an instance. It holds no I/O handle and no future of a request, because on Workers those die with
/// the request that made them.
pub struct Handle {
    vault: Vault,
    snapshot: RefCell<Option<Rc<Snapshot>>>,
    health: Health,
    owners: Rc<Owners>,
    /// When the database was last asked for the revisions.
    ticked_at: Cell<Timestamp>,
}

impl Handle {
    /// A handle that has not read anything yet.
    pub fn new(vault: Vault) -> Self {
        Self {
            vault,
            snapshot: RefCell::new(None),
            health: Health::default(),
            owners: Rc::default(),
            ticked_at: Cell::new(Timestamp::default()),
        }
    }

    /// What seals and hashes secrets.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Who rests.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The configuration, once it has been read.
    pub fn snapshot(&self) -> Option<Rc<Snapshot>> {
        self.snapshot.borrow().clone()
    }

    /// Carries a call out.
    pub async fn call(
        &self,
        scope: &Scope,
        plan: &Plan,
        call: &ClientCall,
        settlement: Settlement,
    ) -> Result<Answer, Unanswered> {
        attempt::run(scope, &self.vault, plan, call, settlement).await
    }
}
