//! Parts of messages: texts, images, files.

use super::cache::Marks;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::convert::media::{Media, data_url};
use crate::protocol::convert::to_claude::content::{at, image, inline, is_blank};
use crate::protocol::convert::{ConvertError, Losses, to_claude};
use crate::protocol::openai_chat::wire::content::{File, FilePart, ImagePart, Part, TextPart};
use crate::protocol::wire::{Text, kind};

/// Converts parts, and gathers what has to be fetched for them.
#[derive(Debug)]
pub struct Parts<'a> {
    media: &'a Media,
    /// The borders of the prompt cache.
    pub marks: Marks,
    /// The addresses of what has to be fetched.
    pub missing: Vec<String>,
}

impl<'a> Parts<'a> {
    /// With the files that were fetched.
    pub fn new(media: &'a Media, marks: Marks) -> Self {
        Self { media, marks, missing: Vec::new() }
    }

    /// A part of a user's message; `None` for a blank text, which Claude refuses.
    pub fn part(
        &mut self,
        part: &'a Part<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Option<ContentBlock<'a>>, ConvertError> {
        match part {
            Part::Text(part) => Ok(self.text(part, path, losses)),
            Part::ImageUrl(part) => self.image(part, path, losses).map(Some),
            Part::File(part) => self.file(part, path, losses).map(Some),
            Part::InputAudio(_) => Err(ConvertError::unsupported(path, "Claude takes no sound; send it as text")),
            Part::Refusal(part) => Ok(text_block(part.refusal.by_ref())),
            Part::Other(raw) => {
                let kind = kind(&raw.0).map(Text::into_owned).unwrap_or_default();
                Err(ConvertError::unsupported(path, format!("Claude takes no content of type {kind:?}")))
            }
        }
    }

    fn text(&mut self, part: &'a TextPart<'a>, path: &str, losses: &mut Losses) -> Option<ContentBlock<'a>> {
        let mut block = text_block(part.text.by_ref())?;
        let (own, claude) = (part.prompt_cache_breakpoint.as_ref(), part.cache_control.as_ref());
        set_mark(&mut block, self.marks.mark(own, claude, path, losses));
        Some(block)
    }

    fn image(
        &mut self,
        part: &'a ImagePart<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<ContentBlock<'a>, ConvertError> {
        let image = &part.image_url;
        if image.detail.as_ref().is_some_and(|detail| *detail != "auto") {
            losses.hint(
                format!("{path}.image_url.detail"),
                "has no counterpart, Claude looks at images as closely as it can",
            );
        }
        let mut block = self.address(&image.url, path)?;
        let (own, claude) = (part.prompt_cache_breakpoint.as_ref(), part.cache_control.as_ref());
        set_mark(&mut block, self.marks.mark(own, claude, path, losses));
        Ok(block)
    }

    /// What is at an address: an image, or a PDF, which some clients send as one.
    fn address(&mut self, url: &'a Text<'a>, path: &str) -> Result<ContentBlock<'a>, ConvertError> {
        if let Some(url) = data_url(url) {
            return inline(url.media_type, url.data, None, path).map(ContentBlock::from);
        }
        if url.starts_with("https://") {
            return Ok(image(at(url)).into());
        }
        if !url.starts_with("http://") {
            return Err(ConvertError::invalid(
                path,
                "the URL of an image is an https:// address, or data:image/…;base64,…",
            ));
        }
        // Claude fetches over https only.
        match self.media.get(&**url) {
            Some(file) => inline(&file.media_type, &file.data, None, path).map(ContentBlock::from),
            None => {
                self.missing.push(url.by_ref().into_owned());
                Ok(image(at(url)).into())
            }
        }
    }

    fn file(
        &mut self,
        part: &'a FilePart<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<ContentBlock<'a>, ConvertError> {
        let File { file_data, file_id, filename } = &part.file;
        let name = filename.as_ref().map(Text::by_ref);
        let mut block: ContentBlock<'a> = match (file_data, file_id) {
            (Some(data), _) => match data_url(data) {
                Some(url) => inline(url.media_type, url.data, name, path)?.into(),
                // Some clients send the base64 of a PDF alone.
                None if data.starts_with("JVBER") => inline("application/pdf", data, name, path)?.into(),
                None => {
                    return Err(ConvertError::invalid(path, "file_data has to be a URL data:MEDIA-TYPE;base64,…"));
                }
            },
            (None, Some(_)) => {
                return Err(ConvertError::unsupported(
                    path,
                    "the file is kept by another vendor; send its bytes as file_data",
                ));
            }
            (None, None) => return Err(ConvertError::invalid(path, "a file has file_data or a file_id")),
        };
        let (own, claude) = (part.prompt_cache_breakpoint.as_ref(), part.cache_control.as_ref());
        set_mark(&mut block, self.marks.mark(own, claude, path, losses));
        Ok(block)
    }
}

/// A text block, if there is a text.
pub fn text_block(text: Text<'_>) -> Option<ContentBlock<'_>> {
    (!is_blank(&text)).then(|| ContentBlock::Text(to_claude::content::text_block(text)))
}

/// Puts a border behind a block that can have one.
pub fn set_mark<'a>(
    block: &mut ContentBlock<'a>,
    mark: Option<crate::protocol::claude::wire::content::CacheControl<'a>>,
) {
    if mark.is_none() {
        return;
    }
    match block {
        ContentBlock::Text(block) => block.cache_control = mark,
        ContentBlock::Image(block) => block.cache_control = mark,
        ContentBlock::Document(block) => block.cache_control = mark,
        ContentBlock::ToolUse(block) => block.cache_control = mark,
        ContentBlock::ToolResult(block) => block.cache_control = mark,
        _ => {}
    }
}
