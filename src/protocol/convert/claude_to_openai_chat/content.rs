//! What a user says and shows: texts, images, documents.

use super::models::Model;
use crate::protocol::claude::wire::content::{CacheControl, TextBlock};
use crate::protocol::claude::wire::document::{BasicBlock, DocumentBlock, ImageBlock, SearchResultBlock, Source};
use crate::protocol::convert::loss::NO_CACHE_MARKS;
use crate::protocol::convert::media::{Media, checked_base64};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::wire::content::{
    File, FilePart, ImagePart, ImageUrl, Part, PromptCacheBreakpoint, TextPart,
};
use crate::protocol::wire::{Text, TextOr};

/// Converts blocks, and gathers what has to be fetched for them.
#[derive(Debug)]
pub struct Blocks<'a> {
    /// The model that gets them.
    pub model: Model<'a>,
    media: &'a Media,
    /// The addresses of what has to be fetched.
    pub missing: Vec<String>,
}

impl<'a> Blocks<'a> {
    /// With the files that were fetched.
    pub fn new(model: Model<'a>, media: &'a Media) -> Self {
        Self { model, media, missing: Vec::new() }
    }

    /// The border of the prompt cache at `path`.
    pub fn mark(
        &self,
        mark: Option<&CacheControl<'_>>,
        path: &str,
        losses: &mut Losses,
    ) -> Option<PromptCacheBreakpoint<'a>> {
        mark?;
        if self.model.can.cache_breakpoints {
            return Some(PromptCacheBreakpoint { mode: "explicit".into(), ttl: None });
        }
        unmarked(mark, path, losses);
        None
    }

    /// A text.
    pub fn text(&self, block: &'a TextBlock<'a>, path: &str, losses: &mut Losses) -> Part<'a> {
        let mark = self.mark(block.cache_control.as_ref(), path, losses);
        Part::Text(TextPart { text: block.text.by_ref(), prompt_cache_breakpoint: mark, cache_control: None })
    }

    /// An image.
    pub fn image(&self, block: &'a ImageBlock<'a>, path: &str, losses: &mut Losses) -> Result<Part<'a>, ConvertError> {
        let url = match &block.source {
            Source::Base64(data) => data_url(&data.media_type, &checked_base64(&data.data, path)?).into(),
            Source::Url(source) => source.url.by_ref(),
            Source::File(_) => return Err(kept_elsewhere(path)),
            _ => return Err(ConvertError::unsupported(path, "an image is base64 or at an https:// address")),
        };
        let prompt_cache_breakpoint = self.mark(block.cache_control.as_ref(), path, losses);
        Ok(Part::ImageUrl(ImagePart {
            image_url: ImageUrl { url, detail: None },
            prompt_cache_breakpoint,
            cache_control: None,
        }))
    }

    /// A document: a file, or what it says where that is text.
    pub fn document(
        &mut self,
        block: &'a DocumentBlock<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Vec<Part<'a>>, ConvertError> {
        if block.citations.as_ref().is_some_and(|citations| citations.enabled == Some(true)) {
            losses.add_once(format!("{path}.citations"), "have no counterpart, the answer does not cite");
        }
        let mark = self.mark(block.cache_control.as_ref(), path, losses);
        let mut parts = Vec::new();
        if let Some(context) = block.context.as_ref().filter(|context| !context.is_empty()) {
            parts.push(text(context.by_ref()));
        }
        let title = block.title.as_ref().filter(|title| !title.is_empty());
        let file = |media_type: &str, data: &str| {
            let name = title.map_or_else(|| default_name(media_type).into(), Text::by_ref);
            let file = File { file_data: Some(data_url(media_type, data).into()), file_id: None, filename: Some(name) };
            Part::File(FilePart { file, prompt_cache_breakpoint: None, cache_control: None })
        };
        match &block.source {
            Source::Base64(data) => parts.push(file(&data.media_type, &checked_base64(&data.data, path)?)),
            Source::Url(source) => match self.media.get(&*source.url) {
                Some(fetched) => parts.push(file(&fetched.media_type, &fetched.data)),
                None => self.missing.push(source.url.by_ref().into_owned()),
            },
            Source::Text(data) => {
                parts.extend(title.map(|title| text(title.by_ref())));
                parts.push(text(data.data.by_ref()));
            }
            Source::Content(source) => {
                parts.extend(title.map(|title| text(title.by_ref())));
                match &source.content {
                    TextOr::Text(content) => parts.push(text(content.by_ref())),
                    TextOr::Structured(blocks) => {
                        for (index, block) in blocks.iter().enumerate() {
                            let path = format!("{path}.source.content[{index}]");
                            parts.extend(self.basic(block, &path, losses)?);
                        }
                    }
                }
            }
            Source::File(_) => return Err(kept_elsewhere(path)),
            Source::Other(_) => {
                return Err(ConvertError::unsupported(path, "is a document of a kind that is not known"));
            }
        }
        if let Some(last) = parts.last_mut() {
            set_mark(last, mark);
        }
        Ok(parts)
    }

    /// A block that holds no others.
    pub fn basic(
        &self,
        block: &'a BasicBlock<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Option<Part<'a>>, ConvertError> {
        match block {
            BasicBlock::Text(block) => Ok(Some(self.text(block, path, losses))),
            BasicBlock::Image(block) => self.image(block, path, losses).map(Some),
            BasicBlock::Other(_) => {
                losses.add(path, "is of a kind that is not known");
                Ok(None)
            }
        }
    }
}

/// A result of the client's own search, as a text.
pub fn search_result(block: &SearchResultBlock<'_>, path: &str, losses: &mut Losses) -> String {
    if block.citations.as_ref().is_some_and(|citations| citations.enabled == Some(true)) {
        losses.add_once(format!("{path}.citations"), "have no counterpart, the answer does not cite");
    }
    let mut text = format!("{}\n{}", &*block.title, &*block.source);
    for block in &block.content {
        if let BasicBlock::Text(block) = block {
            text.push('\n');
            text.push_str(&block.text);
        }
    }
    text
}

/// A text that was made here.
pub fn text(text: Text<'_>) -> Part<'_> {
    Part::Text(TextPart { text, prompt_cache_breakpoint: None, cache_control: None })
}

/// Notes a border of the prompt cache that has no place in the target.
pub fn unmarked(mark: Option<&CacheControl<'_>>, path: &str, losses: &mut Losses) {
    if mark.is_some() {
        losses.hint_once(format!("{path}.cache_control"), NO_CACHE_MARKS);
    }
}

fn set_mark<'a>(part: &mut Part<'a>, mark: Option<PromptCacheBreakpoint<'a>>) {
    match part {
        Part::Text(part) => part.prompt_cache_breakpoint = mark,
        Part::ImageUrl(part) => part.prompt_cache_breakpoint = mark,
        Part::File(part) => part.prompt_cache_breakpoint = mark,
        _ => {}
    }
}

fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

fn default_name(media_type: &str) -> &'static str {
    match media_type {
        "application/pdf" => "document.pdf",
        _ => "document",
    }
}

fn kept_elsewhere(path: &str) -> ConvertError {
    ConvertError::unsupported(path, "the file is kept by another vendor; send its bytes in base64")
}
