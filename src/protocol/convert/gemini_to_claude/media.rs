//! Media of the client, as images and documents.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::document::{DataSource, DocumentBlock, ImageBlock, Source, UrlSource};
use crate::protocol::convert::media::{MediaFile, checked_base64};
use crate::protocol::convert::{Context, ConvertError};
use crate::protocol::gemini::wire::content::{Blob, FileData};
use crate::protocol::wire::Text;

/// An image or a document.
pub(super) enum Medium<'a> {
    Image(ImageBlock<'a>),
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

/// Converts media, and gathers what has to be fetched.
pub(super) struct MediaReader<'a> {
    context: &'a Context<'a>,
    wanted: Vec<String>,
}

impl<'a> MediaReader<'a> {
    /// A reader.
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self { context, wanted: Vec::new() }
    }

    /// Refuses to go on while files are missing.
    pub(super) fn finish(self) -> Result<(), ConvertError> {
        if self.wanted.is_empty() { Ok(()) } else { Err(ConvertError::NeedsMedia(self.wanted)) }
    }

    /// Media in the message itself.
    pub(super) fn blob(&mut self, blob: &'a Blob<'a>, path: &str) -> Result<Medium<'a>, ConvertError> {
        let media_type = blob.mime_type.as_deref().unwrap_or_default();
        let data = blob.data.as_deref().unwrap_or_default();
        bytes(media_type, data, blob.display_name.as_ref(), path)
    }

    /// A file at an address. Images and PDF stay there, text is fetched.
    pub(super) fn file(&mut self, file: &'a FileData<'a>, path: &str) -> Result<Option<Medium<'a>>, ConvertError> {
        let url = file.file_uri.as_deref().unwrap_or_default();
        if is_of_google(url) {
            return Err(ConvertError::unsupported(
                format!("{path}.fileUri"),
                "a file that Google keeps is not known to this model's provider; send its bytes or a public https address",
            ));
        }
        if let Some(MediaFile { media_type, data }) = self.context.media.get(url) {
            return bytes(media_type, data, file.display_name.as_ref(), path).map(Some);
        }
        let media_type = file.mime_type.as_deref().or_else(|| media_type(url)).unwrap_or_default();
        let source = || Source::Url(UrlSource { url: url.into() });
        if url.starts_with("https://") && is_image(media_type) {
            return Ok(Some(image(source())));
        }
        if url.starts_with("https://") && media_type == "application/pdf" {
            return Ok(Some(document(source(), file.display_name.as_ref())));
        }
        if !is_image(media_type) && !is_text(media_type) && !matches!(media_type, "" | "application/pdf") {
            return Err(unknown_type(media_type, path));
        }
        self.wanted.push(url.to_owned());
        Ok(None)
    }
}

fn bytes<'a>(
    media_type: &'a str,
    data: &'a str,
    title: Option<&'a Text<'a>>,
    path: &str,
) -> Result<Medium<'a>, ConvertError> {
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    let base64 = Text(checked_base64(data, path)?);
    if is_image(media_type) {
        let media_type = if media_type == "image/jpg" { "image/jpeg" } else { media_type };
        return Ok(image(Source::Base64(DataSource { media_type: media_type.into(), data: base64 })));
    }
    if media_type == "application/pdf" {
        return Ok(document(Source::Base64(DataSource { media_type: media_type.into(), data: base64 }), title));
    }
    if is_text(media_type) {
        let text = STANDARD.decode(&*base64).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let text =
            text.ok_or_else(|| ConvertError::invalid(format!("{path}.data"), "is no base64 of text in UTF-8"))?;
        return Ok(document(Source::Text(DataSource { media_type: "text/plain".into(), data: text.into() }), title));
    }
    Err(unknown_type(media_type, path))
}

fn image(source: Source<'_>) -> Medium<'_> {
    Medium::Image(ImageBlock { source, cache_control: None, transformations: None })
}

fn document<'a>(source: Source<'a>, title: Option<&'a Text<'a>>) -> Medium<'a> {
    let title = title.map(Text::by_ref);
    Medium::Document(Box::new(DocumentBlock { source, title, context: None, citations: None, cache_control: None }))
}

/// <https://platform.claude.com/docs/en/build-with-claude/vision>
fn is_image(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/jpg" | "image/gif" | "image/webp")
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || matches!(
            media_type,
            "application/json" | "application/xml" | "application/javascript" | "application/x-yaml"
        )
}

/// Whether only Google can read what is there: its Files API, its storage, its videos.
fn is_of_google(url: &str) -> bool {
    url.starts_with("gs://")
        || url.starts_with("https://generativelanguage.googleapis.com/")
        || url.starts_with("files/")
        || ["https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/"]
            .iter()
            .any(|host| url.starts_with(host))
}

/// The media type that the name of a file tells.
fn media_type(url: &str) -> Option<&'static str> {
    let (_, extension) = url.split(['?', '#']).next()?.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "txt" | "md" | "csv" | "html" => "text/plain",
        _ => return None,
    })
}

fn unknown_type(media_type: &str, path: &str) -> ConvertError {
    ConvertError::unsupported(
        format!("{path}.mimeType"),
        format!("this model reads images, PDF and text, not {media_type:?}"),
    )
}
