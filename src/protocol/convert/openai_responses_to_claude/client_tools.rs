//! Tools that Responses defines and the client carries out: for Claude they are functions, whose calls become such items again.

use serde_json::json;

use super::schema;
use crate::protocol::claude::wire::tools::CustomTool;
use crate::protocol::convert::names::CUSTOM_INPUT;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_responses::local_tools::LocalTool;
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

/// The search among deferred tools, with the client's own words where it has some.
pub(super) fn tool_search<'a>(
    tool: &'a ToolSearchTool<'a>,
    path: &str,
    losses: &mut Losses,
) -> Result<CustomTool<'a>, ConvertError> {
    let own = local(LocalTool::ToolSearch)?;
    let description = tool.description.as_ref().map(Text::by_ref).or(own.description);
    let input_schema = match &tool.parameters {
        Some(parameters) => schema::of_arguments(Some(parameters), path, losses)?,
        None => own.input_schema,
    };
    Ok(function(own.name, description, input_schema))
}

/// The computer that the client operates, with the size of its screen where it is known.
pub(super) fn computer<'a>(display: Option<&ComputerUsePreviewTool<'_>>) -> Result<CustomTool<'a>, ConvertError> {
    let mut tool = local(LocalTool::Computer)?;
    if let (Some(display), Some(description)) = (display, &tool.description) {
        let (width, height, environment) = (display.display_width, display.display_height, &*display.environment);
        let screen = format!("{} The screen has {width} by {height} pixels ({environment}).", &**description);
        tool.description = Some(screen.into());
    }
    Ok(tool)
}

/// A tool that the client carries out, as a function.
pub(super) fn local<'a>(tool: LocalTool) -> Result<CustomTool<'a>, ConvertError> {
    let schema = Raw::parse(tool.parameters()).map_err(|error| ConvertError::invalid("tools", error.to_string()))?;
    Ok(function(tool.name().into(), Some(tool.description().into()), schema))
}

fn raw<'a>(schema: &serde_json::Value) -> Result<Raw<'a>, ConvertError> {
    Raw::of(schema).map_err(|error| ConvertError::invalid("tools", error.to_string()))
}
