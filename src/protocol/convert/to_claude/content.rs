//! Texts, images and documents as Claude takes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::protocol::claude::wire::content::{ContentBlock, ResultBlock, TextBlock};
use crate::protocol::claude::wire::document::{DataSource, DocumentBlock, ImageBlock, Source, UrlSource};
use crate::protocol::convert::ConvertError;
use crate::protocol::convert::media::checked_base64;
use crate::protocol::wire::Text;

/// The images that Claude takes (<https://platform.claude.com/docs/en/build-with-claude/vision>).
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// What is shown to the model, in a turn or in the result of a tool.
#[derive(Debug)]
pub enum Medium<'a> {
    /// An image.
    Image(ImageBlock<'a>),
    /// A document.
    Document(Box<DocumentBlock<'a>>),
}

impl<'a> From<Medium<'a>> for ContentBlock<'a> {
    fn from(medium: Medium<'a>) -> Self {
        match medium {
            Medium::Image(block) => Self::Image(block),
            Medium::Document(block) => Self::Document(block),
        }
    }
}

impl<'a> From<Medium<'a>> for ResultBlock<'a> {
    fn from(medium: Medium<'a>) -> Self {
        match medium {
            Medium::Image(block) => Self::Image(block),
            Medium::Document(block) => Self::Document(block),
        }
    }
}

/// A text as a block.
pub fn text_block(text: Text<'_>) -> TextBlock<'_> {
    TextBlock { text, citations: None, cache_control: None }
}

/// Whether Claude refuses `text` as a block of its own.
pub fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// An image.
pub fn image(source: Source<'_>) -> Medium<'_> {
    Medium::Image(ImageBlock { source, cache_control: None, transformations: None })
}

/// A document.
pub fn document<'a>(source: Source<'a>, title: Option<Text<'a>>) -> Medium<'a> {
    Medium::Document(Box::new(DocumentBlock { source, title, context: None, citations: None, cache_control: None }))
}

/// What is at an `https` address, which Claude fetches itself.
pub fn at(url: &str) -> Source<'_> {
    Source::Url(UrlSource { url: url.into() })
}

/// A file whose bytes are at hand, in base64. Without a type, or with one that says nothing, a PDF is known by how it begins, and what
/// is a text by what it is.
pub fn inline<'a>(
    media_type: &str,
    data: &'a str,
    title: Option<Text<'a>>,
    path: &str,
) -> Result<Medium<'a>, ConvertError> {
    let told = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_untold = matches!(&*told, "" | "application/octet-stream");
    let known = match &*told {
        "image/jpg" => "image/jpeg",
        _ if is_untold && data.starts_with("JVBER") => "application/pdf",
        other => other,
    };
    let base64 = Text(checked_base64(data, path)?);
    if IMAGES.contains(&known) {
        return Ok(image(Source::Base64(DataSource { media_type: known.to_owned().into(), data: base64 })));
    }
    if known == "application/pdf" {
        return Ok(document(Source::Base64(DataSource { media_type: "application/pdf".into(), data: base64 }), title));
    }
    let is_office =
        title.as_ref().is_some_and(|title| [".docx", ".xlsx", ".pptx"].iter().any(|end| title.ends_with(end)));
    if is_text(known) || is_untold && !is_office {
        let text = STANDARD.decode(base64.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        return match text {
            Some(text) if !is_blank(&text) => {
                let source = Source::Text(DataSource { media_type: "text/plain".into(), data: text.into() });
                Ok(document(source, title))
            }
            Some(_) => Err(ConvertError::invalid(path, "the file is empty")),
            None if is_untold => Err(not_taken(media_type, path)),
            None => Err(ConvertError::invalid(path, "the file is not the base64 of a text in UTF-8")),
        };
    }
    Err(not_taken(media_type, path))
}

/// Whether a file of this type can be read as text.
pub fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || matches!(
            media_type,
            "application/json" | "application/xml" | "application/javascript" | "application/x-yaml"
        )
}

/// Whether a file of this type is an image that Claude takes.
pub fn is_image(media_type: &str) -> bool {
    media_type == "image/jpg" || IMAGES.contains(&media_type)
}

/// The refusal of a file of another type.
pub fn not_taken(media_type: &str, path: &str) -> ConvertError {
    ConvertError::unsupported(
        path,
        format!("Claude takes images as JPEG, PNG, GIF and WebP, PDF and text, not {media_type:?}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B49: a PDF is one however it is told, text is text, and what is neither is refused.
    #[test]
    fn files_are_what_they_are() {
        let source = |media_type: &str, data: &'static str, title: Option<&'static str>| match inline(
            media_type,
            data,
            title.map(Text::from),
            "p",
        ) {
            Ok(Medium::Document(document)) => Some(document.source),
            Ok(Medium::Image(image)) => Some(image.source),
            Err(_) => None,
        };
        for media_type in ["application/pdf", "", "application/octet-stream"] {
            let pdf = source(media_type, "JVBERi0xLjQ=", Some("a.pdf"));
            assert!(matches!(pdf, Some(Source::Base64(pdf)) if pdf.media_type == "application/pdf"), "{media_type}");
        }
        for media_type in ["text/csv", "application/json; charset=utf-8", ""] {
            let text = source(media_type, "YTti", None);
            assert!(matches!(text, Some(Source::Text(text)) if text.data == "a;b"), "{media_type}");
        }
        let jpeg = source("image/JPG", "_-8", None);
        assert!(matches!(jpeg, Some(Source::Base64(jpeg)) if jpeg.media_type == "image/jpeg" && jpeg.data == "/+8="));
        for (media_type, data, title) in [
            ("application/zip", "AAAA", None),
            ("image/tiff", "AAAA", None),
            ("", "YTti", Some("a.docx")),
            ("", "/w==", None),
        ] {
            assert!(source(media_type, data, title).is_none(), "{media_type}");
        }
    }
}
