//! What goes wrong between the gateway and an upstream, and whose fault it is.
//!
//! Both levels of failover and the health of credentials and providers follow from the kind, so a failure is sorted once.

use std::sync::Arc;
use std::time::Duration;

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What sort it is.
    pub kind: FailureKind,
    /// The upstream's status, or the one that its error in a stream stands for; 0 when it did not answer.
    pub status: u16,
    /// For how long the upstream wants to be left alone, if it says so; its own word, neither raised nor capped.
    pub retry_after: Option<Duration>,
    /// In a few words, for the operator; neither secrets nor text of a client's in it.
    pub cause: Arc<str>,
}

/// The sorts of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The request is at fault: whoever is asked would refuse it.
    Request,
    /// The credential is not, or no longer, valid: 401.
    Unauthorized,
    /// The account may not do this: 402, 403.
    Refused,
    /// The account's quota is used up: a 403 or 429 that says so.
    QuotaUsedUp,
    /// The account is too fast: any other 429.
    RateLimited,
    /// The provider has too much to do: 503, 529.
    Overloaded,
    /// The provider's servers fail: other 5xx, 408, a redirect, a web page instead of an answer.
    Server,
    /// No answer, or no next piece of it, in time.
    Timeout,
    /// The connection failed or broke.
    Network,
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The client's.
    Request,
    /// The account's.
    Credential,
    /// The provider's.
    Provider,
}

impl FailureKind {
    /// Whose fault it is. Only a provider's own failures count for its breaker, only an account's make it rest.
    pub fn blame(self) -> Blame {
        match self {
            Self::Request => Blame::Request,
            Self::Unauthorized | Self::Refused | Self::QuotaUsedUp | Self::RateLimited => Blame::Credential,
            Self::Overloaded | Self::Server | Self::Timeout | Self::Network => Blame::Provider,
        }
    }
}
