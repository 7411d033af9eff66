//! The answer to `POST /v1/messages` and to `POST /v1/messages/count_tokens`, and errors.

use crate::words;
use serde::Serialize;
use tollgate_macros::Read;

use super::content::ContentBlock;
use super::request::{Role, Skill};
use super::usage::Usage;
use crate::protocol::wire::{Raw, Text};

/// The answer; in a stream, what `message_start` brings of it.
///
/// `stop_reason` and `stop_sequence` are written even when they are null, as the vendor does.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Message<'a> {
    /// `msg_…`.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// Always `message`.
    #[serde(borrow, rename = "type", default = "message")]
    pub kind: Text<'a>,
    /// Always `assistant`.
    #[serde(borrow, default = "assistant")]
    pub role: Role<'a>,
    /// The model that answered.
    #[serde(borrow)]
    pub model: Text<'a>,
    /// The answer; may be empty.
    #[serde(borrow, default)]
    pub content: Vec<ContentBlock<'a>>,
    /// Why it ended; null only in `message_start`.
    #[serde(borrow, default)]
    pub stop_reason: Option<StopReason<'a>>,
    /// Which of `stop_sequences` ended it.
    #[serde(borrow, default)]
    pub stop_sequence: Option<Text<'a>>,
    /// More about a refusal.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<StopDetails<'a>>,
    /// The container that code ran in.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container<'a>>,
    /// Why the prompt cache was missed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics<'a>>,
    /// The tokens. The vendor always has it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage<'a>>,
    /// Beta: edits that were made to the context.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Raw<'a>>,
    /// Beta: thinking blocks that were dropped, or let pass.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_transformations: Option<Raw<'a>>,
}

fn message<'a>() -> Text<'a> {
    "message".into()
}

fn assistant<'a>() -> Role<'a> {
    Role::Assistant
}

words! {
    /// Why an answer ended.
    pub enum StopReason<'a> {
        /// The model was done.
        "end_turn" => EndTurn,
        /// `max_tokens` was reached.
        "max_tokens" => MaxTokens,
        /// One of `stop_sequences` came.
        "stop_sequence" => StopSequence,
        /// The client has to carry out calls.
        "tool_use" => ToolUse,
        /// The vendor paused a long turn; the answer sent back as it is goes on.
        "pause_turn" => PauseTurn,
        /// The model or a filter refused. Content may be partial or missing.
        "refusal" => Refusal,
        /// The context window was full.
        "model_context_window_exceeded" => ModelContextWindowExceeded,
        /// Beta: the context was compacted, the answer is to be sent back.
        "compaction" => Compaction,
    }
}

/// More about a refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct StopDetails<'a> {
    /// Always `refusal`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Such as `cyber`, `bio`, `reasoning_extraction`, `general_harms`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Text<'a>>,
    /// In words.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Text<'a>>,
    /// Beta: a model that may answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub recommended_model: Option<Text<'a>>,
    /// Beta: pays for the repetition with another model.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fallback_credit_token: Option<Text<'a>>,
    /// Beta: whether that covers what was already written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_has_prefill_claim: Option<bool>,
}

/// The container that code ran in.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Container<'a> {
    /// Its id, for later requests.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// RFC 3339.
    #[serde(borrow)]
    pub expires_at: Text<'a>,
    /// Skills that were loaded.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<Skill<'a>>>,
}

/// Why the prompt cache was missed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Diagnostics<'a> {
    /// An object with a `type` such as `tools_changed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_miss_reason: Option<Raw<'a>>,
}

/// The answer to count_tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct TokensCount<'a> {
    /// Tokens of system prompt, tools and messages.
    pub input_tokens: u64,
    /// Beta: the count before edits of the context.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Raw<'a>>,
}

/// The body of an error, and the data of an `error` event.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ErrorResponse<'a> {
    /// Always `error`.
    #[serde(borrow, rename = "type", default = "error")]
    pub kind: Text<'a>,
    /// What went wrong.
    #[serde(borrow)]
    pub error: ErrorObject<'a>,
    /// The vendor's id of the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Text<'a>>,
}

fn error<'a>() -> Text<'a> {
    "error".into()
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ErrorObject<'a> {
    /// Such as `invalid_request_error`, `overloaded_error`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// In words.
    #[serde(borrow)]
    pub message: Text<'a>,
    /// An object with an `error_code`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Raw<'a>>,
}
