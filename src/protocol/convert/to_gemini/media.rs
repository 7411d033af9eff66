//! Files for Gemini: which it reads, and whether their address goes along or they themselves.

use crate::protocol::convert::from_gemini::is_kept_by_google;
use crate::protocol::convert::media::{checked_base64, data_url};
use crate::protocol::convert::{Context, ConvertError, Losses};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::wire::content::{
    Blob, FileData, FunctionResponsePart, MediaResolution, Part, PartMediaResolution,
};
use crate::protocol::wire::Text;

/// The images that Gemini reads (<https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats>); BMP stands among what
/// it reads at addresses. GIF it refuses.
const IMAGES: [&str; 6] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "image/bmp"];

/// What Gemini reads at any public address
/// (<https://ai.google.dev/gemini-api/docs/file-input-methods#external-urls>). Everything else is fetched for it.
const AT_ADDRESSES: [&str; 13] = [
    "text/html",
    "text/css",
    "text/plain",
    "text/xml",
    "text/csv",
    "text/rtf",
    "text/javascript",
    "application/json",
    "application/pdf",
    "image/bmp",
    "image/jpeg",
    "image/png",
    "image/webp",
];

/// What a function's response may hold (<https://ai.google.dev/gemini-api/docs/function-calling#multimodal>).
const IN_RESPONSES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

/// Where a file is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a turn, where an address will do.
    Turn,
    /// In what a function gave, where it has to be the file itself.
    Response,
}

/// Converts files, and gathers what has to be fetched for them.
#[derive(Debug)]
pub struct MediaReader<'a> {
    context: &'a Context<'a>,
    model: Capabilities,
    missing: Vec<String>,
}

impl<'a> MediaReader<'a> {
    /// A reader for the model.
    pub fn new(context: &'a Context<'a>) -> Self {
        Self { context, model: capabilities::of(context.model), missing: Vec::new() }
    }

    /// Refuses to go on while files are missing.
    pub fn finish(self) -> Result<(), ConvertError> {
        if self.missing.is_empty() { Ok(()) } else { Err(ConvertError::NeedsMedia(self.missing)) }
    }

    /// The file at `url`, which may hold it itself. While it has to be fetched the part is empty.
    pub fn at(&mut self, url: &'a str, place: Place, path: &str) -> Result<Part<'a>, ConvertError> {
        if let Some(url) = data_url(url) {
            return inline(url.media_type, url.data, path);
        }
        let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
        let media_type = media_type_of(url);
        if is_kept_by_google(url) {
            return Ok(by_address(media_type, url));
        }
        if !begins("https://") && !begins("http://") {
            return Err(ConvertError::invalid(path, "is neither an https address nor a data URL in base64"));
        }
        let takes_address = self.model.remote_files && (place == Place::Turn || !self.model.third_generation);
        if let Some(media_type) = media_type.filter(|media_type| AT_ADDRESSES.contains(media_type))
            && takes_address
            && begins("https://")
        {
            return Ok(by_address(Some(media_type), url));
        }
        match self.context.media.get(url) {
            Some(file) => inline(&file.media_type, &file.data, path),
            None => {
                if !self.missing.iter().any(|missing| missing == url) {
                    self.missing.push(url.to_owned());
                }
                Ok(Part::default())
            }
        }
    }

    /// Whether the model takes the file in a function's response. What it does not is shown after all responses of the turn.
    pub fn fits_response(&self, part: &Part<'_>) -> bool {
        let media_type = part.inline_data.as_ref().and_then(|blob| blob.mime_type.as_deref());
        self.model.third_generation
            && part.file_data.is_none()
            && media_type.is_none_or(|media_type| IN_RESPONSES.contains(&media_type))
    }

    /// How closely a file is looked at, by OpenAI's words. Only since Gemini 3 each can be told
    /// (<https://ai.google.dev/gemini-api/docs/media-resolution>). `path` is that of the word.
    pub fn resolution(
        &self,
        detail: Option<&str>,
        path: &str,
        losses: &mut Losses,
    ) -> Option<PartMediaResolution<'static>> {
        let level = match detail? {
            "low" => MediaResolution::Low,
            "high" => MediaResolution::High,
            "original" => MediaResolution::UltraHigh,
            _ => return None,
        };
        if !self.model.third_generation {
            losses.hint_once(path, "the model looks at all files in the same detail");
            return None;
        }
        Some(PartMediaResolution { level: Some(level), num_tokens: None })
    }
}

/// A file whose bytes are at hand, in base64.
pub fn inline<'a>(media_type: &'a str, data: &'a str, path: &str) -> Result<Part<'a>, ConvertError> {
    let media_type = if media_type == "image/jpg" { "image/jpeg" } else { media_type };
    if media_type.starts_with("image/") && !IMAGES.contains(&media_type) {
        return Err(ConvertError::unsupported(
            path,
            format!("Gemini reads images as PNG, JPEG, WebP, HEIC, HEIF and BMP, not as {media_type:?}"),
        ));
    }
    let data = Text(checked_base64(data, path)?);
    let blob = Blob { mime_type: Some(media_type.into()), data: Some(data), display_name: None };
    Ok(Part { inline_data: Some(blob), ..Part::default() })
}

/// The same file in a function's response.
pub fn in_response(part: Part<'_>) -> FunctionResponsePart<'_> {
    let Part { inline_data, media_resolution, .. } = part;
    FunctionResponsePart { inline_data, media_resolution, ..FunctionResponsePart::default() }
}

fn by_address<'a>(media_type: Option<&'static str>, url: &'a str) -> Part<'a> {
    let file = FileData { mime_type: media_type.map(Text::from), file_uri: Some(url.into()), display_name: None };
    Part { file_data: Some(file), ..Part::default() }
}

/// The media type that the end of an address, or of a file's name, tells.
pub fn media_type_of(name: &str) -> Option<&'static str> {
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
        "txt" | "md" | "log" => "text/plain",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::convert::ServerTools;
    use crate::protocol::convert::media::Media;

    fn place(url: &str, model: &str, place: Place) -> Result<&'static str, ConvertError> {
        let media = Media::new();
        let context = Context { model, stream: false, server_tools: ServerTools::Drop, media: &media };
        let mut reader = MediaReader::new(&context);
        let part = reader.at(url, place, "image")?;
        let place = if part.file_data.is_some() { "address" } else { "bytes" };
        reader.finish().map(|()| place)
    }

    #[test]
    fn an_address_goes_along_where_the_model_reads_it() {
        let fetched = |url: &str| Err(ConvertError::NeedsMedia(vec![url.to_owned()]));
        for (url, model, at, expected) in [
            ("https://a.example/x.PNG?y=1", "gemini-3-flash", Place::Turn, Ok("address")),
            ("https://a.example/x.png", "gemini-2.5-pro", Place::Response, Ok("address")),
            ("gs://bucket/x", "gemini-3-flash", Place::Response, Ok("address")),
            ("data:image/png;base64,AAAA", "gemini-3-flash", Place::Turn, Ok("bytes")),
            ("https://a.example/x.png", "gemini-3-flash", Place::Response, fetched("https://a.example/x.png")),
            ("https://a.example/x.png", "gemini-2.0-flash", Place::Turn, fetched("https://a.example/x.png")),
            ("https://a.example/x.heic", "gemini-3-flash", Place::Turn, fetched("https://a.example/x.heic")),
            ("https://a.example/x", "gemini-3-flash", Place::Turn, fetched("https://a.example/x")),
            ("http://a.example/x.png", "gemini-3-flash", Place::Turn, fetched("http://a.example/x.png")),
        ] {
            assert_eq!(place(url, model, at), expected, "{url} for {model}");
        }
        assert!(matches!(place("ftp://a.example/x.png", "gemini-3", Place::Turn), Err(ConvertError::Invalid { .. })));
    }

    #[test]
    fn images_that_gemini_refuses_are_refused_before() {
        let gif = place("data:image/gif;base64,AAAA", "gemini-3-flash", Place::Turn);
        assert!(matches!(gif, Err(ConvertError::Unsupported { message, .. }) if message.contains("image/gif")));
        assert_eq!(place("data:image/jpg;base64,AAAA", "gemini-3-flash", Place::Turn), Ok("bytes"));
    }
}
