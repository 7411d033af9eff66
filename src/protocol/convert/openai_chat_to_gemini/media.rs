//! The parts of a message: texts, images, sounds, files.

use tollgate_macros::Read;

use super::thinking::text_part;
use crate::protocol::convert::media::data_url;
use crate::protocol::convert::to_gemini::media::{MediaReader, Place, inline, media_type_of};
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::openai_chat::wire::content::{self as source, Content};
use crate::protocol::wire::{Raw, Text, kind};

/// The parts of a content, without empty texts, which Gemini refuses.
pub(super) fn parts<'a>(
    content: Option<&'a Content<'a>>,
    path: &str,
    files: &mut MediaReader<'a>,
    notes: &mut Notes,
) -> Result<Vec<Part<'a>>, ConvertError> {
    match content {
        None => Ok(vec![]),
        Some(Content::Text(text)) => Ok(text_of(text).into_iter().collect()),
        Some(Content::Parts(parts)) => {
            let mut converted = Vec::with_capacity(parts.len());
            for (index, one) in parts.iter().enumerate() {
                let path = format!("{path}.content[{index}]");
                converted.extend(part(one, Place::Turn, &path, files, notes)?);
            }
            Ok(converted)
        }
    }
}

/// One part; `None` for an empty text.
pub(super) fn part<'a>(
    part: &'a source::Part<'a>,
    place: Place,
    path: &str,
    files: &mut MediaReader<'a>,
    notes: &mut Notes,
) -> Result<Option<Part<'a>>, ConvertError> {
    match part {
        source::Part::Text(part) => Ok(text_of(&part.text)),
        source::Part::Refusal(part) => Ok(text_of(&part.refusal)),
        source::Part::ImageUrl(part) => {
            let image = &part.image_url;
            let mut converted = files.at(&image.url, place, &format!("{path}.image_url.url"))?;
            let path = format!("{path}.image_url.detail");
            converted.media_resolution = files.resolution(image.detail.as_deref(), &path, &mut notes.losses);
            Ok(Some(converted))
        }
        source::Part::InputAudio(part) => audio(&part.input_audio, path).map(Some),
        source::Part::File(part) => file(&part.file, place, path, files).map(Some),
        source::Part::Other(raw) => other(raw, place, path, files).map(Some),
    }
}

fn text_of<'a>(text: &'a Text<'a>) -> Option<Part<'a>> {
    (!text.is_empty()).then(|| text_part(text.by_ref()))
}

/// Base64 without the head of a data URL, though some clients send one.
fn audio<'a>(audio: &'a source::InputAudio<'a>, path: &str) -> Result<Part<'a>, ConvertError> {
    let data = data_url(&audio.data).map_or(&*audio.data, |url| url.data);
    let media_type = match &*audio.format {
        "wav" => "audio/wav".into(),
        "mp3" => "audio/mp3".into(),
        other => Text::from(format!("audio/{other}")),
    };
    let mut part = inline("", data, &format!("{path}.input_audio.data"))?;
    if let Some(blob) = &mut part.inline_data {
        blob.mime_type = Some(media_type);
    }
    Ok(part)
}

fn file<'a>(
    file: &'a source::File<'a>,
    place: Place,
    path: &str,
    files: &mut MediaReader<'a>,
) -> Result<Part<'a>, ConvertError> {
    let name = file.filename.as_ref().map(Text::by_ref);
    if let Some(data) = &file.file_data {
        let path = format!("{path}.file.file_data");
        let mut part = if data_url(data).is_none() && !data.contains(':') {
            let media_type = file.filename.as_deref().and_then(media_type_of).unwrap_or("application/pdf");
            inline(media_type, data, &path)?
        } else {
            files.at(data, place, &path)?
        };
        if let Some(blob) = &mut part.inline_data {
            blob.display_name = name;
        }
        return Ok(part);
    }
    match &file.file_id {
        Some(id) if id.contains("://") => files.at(id, place, &format!("{path}.file.file_id")),
        Some(_) => Err(ConvertError::unsupported(
            format!("{path}.file.file_id"),
            "the file is held by another vendor; send its content as file_data",
        )),
        None => Err(ConvertError::invalid(format!("{path}.file"), "has neither file_data nor file_id")),
    }
}

/// Parts that compatible vendors have: a video is the one that Gemini understands.
fn other<'a>(
    raw: &'a Raw<'a>,
    place: Place,
    path: &str,
    files: &mut MediaReader<'a>,
) -> Result<Part<'a>, ConvertError> {
    #[derive(tollgate_macros::Read)]
    struct Video<'a> {
        #[serde(borrow)]
        video_url: Address<'a>,
    }
    #[derive(Read)]
    struct Address<'a> {
        #[serde(borrow)]
        url: &'a str,
    }
    let kind = kind(&raw.0).map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    if kind == "video_url" {
        let video = raw.read::<Video<'a>>().map_err(|error| ConvertError::invalid(path, error.to_string()))?;
        return files.at(video.video_url.url, place, &format!("{path}.video_url.url"));
    }
    Err(ConvertError::unsupported(path, format!("a part of the kind {:?} has no counterpart at Gemini", &*kind)))
}
