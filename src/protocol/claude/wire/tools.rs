//! Tools, and the choice among them.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tollgate_macros::Read;

use super::content::CacheControl;
use super::document::CitationsConfig;
use super::request::Empty;
use crate::protocol::wire::{Hidden, Raw, Text, within};
use crate::tagged;

/// What the model may call. The vendor's own tools have dated types (`web_search_20260318`); they are told by what stands before
/// the date, so that the next version is read like the last.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Tool<'a> {
    /// A tool of the client: no `type`, or `custom`.
    Custom(Box<CustomTool<'a>>),
    /// `bash_…`: the vendor defines it, the client runs it.
    Bash(Box<BuiltInTool<'a>>),
    /// `text_editor_…`, run by the client.
    TextEditor(Box<BuiltInTool<'a>>),
    /// `memory_…`, run by the client.
    Memory(Box<BuiltInTool<'a>>),
    /// Beta: `computer_…`, run by the client.
    Computer(Box<ComputerTool<'a>>),
    /// `computer_toolset_…` or `browser_toolset_…`: a family of tools, run by the client.
    Toolset(Toolset<'a>),
    /// `web_search_…`, run by the vendor.
    WebSearch(Box<WebSearchTool<'a>>),
    /// `web_fetch_…`, run by the vendor.
    WebFetch(Box<WebFetchTool<'a>>),
    /// `code_execution_…`, run by the vendor.
    CodeExecution(Box<BuiltInTool<'a>>),
    /// `tool_search_tool_bm25…` or `tool_search_tool_regex…`, run by the vendor.
    ToolSearch(Box<BuiltInTool<'a>>),
    /// Beta: `mcp_toolset`, the tools of a server in `mcp_servers`.
    McpToolset(Box<McpToolset<'a>>),
    /// A type that is not known.
    Other(Raw<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Tool<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Read)]
        struct Kind<'a> {
            #[serde(borrow, rename = "type")]
            kind: Option<Text<'a>>,
        }
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        if !text.starts_with('{') {
            return Err(D::Error::custom("a tool is an object"));
        }
        let Kind { kind } = serde_json::from_str(text).map_err(D::Error::custom)?;
        let kind = kind.unwrap_or_else(|| "custom".into());
        let is = |family: &str| kind.starts_with(family);
        let result = match &*kind {
            "custom" => serde_json::from_str(text).map(Self::Custom),
            "mcp_toolset" => serde_json::from_str(text).map(Self::McpToolset),
            _ if is("bash_") => serde_json::from_str(text).map(Self::Bash),
            _ if is("text_editor_") => serde_json::from_str(text).map(Self::TextEditor),
            _ if is("memory_") => serde_json::from_str(text).map(Self::Memory),
            _ if is("computer_toolset_") || is("browser_toolset_") => serde_json::from_str(text).map(Self::Toolset),
            _ if is("computer_") => serde_json::from_str(text).map(Self::Computer),
            _ if is("web_search_") => serde_json::from_str(text).map(Self::WebSearch),
            _ if is("web_fetch_") => serde_json::from_str(text).map(Self::WebFetch),
            _ if is("code_execution_") => serde_json::from_str(text).map(Self::CodeExecution),
            _ if is("tool_search_tool_") => serde_json::from_str(text).map(Self::ToolSearch),
            _ => serde_json::from_str(text).map(Self::Other),
        };
        result.map_err(|error| within::<D::Error>(&kind, &error))
    }
}

/// A tool of the client.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct CustomTool<'a> {
    /// `custom` or absent.
    #[serde(borrow, rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text<'a>>,
    /// At most 128 letters, digits, `_` and `-`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// What it does.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// JSON Schema (2020-12) of the arguments, of type `object`.
    #[serde(borrow)]
    pub input_schema: Raw<'a>,
    /// Whether the arguments follow the schema for certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Whether arguments stream unchecked: they may then be cut or invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager_input_streaming: Option<bool>,
    /// Examples of arguments.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_examples: Option<Vec<Raw<'a>>>,
    /// Whether it stays out of the context until a tool search finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Who may call it: `direct`, versions of code execution.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// A tool that the vendor defines and that has nothing to set.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct BuiltInTool<'a> {
    /// Its type, with its version.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Its name, which the type determines.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Text editor: the most that a view shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_characters: Option<u64>,
    /// Whether the arguments follow the schema for certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Examples of arguments.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_examples: Option<Vec<Raw<'a>>>,
    /// Whether it stays out of the context until a tool search finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Who may call it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: mouse, keyboard and screen.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ComputerTool<'a> {
    /// Its type, with its version.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Always `computer`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The screen's width in pixels.
    pub display_width_px: u64,
    /// Its height in pixels.
    pub display_height_px: u64,
    /// Its number under X11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_number: Option<u64>,
    /// Whether parts can be looked at closely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_zoom: Option<bool>,
    /// Whether the arguments follow the schema for certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Examples of arguments.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input_examples: Option<Vec<Raw<'a>>>,
    /// Whether it stays out of the context until a tool search finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Who may call it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// A family of tools. Calls carry a member's name and the family's in `toolset_name`.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Toolset<'a> {
    /// Its type, with its version.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// By member: whether it is enabled, whether it is deferred.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub configs: Option<Raw<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Search in the web.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebSearchTool<'a> {
    /// Its type, with its version.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Always `web_search`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The most searches in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u64>,
    /// Only there; not together with `blocked_domains`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_domains: Option<Vec<Text<'a>>>,
    /// Not there.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub blocked_domains: Option<Vec<Text<'a>>>,
    /// Where the user is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user_location: Option<UserLocation<'a>>,
    /// `full` or `excluded`: whether results stand in the answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub response_inclusion: Option<Text<'a>>,
    /// Whether the arguments follow the schema for certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Whether it stays out of the context until a tool search finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Who may call it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Where the user is, roughly.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct UserLocation<'a> {
    /// Always `approximate`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// The city.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub city: Option<Text<'a>>,
    /// The region or state.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Text<'a>>,
    /// Two letters, ISO 3166-1.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Text<'a>>,
    /// An IANA name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<Text<'a>>,
}

/// Fetching of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct WebFetchTool<'a> {
    /// Its type, with its version.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Always `web_fetch`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The most fetches in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u64>,
    /// Only there; not together with `blocked_domains`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_domains: Option<Vec<Text<'a>>>,
    /// Not there.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub blocked_domains: Option<Vec<Text<'a>>>,
    /// Whether pages are cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<CitationsConfig>,
    /// The most tokens of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_content_tokens: Option<u64>,
    /// From where addresses may be taken.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub url_sources: Option<Raw<'a>>,
    /// Whether a kept copy will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_cache: Option<bool>,
    /// `full` or `excluded`: whether results stand in the answer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub response_inclusion: Option<Text<'a>>,
    /// Whether the arguments follow the schema for certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Whether it stays out of the context until a tool search finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// Who may call it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<Text<'a>>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: the tools of a server in `mcp_servers`.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpToolset<'a> {
    /// Always `mcp_toolset`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// The server's name.
    #[serde(borrow)]
    pub mcp_server_name: Text<'a>,
    /// Whether its tools are enabled, whether they are deferred.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub default_config: Option<Raw<'a>>,
    /// The same by tool.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub configs: Option<Raw<'a>>,
    /// Its tools, where the vendor is not to ask for them.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Raw<'a>>,
    /// A cache breakpoint.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// Beta: a remote MCP server that the vendor calls.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpServer<'a> {
    /// Always `url`.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// Its address.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// Its name, for `mcp_toolset` and in calls.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// A secret.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub authorization_token: Option<Hidden<Text<'a>>>,
    /// The former way to enable tools.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tool_configuration: Option<Raw<'a>>,
}

tagged! {
    /// Whether and what the model has to call. Some models refuse `any` and `tool`, as do others while they think.
    pub enum ToolChoice<'a> {
        /// As it likes.
        "auto" => Auto(ToolChoiceMode),
        /// Any tool.
        "any" => Any(ToolChoiceMode),
        /// This tool.
        "tool" => Tool(ToolChoiceTool<'a>),
        /// No tool.
        "none" => None(Empty),
    }
}

/// How tools are called.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct ToolChoiceMode {
    /// At most one call in an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_parallel_tool_use: Option<bool>,
}

/// The tool to call.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolChoiceTool<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// At most one call in an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_parallel_tool_use: Option<bool>,
}
