//! What functions gave, as results of tools.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::claude::wire::content::{ResultBlock, TextBlock, ToolResultBlock};
use crate::protocol::convert::ConvertError;
use crate::protocol::gemini::wire::content::FunctionResponse;
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::wire::{Raw, Text, TextOr};

use super::media::{MediaReader, Medium};

/// The result that `response` tells of the call `id`.
pub(super) fn result<'a>(
    response: &'a FunctionResponse<'a>,
    id: Text<'a>,
    path: &str,
    media: &mut MediaReader<'a>,
) -> Result<ToolResultBlock<'a>, ConvertError> {
    let (text, is_error) = unwrapped(response.response.as_ref(), response.name.as_deref());
    let content = if response.parts.is_empty() {
        TextOr::Text(text)
    } else {
        TextOr::Structured(blocks(response, text, path, media)?)
    };
    Ok(ToolResultBlock {
        tool_use_id: id,
        content: Some(content),
        is_error: is_error.then_some(true),
        toolset_name: None,
        cache_control: None,
    })
}

fn blocks<'a>(
    response: &'a FunctionResponse<'a>,
    text: Text<'a>,
    path: &str,
    media: &mut MediaReader<'a>,
) -> Result<Vec<ResultBlock<'a>>, ConvertError> {
    let mut blocks = Vec::new();
    push_text(text, &mut blocks);
    for (index, part) in response.parts.iter().enumerate() {
        let path = format!("{path}.parts[{index}]");
        let medium = match (&part.inline_data, &part.file_data) {
            (Some(blob), _) => Some(media.blob(blob, &format!("{path}.inlineData"))?),
            (None, Some(file)) => media.file(file, &format!("{path}.fileData"))?,
            (None, None) => return Err(ConvertError::unsupported(path, "this kind of part is not known")),
        };
        match medium {
            None => {}
            Some(Medium::Document(block)) => blocks.push(ResultBlock::Document(block)),
            Some(Medium::Image(block)) => {
                // The response may refer to an image by its name, which an image of Claude does not have.
                let name = part.inline_data.as_ref().and_then(|blob| blob.display_name.as_ref());
                if let Some(name) = name {
                    push_text(format!("{}:", &**name).into(), &mut blocks);
                }
                blocks.push(ResultBlock::Image(block));
            }
        }
    }
    Ok(blocks)
}

fn push_text<'a>(text: Text<'a>, blocks: &mut Vec<ResultBlock<'a>>) {
    if !text.trim().is_empty() {
        blocks.push(ResultBlock::Text(TextBlock { text, citations: None, cache_control: None }));
    }
}

/// The text of a response, and whether it tells an error.
///
/// The vendor understands `output` and `error`; its SDK for Python writes `result` when it calls functions itself, LiteLLM `content`,
/// Vercel's SDK `name` and `content`. Everything else is the result as a whole.
fn unwrapped<'a>(response: Option<&'a Raw<'a>>, function: Option<&str>) -> (Text<'a>, bool) {
    let Some(response) = response else { return (Text::default(), false) };
    let members = response.read::<Members<'a, &'a RawValue>>().map(|members| members.0).unwrap_or_default();
    let is_own_name = |value: &RawValue| text(value).is_some_and(|name| Some(&*name) == function);
    match members.as_slice() {
        [(key, value)] if matches!(&**key, "output" | "result" | "content") => (text_or_json(value), false),
        [(key, value)] if *key == "error" => (text_or_json(value), true),
        [(name, own), (content, value)] | [(content, value), (name, own)]
            if *name == "name" && *content == "content" && is_own_name(own) =>
        {
            (text_or_json(value), false)
        }
        _ => (Text(Cow::Borrowed(response.get())), false),
    }
}

fn text_or_json(value: &RawValue) -> Text<'_> {
    text(value).unwrap_or_else(|| value.get().into())
}

fn text(value: &RawValue) -> Option<Text<'_>> {
    Text::deserialize(value).ok()
}
