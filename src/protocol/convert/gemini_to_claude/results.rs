//! What functions gave, as results of tools.

use crate::protocol::claude::wire::content::{ResultBlock, TextBlock, ToolResultBlock};
use crate::protocol::convert::ConvertError;
use crate::protocol::convert::from_gemini::results::unwrapped;
use crate::protocol::convert::to_claude::content::Medium;
use crate::protocol::gemini::wire::content::FunctionResponse;
use crate::protocol::wire::{Text, TextOr};

use super::media::MediaReader;

/// The result that `response` tells of the call `id`.
pub(super) fn result<'a>(
    response: &'a FunctionResponse<'a>,
    id: Text<'a>,
    path: &str,
    media: &mut MediaReader<'a>,
) -> Result<ToolResultBlock<'a>, ConvertError> {
    let (text, is_error) = unwrapped(response);
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
