//! Tools that Claude knows by their names and that the client carries out, written out for a model that does not know them
//! (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference>).

use serde_json::{Value, json};

use crate::protocol::claude::wire::tools::ComputerTool;

/// What is said of such a tool.
pub const DESCRIBED: &str = "is described to the model, which does not know it by itself";

/// What a tool is and what it takes.
#[derive(Debug)]
pub struct Function {
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

fn function(description: &str, properties: Value, required: &[&str]) -> Function {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Function { description: description.to_owned(), schema }
}

/// `bash_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool>).
pub fn bash() -> Function {
    let properties = json!({
        "command": {"type": "string", "description": "The command to run. Required unless the session is restarted."},
        "restart": {"type": "boolean", "description": "Whether the session is to be restarted."},
    });
    function("Runs commands in a bash session that lasts from call to call.", properties, &[])
}

/// `text_editor_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool>).
pub fn text_editor() -> Function {
    let properties = json!({
        "command": {
            "type": "string",
            "enum": ["view", "create", "str_replace", "insert"],
            "description": "What to do.",
        },
        "path": {"type": "string", "description": "The absolute path of the file or folder."},
        "view_range": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "For view: the first and the last line, from 1; -1 is the end of the file.",
        },
        "file_text": {"type": "string", "description": "For create: the content of the file."},
        "old_str": {"type": "string", "description": "For str_replace: the text to replace, which must occur exactly once."},
        "new_str": {"type": "string", "description": "For str_replace: the text to put in its place."},
        "insert_line": {"type": "integer", "description": "For insert: the line after which to insert; 0 is the beginning."},
        "insert_text": {"type": "string", "description": "For insert: the text to insert."},
    });
    function("Views, creates and edits text files.", properties, &["command", "path"])
}

/// `memory_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool>).
pub fn memory() -> Function {
    let properties = json!({
        "command": {
            "type": "string",
            "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
            "description": "What to do.",
        },
        "path": {"type": "string", "description": "The path of the file or folder, below /memories."},
        "view_range": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "For view: the first and the last line, from 1.",
        },
        "file_text": {"type": "string", "description": "For create: the content of the file."},
        "old_str": {"type": "string", "description": "For str_replace: the text to replace."},
        "new_str": {"type": "string", "description": "For str_replace: the text to put in its place."},
        "insert_line": {"type": "integer", "description": "For insert: the line after which to insert."},
        "insert_text": {"type": "string", "description": "For insert: the text to insert."},
        "old_path": {"type": "string", "description": "For rename: the present path."},
        "new_path": {"type": "string", "description": "For rename: the new path."},
    });
    let description = "Keeps files below /memories that last from conversation to conversation. Look there before you begin, \
                       and write down what will be needed later.";
    function(description, properties, &["command"])
}

/// `computer_…` (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/computer-use-tool>).
pub fn computer(tool: &ComputerTool<'_>) -> Function {
    let mut actions = vec![
        "key",
        "type",
        "mouse_move",
        "left_click",
        "left_click_drag",
        "right_click",
        "middle_click",
        "double_click",
        "triple_click",
        "left_mouse_down",
        "left_mouse_up",
        "scroll",
        "hold_key",
        "wait",
        "screenshot",
        "cursor_position",
    ];
    if tool.enable_zoom == Some(true) {
        actions.push("zoom");
    }
    let point = |description: &str| json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "description": description});
    let properties = json!({
        "action": {"type": "string", "enum": actions, "description": "What to do."},
        "coordinate": point("Where: x and y in pixels from the upper left corner."),
        "start_coordinate": point("For left_click_drag: where to begin."),
        "text": {"type": "string", "description": "For type: the text. For key and hold_key: the keys, such as ctrl+s. For clicks and scroll: keys to hold meanwhile."},
        "scroll_direction": {"type": "string", "enum": ["up", "down", "left", "right"], "description": "For scroll."},
        "scroll_amount": {"type": "integer", "description": "For scroll: how many clicks of the wheel."},
        "duration": {"type": "number", "description": "For hold_key and wait: how long, in seconds."},
        "region": {"type": "array", "items": {"type": "integer"}, "description": "For zoom: x0, y0, x1, y1 in pixels."},
    });
    let description = format!(
        "Works a computer with mouse and keyboard. The screen is {} pixels wide and {} pixels high. Take a screenshot to see what \
         is there, before and after you act.",
        tool.display_width_px, tool.display_height_px
    );
    function(&description, properties, &["action"])
}
