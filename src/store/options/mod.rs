//! What a provider, a credential, a route or a member can be told about choosing, trying, waiting and limiting.
//!
//! The same types are read from documents and kept in the columns `options`, so each is described once. They only say what is
//! wanted; what follows from it is the engine's.

mod breaker;
mod choice;
mod decimal;
mod failover;
mod models;
mod oauth;
mod price;
mod quota;
mod rewrite;
mod timing;

pub use breaker::Breaker;
pub use choice::Strategy;
pub use decimal::{DecimalError, Multiplier, Price};
pub use failover::{Failover, Rest, Trigger};
pub use models::{ModelMap, ModelRule};
pub use oauth::{DEFAULT_MARGIN_SECONDS, DEFAULT_REFRESH_STATUSES, OAuthOptions, SealedSecret};
pub use price::{PriceRule, Rates, ServiceTier, Tier};
pub use quota::{Quota, Unit};
pub use rewrite::{
    CacheBreakpoint, CachePlace, CacheTtl, Condition, Field, OperationName, Pairs, Place, Placed, Replacement, Rule,
    SystemText,
};
pub use timing::{Retry, Timeouts};

use serde::{Deserialize, Serialize};

/// How a provider is tried.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderPolicy {
    /// See [`Strategy`].
    #[serde(skip_serializing_if = "is_default")]
    pub strategy: Strategy,
    /// See [`ModelMap`].
    #[serde(skip_serializing_if = "is_default")]
    pub model_map: ModelMap,
    /// See [`Timeouts`].
    #[serde(skip_serializing_if = "is_default")]
    pub timeouts: Timeouts,
    /// See [`Retry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// See [`Failover`].
    #[serde(skip_serializing_if = "is_default")]
    pub failover: Failover,
    /// See [`Rest`].
    #[serde(skip_serializing_if = "is_default")]
    pub rest: Rest,
    /// See [`Breaker`].
    #[serde(skip_serializing_if = "is_default")]
    pub breaker: Breaker,
    /// See [`Quota`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<Quota>,
}

/// How a credential is spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CredentialPolicy {
    /// See [`Quota`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<Quota>,
    /// Most calls at the same time in one isolate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u32>,
}

/// How a member of a route is tried.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberPolicy {
    /// See [`Trigger`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// Whether its answer stands, whatever it is, and it is tried even while it rests.
    #[serde(skip_serializing_if = "is_default")]
    pub terminal: bool,
    /// Instead of the provider's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
