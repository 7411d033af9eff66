//! Content blocks, of requests and of answers alike: an answer's blocks go back to the vendor as they came.
//!
//! Blocks within blocks are of types of their own, [`ResultBlock`] and [`BasicBlock`], as the vendor has it. So the types bound how
//! deep a request can make the reader go.

use crate::protocol::wire::TextOr;
use serde::Serialize;
use tollgate_macros::Read;

use super::citation::Citation;
use super::document::{BasicBlock, DocumentBlock, ImageBlock, SearchResultBlock};
use super::server_tools::{
    AdvisorContent, BashContent, CodeExecutionContent, ServerToolResult, TextEditorContent, ToolSearchContent,
    WebFetchContent, WebSearchContent,
};
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// A text, which counts as one text block, or blocks.
pub type Content<'a> = TextOr<'a, Vec<ContentBlock<'a>>>;

tagged! {
    /// A content block.
    pub enum ContentBlock<'a> {
        /// Text.
        "text" => Text(TextBlock<'a>),
        /// An image.
        "image" => Image(ImageBlock<'a>),
        /// A document: PDF, plain text or blocks.
        "document" => Document(Box<DocumentBlock<'a>>),
        /// A result of the client's own search, to be cited.
        "search_result" => SearchResult(Box<SearchResultBlock<'a>>),
        /// Thinking, to be sent back unchanged.
        "thinking" => Thinking(ThinkingBlock<'a>),
        /// Thinking that is sealed as a whole.
        "redacted_thinking" => RedactedThinking(RedactedThinkingBlock<'a>),
        /// A call that the client has to carry out.
        "tool_use" => ToolUse(Box<ToolUseBlock<'a>>),
        /// What such a call gave.
        "tool_result" => ToolResult(Box<ToolResultBlock<'a>>),
        /// A call that the vendor carries out.
        "server_tool_use" => ServerToolUse(Box<ToolUseBlock<'a>>),
        /// What `web_search` gave.
        "web_search_tool_result" => WebSearchToolResult(Box<ServerToolResult<'a, WebSearchContent<'a>>>),
        /// What `web_fetch` gave.
        "web_fetch_tool_result" => WebFetchToolResult(Box<ServerToolResult<'a, WebFetchContent<'a>>>),
        /// What `code_execution` gave.
        "code_execution_tool_result" => CodeExecutionToolResult(Box<ServerToolResult<'a, CodeExecutionContent<'a>>>),
        /// What `bash_code_execution` gave.
        "bash_code_execution_tool_result" => BashCodeExecutionToolResult(Box<ServerToolResult<'a, BashContent<'a>>>),
        /// What `text_editor_code_execution` gave.
        "text_editor_code_execution_tool_result" =>
            TextEditorCodeExecutionToolResult(Box<ServerToolResult<'a, TextEditorContent<'a>>>),
        /// What `tool_search_tool_…` gave.
        "tool_search_tool_result" => ToolSearchToolResult(Box<ServerToolResult<'a, ToolSearchContent<'a>>>),
        /// Beta: what `advisor` gave.
        "advisor_tool_result" => AdvisorToolResult(Box<ServerToolResult<'a, AdvisorContent<'a>>>),
        /// A file put into the container.
        "container_upload" => ContainerUpload(ContainerUploadBlock<'a>),
        /// Beta: a call of a remote MCP server's tool, carried out by the vendor.
        "mcp_tool_use" => McpToolUse(Box<McpToolUseBlock<'a>>),
        /// Beta: what such a call gave.
        "mcp_tool_result" => McpToolResult(Box<McpToolResultBlock<'a>>),
        /// Beta: the tools of a remote MCP server, as the vendor found them.
        "mcp_tool_listing" => McpToolListing(McpToolListingBlock<'a>),
        /// Beta: what stands for the conversation before it.
        "compaction" => Compaction(Box<CompactionBlock<'a>>),
        /// Beta: from here on another model answered.
        "fallback" => Fallback(Box<FallbackBlock<'a>>),
        /// Beta, in system messages: a tool is there from now on.
        "tool_addition" => ToolAddition(ToolChangeBlock<'a>),
        /// Beta, in system messages: a tool is gone from now on.
        "tool_removal" => ToolRemoval(ToolChangeBlock<'a>),
    }
}

tagged! {
    /// A block within a tool's result.
    pub enum ResultBlock<'a> {
        /// Text.
        "text" => Text(TextBlock<'a>),
        /// An image.
        "image" => Image(ImageBlock<'a>),
        /// A document.
        "document" => Document(Box<DocumentBlock<'a>>),
        /// A result of the client's own search, to be cited.
        "search_result" => SearchResult(Box<SearchResultBlock<'a>>),
        /// A deferred tool that is now to be loaded.
        "tool_reference" => ToolReference(ToolReferenceBlock<'a>),
        /// The browser after a call of the browser toolset.
        "browser_state" => BrowserState(BrowserStateBlock<'a>),
    }
}

/// A cache breakpoint: what stands before its end is cached. At most 4 in a request, longer ones first.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CacheControl<'a> {
    /// Always `ephemeral`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// `5m`, the default, or `1h`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Text<'a>>,
}

/// Text.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct TextBlock<'a> {
    /// The text; an empty one is refused in requests.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// What it is drawn from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<Vec<Citation<'a>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Thinking.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ThinkingBlock<'a> {
    /// The text; empty where it is not displayed.
    #[serde(borrow)]
    pub thinking: Text<'a>,
    /// The vendor's seal on it, opaque. Compatible vendors leave it out.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text<'a>>,
}

/// Thinking that is sealed as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct RedactedThinkingBlock<'a> {
    /// Opaque.
    #[serde(borrow)]
    pub data: Text<'a>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolUseBlock<'a> {
    /// Of letters, digits, `_` and `-`; `toolu_…`, or `srvtoolu_…` where the vendor carries it out.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// The tool's name; a toolset's member.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The arguments, an object. In the start event of a stream `{}`.
    #[serde(borrow)]
    pub input: Raw<'a>,
    /// Who called. Must not be null in requests.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// The toolset whose member is called, `computer` or `browser`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub toolset_name: Option<Text<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Who called a tool: the model, or code that the vendor runs.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Caller<'a> {
    /// `direct`, or the version of code execution.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// The code execution's call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<Text<'a>>,
}

/// What a call of a tool gave. All results of a turn stand first in the next user message.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolResultBlock<'a> {
    /// The call.
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    /// A text, or blocks.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<TextOr<'a, Vec<ResultBlock<'a>>>>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// As in the call.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub toolset_name: Option<Text<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// A file put into the container.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ContainerUploadBlock<'a> {
    /// Its id.
    #[serde(borrow)]
    pub file_id: Text<'a>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// A deferred tool that is to be loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolReferenceBlock<'a> {
    /// Its name.
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// The browser after a call of the browser toolset.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct BrowserStateBlock<'a> {
    /// All open tabs.
    #[serde(borrow)]
    pub tabs: Raw<'a>,
    /// What the call opened or downloaded.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub state_changes: Option<Raw<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: a call of a remote MCP server's tool.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpToolUseBlock<'a> {
    /// `mcptoolu_…`.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// The tool's name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The server's name in `mcp_servers`.
    #[serde(borrow)]
    pub server_name: Text<'a>,
    /// The arguments, an object.
    #[serde(borrow)]
    pub input: Raw<'a>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: what a call of a remote MCP server's tool gave.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpToolResultBlock<'a> {
    /// The call.
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// A text or text blocks.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<TextOr<'a, Vec<BasicBlock<'a>>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: the tools of a remote MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpToolListingBlock<'a> {
    /// The server's name in `mcp_servers`.
    #[serde(borrow)]
    pub mcp_server_name: Text<'a>,
    /// Their names, descriptions and schemas.
    #[serde(borrow)]
    pub tools: Raw<'a>,
}

/// Beta: what stands for the conversation before it.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CompactionBlock<'a> {
    /// A summary; absent where the compaction failed or is sealed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Text<'a>>,
    /// The summary, sealed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub encrypted_content: Option<Text<'a>>,
    /// The vendor's seal on it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Text<'a>>,
    /// Additions and removals of tools that still hold.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_changes: Option<Raw<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: from here on another model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FallbackBlock<'a> {
    /// The model that gave up.
    #[serde(borrow, rename = "from")]
    pub source: FallbackModel<'a>,
    /// The model that took over.
    #[serde(borrow)]
    pub to: FallbackModel<'a>,
    /// Why.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Raw<'a>>,
}

/// Beta: a model of a fallback.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FallbackModel<'a> {
    /// Its name.
    #[serde(borrow)]
    pub model: Text<'a>,
}

/// Beta: a tool that comes or goes.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolChangeBlock<'a> {
    /// A reference to it, or its definition.
    #[serde(borrow)]
    pub tool: Raw<'a>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}
