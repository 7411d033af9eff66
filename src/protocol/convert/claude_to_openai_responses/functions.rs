//! Tools that the client carries out, as functions.

use crate::protocol::convert::ConvertError;
use crate::protocol::convert::from_claude::built_in_tools::Function;
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

/// A tool that Claude knows by its name and the client carries out.
pub(super) fn described<'a>(name: Text<'a>, tool: Function) -> Result<Tool<'a>, ConvertError> {
    let parameters = Raw::of(&tool.schema).map_err(|error| ConvertError::invalid("tools", error.to_string()))?;
    Ok(function(name, Some(tool.description.into()), parameters, false))
}
