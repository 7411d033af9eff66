//! What messages contain.

use serde::{Deserializer, Serialize};
use tollgate_macros::Read;

use super::lenient::{Either, either, text_or};
use crate::protocol::wire::Text;
use crate::tagged;

text_or! {
    /// The content of a message.
    pub enum Content<'a> {
        /// One text.
        Text,
        /// Parts. `system`, `developer` and `tool` messages have only text, `assistant` ones text and refusals.
        Parts(Vec<Part<'a>>),
    }
}

tagged! {
    /// A part of a message's content.
    pub enum Part<'a> {
        /// Text.
        "text" => Text(TextPart<'a>),
        /// An image.
        "image_url" => ImageUrl(ImagePart<'a>),
        /// A sound.
        "input_audio" => InputAudio(InputAudioPart<'a>),
        /// A file, such as a PDF.
        "file" => File(FilePart<'a>),
        /// The model's refusal, in assistant messages.
        "refusal" => Refusal(RefusalPart<'a>),
    }
}

/// Text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct TextPart<'a> {
    /// May be empty, which Claude and Gemini refuse.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// The prompt is cached up to and with this part.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
    /// The same, as clients of Claude behind compatible vendors say it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ImagePart<'a> {
    /// Where it is.
    #[serde(borrow, deserialize_with = "image_url")]
    pub image_url: ImageUrl<'a>,
    /// The prompt is cached up to and with this part.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
    /// The same, as clients of Claude behind compatible vendors say it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Where an image is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ImageUrl<'a> {
    /// `https://…`, or `data:image/png;base64,…`.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// How closely the model looks: `auto`, `low`, `high`, `original`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Text<'a>>,
}

/// Some clients give the address alone.
fn image_url<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<ImageUrl<'a>, D::Error> {
    either(deserializer).map(|either| match either {
        Either::Text(url) => ImageUrl { url, detail: None },
        Either::Else(image_url) => image_url,
    })
}

/// A sound.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct InputAudioPart<'a> {
    /// Its bytes.
    #[serde(borrow)]
    pub input_audio: InputAudio<'a>,
    /// The prompt is cached up to and with this part.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
    /// The same, as clients of Claude behind compatible vendors say it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// The bytes of a sound.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct InputAudio<'a> {
    /// In base64, without the head of a data URL.
    #[serde(borrow)]
    pub data: Text<'a>,
    /// `wav`, `mp3`.
    #[serde(borrow)]
    pub format: Text<'a>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FilePart<'a> {
    /// Its bytes or its id.
    #[serde(borrow)]
    pub file: File<'a>,
    /// The prompt is cached up to and with this part.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_breakpoint: Option<PromptCacheBreakpoint<'a>>,
    /// The same, as clients of Claude behind compatible vendors say it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// The bytes or the id of a file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct File<'a> {
    /// `data:application/pdf;base64,…`; some clients give the base64 alone.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_data: Option<Text<'a>>,
    /// Of a file uploaded to the vendor.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
    /// Its name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Text<'a>>,
}

/// The model's refusal.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct RefusalPart<'a> {
    /// What the model said.
    #[serde(borrow)]
    pub refusal: Text<'a>,
}

/// A border up to which the prompt is cached; a request writes at most four.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct PromptCacheBreakpoint<'a> {
    /// `explicit`.
    #[serde(borrow)]
    pub mode: Text<'a>,
    /// How long it lives: `30m`, `12h`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Text<'a>>,
}

/// Claude's border of the prompt cache, as compatible vendors take it on parts, messages and tools.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CacheControl<'a> {
    /// `ephemeral`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// How long it lives: `5m`, `1h`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Text<'a>>,
}
