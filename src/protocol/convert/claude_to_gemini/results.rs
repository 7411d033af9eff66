//! What tools gave, as responses of functions.

use serde::Serialize;

use crate::protocol::claude::wire::content::{ResultBlock, ToolResultBlock};
use crate::protocol::claude::wire::document::DocumentBlock;
use crate::protocol::convert::to_gemini::media::{MediaReader, Place, in_response};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::wire::content::{FunctionResponse, Part};
use crate::protocol::wire::{Raw, Text, TextOr};

use super::media::{self as files, search_result_text};

/// Gemini understands two members of a response
/// (<https://ai.google.dev/api/caching#FunctionResponse>).
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Response<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// The response to the call of `function`. What cannot stand in it is added to `beside`, which follows all responses of the turn.
pub(super) fn response<'a>(
    block: &'a ToolResultBlock<'a>,
    id: Text<'a>,
    function: String,
    path: &str,
    media: &mut MediaReader<'a>,
    beside: &mut Vec<Part<'a>>,
    losses: &mut Losses,
) -> Result<Part<'a>, ConvertError> {
    let mut texts = Vec::new();
    let mut parts = Vec::new();
    match &block.content {
        None => {}
        Some(TextOr::Text(text)) => texts.push(text.by_ref()),
        Some(TextOr::Structured(blocks)) => {
            for (index, block) in blocks.iter().enumerate() {
                result_block(block, &format!("{path}.content[{index}]"), media, &mut texts, &mut parts, losses)?;
            }
        }
    }
    let (within, outside): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| media.fits_response(part));
    if !outside.is_empty() {
        let label = format!("Files that the call {} of {function} gave:", &*id);
        beside.push(Part { text: Some(label.into()), ..Part::default() });
    }
    let has_media = !within.is_empty() || !outside.is_empty();
    beside.extend(outside);
    let text = match texts.as_slice() {
        [] if has_media => "The result is attached.".into(),
        [text] => std::borrow::Cow::Borrowed(&**text),
        texts => texts.iter().map(|text| &**text).collect::<Vec<_>>().join("\n").into(),
    };
    let response = if block.is_error == Some(true) { Response::Error(&text) } else { Response::Output(&text) };
    let response = Raw::of(&response).map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    let response = FunctionResponse {
        id: Some(id),
        name: Some(function.into()),
        response: Some(response),
        parts: within.into_iter().map(in_response).collect(),
        ..FunctionResponse::default()
    };
    Ok(Part { function_response: Some(Box::new(response)), ..Part::default() })
}

fn result_block<'a>(
    block: &'a ResultBlock<'a>,
    path: &str,
    media: &mut MediaReader<'a>,
    texts: &mut Vec<Text<'a>>,
    parts: &mut Vec<Part<'a>>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    match block {
        ResultBlock::Text(block) => texts.push(block.text.by_ref()),
        ResultBlock::Image(block) => files::image(block, Place::Response, path, media, parts)?,
        ResultBlock::Document(block) => document(block, path, media, texts, parts, losses)?,
        ResultBlock::SearchResult(block) => texts.push(search_result_text(block).into()),
        // All tools are declared from the start.
        ResultBlock::ToolReference(block) => texts.push(format!("The tool {} can be used.", &*block.tool_name).into()),
        ResultBlock::BrowserState(block) => texts.push(format!("Open tabs: {}", block.tabs.get()).into()),
        ResultBlock::Other(_) => return Err(ConvertError::unsupported(path, "this kind of block is not known")),
    }
    Ok(())
}

/// A document within a result: text joins the other texts, bytes are media.
fn document<'a>(
    block: &'a DocumentBlock<'a>,
    path: &str,
    media: &mut MediaReader<'a>,
    texts: &mut Vec<Text<'a>>,
    parts: &mut Vec<Part<'a>>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    let mut own = Vec::new();
    files::document(block, Place::Response, path, media, &mut own, losses)?;
    for part in own {
        match part.text {
            Some(text) => texts.push(text),
            None => parts.push(part),
        }
    }
    Ok(())
}
