//! The events of a stream: chunks without names, `[DONE]` at the end. Each is read in one pass, but for parts of a content, annotations
//! and pieces of reasoning with a signature.

use serde::Serialize;
use tollgate_macros::Read;

use super::content::{Content, Part};
use super::lenient::{null_is_default, whole, whole_or_zero};
use super::message::{ReasoningDetail, Role, ThinkingBlock};
use super::response::{Annotation, FinishReason, Logprobs};
use super::usage::CompletionUsage;
use crate::protocol::few::Few;
use crate::protocol::wire::{Raw, Text};

/// The data of the event that ends a stream.
pub const DONE: &str = "[DONE]";

/// The data of every other event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Chunk<'a> {
    /// `chatcmpl-…`, the same in all chunks.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `chat.completion.chunk`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Text<'a>>,
    /// Seconds since 1970, the same in all chunks.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub created: Option<u64>,
    /// The model that answers.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text<'a>>,
    /// The tier that is used.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text<'a>>,
    /// Changes when the vendor's set-up does.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub system_fingerprint: Option<Text<'a>>,
    /// Empty in the usage chunk; absent in an error.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Few<ChunkChoice<'a>>>,
    /// What it took: at OpenAI once, in the last chunk, for those who asked. Some vendors have it in every chunk, at first with zeros,
    /// and growing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<CompletionUsage>,
    /// The verdicts that the request's `moderation` asked for, on a chunk of their own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Raw<'a>>,
    /// Noise, to be dropped.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub obfuscation: Option<Text<'a>>,
    /// The stream failed. Mostly an object with `message`, `type`, `param`, `code`; some vendors send a string.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Raw<'a>>,
}

/// What a chunk adds to one of the answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ChunkChoice<'a> {
    /// The answer.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub index: u64,
    /// What is added.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub delta: Delta<'a>,
    /// Why it ended. May come with a last delta; only deltas of sound follow.
    #[serde(borrow, default)]
    pub finish_reason: Option<FinishReason<'a>>,
    /// How likely the tokens of this delta were.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Logprobs<'a>>,
}

/// What is added to an answer. Texts are fragments, to be put together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Delta<'a> {
    /// In the first delta only: OpenAI's SDK puts repeated roles together, as it does with ids and names of calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role<'a>>,
    /// Text; Mistral's reasoning models send parts.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content<'a>>,
    /// Text of the refusal.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Text<'a>>,
    /// Reasoning, of DeepSeek and many compatible vendors.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<Text<'a>>,
    /// Reasoning, of OpenRouter, Groq and others.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Text<'a>>,
    /// Reasoning in pieces, of OpenRouter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_details: Option<Vec<ReasoningDetail<'a>>>,
    /// Claude's thinking, of LiteLLM; the signature comes at a block's end.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
    /// Calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCallDelta<'a>>>,
    /// The legacy form of one call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCallDelta<'a>>,
    /// Sound.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioDelta<'a>>,
    /// Generated images, of OpenRouter and LiteLLM (<https://openrouter.ai/docs/features/multimodal/image-generation>): `image_url`
    /// parts with data URLs.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<Part<'a>>>,
    /// Where the text comes from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation<'a>>>,
    /// Vendors' additions, such as Gemini's `google.thought_signature`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<Raw<'a>>,
}

/// What is added to a call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ToolCallDelta<'a> {
    /// Which call. OpenAI's SDK needs it; some vendors leave it out, and send each call whole.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub index: Option<u64>,
    /// In the first fragment only. Some vendors repeat it, or send empty ones.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `function`, `custom`; in the first fragment only.
    #[serde(borrow, rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text<'a>>,
    /// Of a function.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionCallDelta<'a>>,
    /// Of a custom tool.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<CustomCallDelta<'a>>,
    /// Vendors' additions, such as Gemini's `google.thought_signature`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<Raw<'a>>,
}

/// What is added to a call of a function.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct FunctionCallDelta<'a> {
    /// In the first fragment only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
    /// A fragment of JSON text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Text<'a>>,
}

/// What is added to a call of a custom tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CustomCallDelta<'a> {
    /// In the first fragment only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
    /// A fragment of text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Text<'a>>,
}

/// What is added to a spoken answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct AudioDelta<'a> {
    /// By which a later message names it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// In base64, each fragment on its own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Text<'a>>,
    /// What is said.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Text<'a>>,
    /// Until when the id is known: seconds since 1970. Comes last, after the reason for the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}
