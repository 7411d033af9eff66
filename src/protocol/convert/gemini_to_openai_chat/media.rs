//! The parts of a turn of the user: texts, images, sounds, files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::messages::text_part;
use crate::protocol::convert::from_gemini::is_kept_by_google;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::media::{MediaFile, checked_base64};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::content::{Blob, FileData, MediaResolution, Part, PartMediaResolution};
use crate::protocol::openai_chat::wire::content::{
    File, FilePart, ImagePart, ImageUrl, InputAudio, InputAudioPart, Part as TargetPart,
};
use crate::protocol::wire::Text;

/// The media of a request, and which of them have to be fetched first.
pub(super) struct Media<'a> {
    context: &'a Context<'a>,
    /// How finely all media are looked at.
    resolution: Option<&'a MediaResolution<'a>>,
    missing: Vec<String>,
}

impl<'a> Media<'a> {
    pub(super) fn new(context: &'a Context<'a>, resolution: Option<&'a MediaResolution<'a>>) -> Self {
        Self { context, resolution, missing: vec![] }
    }

    /// Whether everything is there.
    pub(super) fn complete(&mut self) -> Result<(), ConvertError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        Err(ConvertError::NeedsMedia(std::mem::take(&mut self.missing)))
    }

    /// One part; `None` for an empty text and for nothing.
    pub(super) fn part(
        &mut self,
        part: &'a Part<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<Option<TargetPart<'a>>, ConvertError> {
        if let Some(text) = &part.text {
            said_about(part, path, notes);
            return Ok((!text.is_empty()).then(|| text_part(text.by_ref())));
        }
        if part.function_call.is_some() {
            return Err(ConvertError::invalid(
                path,
                "only the model calls functions; set the role of the turn to model",
            ));
        }
        if part.inline_data.is_none() && part.file_data.is_none() {
            let is_of_the_vendor = part.executable_code.is_some()
                || part.code_execution_result.is_some()
                || part.tool_call.is_some()
                || part.tool_response.is_some();
            if is_of_the_vendor {
                notes.losses.add(path, NO_COUNTERPART);
            } else if part.thought_signature.is_none() {
                return Err(ConvertError::unsupported(path, "this kind of part is not known"));
            }
            return Ok(None);
        }
        self.owned_part(part, path, notes)
    }

    /// A medium, from a part that does not live on.
    pub(super) fn owned_part(
        &mut self,
        part: &Part<'_>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<Option<TargetPart<'a>>, ConvertError> {
        said_about(part, path, notes);
        let detail = self.detail(part.media_resolution.as_ref());
        if let Some(blob) = &part.inline_data {
            return inline(blob, detail, &format!("{path}.inlineData")).map(Some);
        }
        match &part.file_data {
            Some(file) => self.file(file, detail, &format!("{path}.fileData")),
            None => Ok(None),
        }
    }

    fn detail(&self, resolution: Option<&PartMediaResolution<'_>>) -> Option<&'static str> {
        match resolution.and_then(|resolution| resolution.level.as_ref()).or(self.resolution)? {
            MediaResolution::Low => Some("low"),
            MediaResolution::High | MediaResolution::UltraHigh => Some("high"),
            MediaResolution::Medium | MediaResolution::Other(_) => None,
        }
    }

    /// A file elsewhere. OpenAI reads addresses of images itself, everything else is fetched.
    fn file(
        &mut self,
        file: &FileData<'_>,
        detail: Option<&'static str>,
        path: &str,
    ) -> Result<Option<TargetPart<'a>>, ConvertError> {
        let uri = file.file_uri.as_deref().unwrap_or_default();
        if is_kept_by_google(uri) {
            return Err(ConvertError::unsupported(
                format!("{path}.fileUri"),
                "only Google can read this file; send it as inlineData or by a public https address",
            ));
        }
        if !uri.starts_with("https://") && !uri.starts_with("http://") {
            return Err(ConvertError::invalid(format!("{path}.fileUri"), "must be an https address"));
        }
        let is_image = file.mime_type.as_deref().is_some_and(|media_type| media_type.starts_with("image/"));
        if is_image && uri.starts_with("https://") {
            return Ok(Some(image(uri.to_owned(), detail)));
        }
        let Some(fetched) = self.context.media.get(uri) else {
            if !self.missing.iter().any(|missing| missing == uri) {
                self.missing.push(uri.to_owned());
            }
            return Ok(None);
        };
        let MediaFile { media_type, data } = fetched;
        let media_type = file.mime_type.as_deref().unwrap_or(media_type);
        let blob = Blob {
            mime_type: Some(media_type.into()),
            data: Some(data.as_str().into()),
            display_name: file.display_name.as_ref().map(Text::by_ref),
        };
        inline(&blob, detail, path).map(Some)
    }
}

fn image<'a>(url: String, detail: Option<&'static str>) -> TargetPart<'a> {
    let image_url = ImageUrl { url: url.into(), detail: detail.map(Text::from) };
    TargetPart::ImageUrl(ImagePart { image_url, prompt_cache_breakpoint: None, cache_control: None })
}

/// Bytes at hand, by what they are.
fn inline<'a>(blob: &Blob<'_>, detail: Option<&'static str>, path: &str) -> Result<TargetPart<'a>, ConvertError> {
    let media_type = blob.mime_type.as_deref().unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    let data = checked_base64(blob.data.as_deref().unwrap_or_default(), path)?;
    let name = blob.display_name.as_deref();
    match media_type {
        "" => Err(ConvertError::invalid(format!("{path}.mimeType"), "is missing")),
        "audio/wav" | "audio/x-wav" | "audio/wave" => Ok(audio(&data, "wav")),
        "audio/mp3" | "audio/mpeg" => Ok(audio(&data, "mp3")),
        _ if media_type.starts_with("image/") => Ok(image(data_url(media_type, &data), detail)),
        _ if media_type.starts_with("audio/") || media_type.starts_with("video/") => {
            Err(ConvertError::unsupported(path, format!("{media_type} cannot be sent in Chat Completions")))
        }
        _ => match text_of(media_type, &data) {
            Some(text) => {
                let text = name.map_or_else(|| text.clone(), |name| format!("{name}:\n{text}"));
                Ok(text_part(text.into()))
            }
            None => Ok(file(media_type, &data, name)),
        },
    }
}

fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

fn audio<'a>(data: &str, format: &'static str) -> TargetPart<'a> {
    let input_audio = InputAudio { data: data.to_owned().into(), format: format.into() };
    TargetPart::InputAudio(InputAudioPart { input_audio, prompt_cache_breakpoint: None, cache_control: None })
}

/// What is text is sent as text, which every model reads.
fn text_of(media_type: &str, data: &str) -> Option<String> {
    let is_text = media_type.starts_with("text/") && media_type != "text/rtf" || media_type == "application/json";
    if !is_text {
        return None;
    }
    String::from_utf8(STANDARD.decode(data).ok()?).ok()
}

/// OpenAI wants a name for each file.
fn file<'a>(media_type: &str, data: &str, name: Option<&str>) -> TargetPart<'a> {
    let name = name.map_or_else(
        || {
            let subtype = media_type.rsplit(['/', '.']).next().unwrap_or("bin");
            format!("file.{}", if subtype == "sheet" { "xlsx" } else { subtype })
        },
        str::to_owned,
    );
    let file = File { file_data: Some(data_url(media_type, data).into()), file_id: None, filename: Some(name.into()) };
    TargetPart::File(FilePart { file, prompt_cache_breakpoint: None, cache_control: None })
}

/// What is said about a part has no place.
fn said_about(part: &Part<'_>, path: &str, notes: &mut Notes) {
    let members = [
        ("videoMetadata", part.video_metadata.is_some()),
        ("documentMetadata", part.document_metadata.is_some()),
        ("spreadsheetMetadata", part.spreadsheet_metadata.is_some()),
        ("audioMetadata", part.audio_metadata.is_some()),
        ("speechMetadata", part.speech_metadata.is_some()),
        ("mediaProcessing", part.media_processing.is_some()),
    ];
    for (member, _) in members.into_iter().filter(|(_, is_there)| *is_there) {
        notes.losses.add(format!("{path}.{member}"), NO_COUNTERPART);
    }
    if part.part_metadata.is_some() {
        notes.losses.hint(format!("{path}.partMetadata"), NO_COUNTERPART);
    }
}
