//! The whole answer.

use serde::Serialize;
use tollgate_macros::Read;

use super::content::{Content, Part};
use super::lenient::{null_is_default, whole, whole_or_zero, words};
use super::message::{FunctionCall, ReasoningDetail, Role, ThinkingBlock, ToolCall};
use super::usage::CompletionUsage;
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// The body that answers a request without `stream`. What OpenAI always sends and some vendors leave out or send as null is read as
/// empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Response<'a> {
    /// `chatcmpl-…`.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub id: Text<'a>,
    /// `chat.completion`.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub object: Text<'a>,
    /// Seconds since 1970.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub created: u64,
    /// The model that answered.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub model: Text<'a>,
    /// The answers, as many as `n`.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub choices: Vec<Choice<'a>>,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<CompletionUsage>,
    /// The tier that was used: `default`, `flex`, `scale`, `priority`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// Changes when the vendor's set-up does.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub system_fingerprint: Option<Text<'a>>,
    /// That of the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw<'a>>,
    /// The verdicts that the request's `moderation` asked for: `input` and `output`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Raw<'a>>,
    /// Some compatible vendors answer 200 with an error in place of choices.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Raw<'a>>,
}

/// One of the answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Choice<'a> {
    /// Its place.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub index: u64,
    /// What the model says.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub message: ResponseMessage<'a>,
    /// Why it ended.
    #[serde(borrow, default)]
    pub finish_reason: Option<FinishReason<'a>>,
    /// How likely the tokens were.
    #[serde(borrow, default)]
    pub logprobs: Option<Logprobs<'a>>,
}

words! {
    /// Why an answer ended.
    pub enum FinishReason<'a> {
        /// By itself, or at a stop sequence.
        "stop" => Stop,
        /// The bound on tokens was reached.
        "length" => Length,
        /// Tools are to be called. Some vendors say `stop` all the same.
        "tool_calls" => ToolCalls,
        /// The vendor's filter took something out.
        "content_filter" => ContentFilter,
        /// A legacy function is to be called.
        "function_call" => FunctionCall,
    }
}

/// What the model says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ResponseMessage<'a> {
    /// `assistant`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role<'a>>,
    /// The text; Mistral's reasoning models send parts.
    #[serde(borrow, default)]
    pub content: Option<Content<'a>>,
    /// The refusal, in place of the text.
    #[serde(borrow, default)]
    pub refusal: Option<Text<'a>>,
    /// Where the text comes from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation<'a>>>,
    /// The spoken answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<Audio<'a>>,
    /// Generated images, of OpenRouter and LiteLLM (<https://openrouter.ai/docs/features/multimodal/image-generation>): `image_url`
    /// parts with data URLs.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<Part<'a>>>,
    /// The calls; some vendors send an empty list for none.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall<'a>>>,
    /// The legacy form of one call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCall<'a>>,
    /// The reasoning, of DeepSeek and many compatible vendors.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<Text<'a>>,
    /// The reasoning, of OpenRouter, Groq and others.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Text<'a>>,
    /// The reasoning in pieces with signatures and sealed data, of OpenRouter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_details: Option<Vec<ReasoningDetail<'a>>>,
    /// Claude's thinking with its signatures, of LiteLLM.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
    /// Vendors' additions, such as Gemini's `google.thought_signature`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<Raw<'a>>,
}

tagged! {
    /// A note on the text.
    pub enum Annotation<'a> {
        /// A page that it comes from.
        "url_citation" => UrlCitation(UrlCitationAnnotation<'a>),
    }
}

/// A page that a text comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct UrlCitationAnnotation<'a> {
    /// Which.
    #[serde(borrow)]
    pub url_citation: UrlCitation<'a>,
}

/// A page, and the part of the text that comes from it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct UrlCitation<'a> {
    /// Its address.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// Its title.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'a>>,
    /// The first character in the message's content.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub start_index: Option<u64>,
    /// The last character in the message's content.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub end_index: Option<u64>,
    /// An excerpt, of OpenRouter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Text<'a>>,
}

/// A spoken answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Audio<'a> {
    /// By which a later message names it.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// In base64, in the format that was asked for.
    #[serde(borrow)]
    pub data: Text<'a>,
    /// Until when the id is known: seconds since 1970.
    pub expires_at: u64,
    /// What is said.
    #[serde(borrow)]
    pub transcript: Text<'a>,
}

/// How likely tokens were.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Logprobs<'a> {
    /// Those of the content.
    #[serde(borrow, default)]
    pub content: Option<Vec<TokenLogprob<'a>>>,
    /// Those of the refusal.
    #[serde(borrow, default)]
    pub refusal: Option<Vec<TokenLogprob<'a>>>,
}

/// How likely a token was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct TokenLogprob<'a> {
    /// The token.
    #[serde(borrow)]
    pub token: Text<'a>,
    /// The natural logarithm; -9999.0 for what is very unlikely.
    pub logprob: f64,
    /// Its bytes in UTF-8, since a token may be part of a character.
    #[serde(default)]
    pub bytes: Option<Vec<u8>>,
    /// The likeliest at this place, as many as `top_logprobs`.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub top_logprobs: Vec<TopLogprob<'a>>,
}

/// How likely another token was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct TopLogprob<'a> {
    /// The token.
    #[serde(borrow)]
    pub token: Text<'a>,
    /// The natural logarithm.
    pub logprob: f64,
    /// Its bytes in UTF-8.
    #[serde(default)]
    pub bytes: Option<Vec<u8>>,
}
