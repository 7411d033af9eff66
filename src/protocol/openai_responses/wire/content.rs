//! Parts of messages, of reasoning and of tool outputs.
//!
//! <https://developers.openai.com/api/reference/resources/responses>, `ResponseInputContent`, `ResponseOutputText` and
//! their like of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::common::TextOr;
use super::request::PromptCacheBreakpoint;
use crate::protocol::wire::Text;
use crate::tagged;

/// Content as a string or as parts.
pub type Content<'a> = TextOr<'a, Vec<Part<'a>>>;

tagged! {
    /// A part of a message, of reasoning or of a tool's output.
    pub enum Part<'a> {
        /// Text towards the model.
        "input_text" => InputText(InputText<'a>),
        /// Image towards the model.
        "input_image" => InputImage(InputImage<'a>),
        /// File towards the model.
        "input_file" => InputFile(InputFile<'a>),
        /// Sound towards the model. The SDK has it, but not among a message's parts.
        "input_audio" => InputAudio(InputAudio<'a>),
        /// Text from the model.
        "output_text" => OutputText(OutputText<'a>),
        /// The model's refusal.
        "refusal" => Refusal(Refusal<'a>),
        /// The reasoning itself, which only open models show.
        "reasoning_text" => ReasoningText(PlainText<'a>),
        /// A section of the reasoning's summary.
        "summary_text" => SummaryText(PlainText<'a>),
    }
}

/// A text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct PlainText<'a> {
    /// The text.
    #[serde(borrow)]
    pub text: Text<'a>,
}

/// Text towards the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputText<'a> {
    /// The text.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// Cache up to here.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
}

/// An image, by one of `image_url` and `file_id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputImage<'a> {
    /// An `https` URL or a data URL.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<Text<'a>>,
    /// A file at the vendor.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
    /// `auto`, `low`, `high`, `original`; the SDK requires it, the server does not.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Text<'a>>,
    /// Cache up to here.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
}

/// A file, by one of `file_data`, `file_url` and `file_id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputFile<'a> {
    /// A data URL with Base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_data: Option<Text<'a>>,
    /// An `https` URL.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_url: Option<Text<'a>>,
    /// A file at the vendor.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
    /// Its name, wanted with `file_data`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Text<'a>>,
    /// `auto`, `low`, `high`: how a document's pages are seen.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Text<'a>>,
    /// Cache up to here.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
}

/// Sound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct InputAudio<'a> {
    /// The sound itself.
    #[serde(borrow)]
    pub input_audio: AudioData<'a>,
}

/// Encoded sound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct AudioData<'a> {
    /// Base64.
    #[serde(borrow)]
    pub data: Text<'a>,
    /// `mp3` or `wav`.
    #[serde(borrow)]
    pub format: Text<'a>,
}

/// Text from the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct OutputText<'a> {
    /// The text.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// Where it comes from; required in an answer, may be empty.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation<'a>>>,
    /// Its tokens, when they were asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<LogProb<'a>>>,
}

/// The model's refusal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Refusal<'a> {
    /// What it says.
    #[serde(borrow)]
    pub refusal: Text<'a>,
}

tagged! {
    /// Where a text comes from. Indexes count characters of the text.
    pub enum Annotation<'a> {
        /// A web page.
        "url_citation" => UrlCitation(UrlCitation<'a>),
        /// A file that was searched.
        "file_citation" => FileCitation(FileCitation<'a>),
        /// A file in a container.
        "container_file_citation" => ContainerFileCitation(ContainerFileCitation<'a>),
        /// A file that was made.
        "file_path" => FilePath(FilePath<'a>),
    }
}

/// A web page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct UrlCitation<'a> {
    /// Where it is.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// Its title.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'a>>,
    /// First character of the text that cites it.
    pub start_index: u64,
    /// The character after the last one.
    pub end_index: u64,
}

/// A file that was searched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FileCitation<'a> {
    /// The file.
    #[serde(borrow)]
    pub file_id: Text<'a>,
    /// Its name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Text<'a>>,
    /// Place in the text.
    pub index: u64,
}

/// A file in a container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ContainerFileCitation<'a> {
    /// The container.
    #[serde(borrow)]
    pub container_id: Text<'a>,
    /// The file.
    #[serde(borrow)]
    pub file_id: Text<'a>,
    /// Its name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Text<'a>>,
    /// First character of the text that cites it.
    pub start_index: u64,
    /// The character after the last one.
    pub end_index: u64,
}

/// A file that was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FilePath<'a> {
    /// The file.
    #[serde(borrow)]
    pub file_id: Text<'a>,
    /// Place in the text.
    pub index: u64,
}

/// A token and how likely it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct LogProb<'a> {
    /// The token.
    #[serde(borrow)]
    pub token: Text<'a>,
    /// Its bytes; the events have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Vec<u8>>,
    /// Natural logarithm of its probability.
    pub logprob: f64,
    /// The likeliest tokens at this place.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<Vec<TopLogProb<'a>>>,
}

/// A token that could have been.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct TopLogProb<'a> {
    /// The token.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Text<'a>>,
    /// Its bytes; the events have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Vec<u8>>,
    /// Natural logarithm of its probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprob: Option<f64>,
}
