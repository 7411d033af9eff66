//! Parts of messages: texts, images, files.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::cache::Marks;
use crate::protocol::claude::wire::content::{ContentBlock, TextBlock};
use crate::protocol::claude::wire::document::{DataSource, DocumentBlock, ImageBlock, Source, UrlSource};
use crate::protocol::convert::media::{Media, checked_base64, data_url};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::wire::content::{File, FilePart, ImagePart, Part, TextPart};
use crate::protocol::wire::{Text, kind};

/// What the media types of images are called that Claude takes.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

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
            return inline(url.media_type, checked_base64(url.data, path)?, None, path);
        }
        if url.starts_with("https://") {
            return Ok(image(Source::Url(UrlSource { url: url.by_ref() })));
        }
        if !url.starts_with("http://") {
            return Err(ConvertError::invalid(
                path,
                "the URL of an image is an https:// address, or data:image/…;base64,…",
            ));
        }
        // Claude fetches over https only.
        match self.media.get(&**url) {
            Some(file) => inline(&file.media_type, Cow::Borrowed(&*file.data), None, path),
            None => {
                self.missing.push(url.by_ref().into_owned());
                Ok(image(Source::Url(UrlSource { url: url.by_ref() })))
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
        let mut block = match (file_data, file_id) {
            (Some(data), _) => match data_url(data) {
                Some(url) => inline(url.media_type, checked_base64(url.data, path)?, name, path)?,
                // Some clients send the base64 of a PDF alone.
                None if data.starts_with("JVBER") => {
                    inline("application/pdf", checked_base64(data, path)?, name, path)?
                }
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
    if text.trim().is_empty() {
        return None;
    }
    Some(ContentBlock::Text(TextBlock { text, citations: None, cache_control: None }))
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

fn image(source: Source<'_>) -> ContentBlock<'_> {
    ContentBlock::Image(ImageBlock { source, cache_control: None, transformations: None })
}

/// Bytes, by their media type.
fn inline<'a>(
    media_type: &'a str,
    data: Cow<'a, str>,
    title: Option<Text<'a>>,
    path: &str,
) -> Result<ContentBlock<'a>, ConvertError> {
    let lower = media_type.to_ascii_lowercase();
    let lower = if lower == "image/jpg" { "image/jpeg".to_owned() } else { lower };
    let document = |source| {
        ContentBlock::Document(Box::new(DocumentBlock {
            source,
            title,
            context: None,
            citations: None,
            cache_control: None,
        }))
    };
    if IMAGES.contains(&&*lower) {
        return Ok(image(Source::Base64(DataSource { media_type: lower.into(), data: Text(data) })));
    }
    if lower == "application/pdf" {
        return Ok(document(Source::Base64(DataSource { media_type: lower.into(), data: Text(data) })));
    }
    if lower.starts_with("text/") || lower == "application/json" {
        let bytes = STANDARD.decode(data.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let text = bytes.ok_or_else(|| ConvertError::invalid(path, "the file is not the base64 of a text in UTF-8"))?;
        return Ok(document(Source::Text(DataSource { media_type: "text/plain".into(), data: text.into() })));
    }
    Err(ConvertError::unsupported(
        path,
        format!("Claude takes JPEG, PNG, GIF and WebP images, PDF and text, not {media_type:?}"),
    ))
}
