//! How long an upstream is waited for, and how often it is asked again.

use serde::{Deserialize, Serialize};

/// How long an upstream is waited for, in milliseconds. What is left out has the default; a client can only shorten the total, with
/// `x-gateway-timeout-ms`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// Until there is a connection; 10000 when left out. Cloudflare Workers do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<u32>,
    /// Until the answer begins; 600000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u32>,
    /// Between two pieces of an answer; 300000 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u32>,
    /// From the request to the last byte of one call's answer; no limit when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<u32>,
}

/// How often the same credential is asked again after an error that may pass: of the provider's servers, of the network, overload.
/// Between two calls is a pause that grows each time; a vendor's `retry-after` makes it longer. Nothing is asked again when the pause
/// would outlast the request's time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// How often.
    pub max_retries: u32,
    /// The first pause, in milliseconds.
    pub initial_delay_ms: u32,
    /// The longest pause, in milliseconds.
    pub max_delay_ms: u32,
    /// How much longer each pause is than the one before.
    pub backoff_multiplier: f64,
    /// Whether a pause is drawn at random between nothing and its length, so that many who failed together do not come back together.
    pub jitter: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_retries: 2, initial_delay_ms: 500, max_delay_ms: 5000, backoff_multiplier: 2.0, jitter: true }
    }
}
