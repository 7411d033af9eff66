//! What functions gave.

use super::media;
use crate::protocol::convert::ConvertError;
use crate::protocol::gemini::wire::content::{FunctionResponse, FunctionResponsePart, MediaResolution};
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::openai_responses::wire::content::{Content, InputText, Part};
use crate::protocol::wire::{Raw, Text, TextOr};

/// The output: a text, or with media a list.
pub(super) fn output<'a>(
    response: &'a FunctionResponse<'a>,
    resolution: Option<&MediaResolution<'_>>,
    path: &str,
) -> Result<Content<'a>, ConvertError> {
    let text = response.response.as_ref().map(|response| text(response, response_name(response))).unwrap_or_default();
    if response.parts.is_empty() {
        return Ok(TextOr::Text(text));
    }
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(Part::InputText(InputText { text, ..InputText::default() }));
    }
    for (index, part) in response.parts.iter().enumerate() {
        parts.push(medium(part, resolution, &format!("{path}.parts[{index}]"))?);
    }
    Ok(TextOr::Structured(parts))
}

fn medium<'a>(
    part: &'a FunctionResponsePart<'a>,
    resolution: Option<&MediaResolution<'_>>,
    path: &str,
) -> Result<Part<'a>, ConvertError> {
    let own = part.media_resolution.as_ref().and_then(|resolution| resolution.level.as_ref());
    let detail = media::detail(own.or(resolution));
    match (&part.inline_data, &part.file_data) {
        (Some(blob), _) => media::inline(blob, detail, &format!("{path}.inlineData")),
        (None, Some(file)) => media::elsewhere(file, detail, &format!("{path}.fileData")),
        (None, None) => Err(ConvertError::unsupported(path, "this kind of content is not known")),
    }
}

/// How clients wrap what a function gave.
enum Wrapping {
    Value,
    Error,
    None,
}

fn response_name(response: &Raw<'_>) -> Wrapping {
    let Ok(members) = response.read::<Members<'_, Raw<'_>>>() else { return Wrapping::None };
    let mut names: Vec<&str> = members.0.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    match names.as_slice() {
        ["output" | "result" | "content"] | ["content", "name"] => Wrapping::Value,
        ["error"] => Wrapping::Error,
        _ => Wrapping::None,
    }
}

/// What was wrapped, as the text that the function gave; anything else as JSON. An error stays visible as one (B11).
fn text<'a>(response: &Raw<'_>, wrapping: Wrapping) -> Text<'a> {
    let whole = || response.get().to_owned().into();
    let Ok(members) = response.read::<Members<'_, Raw<'_>>>() else { return whole() };
    let value = members.0.iter().find(|(name, _)| **name != *"name").map(|(_, value)| match value.read::<String>() {
        Ok(text) => text,
        Err(_) => value.get().to_owned(),
    });
    match (wrapping, value) {
        (Wrapping::Value, Some(value)) => value.into(),
        (Wrapping::Error, Some(value)) => format!("error: {value}").into(),
        _ => whole(),
    }
}
