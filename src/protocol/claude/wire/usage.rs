//! The tokens of an answer.

use serde::{Deserialize, Serialize};

use crate::protocol::wire::{Raw, Text};

/// The tokens of an answer; in a stream, what `message_start` and each `message_delta` bring of them.
///
/// The figures of `message_delta` are totals so far and replace earlier ones, those that are absent or null do not. There the
/// vendor has only `output_tokens` for certain, in an answer `input_tokens` as well.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage<'a> {
    /// Input that was neither read from nor written to the prompt cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Input written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Input read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// What was written, by lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<CacheCreation>,
    /// Output, thinking included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Parts of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_details: Option<OutputTokensDetails>,
    /// Calls that the vendor carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_tool_use: Option<ServerToolUsage>,
    /// `standard`, `priority` or `batch`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// Where inference ran.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub inference_geo: Option<Text<'a>>,
    /// `standard` or `fast`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Text<'a>>,
    /// Beta: the usage of each pass; compactions are in no total.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Raw<'a>>,
    /// Beta: whether a fallback's credit was taken.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fallback_credit: Option<Raw<'a>>,
}

/// Input written to the cache, by lifetime.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CacheCreation {
    /// For 5 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral_5m_input_tokens: Option<u64>,
    /// For an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral_1h_input_tokens: Option<u64>,
}

/// Parts of the output.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OutputTokensDetails {
    /// Thinking, shown or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
}

/// Calls that the vendor carried out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerToolUsage {
    /// Searches, billed each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_search_requests: Option<u64>,
    /// Fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_fetch_requests: Option<u64>,
}
