//! Tools that Responses defines and the client carries out: for Claude they are functions, whose calls become such items again.

use serde_json::json;

use crate::protocol::claude::wire::tools::{CustomTool, Tool};
use crate::protocol::convert::ConvertError;
use crate::protocol::convert::names::{CUSTOM_INPUT, ToolKind};
use crate::protocol::openai_responses::wire::tools::{
    ComputerUsePreviewTool, CustomTool as FreeTextTool, CustomToolFormat, ToolSearchTool,
};
use crate::protocol::wire::{Raw, Text};

/// A function for Claude.
pub(super) fn function<'a>(name: Text<'a>, description: Option<Text<'a>>, input_schema: Raw<'a>) -> CustomTool<'a> {
    CustomTool {
        kind: None,
        name,
        description,
        input_schema,
        strict: None,
        eager_input_streaming: None,
        input_examples: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }
}

/// The name under which Claude knows such a tool.
pub(super) fn name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::ToolSearch => "tool_search",
        ToolKind::LocalShell => "local_shell",
        ToolKind::Shell => "shell",
        ToolKind::ApplyPatch => "apply_patch",
        ToolKind::Computer => "computer",
        ToolKind::Function | ToolKind::Custom => "function",
    }
}

/// A tool whose input is text: a function with one argument. A grammar is told, since it cannot be enforced.
pub(super) fn free_text<'a>(tool: &'a FreeTextTool<'a>, name: Text<'a>) -> Result<CustomTool<'a>, ConvertError> {
    let rule = match &tool.format {
        Some(CustomToolFormat::Grammar(grammar)) => format!(
            "The input as one text, not as JSON. It has to follow this grammar ({}):\n{}",
            &*grammar.syntax, &*grammar.definition
        ),
        _ => "The input as one text.".to_owned(),
    };
    let schema = json!({
        "type": "object",
        "properties": {CUSTOM_INPUT: {"type": "string", "description": rule}},
        "required": [CUSTOM_INPUT],
        "additionalProperties": false,
    });
    Ok(function(name, tool.description.as_ref().map(Text::by_ref), raw(&schema)?))
}

/// The search among deferred tools.
pub(super) fn tool_search<'a>(tool: &'a ToolSearchTool<'a>, input_schema: Raw<'a>) -> CustomTool<'a> {
    let description = match &tool.description {
        Some(description) => description.by_ref(),
        None => "Finds tools that are not loaded yet. What it finds can be called from then on.".into(),
    };
    function(name(ToolKind::ToolSearch).into(), Some(description), input_schema)
}

/// Commands at the client, the older tool.
pub(super) fn local_shell<'a>() -> Result<Tool<'a>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "array", "items": {"type": "string"}, "description": "The program and its arguments."},
            "env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Environment variables."},
            "timeout_ms": {"type": "integer", "description": "Bound on the time, in milliseconds."},
            "working_directory": {"type": "string"},
        },
        "required": ["command"],
    });
    described(ToolKind::LocalShell, "Runs a command on the user's machine.", &schema)
}

/// Commands at the client.
pub(super) fn shell<'a>() -> Result<Tool<'a>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "commands": {"type": "array", "items": {"type": "string"}, "description": "Lines for the shell; they may run side by side."},
            "timeout_ms": {"type": "integer", "description": "Bound on the time, in milliseconds."},
            "max_output_length": {"type": "integer", "description": "Bound on the output, in characters."},
        },
        "required": ["commands"],
    });
    described(ToolKind::Shell, "Runs commands in a shell on the user's machine.", &schema)
}

/// Changes of files at the client.
pub(super) fn apply_patch<'a>() -> Result<Tool<'a>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
            "path": {"type": "string"},
            "diff": {
                "type": "string",
                "description": "The change in the V4A form: sections that begin with @@ and an optional line of context, then lines that begin with a space (kept), - (removed) or + (added). For a new file each line begins with +. Left out when a file is deleted.",
            },
        },
        "required": ["type", "path"],
    });
    described(ToolKind::ApplyPatch, "Creates, changes or deletes a file.", &schema)
}

/// The computer that the client operates. The actions are those of Responses, since its client carries them out.
pub(super) fn computer<'a>(display: Option<&ComputerUsePreviewTool<'_>>) -> Result<Tool<'a>, ConvertError> {
    let point = json!({"type": "integer", "description": "Pixels from the left or from the top."});
    let schema = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"]},
            "x": point,
            "y": point,
            "button": {"type": "string", "enum": ["left", "right", "wheel", "back", "forward"], "description": "Of a click."},
            "keys": {"type": "array", "items": {"type": "string"}, "description": "Of a keypress: the keys that are pressed together."},
            "text": {"type": "string", "description": "What is typed."},
            "scroll_x": {"type": "integer", "description": "Pixels to scroll sideways."},
            "scroll_y": {"type": "integer", "description": "Pixels to scroll down; negative is up."},
            "path": {
                "type": "array",
                "items": {"type": "object", "properties": {"x": point, "y": point}, "required": ["x", "y"]},
                "description": "Of a drag.",
            },
        },
        "required": ["type"],
    });
    let screen = display.map(|display| {
        format!(
            " Its screen has {} by {} pixels ({}).",
            display.display_width, display.display_height, &*display.environment
        )
    });
    let description = format!(
        "Does one thing at a computer with mouse, keyboard and screen; the result is an image of the screen after it.{}",
        screen.unwrap_or_default()
    );
    described(ToolKind::Computer, &description, &schema)
}

fn described<'a>(kind: ToolKind, description: &str, schema: &serde_json::Value) -> Result<Tool<'a>, ConvertError> {
    let description = Some(Text::from(description.to_owned()));
    Ok(Tool::Custom(Box::new(function(name(kind).into(), description, raw(schema)?))))
}

fn raw<'a>(schema: &serde_json::Value) -> Result<Raw<'a>, ConvertError> {
    Raw::of(schema).map_err(|error| ConvertError::invalid("tools", error.to_string()))
}
