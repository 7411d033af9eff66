//! Content blocks that are material for the model: images, documents, search results.

use crate::protocol::wire::TextOr;
use serde::Serialize;
use tollgate_macros::Read;

use super::content::{CacheControl, TextBlock};
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

tagged! {
    /// A block that holds no others.
    pub enum BasicBlock<'a> {
        /// Text.
        "text" => Text(TextBlock<'a>),
        /// An image.
        "image" => Image(ImageBlock<'a>),
    }
}

/// An image.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ImageBlock<'a> {
    /// Its bytes, or where they are.
    #[serde(borrow)]
    pub source: Source<'a>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
    /// What to do with one that is too large.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub transformations: Option<Raw<'a>>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct DocumentBlock<'a> {
    /// Its bytes, or where they are.
    #[serde(borrow)]
    pub source: Source<'a>,
    /// Its title.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'a>>,
    /// What is to be known about it; not cited.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text<'a>>,
    /// Whether it is cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<CitationsConfig>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

tagged! {
    /// What an image or a document holds.
    pub enum Source<'a> {
        /// Bytes.
        "base64" => Base64(DataSource<'a>),
        /// Documents: plain text.
        "text" => Text(DataSource<'a>),
        /// Documents: a text or blocks of text and images.
        "content" => Content(ContentSource<'a>),
        /// Bytes at an address.
        "url" => Url(UrlSource<'a>),
        /// A file that the vendor keeps.
        "file" => File(FileSource<'a>),
    }
}

/// Data of a media type.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct DataSource<'a> {
    /// `image/jpeg`, `image/png`, `image/gif`, `image/webp`, `application/pdf`; `text/plain` for text.
    #[serde(borrow)]
    pub media_type: Text<'a>,
    /// Standard base64; for text the text itself.
    #[serde(borrow)]
    pub data: Text<'a>,
}

/// A document made of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ContentSource<'a> {
    /// A text, or blocks of text and images.
    #[serde(borrow)]
    pub content: TextOr<'a, Vec<BasicBlock<'a>>>,
}

/// Data at an address.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct UrlSource<'a> {
    /// The address.
    #[serde(borrow)]
    pub url: Text<'a>,
}

/// A file that the vendor keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FileSource<'a> {
    /// Its id.
    #[serde(borrow)]
    pub file_id: Text<'a>,
}

/// Whether citations are wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CitationsConfig {
    /// Off when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// A result of the client's own search.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct SearchResultBlock<'a> {
    /// Where it is from, mostly an address.
    #[serde(borrow)]
    pub source: Text<'a>,
    /// Its title.
    #[serde(borrow)]
    pub title: Text<'a>,
    /// Text blocks.
    #[serde(borrow)]
    pub content: Vec<BasicBlock<'a>>,
    /// Whether it is cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<CitationsConfig>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}
