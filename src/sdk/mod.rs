//! The embeddable handle: it keeps the configuration current, resolves model names and carries calls out. It has no HTTP
//! server and no notion of users.

mod commit;
mod continuation;
mod reset;
mod resolve;
mod tick;

pub use commit::CommitError;
pub use continuation::Continued;
pub use reset::{HealthReset, ResetError};
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
    owners: Rc<Owners>,
    /// When the database was last asked for the revisions.
    ticked_at: Cell<Timestamp>,
    health: Rc<Health>,
    /// Whether the configuration has quotas, so that what was spent of them has to be read.
    has_quotas: Cell<bool>,
}

impl Handle {
    /// A handle that has not read anything yet.
    pub fn new(vault: Vault) -> Self {
        Self {
            vault,
            snapshot: RefCell::new(None),
            owners: Rc::default(),
            ticked_at: Cell::new(Timestamp::default()),
            health: Rc::default(),
            has_quotas: Cell::new(false),
        }
    }

    /// What seals and hashes secrets.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// The configuration, once it has been read.
    pub fn snapshot(&self) -> Option<Rc<Snapshot>> {
        self.snapshot.borrow().clone()
    }

    /// What is known of credentials and providers.
    pub fn health(&self) -> &Rc<Health> {
        &self.health
    }

    /// Carries a call out.
    pub async fn call(
        &self,
        scope: &Scope,
        plan: &Plan,
        call: &ClientCall,
        settlement: Settlement,
    ) -> Result<Answer, Unanswered> {
        attempt::run(scope, &self.vault, &self.health, plan, call, settlement).await
    }
}
