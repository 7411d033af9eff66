//! Parts of messages and of outputs.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::protocol::claude::wire::content::{CacheControl, ContentBlock, ResultBlock, TextBlock};
use crate::protocol::claude::wire::document::{DataSource, DocumentBlock, ImageBlock, Source, UrlSource};
use crate::protocol::convert::media::{checked_base64, data_url};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_responses::wire::content::{InputFile, InputImage, Part};
use crate::protocol::openai_responses::wire::request::PromptCacheBreakpoint;
use crate::protocol::wire::Text;

/// What a part becomes, in a turn or in the result of a tool.
pub(super) enum Material<'a> {
    /// Text.
    Text(TextBlock<'a>),
    /// An image.
    Image(ImageBlock<'a>),
    /// A document.
    Document(Box<DocumentBlock<'a>>),
}

impl<'a> From<Material<'a>> for ContentBlock<'a> {
    fn from(material: Material<'a>) -> Self {
        match material {
            Material::Text(text) => Self::Text(text),
            Material::Image(image) => Self::Image(image),
            Material::Document(document) => Self::Document(document),
        }
    }
}

impl<'a> From<Material<'a>> for ResultBlock<'a> {
    fn from(material: Material<'a>) -> Self {
        match material {
            Material::Text(text) => Self::Text(text),
            Material::Image(image) => Self::Image(image),
            Material::Document(document) => Self::Document(document),
        }
    }
}

/// A text block.
pub(super) fn text(text: Text<'_>) -> TextBlock<'_> {
    TextBlock { text, citations: None, cache_control: None }
}

/// Whether Claude refuses `text` as a block of its own.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// What a part of a message or of an output becomes; nothing where Claude takes none, which is an empty text.
pub(super) fn part<'a>(
    part: &'a Part<'a>,
    path: &str,
    losses: &mut Losses,
) -> Result<Option<Material<'a>>, ConvertError> {
    let (words, mark) = match part {
        Part::InputText(part) => (&part.text, part.prompt_cache_breakpoint.as_ref()),
        Part::OutputText(part) => {
            if part.annotations.as_ref().is_some_and(|annotations| !annotations.is_empty()) {
                losses.hint_once(path, "annotations of earlier answers are left out");
            }
            (&part.text, None)
        }
        Part::Refusal(part) => (&part.refusal, None),
        Part::ReasoningText(part) | Part::SummaryText(part) => (&part.text, None),
        Part::InputImage(part) => return image(part, path, losses).map(|image| Some(Material::Image(image))),
        Part::InputFile(part) => return file(part, path, losses).map(Some),
        Part::InputAudio(_) => {
            return Err(ConvertError::unsupported(path, "Claude takes no sound; send a transcript"));
        }
        Part::Other(_) => {
            return Err(ConvertError::unsupported(
                path,
                "a part of this type is not known; send text, images or files",
            ));
        }
    };
    let block = TextBlock { cache_control: mark.map(cache_control), ..text(words.by_ref()) };
    Ok((!is_blank(words)).then_some(Material::Text(block)))
}

/// A cache breakpoint of about the same life.
pub(super) fn cache_control<'a>(mark: &PromptCacheBreakpoint<'_>) -> CacheControl<'a> {
    let is_long = mark.ttl.as_ref().is_some_and(|ttl| *ttl == "12h");
    CacheControl { kind: "ephemeral".into(), ttl: is_long.then(|| "1h".into()) }
}

fn image<'a>(part: &'a InputImage<'a>, path: &str, losses: &mut Losses) -> Result<ImageBlock<'a>, ConvertError> {
    if part.detail.as_ref().is_some_and(|detail| *detail != "auto") {
        losses.hint_once(format!("{path}.detail"), "Claude sees all images in the same detail");
    }
    let Some(url) = &part.image_url else {
        return Err(foreign_file(&format!("{path}.file_id")));
    };
    let source = image_source(url, &format!("{path}.image_url"))?;
    Ok(ImageBlock {
        source,
        cache_control: part.prompt_cache_breakpoint.as_ref().map(cache_control),
        transformations: None,
    })
}

/// An image by its URL, which may hold its data.
pub(super) fn image_source<'a>(url: &'a str, path: &str) -> Result<Source<'a>, ConvertError> {
    let Some(parts) = data_url(url) else {
        return Ok(Source::Url(UrlSource { url: url.into() }));
    };
    let media_type = match parts.media_type {
        "image/jpg" => "image/jpeg",
        "image/jpeg" | "image/png" | "image/gif" | "image/webp" => parts.media_type,
        _ => return Err(ConvertError::unsupported(path, "Claude takes images of type JPEG, PNG, GIF and WebP")),
    };
    Ok(Source::Base64(DataSource { media_type: media_type.into(), data: Text(checked_base64(parts.data, path)?) }))
}

fn file<'a>(part: &'a InputFile<'a>, path: &str, losses: &mut Losses) -> Result<Material<'a>, ConvertError> {
    if part.detail.is_some() {
        losses.hint_once(format!("{path}.detail"), "Claude sees all documents in the same detail");
    }
    let source = match (&part.file_data, &part.file_url) {
        (Some(data), _) => file_source(data, part.filename.as_deref(), &format!("{path}.file_data"))?,
        (None, Some(url)) => Source::Url(UrlSource { url: url.by_ref() }),
        (None, None) => return Err(foreign_file(&format!("{path}.file_id"))),
    };
    let cache_control = part.prompt_cache_breakpoint.as_ref().map(cache_control);
    if matches!(&source, Source::Base64(data) if data.media_type.starts_with("image/")) {
        return Ok(Material::Image(ImageBlock { source, cache_control, transformations: None }));
    }
    Ok(Material::Document(Box::new(DocumentBlock {
        source,
        title: part.filename.as_ref().map(Text::by_ref),
        context: None,
        citations: None,
        cache_control,
    })))
}

/// A file by its data: a data URL, or bare Base64 as some clients send it, whose type its name tells.
fn file_source<'a>(data: &'a str, name: Option<&str>, path: &str) -> Result<Source<'a>, ConvertError> {
    let (media_type, base64) = match data_url(data) {
        Some(parts) => (parts.media_type, parts.data),
        None => ("", data),
    };
    let is_pdf = media_type == "application/pdf"
        || (matches!(media_type, "" | "application/octet-stream") && base64.starts_with("JVBERi0"));
    let base64 = checked_base64(base64, path)?;
    if is_pdf {
        return Ok(Source::Base64(DataSource { media_type: "application/pdf".into(), data: Text(base64) }));
    }
    if media_type.starts_with("image/") {
        return image_source(data, path);
    }
    let words = STANDARD.decode(base64.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match words {
        Some(words) if is_text(media_type, name) && !is_blank(&words) => {
            Ok(Source::Text(DataSource { media_type: "text/plain".into(), data: Text(Cow::Owned(words)) }))
        }
        _ => Err(ConvertError::unsupported(path, "Claude takes PDF files and files of plain text")),
    }
}

/// Whether a file that is valid UTF-8 is meant to be read as text.
fn is_text(media_type: &str, name: Option<&str>) -> bool {
    let is_office = name.is_some_and(|name| [".docx", ".xlsx", ".pptx"].iter().any(|end| name.ends_with(end)));
    !is_office
        && (media_type.starts_with("text/")
            || matches!(media_type, "" | "application/json" | "application/xml" | "application/octet-stream"))
}

fn foreign_file(path: &str) -> ConvertError {
    ConvertError::unsupported(
        path,
        "this file is kept at another vendor, Claude cannot see it; send its data or its address",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B49: a PDF stays one, whether its type is told or only its data and its name.
    #[test]
    fn files_are_told_by_their_type_or_their_data() {
        for data in ["data:application/pdf;base64,JVBERi0=", "JVBERi0="] {
            let Ok(Source::Base64(source)) = file_source(data, Some("a.pdf"), "p") else { panic!("{data}") };
            assert_eq!((&*source.media_type, &*source.data), ("application/pdf", "JVBERi0="));
        }
        let Ok(Source::Text(source)) = file_source("data:text/csv;base64,YTti", None, "p") else { panic!("text") };
        assert_eq!((&*source.media_type, &*source.data), ("text/plain", "a;b"));
        assert!(file_source("data:application/zip;base64,AAAA", None, "p").is_err());
        assert!(image_source("data:image/tiff;base64,AAAA", "p").is_err());
    }
}
