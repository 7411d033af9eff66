//! The functions with which Gemini works a browser, which its clients do not declare but expect to be called
//! (<https://ai.google.dev/gemini-api/docs/computer-use#supported-actions>).

use serde_json::{Value, json};

/// A function: its name, what it does and the JSON Schema of what it takes.
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) schema: Value,
}

/// All functions of a browser.
pub(super) fn browser() -> Vec<Function> {
    let x = json!({"type": "integer", "minimum": 0, "maximum": 999, "description": "From 0 at the left to 999 at the right of the screen."});
    let y = json!({"type": "integer", "minimum": 0, "maximum": 999, "description": "From 0 at the top to 999 at the bottom of the screen."});
    let direction = json!({"type": "string", "enum": ["up", "down", "left", "right"]});
    let function = |name, description, properties: Value, required: &[&str]| Function {
        name,
        description,
        schema: json!({"type": "object", "properties": properties, "required": required}),
    };
    vec![
        function("open_web_browser", "Opens the browser.", json!({}), &[]),
        function("wait_5_seconds", "Waits for 5 seconds.", json!({}), &[]),
        function("go_back", "Goes back to the former page.", json!({}), &[]),
        function("go_forward", "Goes forward to the next page.", json!({}), &[]),
        function("search", "Opens the page of a search engine.", json!({}), &[]),
        function("navigate", "Opens an address.", json!({"url": {"type": "string"}}), &["url"]),
        function("click_at", "Clicks.", json!({"x": x, "y": y}), &["x", "y"]),
        function("hover_at", "Moves the pointer there.", json!({"x": x, "y": y}), &["x", "y"]),
        function(
            "type_text_at",
            "Clicks and types a text.",
            json!({
                "x": x,
                "y": y,
                "text": {"type": "string"},
                "press_enter": {"type": "boolean", "description": "Whether to press Enter after it; true by default."},
                "clear_before_typing": {"type": "boolean", "description": "Whether to clear the field first; true by default."},
            }),
            &["x", "y", "text"],
        ),
        function(
            "key_combination",
            "Presses keys.",
            json!({"keys": {"type": "string", "description": "Such as enter or control+c."}}),
            &["keys"],
        ),
        function("scroll_document", "Scrolls the page.", json!({"direction": direction}), &["direction"]),
        function(
            "scroll_at",
            "Scrolls what is there.",
            json!({
                "x": x,
                "y": y,
                "direction": direction,
                "magnitude": {"type": "integer", "minimum": 0, "maximum": 999, "description": "How far; 800 by default."},
            }),
            &["x", "y", "direction"],
        ),
        function(
            "drag_and_drop",
            "Drags something from one place to another.",
            json!({"x": x, "y": y, "destination_x": x, "destination_y": y}),
            &["x", "y", "destination_x", "destination_y"],
        ),
    ]
}
