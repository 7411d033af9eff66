//! Where media come from: the request itself, an address that Gemini reads, or an address that has to be fetched for it.

use crate::protocol::convert::media::{checked_base64, data_url, standard_base64};
use crate::protocol::convert::{Context, ConvertError};
use crate::protocol::gemini::wire::content::{Blob, FileData, Part};
use crate::protocol::wire::Text;

/// The media of a request.
pub(super) struct Sources<'a> {
    context: &'a Context<'a>,
    bytes_only: bool,
    missing: Vec<String>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self { context, bytes_only: false, missing: vec![] }
    }

    /// Whether addresses are of no use where the next media stand, as in results of calls.
    pub(super) fn take_bytes_only(&mut self, bytes_only: bool) {
        self.bytes_only = bytes_only;
    }

    /// Whether everything is there.
    pub(super) fn complete(&mut self) -> Result<(), ConvertError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        Err(ConvertError::NeedsMedia(std::mem::take(&mut self.missing)))
    }

    /// The medium at `url`.
    ///
    /// Gemini reads public addresses of texts, PDF and images itself, if it is told what they are, from 2.5 on
    /// (<https://ai.google.dev/gemini-api/docs/file-input-methods>). Everything else is fetched.
    pub(super) fn at_url(&mut self, url: &'a str, path: &str) -> Result<Part<'a>, ConvertError> {
        if let Some(data) = data_url(url) {
            checked_base64(data.data, path)?;
            return Ok(inline(data.media_type, data.data, None));
        }
        let is = |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
        let media_type = media_type_of(url);
        if is("gs://") || is_at_google(url) {
            return Ok(file(media_type, url));
        }
        if !is("https://") && !is("http://") {
            return Err(ConvertError::invalid(path, "is neither a data URL in base64 nor an https URL"));
        }
        let is_read_there = is("https://") && !self.bytes_only && reads_urls(self.context.model);
        if let Some(media_type) = media_type.filter(|media_type| is_read_there && is_read_by_gemini(media_type)) {
            return Ok(file(Some(media_type), url));
        }
        match self.context.media.get(url) {
            Some(fetched) => Ok(inline(&fetched.media_type, &fetched.data, None)),
            None => {
                if !self.missing.iter().any(|missing| missing == url) {
                    self.missing.push(url.to_owned());
                }
                Ok(Part::default())
            }
        }
    }
}

/// A medium whose bytes are at hand.
pub(super) fn inline<'a>(media_type: &'a str, data: &'a str, name: Option<Text<'a>>) -> Part<'a> {
    let data = Text(standard_base64(data));
    let blob = Blob { mime_type: Some(media_type.into()), data: Some(data), display_name: name };
    Part { inline_data: Some(blob), ..Part::default() }
}

fn file<'a>(media_type: Option<&'static str>, uri: &'a str) -> Part<'a> {
    let file = FileData { mime_type: media_type.map(Text::from), file_uri: Some(uri.into()), display_name: None };
    Part { file_data: Some(file), ..Part::default() }
}

/// Whether the address is one of Google's Files API, or of a video that Gemini knows to find.
fn is_at_google(url: &str) -> bool {
    ["https://generativelanguage.googleapis.com/", "https://www.youtube.com/", "https://youtu.be/"]
        .iter()
        .any(|begin| url.starts_with(begin))
}

fn reads_urls(model: &str) -> bool {
    !(model.contains("gemini-1") || model.contains("gemini-2.0"))
}

fn is_read_by_gemini(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || matches!(
            media_type,
            "application/pdf" | "application/json" | "image/png" | "image/jpeg" | "image/webp" | "image/bmp"
        )
}

/// The media type that the end of a path, or of a file's name, tells.
pub(super) fn media_type_of(name: &str) -> Option<&'static str> {
    let path = name.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    let (_, extension) = file.rsplit_once('.')?;
    Some(match &*extension.to_ascii_lowercase() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "bmp" => "image/bmp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "txt" | "md" => "text/plain",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "xml" => "text/xml",
        "rtf" => "text/rtf",
        "js" => "text/javascript",
        "mp3" => "audio/mp3",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        _ => return None,
    })
}
