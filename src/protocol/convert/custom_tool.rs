//! Tools that take a free text, for models that know functions only: a function whose one argument is the text.

use serde_json::json;

use super::ConvertError;
use super::names::CUSTOM_INPUT;
use crate::protocol::wire::Raw;

/// What is said of a grammar, to which only OpenAI's models can be held.
pub const GRAMMAR: &str = "the grammar is told to the model and not enforced";

/// The grammar that a text has to follow.
#[derive(Debug, Clone, Copy)]
pub struct Grammar<'a> {
    /// `lark` or `regex`.
    pub syntax: &'a str,
    /// The grammar itself.
    pub definition: &'a str,
}

/// What is said of the argument.
pub fn description(grammar: Option<Grammar<'_>>) -> String {
    match grammar {
        Some(Grammar { syntax, definition }) => {
            format!("The input as one text, not as JSON. It has to follow this grammar ({syntax}):\n{definition}")
        }
        None => "The input as one text, not as JSON.".to_owned(),
    }
}

/// The JSON Schema of the function's arguments.
pub fn schema(grammar: Option<Grammar<'_>>) -> Result<Raw<'static>, ConvertError> {
    let schema = json!({
        "type": "object",
        "properties": {CUSTOM_INPUT: {"type": "string", "description": description(grammar)}},
        "required": [CUSTOM_INPUT],
        "additionalProperties": false,
    });
    Raw::of(&schema).map_err(|error| ConvertError::invalid("tools", error.to_string()))
}
