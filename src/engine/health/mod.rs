//! What is known of credentials and providers: who rests and until when, which breakers are open, how much of a quota is spent.
//!
//! [`Health`] is one isolate's view. It changes by what this isolate's calls teach, at once, and by what others have written, with each
//! tick. What is learnt becomes [`Note`]s, which the settlement writes.

use std::sync::Arc;

use super::failure::Failure;
use super::snapshot::{Credential, Provider};
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::protocol::usage::Usage;

/// Whom a call went to.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The provider.
    pub provider: &'a Provider,
    /// The credential, where one is needed.
    pub credential: Option<&'a Credential>,
    /// The model as the provider names it.
    pub model: &'a Arc<str>,
}

/// Whether a credential or a provider may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Ready,
    /// It rests: it is tried after all who are ready.
    Resting(Rest),
    /// Its rest is over and it has to be tried with care: whoever gets a lease may, nobody else.
    Probing(Rest),
    /// It must not be used.
    Out(Rest),
}

/// Why and until when something is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// Until when; `None` for until somebody does something about it.
    pub until: Option<Timestamp>,
    /// The cause, in a few words.
    pub cause: Arc<str>,
}

/// One isolate's view.
#[derive(Default)]
pub struct Health {}

/// Something learnt that the other isolates have to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {}

impl Health {
    /// Asks whether `place` may be called now; what is tried with care is leased here.
    pub async fn admit(&self, _scope: &Scope, _place: Place<'_>) -> Result<(), Rest> {
        Ok(())
    }

    /// Whether `credential` may be used for `model`.
    pub fn of_credential(&self, _credential: &Credential, _model: &str, _now: Timestamp) -> Standing {
        Standing::Ready
    }

    /// Whether `provider` may be used for `model`: its breaker and its quotas.
    pub fn of_provider(&self, _provider: &Provider, _model: &str, _now: Timestamp) -> Standing {
        Standing::Ready
    }

    /// Learns that a call succeeded: the answer has ended well.
    pub fn succeeded(&self, _place: Place<'_>, _usage: &Usage, _now: Timestamp) -> Vec<Note> {
        Vec::new()
    }

    /// Learns that a call failed. `usage` is what it took all the same.
    pub fn failed(&self, _place: Place<'_>, _failure: &Failure, _usage: &Usage, _now: Timestamp) -> Vec<Note> {
        Vec::new()
    }
}
