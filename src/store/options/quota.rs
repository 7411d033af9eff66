//! How much is spent before a provider or a credential is left alone.

use serde::{Deserialize, Serialize};

/// A quota: how much is spent in a sliding window before a provider, or one of its credentials, is left alone, so that the vendor's
/// own limit is not run into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Quota {
    /// Whether it holds.
    pub enabled: bool,
    /// What is counted.
    pub unit: Unit,
    /// How much there is.
    pub budget: u64,
    /// The window in hours; 168 for a week.
    pub window_hours: f64,
    /// At which share of the budget it is used up.
    pub threshold_percent: f64,
    /// While it is used up, one request is let through each time this many seconds have passed, to see whether the vendor thinks so
    /// too. 0 for never.
    pub probe_interval_seconds: u32,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            enabled: true,
            unit: Unit::Tokens,
            budget: 0,
            window_hours: 5.0,
            threshold_percent: 99.0,
            probe_interval_seconds: 300,
        }
    }
}

/// What a quota counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Tokens that went in, those written into a cache included, and tokens that came out; not those read from a cache.
    #[default]
    Tokens,
    /// Calls.
    Requests,
}
