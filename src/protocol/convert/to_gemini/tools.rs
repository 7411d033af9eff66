//! Tools for Gemini: functions, and what it runs itself beside them.

use serde_json::Value;

use crate::protocol::convert::custom_tool::{self, Grammar};
use crate::protocol::convert::{ConvertError, Losses, ServerTools};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::proto::List;
use crate::protocol::gemini::wire::tools::{FunctionDeclaration, Tool, ToolConfig};
use crate::protocol::wire::{Raw, Text};

/// What is said of a choice that Gemini cannot be held to.
pub const FUNCTIONS_ONLY: &str = "Gemini can be made to call functions only, not what it runs itself";

/// A function with arguments of this JSON Schema.
///
/// What Gemini's own schemas cannot say, as that a schema contains itself, newer models take as JSON Schema
/// (<https://ai.google.dev/api/caching#FunctionDeclaration>).
pub fn function<'a>(
    name: Text<'a>,
    description: Option<Text<'a>>,
    schema: Option<Raw<'a>>,
    path: &str,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let description = description.filter(|description| !description.is_empty());
    let function = FunctionDeclaration { name: Some(name), description, ..FunctionDeclaration::default() };
    // An empty schema says as much as none.
    let is_said = |schema: &Raw<'_>| !schema.get().split_whitespace().eq(["{}"]);
    let Some(schema) = schema.filter(is_said) else { return Ok(function) };
    match json_schema::subset(&schema, path, losses) {
        Ok(parameters) => Ok(FunctionDeclaration { parameters: parameters.map(Box::new), ..function }),
        Err(ConvertError::Unsupported { .. }) if model.json_schema => {
            Ok(FunctionDeclaration { parameters_json_schema: Some(schema), ..function })
        }
        Err(error) => Err(error),
    }
}

/// A function that is described here, since the model does not know it by itself.
pub fn described<'a>(
    name: Text<'a>,
    description: Text<'a>,
    schema: &Value,
    model: Capabilities,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let schema = Raw::of(schema).map_err(|error| ConvertError::invalid("tools", error.to_string()))?;
    // What the schema loses of its limits is none of the client's words.
    function(name, Some(description), Some(schema), "tools", model, &mut Losses::default())
}

/// A function whose one argument is a free text.
pub fn free_text<'a>(
    name: Text<'a>,
    description: Option<Text<'a>>,
    grammar: Option<Grammar<'_>>,
    model: Capabilities,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let schema = custom_tool::schema(grammar)?;
    function(name, description, Some(schema), "tools", model, &mut Losses::default())
}

/// All functions as one tool, as Gemini wants them, and after it what it runs itself.
///
/// Before the third generation a model has either the one or the other; since then both have to be asked for, since the answer then
/// shows what Gemini ran (<https://ai.google.dev/gemini-api/docs/tool-combination>).
pub fn combined<'a>(
    functions: Vec<FunctionDeclaration<'a>>,
    mut vendors: Vec<Tool<'a>>,
    config: &mut ToolConfig<'a>,
    model: Capabilities,
    server_tools: ServerTools,
    losses: &mut Losses,
) -> Result<Vec<Tool<'a>>, ConvertError> {
    if !functions.is_empty() && !vendors.is_empty() {
        match (model.third_generation, server_tools) {
            (true, _) => config.include_server_side_tool_invocations = Some(true),
            (false, ServerTools::Refuse) => {
                return Err(ConvertError::unsupported(
                    "tools",
                    "this model cannot have the provider's tools beside those of the client; leave one or the other out",
                ));
            }
            (false, ServerTools::Drop) => {
                vendors.clear();
                losses.add("tools", "the provider's tools are left out, since the client has tools too");
            }
        }
    }
    let functions =
        (!functions.is_empty()).then(|| Tool { function_declarations: Some(List(functions)), ..Tool::default() });
    Ok(functions.into_iter().chain(vendors).collect())
}
