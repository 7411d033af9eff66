//! Images, documents and search results of the client, as parts.

use crate::protocol::claude::wire::document::{
    BasicBlock, CitationsConfig, DocumentBlock, ImageBlock, SearchResultBlock, Source,
};
use crate::protocol::convert::to_gemini::media::{self, MediaReader, Place};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::wire::TextOr;

use super::messages::text_part;

/// An image.
pub(super) fn image<'a>(
    block: &'a ImageBlock<'a>,
    place: Place,
    path: &str,
    media: &mut MediaReader<'a>,
    parts: &mut Vec<Part<'a>>,
) -> Result<(), ConvertError> {
    source(&block.source, place, path, media, parts)
}

/// A document; its title and context stand before it.
pub(super) fn document<'a>(
    block: &'a DocumentBlock<'a>,
    place: Place,
    path: &str,
    media: &mut MediaReader<'a>,
    parts: &mut Vec<Part<'a>>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    note_citations(block.citations.as_ref(), path, losses);
    let title = block.title.iter().map(|title| format!("Document: {}", &**title));
    let context = block.context.iter().map(|context| format!("Context: {}", &**context));
    let heading: Vec<String> = title.chain(context).collect();
    if !heading.is_empty() {
        parts.push(Part { text: Some(heading.join("\n").into()), ..Part::default() });
    }
    source(&block.source, place, path, media, parts)
}

fn source<'a>(
    source: &'a Source<'a>,
    place: Place,
    path: &str,
    media: &mut MediaReader<'a>,
    parts: &mut Vec<Part<'a>>,
) -> Result<(), ConvertError> {
    match source {
        Source::Base64(source) => {
            parts.push(media::inline(&source.media_type, &source.data, &format!("{path}.source"))?);
        }
        Source::Text(source) => parts.extend(text_part(&source.data)),
        Source::Content(source) => match &source.content {
            TextOr::Text(text) => parts.extend(text_part(text)),
            TextOr::Structured(blocks) => {
                for block in blocks {
                    basic(block, place, path, media, parts)?;
                }
            }
        },
        Source::Url(source) => parts.push(media.at(&source.url, place, &format!("{path}.source.url"))?),
        Source::File(_) => {
            return Err(ConvertError::unsupported(
                format!("{path}.source"),
                "a file kept by Claude is not known to this model's provider; send its bytes",
            ));
        }
        Source::Other(_) => {
            return Err(ConvertError::unsupported(format!("{path}.source"), "this kind of source is not known"));
        }
    }
    Ok(())
}

fn basic<'a>(
    block: &'a BasicBlock<'a>,
    place: Place,
    path: &str,
    media: &mut MediaReader<'a>,
    parts: &mut Vec<Part<'a>>,
) -> Result<(), ConvertError> {
    match block {
        BasicBlock::Text(block) => parts.extend(text_part(&block.text)),
        BasicBlock::Image(block) => image(block, place, path, media, parts)?,
        BasicBlock::Other(_) => return Err(ConvertError::unsupported(path, "this kind of block is not known")),
    }
    Ok(())
}

/// A search result of the client, as text.
pub(super) fn search_result<'a>(block: &'a SearchResultBlock<'a>, path: &str, losses: &mut Losses) -> Part<'a> {
    note_citations(block.citations.as_ref(), path, losses);
    Part { text: Some(search_result_text(block).into()), ..Part::default() }
}

/// What a search result of the client says.
pub(super) fn search_result_text(block: &SearchResultBlock<'_>) -> String {
    let mut text = format!("Search result: {}\nSource: {}", &*block.title, &*block.source);
    for block in &block.content {
        if let BasicBlock::Text(block) = block {
            text.push('\n');
            text.push_str(&block.text);
        }
    }
    text
}

fn note_citations(config: Option<&CitationsConfig>, path: &str, losses: &mut Losses) {
    if config.is_some_and(|config| config.enabled == Some(true)) {
        losses.add_once(format_args!("{path}.citations"), "the answer does not cite the client's documents");
    }
}
