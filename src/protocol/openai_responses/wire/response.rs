//! The response, and what `/v1/responses/compact` and `/v1/responses/input_tokens` answer.
//!
//! <https://developers.openai.com/api/reference/resources/responses/methods/create>, `Response` of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::common::{lenient, words};
use super::item::Item;
use super::request::{ConversationReference, PromptCacheOptions, Reasoning};
use crate::protocol::wire::{Raw, Text};

/// A response, as the whole answer or within an event.
///
/// It repeats most of the request, which is carried as it is: the first
/// events of each stream do so too, and nobody reads it there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Response<'a> {
    /// `resp_…`
    #[serde(borrow)]
    pub id: Text<'a>,
    /// `response`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Text<'a>>,
    /// Seconds since 1970; the SDK reads a float, the server sends a whole number.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::seconds")]
    pub created_at: Option<u64>,
    /// The same, once it is completed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::seconds")]
    pub completed_at: Option<u64>,
    /// How far it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status<'a>>,
    /// Why it failed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ResponseError<'a>>,
    /// Why it is incomplete.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub incomplete_details: Option<IncompleteDetails<'a>>,
    /// The model that answers.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text<'a>>,
    /// What the model made; empty until the last event.
    #[serde(borrow, default, deserialize_with = "lenient::or_default")]
    pub output: Vec<Item<'a>>,
    /// Tokens; null until the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// As in the request; items where they come from a held prompt.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Raw<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub previous_response_id: Option<Text<'a>>,
    /// The conversation; always an object.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationReference<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Raw<'a>>,
    /// As in the request; required.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Raw<'a>>,
    /// As in the request; required.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Raw<'a>>,
    /// As in the request; required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// As in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u64>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Raw<'a>>,
    /// As in the request, with what was left open filled in.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning<'a>>,
    /// As in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// As in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// As in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// As in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<u64>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Text<'a>>,
    /// As in the request; not in the SDK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<bool>,
    /// As in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// The tier that was used.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<Text<'a>>,
    /// As in the request, with what was left open filled in.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_options: Option<PromptCacheOptions<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_retention: Option<Text<'a>>,
    /// By `type`: `cache_hit`, `cache_miss`, `comparison_response_not_found`, `unavailable`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_diagnostics: Option<Raw<'a>>,
    /// Items of the input that the vendor left out.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_transformations: Option<Vec<InputTransformation<'a>>>,
    /// What the vendor's own tools used; not in `usage`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_usage: Option<Raw<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub safety_identifier: Option<Text<'a>>,
    /// As in the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Text<'a>>,
    /// What the moderation found.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Raw<'a>>,
    /// `{context_compression}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Raw<'a>>,
    /// `{cyber}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub access_programs: Option<Raw<'a>>,
}

words! {
    /// How far a response is. One that calls tools is `completed`.
    pub enum Status<'a> {
        /// Nothing was done yet.
        "queued" => Queued,
        /// It is being made.
        "in_progress" => InProgress,
        /// It is whole.
        "completed" => Completed,
        /// It was cut.
        "incomplete" => Incomplete,
        /// It failed.
        "failed" => Failed,
        /// The client stopped it.
        "cancelled" => Cancelled,
    }
}

/// Why a response is incomplete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct IncompleteDetails<'a> {
    /// The reason.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<IncompleteReason<'a>>,
}

words! {
    /// Why a response is incomplete.
    pub enum IncompleteReason<'a> {
        /// The bound on tokens was met.
        "max_output_tokens" => MaxOutputTokens,
        /// A filter stopped it.
        "content_filter" => ContentFilter,
        /// The bound on messages was met.
        "max_messages" => MaxMessages,
        /// The client steered it elsewhere; over WebSockets only.
        "steered" => Steered,
    }
}

/// Why a response failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ResponseError<'a> {
    /// Such as `server_error`, `rate_limit_exceeded`, `invalid_prompt`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::code")]
    pub code: Option<Text<'a>>,
    /// For people.
    #[serde(borrow, default, deserialize_with = "lenient::or_default")]
    pub message: Text<'a>,
    /// The parameter that is at fault.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub param: Option<Text<'a>>,
    /// The kind of error.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Text<'a>>,
    /// Details of `misalignment_policy_violation`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub misalignment: Option<Raw<'a>>,
}

/// An item of the input that the vendor left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputTransformation<'a> {
    /// `reasoning`
    #[serde(borrow)]
    pub r#type: Text<'a>,
    /// The item.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// `removed`
    #[serde(borrow)]
    pub action: Text<'a>,
    /// Such as `organization_mismatch`, `model_mismatch`, `turn_boundary`.
    #[serde(borrow)]
    pub reason: Text<'a>,
}

/// Tokens. The totals include their details.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Usage {
    /// Of the input, cached ones included.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub input_tokens: u64,
    /// What is in them; required, so 0 where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens_details: Option<InputTokensDetails>,
    /// Of the output, reasoning included.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub output_tokens: u64,
    /// What is in them; required, so 0 where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_details: Option<OutputTokensDetails>,
    /// Both.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub total_tokens: u64,
}

impl Usage {
    /// With the details that the SDK requires, as 0 where they are not known.
    #[must_use]
    pub fn with_all_details(mut self) -> Self {
        self.input_tokens_details.get_or_insert_default().cache_write_tokens.get_or_insert(0);
        self.output_tokens_details.get_or_insert_default();
        self
    }
}

/// What is in the input's tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputTokensDetails {
    /// Read from the cache.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub cached_tokens: u64,
    /// Written to the cache; required since 2026, absent at older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// How long they live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens_details: Option<CacheWriteTokensDetails>,
}

/// How long written tokens live.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CacheWriteTokensDetails {
    /// Half an hour.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub ttl_30m_tokens: u64,
    /// Twelve hours.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub ttl_12h_tokens: u64,
}

/// What is in the output's tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct OutputTokensDetails {
    /// Reasoning.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub reasoning_tokens: u64,
}

/// The answer of `POST /v1/responses/compact`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CompactedResponse<'a> {
    /// `resp_…`
    #[serde(borrow)]
    pub id: Text<'a>,
    /// `response.compaction`
    #[serde(borrow)]
    pub object: Text<'a>,
    /// Seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::seconds")]
    pub created_at: Option<u64>,
    /// The user's messages and a `compaction`: the next request's input.
    #[serde(borrow)]
    pub output: Vec<Item<'a>>,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// `{context_compression}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Raw<'a>>,
}

/// The answer of `POST /v1/responses/input_tokens`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputTokens<'a> {
    /// `response.input_tokens`
    #[serde(borrow)]
    pub object: Text<'a>,
    /// The count.
    pub input_tokens: u64,
}
