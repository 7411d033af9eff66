//! Tools.
//!
//! <https://developers.openai.com/api/reference/resources/responses/methods/create>, `ToolParam` of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::common::{Bare, TextOr};
use crate::protocol::wire::{Hidden, Raw, Text};
use crate::tagged;

tagged! {
    /// A tool. Unlike in Chat Completions a function's members stand beside `type`.
    pub enum Tool<'a> {
        /// A function of the client.
        "function" => Function(FunctionTool<'a>),
        /// A tool of the client whose input is text.
        "custom" => Custom(CustomTool<'a>),
        /// A group of functions and custom tools; its name comes back in the calls' `namespace`.
        "namespace" => Namespace(NamespaceTool<'a>),
        /// Finds tools that are loaded later.
        "tool_search" => ToolSearch(ToolSearchTool<'a>),
        /// Searches the web.
        "web_search" => WebSearch(WebSearchTool<'a>),
        /// The same, of a fixed version.
        "web_search_2025_08_26" => WebSearch20250826(WebSearchTool<'a>),
        /// Searches the web, the older tool.
        "web_search_preview" => WebSearchPreview(WebSearchTool<'a>),
        /// The same, of a fixed version.
        "web_search_preview_2025_03_11" => WebSearchPreview20250311(WebSearchTool<'a>),
        /// Searches files at the vendor.
        "file_search" => FileSearch(FileSearchTool<'a>),
        /// Runs Python at the vendor.
        "code_interpreter" => CodeInterpreter(CodeInterpreterTool<'a>),
        /// Uses a computer that the client runs.
        "computer" => Computer(Bare),
        /// The same, the older tool.
        "computer_use_preview" => ComputerUsePreview(ComputerUsePreviewTool<'a>),
        /// Makes images.
        "image_generation" => ImageGeneration(ImageGenerationTool<'a>),
        /// Tools of an MCP server that the vendor calls.
        "mcp" => Mcp(McpTool<'a>),
        /// Runs commands, at the vendor or at the client.
        "shell" => Shell(ShellTool<'a>),
        /// Changes the client's files.
        "apply_patch" => ApplyPatch(ApplyPatchTool<'a>),
        /// Runs commands at the client, the older tool.
        "local_shell" => LocalShell(Bare),
        /// Lets the model call tools out of a program.
        "programmatic_tool_calling" => ProgrammaticToolCalling(Bare),
    }
}

/// A function of the client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FunctionTool<'a> {
    /// At most 64 letters, digits, underscores and dashes.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What it does.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// JSON Schema of the arguments; required at the vendor, may be null.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Raw<'a>>,
    /// Whether the schema is enforced. Absent: tried, and left off where the schema does not allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// JSON Schema of the output, for calls out of programs.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Raw<'a>>,
    /// Whether it is loaded by tool search only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Whether the model goes on before the output is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#async: Option<bool>,
    /// `direct`, `programmatic`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
}

/// A tool of the client whose input is text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CustomTool<'a> {
    /// The name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What it does.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// Absent is any text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<CustomToolFormat<'a>>,
    /// Whether it is loaded by tool search only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Whether the model goes on before the output is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#async: Option<bool>,
    /// `direct`, `programmatic`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
}

tagged! {
    /// The form of a custom tool's input.
    pub enum CustomToolFormat<'a> {
        /// Any text.
        "text" => Text(Bare),
        /// Text by a grammar.
        "grammar" => Grammar(Grammar<'a>),
    }
}

/// A grammar.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Grammar<'a> {
    /// `lark` or `regex`.
    #[serde(borrow)]
    pub syntax: Text<'a>,
    /// The grammar itself.
    #[serde(borrow)]
    pub definition: Text<'a>,
}

/// A group of tools.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct NamespaceTool<'a> {
    /// The group's name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What is in it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// Functions and custom tools.
    #[serde(borrow)]
    pub tools: Vec<Tool<'a>>,
}

/// Finds tools that are loaded later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ToolSearchTool<'a> {
    /// `server` or `client`: who searches.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Text<'a>>,
    /// What can be found.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// JSON Schema of the search, when the client searches.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Raw<'a>>,
}

/// Searches the web.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct WebSearchTool<'a> {
    /// Where to search.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<WebSearchFilters<'a>>,
    /// `low`, `medium`, `high`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub search_context_size: Option<Text<'a>>,
    /// Where the user is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user_location: Option<UserLocation<'a>>,
    /// False: only what the vendor has stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_web_access: Option<bool>,
    /// `text`, `image`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub search_content_types: Option<Vec<Text<'a>>>,
}

/// Where to search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct WebSearchFilters<'a> {
    /// Domains, their subdomains included.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_domains: Option<Vec<Text<'a>>>,
}

/// About where the user is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct UserLocation<'a> {
    /// `approximate`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Text<'a>>,
    /// Free text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub city: Option<Text<'a>>,
    /// Free text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Text<'a>>,
    /// Two letters, ISO 3166-1.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Text<'a>>,
    /// IANA name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<Text<'a>>,
}

/// Searches files at the vendor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct FileSearchTool<'a> {
    /// Where to search.
    #[serde(borrow)]
    pub vector_store_ids: Vec<Text<'a>>,
    /// Comparison of attributes, may be nested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<Raw<'a>>,
    /// 1 to 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_num_results: Option<u64>,
    /// `ranker`, `score_threshold`, `hybrid_search`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ranking_options: Option<Raw<'a>>,
}

/// Runs Python at the vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CodeInterpreterTool<'a> {
    /// Id of a container or how to make one.
    #[serde(borrow)]
    pub container: TextOr<'a, CodeInterpreterContainer<'a>>,
    /// `direct`, `programmatic`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
}

/// How a container is made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct CodeInterpreterContainer<'a> {
    /// `auto`
    #[serde(borrow)]
    pub r#type: Text<'a>,
    /// Files put into it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_ids: Option<Vec<Text<'a>>>,
    /// `1g`, `4g`, `16g`, `64g`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<Text<'a>>,
    /// What it may reach.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<Raw<'a>>,
}

/// The display of the computer.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ComputerUsePreviewTool<'a> {
    /// Pixels.
    pub display_width: u64,
    /// Pixels.
    pub display_height: u64,
    /// `windows`, `mac`, `linux`, `ubuntu`, `browser`.
    #[serde(borrow)]
    pub environment: Text<'a>,
}

/// Makes images.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ImageGenerationTool<'a> {
    /// Such as `gpt-image-2`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text<'a>>,
    /// `generate`, `edit`, `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Text<'a>>,
    /// Such as `1024x1024`, or `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Text<'a>>,
    /// `low` to `max`, or `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Text<'a>>,
    /// `transparent`, `opaque`, `auto`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Text<'a>>,
    /// `png`, `webp`, `jpeg`, `gif`, `svg`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<Text<'a>>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_compression: Option<u64>,
    /// How many images are sent before the final one, 0 to 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_images: Option<u64>,
    /// `high` or `low`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_fidelity: Option<Text<'a>>,
    /// `{file_id}` or `{image_url}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_image_mask: Option<Raw<'a>>,
    /// `auto` or `low`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<Text<'a>>,
    /// `low`, `medium`, `high`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Text<'a>>,
    /// Of an animation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_count: Option<u64>,
    /// Of an animation, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_duration_ms: Option<u64>,
    /// `model` and `reasoning` of vector images.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub svg: Option<Raw<'a>>,
}

/// An MCP server. One of `server_url`, `connector_id` and `tunnel_id` is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct McpTool<'a> {
    /// Names the server in calls.
    #[serde(borrow)]
    pub server_label: Text<'a>,
    /// Where it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub server_url: Option<Text<'a>>,
    /// A connector of the vendor, such as `connector_gmail`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub connector_id: Option<Text<'a>>,
    /// A tunnel into a private network.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tunnel_id: Option<Text<'a>>,
    /// What it is for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub server_description: Option<Text<'a>>,
    /// OAuth token for it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Hidden<Text<'a>>>,
    /// Object of strings.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Hidden<Raw<'a>>>,
    /// List of names, or `{read_only, tool_names}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Raw<'a>>,
    /// `always`, `never`, or `{always, never}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub require_approval: Option<Raw<'a>>,
    /// Whether its tools are loaded by tool search only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// `direct`, `programmatic`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
}

/// Runs commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ShellTool<'a> {
    /// By `type`: `container_auto`, `container_reference` or `local`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Raw<'a>>,
    /// `direct`, `programmatic`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
}

/// Changes the client's files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ApplyPatchTool<'a> {
    /// `direct`, `programmatic`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
}
