//! The messages of a request, and the tool calls in them and in answers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tollgate_macros::Read;

use super::content::{CacheControl, Content};
use super::lenient::{json_text, null_is_default, words};
use crate::protocol::wire::{Raw, Text, within};
use crate::tagged;

words! {
    /// Who speaks.
    #[derive(Default)]
    pub enum Role<'a> {
        /// The application, to reasoning models; the same as `system`.
        "developer" => Developer,
        /// The application.
        "system" => System,
        /// The user.
        #[default]
        "user" => User,
        /// The model.
        "assistant" => Assistant,
        /// The result of a tool call.
        "tool" => Tool,
        /// The result of a legacy function call.
        "function" => Function,
    }
}

/// A message of a request, whoever speaks: `role` says which members count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Message<'a> {
    /// Who speaks.
    #[serde(borrow)]
    pub role: Role<'a>,
    /// What is said. Only an assistant message may be without, beside tool calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content<'a>>,
    /// Tells speakers of a role apart. In `function` messages the function; some clients name the tool in `tool` messages.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
    /// `assistant`: the refusal that was given.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Text<'a>>,
    /// `assistant`: an earlier spoken answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioId<'a>>,
    /// `assistant`: the calls, each of which has to be answered before the next message that is not `tool`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall<'a>>>,
    /// `assistant`: the legacy form of one call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCall<'a>>,
    /// `tool`: the call that is answered.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Text<'a>>,
    /// `assistant`: the reasoning, of DeepSeek and many compatible vendors. DeepSeek wants it back in turns with tool calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<Text<'a>>,
    /// `assistant`: the reasoning, of OpenRouter, Groq and others.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Text<'a>>,
    /// `assistant`: the reasoning in pieces with signatures and sealed data, of OpenRouter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reasoning_details: Option<Vec<ReasoningDetail<'a>>>,
    /// `assistant`: Claude's thinking with its signatures, of LiteLLM.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
    /// Vendors' additions, such as Gemini's `google.thought_signature`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<Raw<'a>>,
    /// Caches the prompt up to and with this message, of LiteLLM.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Points at an earlier spoken answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct AudioId<'a> {
    /// Its id.
    #[serde(borrow)]
    pub id: Text<'a>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum ToolCall<'a> {
    /// Of a function. Some vendors leave out the `type`.
    #[serde(rename = "function")]
    Function(FunctionToolCall<'a>),
    /// Of a tool that takes text.
    #[serde(rename = "custom")]
    Custom(CustomToolCall<'a>),
    /// A kind that is not known.
    #[serde(untagged)]
    Other(Raw<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolCall<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Read)]
        struct Kind<'a> {
            #[serde(borrow, rename = "type")]
            kind: Option<Text<'a>>,
        }
        let text = <&'de RawValue>::deserialize(deserializer)?.get();
        if !text.starts_with('{') {
            return Err(D::Error::custom("a tool call is an object"));
        }
        let Kind { kind } = serde_json::from_str(text).map_err(D::Error::custom)?;
        let kind = kind.as_deref().unwrap_or("function");
        let result = match kind {
            "function" => serde_json::from_str(text).map(Self::Function),
            "custom" => serde_json::from_str(text).map(Self::Custom),
            _ => serde_json::from_str(text).map(Self::Other),
        };
        result.map_err(|error| within(kind, &error))
    }
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FunctionToolCall<'a> {
    /// At most 64 characters at OpenAI; empty where a vendor gave none.
    #[serde(borrow, default, deserialize_with = "null_is_default")]
    pub id: Text<'a>,
    /// Name and arguments.
    #[serde(borrow)]
    pub function: FunctionCall<'a>,
    /// Vendors' additions, such as Gemini's `google.thought_signature`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<Raw<'a>>,
    /// Caches the prompt up to and with this call, of LiteLLM.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Which function is called, and how.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct FunctionCall<'a> {
    /// The function.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The text of a JSON object as the model wrote it: it may be empty, and it may be cut short.
    #[serde(borrow, default, deserialize_with = "json_text")]
    pub arguments: Text<'a>,
}

/// A call of a custom tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CustomToolCall<'a> {
    /// At most 64 characters at OpenAI.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// Name and input.
    #[serde(borrow)]
    pub custom: CustomCall<'a>,
}

/// Which custom tool is called, and how.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CustomCall<'a> {
    /// The tool.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Any text, not JSON.
    #[serde(borrow)]
    pub input: Text<'a>,
}

tagged! {
    /// A piece of Claude's thinking (<https://docs.litellm.ai/docs/reasoning_content>).
    pub enum ThinkingBlock<'a> {
        /// Thinking that can be read.
        "thinking" => Thinking(Thinking<'a>),
        /// Thinking that is sealed.
        "redacted_thinking" => RedactedThinking(RedactedThinking<'a>),
    }
}

/// Thinking that can be read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Thinking<'a> {
    /// May be empty beside a signature. In a stream a fragment, and absent where only the signature comes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Text<'a>>,
    /// Without it Claude takes no thinking back.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text<'a>>,
    /// Caches the prompt up to and with this block.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Thinking that is sealed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct RedactedThinking<'a> {
    /// Opaque.
    #[serde(borrow)]
    pub data: Text<'a>,
}

tagged! {
    /// A piece of reasoning (<https://openrouter.ai/docs/use-cases/reasoning-tokens>).
    pub enum ReasoningDetail<'a> {
        /// Reasoning that can be read.
        "reasoning.text" => Text(ReasoningText<'a>),
        /// A summary.
        "reasoning.summary" => Summary(ReasoningSummary<'a>),
        /// Reasoning that is sealed.
        "reasoning.encrypted" => Encrypted(ReasoningEncrypted<'a>),
    }
}

/// Reasoning that can be read; in a stream a fragment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ReasoningText<'a> {
    /// What was thought.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<'a>>,
    /// The upstream's signature.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text<'a>>,
    /// The upstream's id.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Whose it is, such as `anthropic-claude-v1`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Text<'a>>,
    /// Fragments with the same one belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// A summary; in a stream a fragment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ReasoningSummary<'a> {
    /// Its text.
    #[serde(borrow)]
    pub summary: Text<'a>,
    /// The upstream's id.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Whose it is, such as `openai-responses-v1`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Text<'a>>,
    /// Fragments with the same one belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// Reasoning that is sealed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ReasoningEncrypted<'a> {
    /// Opaque.
    #[serde(borrow)]
    pub data: Text<'a>,
    /// The upstream's id.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Whose it is, such as `google-gemini-v1`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Text<'a>>,
    /// Fragments with the same one belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}
