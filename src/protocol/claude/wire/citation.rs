//! Citations within text blocks: which part of which source the text is drawn from.
//!
//! Titles may be null, but in requests they have to be there: they are written as null.

use serde::Serialize;
use tollgate_macros::Read;

use crate::protocol::wire::Text;
use crate::tagged;

tagged! {
    /// A place in a source.
    pub enum Citation<'a> {
        /// In a document of plain text.
        "char_location" => CharLocation(CharLocation<'a>),
        /// In a PDF.
        "page_location" => PageLocation(PageLocation<'a>),
        /// In a document of blocks.
        "content_block_location" => ContentBlockLocation(ContentBlockLocation<'a>),
        /// In a search result of the client.
        "search_result_location" => SearchResultLocation(SearchResultLocation<'a>),
        /// In a page that the vendor's web search found.
        "web_search_result_location" => WebSearchResultLocation(WebSearchResultLocation<'a>),
    }
}

/// A place in a document of plain text.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CharLocation<'a> {
    /// The text there; not counted as tokens.
    #[serde(borrow)]
    pub cited_text: Text<'a>,
    /// Which of the request's documents, from 0.
    pub document_index: u64,
    /// The document's title.
    #[serde(borrow, default)]
    pub document_title: Option<Text<'a>>,
    /// From 0.
    pub start_char_index: u64,
    /// Exclusive.
    pub end_char_index: u64,
    /// The file; only in answers.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
}

/// A place in a PDF.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct PageLocation<'a> {
    /// The text there.
    #[serde(borrow)]
    pub cited_text: Text<'a>,
    /// Which of the request's documents, from 0.
    pub document_index: u64,
    /// The document's title.
    #[serde(borrow, default)]
    pub document_title: Option<Text<'a>>,
    /// From 1.
    pub start_page_number: u64,
    /// Exclusive.
    pub end_page_number: u64,
    /// The file; only in answers.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
}

/// A place in a document of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ContentBlockLocation<'a> {
    /// The text there.
    #[serde(borrow)]
    pub cited_text: Text<'a>,
    /// Which of the request's documents, from 0.
    pub document_index: u64,
    /// The document's title.
    #[serde(borrow, default)]
    pub document_title: Option<Text<'a>>,
    /// From 0.
    pub start_block_index: u64,
    /// Exclusive.
    pub end_block_index: u64,
    /// The file; only in answers.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
}

/// A place in a search result of the client.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct SearchResultLocation<'a> {
    /// The text there.
    #[serde(borrow)]
    pub cited_text: Text<'a>,
    /// The search result's source.
    #[serde(borrow)]
    pub source: Text<'a>,
    /// Its title.
    #[serde(borrow, default)]
    pub title: Option<Text<'a>>,
    /// Which of the request's search results, from 0.
    pub search_result_index: u64,
    /// From 0.
    pub start_block_index: u64,
    /// Exclusive.
    pub end_block_index: u64,
}

/// A place in a page of the web.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebSearchResultLocation<'a> {
    /// The text there, cut to some 150 characters.
    #[serde(borrow)]
    pub cited_text: Text<'a>,
    /// The page.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// Its title.
    #[serde(borrow, default)]
    pub title: Option<Text<'a>>,
    /// Opaque; wanted back in later turns.
    #[serde(borrow)]
    pub encrypted_index: Text<'a>,
}
