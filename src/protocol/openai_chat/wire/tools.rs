//! Tools, and which of them is to be called.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tollgate_macros::Read;

use super::content::CacheControl;
use super::lenient::{text_or, words};
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

tagged! {
    /// A tool.
    pub enum Tool<'a> {
        /// A function of the client.
        "function" => Function(FunctionTool<'a>),
        /// A tool of the client that takes text.
        "custom" => Custom(CustomTool<'a>),
    }
}

/// A function of the client.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct FunctionTool<'a> {
    /// What it is.
    #[serde(borrow)]
    pub function: FunctionDefinition<'a>,
    /// Caches the prompt up to and with this tool, of LiteLLM and OpenRouter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl<'a>>,
}

/// What a function is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct FunctionDefinition<'a> {
    /// At most 64 of `[A-Za-z0-9_-]`.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// For the model.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// A JSON Schema of an object; absent for a function without parameters.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Raw<'a>>,
    /// The arguments are sure to follow the schema, which then has to keep to a subset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// A tool of the client that takes text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CustomTool<'a> {
    /// What it is.
    #[serde(borrow)]
    pub custom: CustomDefinition<'a>,
}

/// What a custom tool is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CustomDefinition<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// For the model.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// What its input may be; any text when absent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub format: Option<CustomFormat<'a>>,
}

tagged! {
    /// What the input of a custom tool may be.
    pub enum CustomFormat<'a> {
        /// Any text.
        "text" => Text(Bare),
        /// Text by a grammar.
        "grammar" => Grammar(GrammarFormat<'a>),
    }
}

/// An object that has only its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Read)]
pub struct Bare {}

/// Text by a grammar; the Responses API has its members without this nesting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct GrammarFormat<'a> {
    /// The grammar.
    #[serde(borrow)]
    pub grammar: Grammar<'a>,
}

/// A grammar.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Grammar<'a> {
    /// Its text.
    #[serde(borrow)]
    pub definition: Text<'a>,
    /// `lark`, `regex`.
    #[serde(borrow)]
    pub syntax: Text<'a>,
}

/// Which tool is to be called.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ToolChoice<'a> {
    /// Whether any is.
    Mode(ToolChoiceMode<'a>),
    /// Which ones may be.
    Tools(NamedToolChoice<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&'de RawValue>::deserialize(deserializer)?.get();
        let result = if text.starts_with('{') {
            serde_json::from_str(text).map(Self::Tools)
        } else {
            serde_json::from_str(text).map(Self::Mode)
        };
        result.map_err(serde::de::Error::custom)
    }
}

words! {
    /// Whether tools are called.
    pub enum ToolChoiceMode<'a> {
        /// None is.
        "none" => None,
        /// As the model likes, which is what happens when nothing is said and there are tools.
        "auto" => Auto,
        /// At least one is.
        "required" => Required,
    }
}

tagged! {
    /// Which tools may be called.
    pub enum NamedToolChoice<'a> {
        /// This function is called.
        "function" => Function(FunctionChoice<'a>),
        /// This custom tool is called.
        "custom" => Custom(CustomChoice<'a>),
        /// Only these may be.
        "allowed_tools" => AllowedTools(AllowedToolsChoice<'a>),
    }
}

/// A function, by its name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct FunctionChoice<'a> {
    /// Which.
    #[serde(borrow)]
    pub function: Named<'a>,
}

/// A custom tool, by its name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct CustomChoice<'a> {
    /// Which.
    #[serde(borrow)]
    pub custom: Named<'a>,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Read)]
pub struct Named<'a> {
    /// The name.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// The tools that may be called out of those that are declared, which keeps the prompt's beginning the same.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AllowedToolsChoice<'a> {
    /// Which.
    #[serde(borrow)]
    pub allowed_tools: AllowedTools<'a>,
}

/// Which tools may be called.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct AllowedTools<'a> {
    /// `auto` or `required`.
    #[serde(borrow)]
    pub mode: ToolChoiceMode<'a>,
    /// By their names.
    #[serde(borrow)]
    pub tools: Vec<AllowedTool<'a>>,
}

tagged! {
    /// A tool that may be called.
    pub enum AllowedTool<'a> {
        /// A function.
        "function" => Function(FunctionChoice<'a>),
        /// A custom tool.
        "custom" => Custom(CustomChoice<'a>),
    }
}

text_or! {
    /// Which legacy function is to be called.
    pub enum FunctionCallChoice<'a> {
        /// `none`, `auto`.
        Text,
        /// This one.
        Function(Named<'a>),
    }
}
