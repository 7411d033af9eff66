//! What the events of a stream hold.
//!
//! <https://developers.openai.com/api/reference/resources/responses/streaming-events>, `ResponseStreamEvent` of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::common::lenient;
use super::content::{Annotation, LogProb, Part};
use super::item::Item;
use super::local::ShellOutput;
use super::response::Response;
use crate::protocol::wire::Text;

/// The response as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ResponseEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// Its output and usage come only with the last event; its id is always the same.
    #[serde(borrow)]
    pub response: Box<Response<'a>>,
}

/// An error. Its members are flat; over WebSockets they are in `error`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ErrorEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The code.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::code")]
    pub code: Option<Text<'a>>,
    /// For people.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text<'a>>,
    /// The parameter that is at fault.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub param: Option<Text<'a>>,
    /// The nested form.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody<'a>>,
    /// The HTTP status, with the nested form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
}

/// The nested form of an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ErrorBody<'a> {
    /// The kind of error.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Text<'a>>,
    /// The code.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::code")]
    pub code: Option<Text<'a>>,
    /// For people.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text<'a>>,
    /// The parameter that is at fault.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub param: Option<Text<'a>>,
}

/// An item.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ItemEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The item; with its id and call id from the start.
    #[serde(borrow)]
    pub item: Box<Item<'a>>,
}

/// A part, of an item's content or of its summary.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct PartEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The part's place in the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_index: Option<u64>,
    /// The part's place in the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_index: Option<u64>,
    /// The part.
    #[serde(borrow)]
    pub part: Part<'a>,
    /// `incomplete`, of a section of the summary that was cut.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

/// A piece of text. It is the most frequent event and read in one pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct DeltaEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item; absent in those of sound and of commands.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output; absent in those of sound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The part's place in the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_index: Option<u64>,
    /// The part's place in the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_index: Option<u64>,
    /// The command's place in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_index: Option<u64>,
    /// The piece; Base64 in that of sound.
    #[serde(borrow)]
    pub delta: Text<'a>,
    /// Its tokens, of an output's text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<LogProb<'a>>>,
    /// Padding.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub obfuscation: Option<Text<'a>>,
}

/// A whole text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct TextEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The part's place in the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_index: Option<u64>,
    /// The part's place in the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_index: Option<u64>,
    /// The text.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// Its tokens, of an output's text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<LogProb<'a>>>,
}

/// A whole refusal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct RefusalEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The part's place in the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_index: Option<u64>,
    /// The text.
    #[serde(borrow)]
    pub refusal: Text<'a>,
}

/// Whole arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ArgumentsEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The function; older servers send it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
    /// JSON as text.
    #[serde(borrow)]
    pub arguments: Text<'a>,
}

/// The whole input of a custom tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The text.
    #[serde(borrow)]
    pub input: Text<'a>,
}

/// The whole source of a run of Python.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CodeEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The source.
    #[serde(borrow)]
    pub code: Text<'a>,
}

/// Where a text comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct AnnotationEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The part's place in the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_index: Option<u64>,
    /// Its place among the part's annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation_index: Option<u64>,
    /// The annotation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<Annotation<'a>>,
}

/// A change of an item's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct StateEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item; absent in those of sound.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output; absent in those of sound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
}

/// An image before the final one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct PartialImageEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// From 0.
    pub partial_image_index: u64,
    /// Base64.
    #[serde(borrow)]
    pub partial_image_b64: Text<'a>,
    /// As in the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Text<'a>>,
    /// As in the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<Text<'a>>,
    /// As in the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Text<'a>>,
    /// As in the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Text<'a>>,
}

/// A command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CommandEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item; not in the SDK.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// Its place in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_index: Option<u64>,
    /// One line; empty at first.
    #[serde(borrow)]
    pub command: Text<'a>,
}

/// What a command prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ShellDeltaEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The command's place in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_index: Option<u64>,
    /// The piece.
    #[serde(borrow)]
    pub delta: ShellDelta<'a>,
}

/// A piece of what a command prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ShellDelta<'a> {
    /// Of its output.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Text<'a>>,
    /// Of its errors.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Text<'a>>,
}

/// What a command printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ShellOutputEvent<'a> {
    /// The event's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<u64>,
    /// The item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<Text<'a>>,
    /// Its place in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_index: Option<u64>,
    /// The command's place in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_index: Option<u64>,
    /// The whole.
    #[serde(borrow)]
    pub output: Vec<ShellOutput<'a>>,
}
