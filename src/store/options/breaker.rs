//! When a provider's model is left alone for a while.

use serde::{Deserialize, Serialize};

/// A circuit breaker: it opens after failures in a row, and while it is open other providers go first. It counts for each provider
/// and model, over all isolates, what is the provider's own fault: errors of its servers, overload, no answer in time, broken
/// connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Breaker {
    /// Whether there is one.
    pub enabled: bool,
    /// After how many failures in a row it opens.
    pub failure_threshold: u32,
    /// For how many seconds it then stays open. Afterwards it is half-open: a few requests try whether all is well.
    pub recovery_timeout_seconds: u32,
    /// How many successes in a row close it again. One failure opens it for twice as long as before.
    pub success_threshold: u32,
    /// The longest time for which it stays open.
    pub max_recovery_seconds: u32,
    /// How many requests may try at the same time while it is half-open, over all isolates.
    pub half_open_requests: u32,
    /// Whether a request fails at once where all of its providers have an open breaker. Otherwise they are tried all the same.
    pub refuse: bool,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            enabled: true,
            failure_threshold: 3,
            recovery_timeout_seconds: 300,
            success_threshold: 2,
            max_recovery_seconds: 3600,
            half_open_requests: 1,
            refuse: false,
        }
    }
}
