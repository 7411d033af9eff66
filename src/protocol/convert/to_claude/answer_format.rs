//! The form of an answer that Claude is held to, or told where it cannot be.

use super::schema;
use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::claude::wire::request::{JsonSchemaFormat, OutputFormat};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::Raw;

/// The form of an answer.
#[derive(Debug, Default)]
pub struct AnswerFormat<'a> {
    /// What the model is held to.
    pub format: Option<OutputFormat<'a>>,
    /// What it is told in the system prompt, where it cannot be held to it.
    pub told: Option<String>,
}

/// JSON, of this JSON Schema if there is one, each with its path.
pub fn json<'a>(
    path: &str,
    schema: Option<(&str, Raw<'_>)>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<AnswerFormat<'a>, ConvertError> {
    const ALONE: &str = "Answer with nothing else, and without a code block around it.";
    let told = match schema {
        Some((path, schema)) if model.structured_output => {
            let schema = schema::of_answer(&schema, path, losses)?;
            let format = OutputFormat::JsonSchema(JsonSchemaFormat { schema });
            return Ok(AnswerFormat { format: Some(format), told: None });
        }
        Some((_, schema)) => format!("Answer with JSON that follows this JSON Schema. {ALONE}\n{}", schema.get()),
        None => format!("Answer with one JSON object. {ALONE}"),
    };
    losses.add(path, "is told in the system prompt, the model cannot be held to it");
    Ok(AnswerFormat { format: None, told: Some(told) })
}
