//! The choice among tools.
//!
//! <https://developers.openai.com/api/reference/resources/responses/methods/create>, `ToolChoice` of openai (Python) 3.57.0.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tollgate_macros::Read;

use super::common::words;
use crate::protocol::wire::Text;
use crate::tagged;

/// Whether and which tools are called.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ToolChoice<'a> {
    /// In general.
    Mode(ToolChoiceMode<'a>),
    /// Certain tools.
    Tool(ToolChoiceTool<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&'de RawValue>::deserialize(deserializer)?.get();
        if text.starts_with('"') {
            serde_json::from_str(text).map(Self::Mode).map_err(D::Error::custom)
        } else {
            serde_json::from_str(text).map(Self::Tool).map_err(D::Error::custom)
        }
    }
}

words! {
    /// Whether tools are called.
    pub enum ToolChoiceMode<'a> {
        /// As the model likes.
        "auto" => Auto,
        /// Not at all.
        "none" => None,
        /// At least one.
        "required" => Required,
    }
}

tagged! {
    /// Tools that are to be called. The vendor's own tools have no members besides `type` and are `Other`.
    pub enum ToolChoiceTool<'a> {
        /// This function.
        "function" => Function(ToolName<'a>),
        /// This custom tool.
        "custom" => Custom(ToolName<'a>),
        /// This MCP server, or its tool.
        "mcp" => Mcp(McpToolName<'a>),
        /// Among these.
        "allowed_tools" => AllowedTools(AllowedTools<'a>),
    }
}

/// A tool by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ToolName<'a> {
    /// The name.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct McpToolName<'a> {
    /// The server.
    #[serde(borrow)]
    pub server_label: Text<'a>,
    /// Absent is any of its tools.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'a>>,
}

/// A choice among some of the tools.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AllowedTools<'a> {
    /// `auto` or `required`.
    #[serde(borrow)]
    pub mode: ToolChoiceMode<'a>,
    /// The tools.
    #[serde(borrow)]
    pub tools: Vec<ToolChoiceTool<'a>>,
}
