//! Tools that Responses defines and the client carries out: for Claude they are functions, whose calls become such items again.

use crate::protocol::claude::wire::tools::CustomTool;
use crate::protocol::convert::to_claude::schema;
use crate::protocol::convert::to_claude::tools::function;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::tools::{ComputerUsePreviewTool, ToolSearchTool};
use crate::protocol::wire::{Raw, Text};

/// The search among deferred tools, with the client's own words where it has some.
pub(super) fn tool_search<'a>(
    tool: &'a ToolSearchTool<'a>,
    path: &str,
    losses: &mut Losses,
) -> Result<CustomTool<'a>, ConvertError> {
    let own = local(LocalTool::ToolSearch)?;
    let description = tool.description.as_ref().map(Text::by_ref).or(own.description);
    let input_schema = match &tool.parameters {
        Some(parameters) => schema::of_arguments(Some(parameters.by_ref()), path, losses)?,
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
