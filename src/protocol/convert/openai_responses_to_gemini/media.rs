//! Images, files and sound of a request.

use crate::protocol::convert::media::data_url;
use crate::protocol::convert::to_gemini::media::{MediaReader, Place, inline, media_type_of};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::openai_responses::wire::content::{InputAudio, InputFile, InputImage};
use crate::protocol::openai_responses::wire::local::Screenshot;

/// An image. `path` is where it stands.
pub(super) fn image<'a>(
    image: &'a InputImage<'a>,
    place: Place,
    path: &str,
    files: &mut MediaReader<'a>,
    losses: &mut Losses,
) -> Result<Part<'a>, ConvertError> {
    let Some(url) = &image.image_url else { return Err(no_file(path, image.file_id.is_some())) };
    let mut part = files.at(url, place, &format!("{path}.image_url"))?;
    part.media_resolution = files.resolution(image.detail.as_deref(), &format!("{path}.detail"), losses);
    Ok(part)
}

/// What a computer shows. `path` is where it stands.
pub(super) fn screenshot<'a>(
    screen: &'a Screenshot<'a>,
    path: &str,
    files: &mut MediaReader<'a>,
) -> Result<Part<'a>, ConvertError> {
    match &screen.image_url {
        Some(url) => files.at(url, Place::Response, &format!("{path}.image_url")),
        None => Err(no_file(path, screen.file_id.is_some())),
    }
}

/// A file. `path` is where it stands.
pub(super) fn file<'a>(
    file: &'a InputFile<'a>,
    place: Place,
    path: &str,
    files: &mut MediaReader<'a>,
    losses: &mut Losses,
) -> Result<Part<'a>, ConvertError> {
    let mut part = match (&file.file_data, &file.file_url) {
        (Some(data), _) if data_url(data).is_some() => files.at(data, place, &format!("{path}.file_data"))?,
        // Some clients send the base64 alone, whose type the name tells.
        (Some(data), _) => {
            let media_type = file.filename.as_deref().and_then(media_type_of).unwrap_or("application/pdf");
            inline(media_type, data, &format!("{path}.file_data"))?
        }
        (None, Some(url)) => files.at(url, place, &format!("{path}.file_url"))?,
        (None, None) => return Err(no_file(path, file.file_id.is_some())),
    };
    if let (Some(blob), Some(name)) = (&mut part.inline_data, &file.filename) {
        blob.display_name = Some(name.by_ref());
    }
    part.media_resolution = files.resolution(file.detail.as_deref(), &format!("{path}.detail"), losses);
    Ok(part)
}

/// Sound.
pub(super) fn audio<'a>(audio: &'a InputAudio<'a>, path: &str) -> Result<Part<'a>, ConvertError> {
    let media_type = match &*audio.input_audio.format {
        "mp3" => "audio/mp3",
        "wav" => "audio/wav",
        _ => return Err(ConvertError::invalid(format!("{path}.input_audio.format"), "has to be mp3 or wav")),
    };
    inline(media_type, &audio.input_audio.data, path)
}

fn no_file(path: &str, has_id: bool) -> ConvertError {
    if has_id {
        let message = "Gemini does not know files that were uploaded to OpenAI; send the file itself or its address";
        return ConvertError::unsupported(format!("{path}.file_id"), message);
    }
    ConvertError::invalid(path, "there is neither a file nor an address")
}
