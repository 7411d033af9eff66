//! The events of a stream (<https://platform.claude.com/docs/en/build-with-claude/streaming>).
//!
//! Each has its type both in the frame's `event:` line, without which the vendor's SDKs skip it, and in the data. The order is
//! `message_start`, then for each block a start, deltas and a stop, one block after another, then `message_delta`, then
//! `message_stop`. A `ping` may come anywhere, an `error` ends the stream.

use serde::Serialize;
use tollgate_macros::Read;

use super::citation::Citation;
use super::content::ContentBlock;
use super::request::Empty;
use super::response::{Container, ErrorObject, Message, StopDetails, StopReason};
use super::usage::Usage;
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

tagged! {
    /// An event. [`StreamEvent::parse`] reads it faster than `Deserialize` does.
    pub enum StreamEvent<'a> {
        /// The answer begins.
        "message_start" => MessageStart(Box<MessageStart<'a>>),
        /// A block begins.
        "content_block_start" => ContentBlockStart(ContentBlockStart<'a>),
        /// A block goes on.
        "content_block_delta" => ContentBlockDelta(ContentBlockDelta<'a>),
        /// A block ends.
        "content_block_stop" => ContentBlockStop(ContentBlockStop),
        /// How the answer ends. May come more than once.
        "message_delta" => MessageDelta(Box<MessageDelta<'a>>),
        /// The stream is complete.
        "message_stop" => MessageStop(Empty),
        /// A sign of life.
        "ping" => Ping(Empty),
        /// The stream failed.
        "error" => Error(Box<ErrorEvent<'a>>),
    }
}

impl<'a> StreamEvent<'a> {
    /// The data of an event. The frequent deltas are read in one pass.
    pub fn parse(data: &'a str) -> Result<Self, serde_json::Error> {
        match serde_json::from_str::<Frequent<'a>>(data).ok().and_then(Frequent::event) {
            Some(delta) => Ok(Self::ContentBlockDelta(delta)),
            None => serde_json::from_str(data),
        }
    }

    /// Its type, for the frame's `event:` line; `None` when it is not known.
    pub fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::MessageStart(_) => "message_start",
            Self::ContentBlockStart(_) => "content_block_start",
            Self::ContentBlockDelta(_) => "content_block_delta",
            Self::ContentBlockStop(_) => "content_block_stop",
            Self::MessageDelta(_) => "message_delta",
            Self::MessageStop(_) => "message_stop",
            Self::Ping(_) => "ping",
            Self::Error(_) => "error",
            Self::Other(_) => return None,
        })
    }
}

/// What the frequent events are made of, side by side.
#[derive(Read)]
struct Frequent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<FrequentDelta<'a>>,
}

#[derive(Read)]
struct FrequentDelta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    estimated_tokens: Option<u64>,
}

impl<'a> Frequent<'a> {
    /// The event, if it is one of the frequent ones and whole.
    fn event(self) -> Option<ContentBlockDelta<'a>> {
        if self.kind != "content_block_delta" {
            return None;
        }
        let FrequentDelta { kind, text, partial_json, thinking, estimated_tokens } = self.delta?;
        let delta = match &*kind? {
            "text_delta" => Delta::Text(TextDelta { text: text? }),
            "input_json_delta" => Delta::InputJson(InputJsonDelta { partial_json: partial_json? }),
            "thinking_delta" => Delta::Thinking(ThinkingDelta { thinking: thinking?, estimated_tokens }),
            _ => return None,
        };
        Some(ContentBlockDelta { index: self.index?, delta })
    }
}

/// The answer begins.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct MessageStart<'a> {
    /// The answer without content; its usage has the input, and a first small figure of the output.
    #[serde(borrow)]
    pub message: Message<'a>,
}

/// A block begins.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ContentBlockStart<'a> {
    /// Its place in the answer's content, from 0.
    pub index: u64,
    /// The block, empty where deltas follow; results of the vendor's tools come whole.
    #[serde(borrow)]
    pub content_block: ContentBlock<'a>,
}

/// A block goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ContentBlockDelta<'a> {
    /// The block's place.
    pub index: u64,
    /// What is added.
    #[serde(borrow)]
    pub delta: Delta<'a>,
}

tagged! {
    /// What is added to a block.
    pub enum Delta<'a> {
        /// To a text block: text to append.
        "text_delta" => Text(TextDelta<'a>),
        /// To a call: text to append; all of it is the JSON of the arguments, and nothing at all means `{}`.
        "input_json_delta" => InputJson(InputJsonDelta<'a>),
        /// To a thinking block: text to append.
        "thinking_delta" => Thinking(ThinkingDelta<'a>),
        /// To a thinking block: the signature, which replaces the former.
        "signature_delta" => Signature(SignatureDelta<'a>),
        /// To a text block: a citation to append.
        "citations_delta" => Citations(Box<CitationsDelta<'a>>),
        /// Beta, to a compaction block: the whole of it.
        "compaction_delta" => Compaction(Box<CompactionDelta<'a>>),
    }
}

/// Text to append.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct TextDelta<'a> {
    /// The text.
    #[serde(borrow)]
    pub text: Text<'a>,
}

/// Arguments to append.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct InputJsonDelta<'a> {
    /// A part of a JSON text, cut anywhere; may be empty.
    #[serde(borrow)]
    pub partial_json: Text<'a>,
}

/// Thinking to append.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ThinkingDelta<'a> {
    /// The text; may be empty.
    #[serde(borrow)]
    pub thinking: Text<'a>,
    /// Beta: the thinking so far, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct SignatureDelta<'a> {
    /// Opaque.
    #[serde(borrow)]
    pub signature: Text<'a>,
}

/// A citation to append.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CitationsDelta<'a> {
    /// The citation.
    #[serde(borrow)]
    pub citation: Citation<'a>,
}

/// Beta: a compaction.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CompactionDelta<'a> {
    /// The summary.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Text<'a>>,
    /// The summary, sealed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub encrypted_content: Option<Text<'a>>,
}

/// A block ends.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ContentBlockStop {
    /// The block's place.
    pub index: u64,
}

/// How the answer ends.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct MessageDelta<'a> {
    /// The members of the answer that are now known.
    #[serde(borrow)]
    pub delta: MessageDeltaBody<'a>,
    /// The totals so far. The vendor always has them.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage<'a>>,
    /// Beta: edits that were made to the context.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Raw<'a>>,
    /// Beta: thinking blocks that were dropped, or let pass.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_transformations: Option<Raw<'a>>,
}

/// The members of the answer that are known at its end. The first two are written even when they are null, as the vendor does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct MessageDeltaBody<'a> {
    /// Why it ended.
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
}

/// The stream failed. Nothing follows.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ErrorEvent<'a> {
    /// What went wrong.
    #[serde(borrow)]
    pub error: ErrorObject<'a>,
    /// The vendor's id of the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Text<'a>>,
}
