//! Why a request has no plan.

use std::fmt;
use std::sync::Arc;

use super::Skipped;
use crate::platform::clock::Timestamp;

/// Why a request has no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolveError {
    /// There is no such route and no such provider.
    UnknownModel(String),
    /// There is no route and no provider for the name in the base URL.
    UnknownNamespace(String),
    /// No model is named, and no provider has a default.
    NoModel,
    /// Nobody may or can serve it.
    NoTarget {
        /// The model or the namespace.
        name: String,
        /// When the first can again, where that is known.
        retry_after: Option<u64>,
        /// Why the first cannot.
        cause: Option<Arc<str>>,
    },
    /// The account that keeps the conversation which the request continues cannot be used.
    ContinuationUnavailable {
        /// In how many seconds it can again; `None` where it is gone for good.
        retry_after: Option<u64>,
    },
}

/// A request that has no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why it has none.
    pub error: ResolveError,
    /// Who was considered, and why nobody of them is tried.
    pub skipped: Vec<Skipped>,
}

impl From<ResolveError> for Refusal {
    fn from(error: ResolveError) -> Self {
        Self { error, skipped: Vec::new() }
    }
}

impl From<Refusal> for ResolveError {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

/// The seconds from `now` until `until`, at least one.
pub(super) fn seconds_until(until: Timestamp, now: Timestamp) -> u64 {
    let millis = u64::try_from(until.millis_since(now)).unwrap_or_default();
    millis.div_ceil(1000).max(1)
}

impl ResolveError {
    /// After how many seconds it may be different.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::NoTarget { retry_after, .. } | Self::ContinuationUnavailable { retry_after } => *retry_after,
            _ => None,
        }
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownModel(name) => write!(
                formatter,
                "there is no model {name:?} here: name a route, or a provider and its model as `provider/model`; \
                 GET /v1/models lists what there is"
            ),
            Self::UnknownNamespace(name) => write!(
                formatter,
                "there is no route and no provider for {name:?}, which the base URL names; correct the base URL, or ask the \
                 operator for a route whose `match.namespace` it is"
            ),
            Self::NoModel => formatter.write_str(
                "`model` is missing and no provider has a default: name a route, or a provider and its model as \
                 `provider/model`; the operator sets a default by `model_map.default` of a provider",
            ),
            // The cause is about the gateway's own accounts, so it is for the log only.
            Self::NoTarget { name, retry_after: Some(seconds), .. } => {
                write!(formatter, "nobody can serve {name:?} at the moment; retry in {seconds} s")
            }
            Self::NoTarget { name, .. } => {
                write!(
                    formatter,
                    "{name:?} has no usable provider for this request; the operator has to add or enable one"
                )
            }
            Self::ContinuationUnavailable { retry_after: Some(seconds) } => write!(
                formatter,
                "the account that keeps this conversation cannot be used at the moment; retry in {seconds} s, or send the whole \
                 conversation"
            ),
            Self::ContinuationUnavailable { retry_after: None } => formatter.write_str(
                "the account that keeps this conversation is not there any more, or not for this model; send the whole \
                 conversation, without the id that continues it",
            ),
        }
    }
}

impl std::error::Error for ResolveError {}
