//! The form of an answer that Gemini is held to, or told where it cannot be.

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::request::GenerationConfig;
use crate::protocol::wire::{Raw, Text};

/// Most sequences that end an answer.
const MAX_STOP_SEQUENCES: usize = 5;

/// Sets that the answer is JSON, of this JSON Schema if there is one. Where the model cannot be held to it, gives the instruction that
/// stands for it: before the third generation tools and a JSON answer exclude each other
/// (<https://ai.google.dev/gemini-api/docs/structured-output>). `path` is that of the whole format.
pub fn json<'a>(
    schema: Option<Raw<'a>>,
    path: &str,
    has_tools: bool,
    model: Capabilities,
    config: &mut GenerationConfig<'a>,
    losses: &mut Losses,
) -> Result<Option<Part<'a>>, ConvertError> {
    if has_tools && !model.third_generation {
        losses.add(path, "is told to the model and not enforced, since it has tools");
        let told = match schema {
            Some(schema) => format!("Answer with nothing but JSON that follows this JSON Schema:\n{}", schema.get()),
            None => "Answer with nothing but one JSON object.".to_owned(),
        };
        return Ok(Some(Part { text: Some(told.into()), ..Part::default() }));
    }
    config.response_mime_type = Some("application/json".into());
    match schema {
        None => {}
        Some(schema) if model.json_schema => config.response_json_schema = Some(schema),
        Some(schema) => {
            config.response_schema = Some(Box::new(json_schema::response_subset(&schema, path, losses)?));
        }
    }
    Ok(None)
}

/// Texts that end the answer.
pub fn stop_sequences<'a>(given: &'a [Text<'a>], path: &str, losses: &mut Losses) -> Vec<Text<'a>> {
    let given: Vec<_> = given.iter().filter(|text| !text.is_empty()).map(Text::by_ref).collect();
    if given.len() > MAX_STOP_SEQUENCES {
        losses.add(path, "are more than the model takes, the first 5 are sent");
    }
    given.into_iter().take(MAX_STOP_SEQUENCES).collect()
}
