//! What the vendor's own tools gave. These blocks stand in the answer beside the calls, and go back as they came.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use tollgate_macros::Read;

use super::content::{CacheControl, Caller, ResultBlock};
use crate::protocol::wire::Text;
use crate::tagged;

/// What a tool of the vendor gave.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ServerToolResult<'a, C> {
    /// The call.
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    /// The result, or the error.
    pub content: C,
    /// Who called. Must not be null in requests.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolError<'a> {
    /// Such as `max_uses_exceeded`, `too_many_requests`, `unavailable`, `invalid_tool_input`.
    #[serde(borrow)]
    pub error_code: Text<'a>,
    /// More about it; not in all tools.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<Text<'a>>,
}

/// Of `web_search`: a list of pages, or an object that tells the error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum WebSearchContent<'a> {
    /// Pages.
    Results(Vec<WebSearchResult<'a>>),
    /// The error.
    Error(WebSearchError<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for WebSearchContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WebSearchVisitor;
        impl<'de> Visitor<'de> for WebSearchVisitor {
            type Value = WebSearchContent<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of results or an error object")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(WebSearchContent::Results)
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(object)).map(WebSearchContent::Error)
            }
        }
        deserializer.deserialize_any(WebSearchVisitor)
    }
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebSearchResult<'a> {
    /// Always `web_search_result`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Its address.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// Its title.
    #[serde(borrow)]
    pub title: Text<'a>,
    /// Opaque; wanted back in later turns.
    #[serde(borrow)]
    pub encrypted_content: Text<'a>,
    /// How old it is, in words.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub page_age: Option<Text<'a>>,
}

/// Why a search found nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebSearchError<'a> {
    /// Always `web_search_tool_result_error`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Such as `max_uses_exceeded`, `query_too_long`.
    #[serde(borrow)]
    pub error_code: Text<'a>,
}

tagged! {
    /// Of `web_fetch`.
    pub enum WebFetchContent<'a> {
        /// The page.
        "web_fetch_result" => Result(WebFetchResult<'a>),
        /// The error.
        "web_fetch_tool_result_error" => Error(ToolError<'a>),
    }
}

/// A page that was fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebFetchResult<'a> {
    /// Its address.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// A document block.
    #[serde(borrow)]
    pub content: ResultBlock<'a>,
    /// When, RFC 3339.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub retrieved_at: Option<Text<'a>>,
}

tagged! {
    /// Of `code_execution`.
    pub enum CodeExecutionContent<'a> {
        /// The output.
        "code_execution_result" => Result(CodeExecutionResult<'a>),
        /// The output, sealed.
        "encrypted_code_execution_result" => Encrypted(EncryptedCodeExecutionResult<'a>),
        /// The error.
        "code_execution_tool_result_error" => Error(ToolError<'a>),
    }
}

/// What code or a command printed and wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CodeExecutionResult<'a> {
    /// Standard output.
    #[serde(borrow)]
    pub stdout: Text<'a>,
    /// Standard error.
    #[serde(borrow)]
    pub stderr: Text<'a>,
    /// The exit status.
    pub return_code: i64,
    /// Files that were written.
    #[serde(borrow)]
    pub content: Vec<CodeExecutionOutput<'a>>,
}

/// What code printed, sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct EncryptedCodeExecutionResult<'a> {
    /// Standard output, opaque.
    #[serde(borrow)]
    pub encrypted_stdout: Text<'a>,
    /// Standard error.
    #[serde(borrow)]
    pub stderr: Text<'a>,
    /// The exit status.
    pub return_code: i64,
    /// Files that were written.
    #[serde(borrow)]
    pub content: Vec<CodeExecutionOutput<'a>>,
}

/// A file that code wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CodeExecutionOutput<'a> {
    /// `code_execution_output` or `bash_code_execution_output`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Its id.
    #[serde(borrow)]
    pub file_id: Text<'a>,
}

tagged! {
    /// Of `bash_code_execution`.
    pub enum BashContent<'a> {
        /// The output.
        "bash_code_execution_result" => Result(CodeExecutionResult<'a>),
        /// The error.
        "bash_code_execution_tool_result_error" => Error(ToolError<'a>),
    }
}

tagged! {
    /// Of `text_editor_code_execution`.
    pub enum TextEditorContent<'a> {
        /// A file's content.
        "text_editor_code_execution_view_result" => View(TextEditorView<'a>),
        /// A file was written.
        "text_editor_code_execution_create_result" => Create(TextEditorCreate),
        /// A file was changed.
        "text_editor_code_execution_str_replace_result" => StrReplace(TextEditorStrReplace<'a>),
        /// The error.
        "text_editor_code_execution_tool_result_error" => Error(ToolError<'a>),
    }
}

/// A file's content.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct TextEditorView<'a> {
    /// The part that was asked for.
    #[serde(borrow)]
    pub content: Text<'a>,
    /// `text`, `image` or `pdf`.
    #[serde(borrow)]
    pub file_type: Text<'a>,
    /// Its first line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// Its lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_lines: Option<u64>,
    /// The file's lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
}

/// A file was written.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct TextEditorCreate {
    /// Whether it was there before.
    pub is_file_update: bool,
}

/// A file was changed; the figures are those of a unified diff.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct TextEditorStrReplace<'a> {
    /// The first line before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_start: Option<u64>,
    /// The lines before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_lines: Option<u64>,
    /// The first line after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_start: Option<u64>,
    /// The lines after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_lines: Option<u64>,
    /// The lines of the diff.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<Text<'a>>>,
}

tagged! {
    /// Of `tool_search_tool_bm25` and `tool_search_tool_regex`.
    pub enum ToolSearchContent<'a> {
        /// Tools.
        "tool_search_tool_search_result" => Result(ToolSearchResult<'a>),
        /// The error.
        "tool_search_tool_result_error" => Error(ToolError<'a>),
    }
}

/// Deferred tools that fit.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolSearchResult<'a> {
    /// Blocks of type `tool_reference`.
    #[serde(borrow)]
    pub tool_references: Vec<ResultBlock<'a>>,
}

tagged! {
    /// Beta: of `advisor`.
    pub enum AdvisorContent<'a> {
        /// Advice.
        "advisor_result" => Result(AdvisorResult<'a>),
        /// Advice, sealed.
        "advisor_redacted_result" => Redacted(AdvisorRedactedResult<'a>),
        /// The error.
        "advisor_tool_result_error" => Error(ToolError<'a>),
    }
}

/// Beta: advice of another model.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AdvisorResult<'a> {
    /// The advice.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// Why the other model stopped.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Text<'a>>,
}

/// Beta: sealed advice of another model.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AdvisorRedactedResult<'a> {
    /// Opaque.
    #[serde(borrow)]
    pub encrypted_content: Text<'a>,
    /// Why the other model stopped.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Text<'a>>,
}
