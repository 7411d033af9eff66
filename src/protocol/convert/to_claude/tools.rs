//! Tools for Claude, and the choice among them.

use crate::protocol::claude::capabilities;
use crate::protocol::claude::wire::tools::{
    BuiltInTool, CustomTool, Tool, ToolChoice, ToolChoiceMode, UserLocation, WebSearchTool,
};
use crate::protocol::convert::custom_tool::{self, Grammar};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::{Raw, Text};

/// The most tools that Claude can be held to with `strict` in one request
/// (<https://platform.claude.com/docs/en/build-with-claude/structured-outputs>).
pub const MAX_STRICT: usize = 20;

/// What is said of `strict` where Claude cannot be held to the schema, or to no further one.
pub const NOT_STRICT: &str = "is left out, Claude cannot be held to this schema; it mostly follows it all the same";

/// The oldest search, which all models that search know.
const WEB_SEARCH: &str = "web_search_20250305";

/// A function.
pub fn function<'a>(name: Text<'a>, description: Option<Text<'a>>, input_schema: Raw<'a>) -> CustomTool<'a> {
    CustomTool {
        kind: None,
        name,
        description: description.filter(|description| !description.is_empty()),
        input_schema,
        strict: None,
        eager_input_streaming: None,
        input_examples: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }
}

/// A function whose one argument is a free text. A grammar is told, since it cannot be enforced.
pub fn free_text<'a>(
    name: Text<'a>,
    description: Option<Text<'a>>,
    grammar: Option<Grammar<'_>>,
) -> Result<CustomTool<'a>, ConvertError> {
    Ok(function(name, description, custom_tool::schema(grammar)?))
}

/// The search in the web.
pub fn web_search<'a>(user_location: Option<UserLocation<'a>>) -> WebSearchTool<'a> {
    WebSearchTool {
        kind: WEB_SEARCH.into(),
        name: "web_search".into(),
        max_uses: None,
        allowed_domains: None,
        blocked_domains: None,
        user_location,
        response_inclusion: None,
        strict: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }
}

/// Running code.
pub fn code_execution<'a>() -> Tool<'a> {
    Tool::CodeExecution(Box::new(BuiltInTool {
        kind: "code_execution_20250825".into(),
        name: "code_execution".into(),
        max_characters: None,
        strict: None,
        input_examples: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }))
}

/// The choice that the model `name` takes in place of `choice`, which stands at `path`: the newest cannot be made to call a tool.
pub fn possible_choice<'a>(
    choice: Option<ToolChoice<'a>>,
    path: &str,
    name: &str,
    losses: &mut Losses,
) -> Option<ToolChoice<'a>> {
    let disable_parallel_tool_use = match &choice {
        Some(ToolChoice::Any(mode)) => mode.disable_parallel_tool_use,
        Some(ToolChoice::Tool(tool)) => tool.disable_parallel_tool_use,
        _ => return choice,
    };
    if capabilities::takes_forced_choice(name) {
        return choice;
    }
    losses.add(path, "is auto, this model cannot be made to call a tool");
    Some(ToolChoice::Auto(ToolChoiceMode { disable_parallel_tool_use }))
}
