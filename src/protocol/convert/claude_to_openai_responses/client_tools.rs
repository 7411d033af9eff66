//! Tools that Claude's vendor defines and the client carries out, as functions: other models do not know them by their type.

use serde_json::{Value, json};

use crate::protocol::claude::wire::tools::ComputerTool;
use crate::protocol::convert::ConvertError;
use crate::protocol::openai_responses::wire::tools::{FunctionTool, Tool};
use crate::protocol::wire::{Raw, Text};

/// A function.
pub(super) fn function<'a>(
    name: Text<'a>,
    description: Option<Text<'a>>,
    parameters: Raw<'a>,
    strict: bool,
) -> Tool<'a> {
    Tool::Function(FunctionTool {
        name,
        description,
        parameters: Some(parameters),
        strict: Some(strict),
        ..FunctionTool::default()
    })
}

/// `bash_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool>).
pub(super) fn bash<'a>(name: Text<'a>) -> Result<Tool<'a>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command to run."},
            "restart": {"type": "boolean", "description": "True: starts the shell anew, without a command."},
        },
    });
    described(name, "Runs a command in a bash shell that stays open between calls.", &schema)
}

/// `text_editor_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool>).
pub(super) fn text_editor<'a>(name: Text<'a>) -> Result<Tool<'a>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
            "path": {"type": "string", "description": "A file, or a directory to view."},
            "view_range": {
                "type": "array", "items": {"type": "integer"},
                "description": "Of view: first and last line, from 1; -1 is the end.",
            },
            "file_text": {"type": "string", "description": "Of create: the whole content."},
            "old_str": {"type": "string", "description": "Of str_replace: what is replaced; it has to occur exactly once."},
            "new_str": {"type": "string", "description": "Of str_replace: what it is replaced with."},
            "insert_line": {"type": "integer", "description": "Of insert: the line after which to insert; 0 is the beginning."},
            "insert_text": {"type": "string", "description": "Of insert: the text."},
        },
        "required": ["command", "path"],
    });
    described(name, "Views, creates and edits text files.", &schema)
}

/// `memory_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool>).
pub(super) fn memory<'a>(name: Text<'a>) -> Result<Tool<'a>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
            "path": {"type": "string", "description": "A path below /memories."},
            "view_range": {"type": "array", "items": {"type": "integer"}, "description": "Of view: first and last line."},
            "file_text": {"type": "string", "description": "Of create: the whole content."},
            "old_str": {"type": "string", "description": "Of str_replace: what is replaced."},
            "new_str": {"type": "string", "description": "Of str_replace: what it is replaced with."},
            "insert_line": {"type": "integer", "description": "Of insert: the line after which to insert."},
            "insert_text": {"type": "string", "description": "Of insert: the text."},
            "old_path": {"type": "string", "description": "Of rename."},
            "new_path": {"type": "string", "description": "Of rename."},
        },
        "required": ["command"],
    });
    described(
        name,
        "Keeps notes in files below /memories, across conversations. View /memories before anything else, and write down what later work needs.",
        &schema,
    )
}

/// `computer_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/computer-use-tool>).
pub(super) fn computer<'a>(tool: &'a ComputerTool<'a>) -> Result<Tool<'a>, ConvertError> {
    let mut actions = vec![
        "screenshot",
        "left_click",
        "right_click",
        "middle_click",
        "double_click",
        "triple_click",
        "left_click_drag",
        "left_mouse_down",
        "left_mouse_up",
        "mouse_move",
        "cursor_position",
        "scroll",
        "type",
        "key",
        "hold_key",
        "wait",
    ];
    if tool.enable_zoom == Some(true) {
        actions.push("zoom");
    }
    let point = json!({"type": "array", "items": {"type": "integer"}, "description": "[x, y] in pixels."});
    let schema = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": actions},
            "coordinate": point,
            "start_coordinate": point,
            "text": {"type": "string", "description": "What is typed, or a key or keys such as ctrl+s; of clicks and scrolling a key held meanwhile."},
            "scroll_direction": {"type": "string", "enum": ["up", "down", "left", "right"]},
            "scroll_amount": {"type": "integer", "description": "Clicks of the wheel."},
            "duration": {"type": "number", "description": "Of hold_key and wait: seconds."},
            "region": {"type": "array", "items": {"type": "integer"}, "description": "Of zoom: [x0, y0, x1, y1]."},
        },
        "required": ["action"],
    });
    let description = format!(
        "Operates a computer with mouse, keyboard and a screen of {} by {} pixels. Take a screenshot first, and after what changes the screen.",
        tool.display_width_px, tool.display_height_px
    );
    described(tool.name.by_ref(), &description, &schema)
}

fn described<'a>(name: Text<'a>, description: &str, schema: &Value) -> Result<Tool<'a>, ConvertError> {
    let parameters = Raw::of(schema).map_err(|error| ConvertError::invalid("tools", error.to_string()))?;
    Ok(function(name, Some(description.to_owned().into()), parameters, false))
}
