//! The body of `POST /v1/responses`; `/v1/responses/compact` and `/v1/responses/input_tokens` take a part of it.
//!
//! <https://developers.openai.com/api/reference/resources/responses/methods/create>, `ResponseCreateParams` of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::choice::ToolChoice;
use super::common::{Bare, TextOr, words};
use super::item::InputItem;
use super::tools::Tool;
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// What a client asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Request<'a> {
    /// May be absent where `prompt` names one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text<'a>>,
    /// A string is one user message.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input: Option<TextOr<'a, Vec<InputItem<'a>>>>,
    /// The system text. It is not carried over with `previous_response_id`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Text<'a>>,
    /// The response that this one goes on from; not together with `conversation`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub previous_response_id: Option<Text<'a>>,
    /// The conversation held at the vendor.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<TextOr<'a, ConversationReference<'a>>>,
    /// A prompt held at the vendor.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompt<'a>>,
    /// What the model may call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool<'a>>>,
    /// Whether and what it has to call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'a>>,
    /// Whether it may call several at once; absent is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// Bound on the calls of tools that run at the vendor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u64>,
    /// Form of the answer's text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextOptions<'a>>,
    /// How it reasons.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning<'a>>,
    /// Bound on output and reasoning together, at least 16. Signed, so that a negative one can be refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<i64>,
    /// 0 to 2; reasoning models refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// 0 to 20; only with `message.output_text.logprobs` in `include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<u64>,
    /// What the answer is to contain besides, such as `reasoning.encrypted_content`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub include: Option<Vec<Text<'a>>>,
    /// Whether the answer comes as events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Details of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
    /// Whether the vendor keeps the response; absent is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<bool>,
    /// Whether the request returns at once and is worked on later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// `completion_window` and `continuation_id` of such a request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub background_options: Option<Raw<'a>>,
    /// `auto` or `disabled`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Text<'a>>,
    /// List of `{type: "compaction", compact_threshold}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Raw<'a>>,
    /// `auto`, `default`, `flex`, `scale`, `priority`, `fast`, `ultrafast`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// Brings requests with a common start to the same cache.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<Text<'a>>,
    /// How the prompt is cached.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_options: Option<PromptCacheOptions<'a>>,
    /// The older form: `in_memory` or `24h`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_retention: Option<Text<'a>>,
    /// Object of strings, kept with the response.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw<'a>>,
    /// Object of strings that Codex sends; not in the SDK.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub client_metadata: Option<Raw<'a>>,
    /// Stands for the end user, in place of `user`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub safety_identifier: Option<Text<'a>>,
    /// The older form of `safety_identifier` and `prompt_cache_key`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Text<'a>>,
    /// `{model, policy}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Raw<'a>>,
    /// `{context_compression}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Raw<'a>>,
    /// `{cyber}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub access_programs: Option<Raw<'a>>,
}

/// A conversation by its id.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ConversationReference<'a> {
    /// `conv_…`
    #[serde(borrow)]
    pub id: Text<'a>,
}

/// A prompt held at the vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Prompt<'a> {
    /// `pmpt_…`
    #[serde(borrow)]
    pub id: Text<'a>,
    /// Absent is the current one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'a>>,
    /// Object of strings or input parts that are put in.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Raw<'a>>,
}

/// Details of the stream. The usage always comes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct StreamOptions {
    /// Whether deltas are padded to hide their lengths; absent is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_obfuscation: Option<bool>,
}

/// Form of the answer's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct TextOptions<'a> {
    /// Absent is plain text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TextFormat<'a>>,
    /// `low`, `medium`, `high`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<Text<'a>>,
}

tagged! {
    /// The form of a text. Unlike in Chat Completions a schema's members stand beside `type`.
    pub enum TextFormat<'a> {
        /// Plain text.
        "text" => Text(Bare),
        /// Any JSON object.
        "json_object" => JsonObject(Bare),
        /// JSON by a schema.
        "json_schema" => JsonSchema(JsonSchema<'a>),
    }
}

/// A schema that the text has to follow.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct JsonSchema<'a> {
    /// At most 64 letters, digits, underscores and dashes.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The JSON Schema.
    #[serde(borrow)]
    pub schema: Raw<'a>,
    /// What it is for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// Whether it is enforced; only a part of JSON Schema is then allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// How the model reasons. A response has it too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Reasoning<'a> {
    /// How much it reasons.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort<'a>>,
    /// `auto`, `concise`, `detailed`; absent gives no summary.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Text<'a>>,
    /// The older name of `summary`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub generate_summary: Option<Text<'a>>,
    /// Which earlier reasoning it sees: `auto`, `current_turn`, `all_turns`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text<'a>>,
    /// `standard` or `pro`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Text<'a>>,
}

words! {
    /// How much a model reasons, from nothing upwards.
    pub enum Effort<'a> {
        /// Not at all.
        "none" => None,
        /// Next to nothing.
        "minimal" => Minimal,
        /// Little.
        "low" => Low,
        /// The usual.
        "medium" => Medium,
        /// Much.
        "high" => High,
        /// More than that.
        "xhigh" => XHigh,
        /// As much as it can.
        "max" => Max,
    }
}

/// How the prompt is cached. A response has it too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct PromptCacheOptions<'a> {
    /// `implicit` or `explicit`; the latter caches only up to the marked parts.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Text<'a>>,
    /// `30m` or `12h`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Text<'a>>,
    /// Only fill the cache, without output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prewarm: Option<bool>,
    /// The response with which the cache's misses are compared.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub comparison_response_id: Option<Text<'a>>,
}

/// Marks the end of what is to be cached.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct PromptCacheBreakpoint<'a> {
    /// `explicit`
    #[serde(borrow)]
    pub mode: Text<'a>,
    /// `30m` or `12h`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Text<'a>>,
}
