//! What the answer has to look like.

use crate::protocol::convert::Notes;
use crate::protocol::gemini::wire::request::GenerationConfig;
use crate::protocol::openai_chat::wire::request::{Request, ResponseFormat};
use crate::protocol::wire::Raw;

const JSON: &str = "application/json";

/// Gemini takes JSON Schema for answers as it is (<https://ai.google.dev/gemini-api/docs/structured-output>).
pub(super) fn response_format<'a>(request: &'a Request<'a>, config: &mut GenerationConfig<'a>, notes: &mut Notes) {
    match &request.response_format {
        None | Some(ResponseFormat::Text(_)) => {}
        Some(ResponseFormat::JsonObject(_)) => config.response_mime_type = Some(JSON.into()),
        Some(ResponseFormat::JsonSchema(format)) => {
            config.response_mime_type = Some(JSON.into());
            config.response_json_schema = format.json_schema.schema.as_ref().map(Raw::by_ref);
            if format.json_schema.description.is_some() {
                notes.losses.hint("response_format.json_schema.description", "has no counterpart at Gemini");
            }
        }
        Some(ResponseFormat::Other(_)) => {
            notes.losses.add("response_format", "is of a kind that Gemini does not have");
        }
    }
}
