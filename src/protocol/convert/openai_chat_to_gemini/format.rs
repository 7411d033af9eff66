//! What the answer has to look like.

use super::tools::takes_json_schema;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::request::GenerationConfig;
use crate::protocol::openai_chat::wire::request::{Request, ResponseFormat};

const JSON: &str = "application/json";

/// Newer models take JSON Schema for answers as it is (<https://ai.google.dev/gemini-api/docs/structured-output>).
pub(super) fn response_format<'a>(
    request: &'a Request<'a>,
    config: &mut GenerationConfig<'a>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    match &request.response_format {
        None | Some(ResponseFormat::Text(_)) => {}
        Some(ResponseFormat::JsonObject(_)) => config.response_mime_type = Some(JSON.into()),
        Some(ResponseFormat::JsonSchema(format)) => {
            config.response_mime_type = Some(JSON.into());
            if let Some(schema) = &format.json_schema.schema {
                if takes_json_schema(context.model) {
                    config.response_json_schema = Some(schema.by_ref());
                } else {
                    let path = "response_format.json_schema.schema";
                    let schema = json_schema::response_subset(schema, path, &mut notes.losses)?;
                    config.response_schema = Some(Box::new(schema));
                }
            }
            if format.json_schema.description.is_some() {
                notes.losses.hint("response_format.json_schema.description", "has no counterpart at Gemini");
            }
        }
        Some(ResponseFormat::Other(_)) => {
            notes.losses.add("response_format", "is of a kind that Gemini does not have");
        }
    }
    Ok(())
}
