//! Who is tried, and in which order.

mod choice;
mod lot;

pub use choice::{Choice, Judge, Outlook, Reach, sooner};
pub use lot::{Draw, Lot};

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::health::{Health, Standing};
use super::snapshot::{Credential, Provider};
use crate::platform::clock::Timestamp;
use crate::protocol::convert::ServerTools;
use crate::store::options::{MemberPolicy, Retry};
use crate::store::settings::MediaSettings;

/// How it stands with those who may be chosen.
pub trait Standings {
    /// Whether `provider` may be used for `model`.
    fn of_provider(&self, provider: &Provider, model: &str, now: Timestamp) -> Standing;

    /// Whether `credential` may be used for `model`.
    fn of_credential(&self, credential: &Credential, model: &str, now: Timestamp) -> Standing;
}

impl Standings for Health {
    fn of_provider(&self, provider: &Provider, model: &str, now: Timestamp) -> Standing {
        Self::of_provider(self, provider, model, now)
    }

    fn of_credential(&self, credential: &Credential, model: &str, now: Timestamp) -> Standing {
        Self::of_credential(self, credential, model, now)
    }
}

/// How a model name is to be served.
pub struct Plan {
    /// Most upstream calls, over all targets together.
    pub max_attempts: u32,
    /// How long a stream may be quiet before its client gets a sign of life.
    pub heartbeat: Option<Duration>,
    /// How the request is converted for a target of another dialect.
    pub conversion: ConversionRules,
    /// How files are fetched that a conversion needs.
    pub media: MediaSettings,
    /// Who may serve it, in the order in which they are tried; never empty.
    pub targets: Vec<Target>,
}

/// How a request is converted for a target of another dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversionRules {
    /// Whether it is refused rather than answered with a loss.
    pub strict: bool,
    /// What becomes of tools that the other vendor does not have.
    pub server_tools: ServerTools,
}

/// One provider, the model there, and the credentials that may be spent.
pub struct Target {
    /// The provider.
    pub provider: Rc<Provider>,
    /// The model as the provider names it.
    pub model: Arc<str>,
    /// How it is tried.
    pub policy: Rc<MemberPolicy>,
    /// The credentials, in the order in which they are tried; empty where none is needed.
    pub credentials: Vec<Rc<Credential>>,
}

impl Target {
    /// How it is asked again.
    pub fn retry(&self) -> Option<&Retry> {
        self.policy.retry.as_ref().or(self.provider.policy.retry.as_ref())
    }

    /// How many upstream calls it could make use of: one with each credential, and its retries.
    pub fn wanted(&self) -> u32 {
        let credentials = u32::try_from(self.credentials.len().max(1)).unwrap_or(u32::MAX);
        credentials.saturating_add(self.retry().map_or(0, |retry| retry.max_retries))
    }

    /// How many of these it is granted out of a `budget`: so many that each of the `others` after it is left one.
    pub fn grant(&self, budget: u32, others: usize) -> u32 {
        let others = u32::try_from(others).unwrap_or(u32::MAX);
        self.wanted().min(budget.saturating_sub(others).max(1)).min(budget)
    }
}
