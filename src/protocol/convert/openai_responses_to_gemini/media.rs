//! Images, files and sound of a request.

use crate::protocol::convert::media::{checked_base64, data_url};
use crate::protocol::convert::{Context, ConvertError, Losses};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::wire::content::{
    Blob, FileData, FunctionResponsePart, MediaResolution, Part, PartMediaResolution,
};
use crate::protocol::openai_responses::wire::content::{InputAudio, InputFile, InputImage};
use crate::protocol::openai_responses::wire::local::Screenshot;
use crate::protocol::wire::Text;

/// The media of a request, and which of them have to be fetched first.
pub(super) struct Media<'a> {
    context: &'a Context<'a>,
    capabilities: Capabilities,
    needed: Vec<String>,
}

/// Where a medium is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a turn, where an address will do.
    Turn,
    /// In what a function gave, where it has to be the medium itself.
    FunctionResponse,
}

/// What a medium is, as long as only its address is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Image,
    File,
}

impl<'a> Media<'a> {
    pub(super) fn new(context: &'a Context<'a>, capabilities: Capabilities) -> Self {
        Self { context, capabilities, needed: Vec::new() }
    }

    /// Asks for what is missing, if anything is.
    pub(super) fn finish(self) -> Result<(), ConvertError> {
        if self.needed.is_empty() { Ok(()) } else { Err(ConvertError::NeedsMedia(self.needed)) }
    }

    /// An image. `path` is where it stands.
    pub(super) fn image(
        &mut self,
        image: &'a InputImage<'a>,
        place: Place,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Part<'a>, ConvertError> {
        let Some(url) = &image.image_url else {
            return Err(no_file(path, image.file_id.is_some()));
        };
        let mut part = self.medium(url, Kind::Image, place, path)?;
        part.media_resolution = self.resolution(image.detail.as_deref(), path, losses);
        Ok(part)
    }

    /// What a computer shows. `path` is where it stands.
    pub(super) fn screenshot(&mut self, screen: &'a Screenshot<'a>, path: &str) -> Result<Part<'a>, ConvertError> {
        match &screen.image_url {
            Some(url) => self.medium(url, Kind::Image, Place::FunctionResponse, path),
            None => Err(no_file(path, screen.file_id.is_some())),
        }
    }

    /// A file. `path` is where it stands.
    pub(super) fn file(
        &mut self,
        file: &'a InputFile<'a>,
        place: Place,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Part<'a>, ConvertError> {
        let mut part = match (&file.file_data, &file.file_url) {
            (Some(data), _) if data_url(data).is_some() => self.medium(data, Kind::File, place, path)?,
            (Some(data), _) => {
                let name = file.filename.as_deref().unwrap_or_default();
                inline(media_type_of(name).unwrap_or("application/pdf"), data, path)?
            }
            (None, Some(url)) => self.medium(url, Kind::File, place, path)?,
            (None, None) => return Err(no_file(path, file.file_id.is_some())),
        };
        if let (Some(blob), Some(name)) = (&mut part.inline_data, &file.filename) {
            blob.display_name = Some(name.by_ref());
        }
        part.media_resolution = self.resolution(file.detail.as_deref(), path, losses);
        Ok(part)
    }

    fn medium(&mut self, url: &'a str, kind: Kind, place: Place, path: &str) -> Result<Part<'a>, ConvertError> {
        if let Some(url) = data_url(url) {
            return inline(url.media_type, url.data, path);
        }
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(ConvertError::invalid(path, "this has to be an https address or a data URL in base64"));
        }
        if let Some(file) = self.context.media.get(url) {
            return inline(&file.media_type, &file.data, path);
        }
        match known_type(url, kind).filter(|_| place == Place::Turn && self.takes_addresses(url)) {
            Some(media_type) => Ok(by_address(media_type, url)),
            None => {
                if !self.needed.iter().any(|needed| needed == url) {
                    self.needed.push(url.to_owned());
                }
                Ok(Part::default())
            }
        }
    }

    fn takes_addresses(&self, url: &str) -> bool {
        self.capabilities.remote_files && url.starts_with("https://")
    }

    /// Only since Gemini 3 a part has a resolution of its own (<https://ai.google.dev/gemini-api/docs/media-resolution>).
    fn resolution(&self, detail: Option<&str>, path: &str, losses: &mut Losses) -> Option<PartMediaResolution<'a>> {
        let level = match detail? {
            "low" => MediaResolution::Low,
            "high" => MediaResolution::High,
            "original" => MediaResolution::UltraHigh,
            _ => return None,
        };
        if !self.capabilities.third_generation {
            losses.add(format!("{path}.detail"), "this model has no resolution for single media");
            return None;
        }
        Some(PartMediaResolution { level: Some(level), num_tokens: None })
    }
}

/// Sound.
pub(super) fn audio<'a>(audio: &'a InputAudio<'a>, path: &str) -> Result<Part<'a>, ConvertError> {
    let media_type = match &*audio.input_audio.format {
        "mp3" => "audio/mp3",
        "wav" => "audio/wav",
        _ => return Err(ConvertError::invalid(format!("{path}.input_audio.format"), "this has to be mp3 or wav")),
    };
    inline(media_type, &audio.input_audio.data, path)
}

/// Whether the vendor takes a medium in what a function gave
/// (<https://ai.google.dev/gemini-api/docs/function-calling#multimodal>).
pub(super) fn fits_response(part: &Part<'_>, capabilities: Capabilities) -> bool {
    const TAKEN: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];
    let media_type = part.inline_data.as_ref().and_then(|blob| blob.mime_type.as_deref());
    capabilities.third_generation && media_type.is_none_or(|media_type| TAKEN.contains(&media_type))
}

/// The same medium in what a function gave.
pub(super) fn in_response(part: Part<'_>) -> FunctionResponsePart<'_> {
    let Part { inline_data, media_resolution, .. } = part;
    FunctionResponsePart { inline_data, media_resolution, ..FunctionResponsePart::default() }
}

fn inline<'a>(media_type: &'a str, data: &'a str, path: &str) -> Result<Part<'a>, ConvertError> {
    let data = Some(Text(checked_base64(data, path)?));
    let blob = Blob { mime_type: Some(media_type.into()), data, display_name: None };
    Ok(Part { inline_data: Some(blob), ..Part::default() })
}

fn by_address<'a>(media_type: &'a str, url: &'a str) -> Part<'a> {
    let file = FileData { mime_type: Some(media_type.into()), file_uri: Some(url.into()), display_name: None };
    Part { file_data: Some(file), ..Part::default() }
}

fn no_file(path: &str, has_id: bool) -> ConvertError {
    if has_id {
        let message = "Gemini does not know files that were uploaded to OpenAI; send the file itself or its address";
        return ConvertError::unsupported(format!("{path}.file_id"), message);
    }
    ConvertError::invalid(path, "there is neither a file nor an address")
}

/// The media type that the address tells, if it is one of the kind.
fn known_type(url: &str, kind: Kind) -> Option<&'static str> {
    let name = url.split(['?', '#']).next().unwrap_or_default();
    media_type_of(name).filter(|media_type| kind == Kind::File || media_type.starts_with("image/"))
}

/// The media type that a file's name tells, of those that the vendor takes.
fn media_type_of(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        "txt" | "md" | "log" => "text/plain",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "xml" => "text/xml",
        "json" => "application/json",
        "mp3" => "audio/mp3",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        _ => return None,
    })
}
