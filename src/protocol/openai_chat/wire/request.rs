//! The request.

use serde::Serialize;
use tollgate_macros::Read;

use super::content::Content;
use super::lenient::{bound, text_or, whole, words};
use super::message::Message;
use super::tools::{Bare, FunctionCallChoice, FunctionDefinition, Tool, ToolChoice};
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// The body of `POST /chat/completions`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Request<'a> {
    /// The model's name.
    #[serde(borrow)]
    pub model: Text<'a>,
    /// The conversation; at least one.
    #[serde(borrow)]
    pub messages: Vec<Message<'a>>,
    /// Whether the answer is streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Only with `stream`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
    /// Most tokens of the answer, those of reasoning included. What is negative is read as 0, which no vendor takes.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "bound")]
    pub max_completion_tokens: Option<u64>,
    /// Its older name, which reasoning models refuse and some compatible vendors only know.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "bound")]
    pub max_tokens: Option<u64>,
    /// 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Of compatible vendors; OpenAI has no such thing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub top_k: Option<u64>,
    /// -2 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// -2 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// How many answers: 1 to 128.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub n: Option<u64>,
    /// Where the answer ends.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop<'a>>,
    /// For answers that can be had again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// An object: a token's id to -100 … 100.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub logit_bias: Option<Raw<'a>>,
    /// Whether the answer tells how likely its tokens were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<bool>,
    /// And of how many others: 0 to 20.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub top_logprobs: Option<u64>,
    /// Tools.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool<'a>>>,
    /// Which of them is to be called.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'a>>,
    /// Whether one answer may have several calls; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// The legacy form of `tools`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<FunctionDefinition<'a>>>,
    /// The legacy form of `tool_choice`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCallChoice<'a>>,
    /// What the answer has to look like.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat<'a>>,
    /// How much the model thinks; no model takes all values.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort<'a>>,
    /// How much the model thinks, as OpenRouter asks for it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning<'a>>,
    /// How much the model thinks, as LiteLLM and DeepSeek ask for it, after Claude.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingOptions<'a>>,
    /// How long the answer is: `low`, `medium`, `high`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<Text<'a>>,
    /// What the answer is made of: `text`, `audio`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub modalities: Option<Vec<Text<'a>>>,
    /// How a spoken answer sounds.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioOptions<'a>>,
    /// What the answer will mostly be.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction<'a>>,
    /// Lets the search models search the web.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub web_search_options: Option<WebSearchOptions<'a>>,
    /// `auto`, `default`, `flex`, `scale`, `priority`, `fast` (which is answered as `priority`).
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// Whether the vendor keeps the answer for its user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<bool>,
    /// At most 16 pairs of strings.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw<'a>>,
    /// Requests with the same key find the same cache.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<Text<'a>>,
    /// How the prompt is cached.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_options: Option<PromptCacheOptions<'a>>,
    /// `in_memory`, `24h`; deprecated.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_retention: Option<Text<'a>>,
    /// Who uses the application, as a hash; at most 128 characters.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub safety_identifier: Option<Text<'a>>,
    /// What `safety_identifier` and `prompt_cache_key` replace.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Text<'a>>,
    /// Has the prompt and the answer judged; an object with `model` and `policy`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Raw<'a>>,
    /// Further members that clients send for the vendor behind, such as `google.thinking_config`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub extra_body: Option<Raw<'a>>,
}

/// What a stream contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Read)]
pub struct StreamOptions {
    /// A last chunk with the usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_usage: Option<bool>,
    /// Noise that hides the sizes of fragments; on when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_obfuscation: Option<bool>,
}

text_or! {
    /// Where the answer ends; the sequence itself is not part of it.
    pub enum Stop<'a> {
        /// At this one.
        Text,
        /// At any of these; at most four.
        Sequences(Vec<Text<'a>>),
    }
}

tagged! {
    /// What the answer has to look like.
    pub enum ResponseFormat<'a> {
        /// Anything.
        "text" => Text(Bare),
        /// A JSON object.
        "json_object" => JsonObject(Bare),
        /// JSON by a schema.
        "json_schema" => JsonSchema(JsonSchemaFormat<'a>),
    }
}

/// JSON by a schema.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct JsonSchemaFormat<'a> {
    /// The schema.
    #[serde(borrow)]
    pub json_schema: JsonSchema<'a>,
}

/// A schema.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct JsonSchema<'a> {
    /// At most 64 of `[A-Za-z0-9_-]`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// For the model.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// The JSON Schema.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Raw<'a>>,
    /// The answer is sure to follow the schema, which then has to keep to a subset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

words! {
    /// How much the model thinks.
    pub enum ReasoningEffort<'a> {
        /// Not at all.
        "none" => None,
        /// Hardly.
        "minimal" => Minimal,
        /// Little.
        "low" => Low,
        /// Moderately.
        "medium" => Medium,
        /// Much.
        "high" => High,
        /// More.
        "xhigh" => Xhigh,
        /// As much as it can.
        "max" => Max,
    }
}

/// How much the model thinks (<https://openrouter.ai/docs/use-cases/reasoning-tokens>).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Reasoning<'a> {
    /// As a word.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<ReasoningEffort<'a>>,
    /// In tokens.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub max_tokens: Option<u64>,
    /// Whether at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The reasoning is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<bool>,
}

/// How much the model thinks, after Claude.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ThinkingOptions<'a> {
    /// `enabled`, `disabled`, `adaptive`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Most tokens of thinking.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub budget_tokens: Option<u64>,
}

/// How a spoken answer sounds.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AudioOptions<'a> {
    /// `wav`, `aac`, `mp3`, `flac`, `opus`, `pcm16`.
    #[serde(borrow)]
    pub format: Text<'a>,
    /// Whose voice.
    #[serde(borrow)]
    pub voice: Voice<'a>,
}

text_or! {
    /// A voice.
    pub enum Voice<'a> {
        /// One of the vendor's, such as `alloy`.
        Text,
        /// One of the user's.
        Own(VoiceId<'a>),
    }
}

/// The user's own voice.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct VoiceId<'a> {
    /// Its id.
    #[serde(borrow)]
    pub id: Text<'a>,
}

/// What the answer will mostly be, such as a file of which little changes.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Prediction<'a> {
    /// `content`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Its text.
    #[serde(borrow)]
    pub content: Content<'a>,
}

/// How the web is searched.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct WebSearchOptions<'a> {
    /// How much of what was found the model gets to see: `low`, `medium`, `high`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub search_context_size: Option<Text<'a>>,
    /// Where the user is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user_location: Option<UserLocation<'a>>,
}

/// Where the user is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct UserLocation<'a> {
    /// `approximate`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// The place; the Responses API has its members without this nesting.
    #[serde(borrow)]
    pub approximate: ApproximateLocation<'a>,
}

/// A place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ApproximateLocation<'a> {
    /// The city.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub city: Option<Text<'a>>,
    /// Two letters of ISO 3166-1.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Text<'a>>,
    /// The region.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Text<'a>>,
    /// Its IANA name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<Text<'a>>,
}

/// How the prompt is cached.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct PromptCacheOptions<'a> {
    /// `implicit`, `explicit` (only up to the breakpoints).
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Text<'a>>,
    /// How long it lives: `30m`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Text<'a>>,
}
