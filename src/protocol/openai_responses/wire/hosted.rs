//! Items of the tools that run at the vendor.
//!
//! <https://developers.openai.com/api/reference/resources/responses>, `ResponseFunctionWebSearch` and its like of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// A search of the web.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebSearchCall<'a> {
    /// `ws_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `in_progress`, `searching`, `completed`, `failed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// What was done; absent while it starts.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub action: Option<WebSearchAction<'a>>,
}

tagged! {
    /// What was done on the web.
    pub enum WebSearchAction<'a> {
        /// A search.
        "search" => Search(WebSearch<'a>),
        /// A page was opened.
        "open_page" => OpenPage(OpenPage<'a>),
        /// A page was searched.
        "find_in_page" => FindInPage(FindInPage<'a>),
    }
}

/// A search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct WebSearch<'a> {
    /// What was searched for; the older member.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Text<'a>>,
    /// What was searched for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Vec<Text<'a>>>,
    /// What was found; on request only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<WebSource<'a>>>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebSource<'a> {
    /// `url`, or `api` of the vendor's own sources.
    #[serde(borrow)]
    pub r#type: Text<'a>,
    /// Where it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Text<'a>>,
    /// Name of the vendor's own source.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
}

/// A page was opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct OpenPage<'a> {
    /// Where it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Text<'a>>,
}

/// A page was searched.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FindInPage<'a> {
    /// Where it is.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// What was searched for.
    #[serde(borrow)]
    pub pattern: Text<'a>,
}

/// A search of files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FileSearchCall<'a> {
    /// `fs_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `in_progress`, `searching`, `completed`, `incomplete`, `failed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// What was searched for.
    #[serde(borrow)]
    pub queries: Vec<Text<'a>>,
    /// What was found; on request only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<FileSearchResult<'a>>>,
}

/// A piece of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FileSearchResult<'a> {
    /// The file.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
    /// Its name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Text<'a>>,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The piece.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<'a>>,
    /// Object of strings, numbers and truth values.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Raw<'a>>,
}

/// A run of Python.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CodeInterpreterCall<'a> {
    /// `ci_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `in_progress`, `interpreting`, `completed`, `incomplete`, `failed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Where it runs.
    #[serde(borrow)]
    pub container_id: Text<'a>,
    /// The source.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Text<'a>>,
    /// What came out; on request only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<CodeInterpreterOutput<'a>>>,
}

tagged! {
    /// What a run of Python gave.
    pub enum CodeInterpreterOutput<'a> {
        /// Printed text.
        "logs" => Logs(Logs<'a>),
        /// An image.
        "image" => Image(ImageUrl<'a>),
    }
}

/// Printed text.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Logs<'a> {
    /// The text.
    #[serde(borrow)]
    pub logs: Text<'a>,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ImageUrl<'a> {
    /// Where it is.
    #[serde(borrow)]
    pub url: Text<'a>,
}

/// A made image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ImageGenerationCall<'a> {
    /// `ig_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// `in_progress`, `generating`, `completed`, `failed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Base64, when it is done.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text<'a>>,
    /// `generate`, `edit`, `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Text<'a>>,
    /// `transparent`, `opaque`, `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Text<'a>>,
    /// `png`, `webp`, `jpeg`, `gif`, `svg`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<Text<'a>>,
    /// `low` to `max`, or `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Text<'a>>,
    /// Such as `1024x1024`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Text<'a>>,
    /// The prompt as the model put it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<Text<'a>>,
    /// Why it failed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Raw<'a>>,
    /// Tokens of vector images.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub svg_usage: Option<Raw<'a>>,
}

/// The tools of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct McpListTools<'a> {
    /// `mcpl_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The server.
    #[serde(borrow)]
    pub server_label: Text<'a>,
    /// Its tools.
    #[serde(borrow)]
    pub tools: Vec<McpToolInfo<'a>>,
    /// Why they could not be listed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text<'a>>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpToolInfo<'a> {
    /// The name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What it does.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// JSON Schema of the arguments.
    #[serde(borrow)]
    pub input_schema: Raw<'a>,
    /// What the server says about it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Raw<'a>>,
}

/// A call of an MCP server's tool; the output is in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct McpCall<'a> {
    /// `mcp_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The server.
    #[serde(borrow)]
    pub server_label: Text<'a>,
    /// The tool.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// JSON as text.
    #[serde(borrow)]
    pub arguments: Text<'a>,
    /// What it returned.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Text<'a>>,
    /// An object by `type`: `mcp_protocol_error`, `mcp_tool_execution_error`, `http_error`. Once a string.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Raw<'a>>,
    /// The request that was approved.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub approval_request_id: Option<Text<'a>>,
    /// `in_progress`, `calling`, `completed`, `incomplete`, `failed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

/// Asks whether a tool may be called.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpApprovalRequest<'a> {
    /// `mcpr_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The server.
    #[serde(borrow)]
    pub server_label: Text<'a>,
    /// The tool.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// JSON as text.
    #[serde(borrow)]
    pub arguments: Text<'a>,
}

/// Whether a tool may be called.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpApprovalResponse<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The request.
    #[serde(borrow)]
    pub approval_request_id: Text<'a>,
    /// Whether it may.
    pub approve: bool,
    /// Why.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<'a>>,
}
