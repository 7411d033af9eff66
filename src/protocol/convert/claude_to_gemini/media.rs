//! Images, documents and search results of the client, as parts.

use crate::protocol::claude::wire::document::{
    BasicBlock, CitationsConfig, DocumentBlock, ImageBlock, SearchResultBlock, Source,
};
use crate::protocol::convert::media::{MediaFile, checked_base64, data_url};
use crate::protocol::convert::{Context, ConvertError, Losses};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::wire::content::{Blob, FileData, Part};
use crate::protocol::wire::{Text, TextOr};

use super::messages::text_part;

/// Converts media, and gathers what has to be fetched.
pub(super) struct MediaReader<'a> {
    context: &'a Context<'a>,
    remote_files: bool,
    /// Whether responses of functions can hold media.
    pub(super) within_results: bool,
    wanted: Vec<String>,
}

impl<'a> MediaReader<'a> {
    /// A reader for the model.
    pub(super) fn new(context: &'a Context<'a>, model: &Capabilities) -> Self {
        let Capabilities { remote_files, third_generation: within_results, .. } = *model;
        Self { context, remote_files, within_results, wanted: Vec::new() }
    }

    /// Refuses to go on while files are missing.
    pub(super) fn finish(self) -> Result<(), ConvertError> {
        if self.wanted.is_empty() { Ok(()) } else { Err(ConvertError::NeedsMedia(self.wanted)) }
    }

    /// An image.
    pub(super) fn image(
        &mut self,
        block: &'a ImageBlock<'a>,
        path: &str,
        parts: &mut Vec<Part<'a>>,
    ) -> Result<(), ConvertError> {
        self.source(&block.source, path, parts)
    }

    /// A document; its title and context stand before it.
    pub(super) fn document(
        &mut self,
        block: &'a DocumentBlock<'a>,
        path: &str,
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
        self.source(&block.source, path, parts)
    }

    fn source(&mut self, source: &'a Source<'a>, path: &str, parts: &mut Vec<Part<'a>>) -> Result<(), ConvertError> {
        match source {
            Source::Base64(source) => {
                parts.push(inline(source.media_type.by_ref(), Text(checked_base64(&source.data, path)?)));
            }
            Source::Text(source) => parts.extend(text_part(&source.data)),
            Source::Content(source) => match &source.content {
                TextOr::Text(text) => parts.extend(text_part(text)),
                TextOr::Structured(blocks) => {
                    for block in blocks {
                        self.basic(block, path, parts)?;
                    }
                }
            },
            Source::Url(source) => parts.push(self.remote(&source.url, path)?),
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

    fn basic(&mut self, block: &'a BasicBlock<'a>, path: &str, parts: &mut Vec<Part<'a>>) -> Result<(), ConvertError> {
        match block {
            BasicBlock::Text(block) => parts.extend(text_part(&block.text)),
            BasicBlock::Image(block) => self.image(block, path, parts)?,
            BasicBlock::Other(_) => return Err(ConvertError::unsupported(path, "this kind of block is not known")),
        }
        Ok(())
    }

    /// A file at an address: as an address where the model reads it, else its bytes.
    fn remote(&mut self, url: &'a Text<'a>, path: &str) -> Result<Part<'a>, ConvertError> {
        if let Some(url) = data_url(url) {
            return Ok(inline(url.media_type.into(), Text(checked_base64(url.data, path)?)));
        }
        if let Some(MediaFile { media_type, data }) = self.context.media.get(&**url) {
            return Ok(inline(media_type.as_str().into(), data.as_str().into()));
        }
        Ok(match media_type(url) {
            Some(media_type) if self.remote_files => {
                let file =
                    FileData { mime_type: Some(media_type.into()), file_uri: Some(url.by_ref()), display_name: None };
                Part { file_data: Some(file), ..Part::default() }
            }
            _ => {
                self.wanted.push(url.to_string());
                Part::default()
            }
        })
    }
}

/// The media type of what Gemini reads at a public address, as far as its name tells it; `None` means that it has to be fetched.
fn media_type(url: &str) -> Option<&'static str> {
    let path = url.strip_prefix("https://")?.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit_once('/')?.1.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => return None,
    })
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

fn inline<'a>(media_type: Text<'a>, data: Text<'a>) -> Part<'a> {
    let blob = Blob { mime_type: Some(media_type), data: Some(data), display_name: None };
    Part { inline_data: Some(blob), ..Part::default() }
}
