//! What functions gave.

use super::media;
use crate::protocol::convert::ConvertError;
use crate::protocol::convert::from_gemini::results::told;
use crate::protocol::gemini::wire::content::{FunctionResponse, FunctionResponsePart, MediaResolution};
use crate::protocol::openai_responses::wire::content::{Content, InputText, Part};
use crate::protocol::wire::TextOr;

/// The output: a text, or with media a list.
pub(super) fn output<'a>(
    response: &'a FunctionResponse<'a>,
    resolution: Option<&MediaResolution<'_>>,
    path: &str,
) -> Result<Content<'a>, ConvertError> {
    let text = told(response);
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
