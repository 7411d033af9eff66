//! Images, files and sound of a request.

use crate::protocol::convert::ConvertError;
use crate::protocol::convert::media::checked_base64;
use crate::protocol::gemini::wire::content::{Blob, FileData, MediaResolution};
use crate::protocol::openai_responses::wire::content::{InputFile, InputImage, Part};
use crate::protocol::wire::Text;

/// The words for how finely an image is looked at.
pub(super) fn detail(resolution: Option<&MediaResolution<'_>>) -> &'static str {
    match resolution {
        Some(MediaResolution::Low) => "low",
        Some(MediaResolution::High) => "high",
        Some(MediaResolution::UltraHigh) => "original",
        Some(MediaResolution::Medium | MediaResolution::Other(_)) | None => "auto",
    }
}

/// A medium that stands in the request.
pub(super) fn inline<'a>(blob: &'a Blob<'a>, detail: &'static str, path: &str) -> Result<Part<'a>, ConvertError> {
    let media_type = blob.mime_type.as_deref().unwrap_or_default();
    let data = checked_base64(blob.data.as_deref().unwrap_or_default(), path)?;
    match media_type.split_once('/') {
        Some(("image", _)) => Ok(image(format!("data:{media_type};base64,{data}").into(), detail)),
        // https://developers.openai.com/api/docs/guides/audio: only Chat Completions takes sound.
        Some(("audio", _)) => Err(ConvertError::unsupported(path, "OpenAI takes no sound in Responses")),
        Some(("video", _)) => Err(ConvertError::unsupported(path, "OpenAI takes no video")),
        Some(_) => Ok(Part::InputFile(InputFile {
            file_data: Some(format!("data:{media_type};base64,{data}").into()),
            filename: Some(match &blob.display_name {
                Some(name) => name.by_ref(),
                None => file_name(media_type).into(),
            }),
            ..InputFile::default()
        })),
        None => Err(ConvertError::invalid(format!("{path}.mimeType"), "this has to be a media type")),
    }
}

/// A medium elsewhere.
pub(super) fn elsewhere<'a>(
    file: &'a FileData<'a>,
    detail: &'static str,
    path: &str,
) -> Result<Part<'a>, ConvertError> {
    let Some(uri) = &file.file_uri else {
        return Err(ConvertError::invalid(format!("{path}.fileUri"), "there is no address"));
    };
    let path = format!("{path}.fileUri");
    if !uri.starts_with("https://") || uri.starts_with("https://generativelanguage.googleapis.com/") {
        let message = "OpenAI does not know files that Google keeps; send the file itself or a public https address";
        return Err(ConvertError::unsupported(path, message));
    }
    let media_type = file.mime_type.as_deref().unwrap_or_default();
    if ["https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/"]
        .iter()
        .any(|site| uri.starts_with(site))
        || media_type.starts_with("video/")
    {
        return Err(ConvertError::unsupported(path, "OpenAI takes no video"));
    }
    if media_type.starts_with("audio/") {
        return Err(ConvertError::unsupported(path, "OpenAI takes no sound in Responses"));
    }
    Ok(if media_type.starts_with("image/") {
        image(uri.by_ref(), detail)
    } else {
        Part::InputFile(InputFile { file_url: Some(uri.by_ref()), ..InputFile::default() })
    })
}

fn image<'a>(url: Text<'a>, detail: &'static str) -> Part<'a> {
    Part::InputImage(InputImage { image_url: Some(url), detail: Some(detail.into()), ..InputImage::default() })
}

/// OpenAI tells the kind of a file by its name.
fn file_name(media_type: &str) -> &'static str {
    match media_type {
        "application/pdf" => "file.pdf",
        "text/html" => "file.html",
        "text/csv" => "file.csv",
        "text/markdown" => "file.md",
        "text/xml" | "application/xml" => "file.xml",
        "application/json" => "file.json",
        "text/css" => "file.css",
        "text/javascript" | "application/javascript" | "application/x-javascript" => "file.js",
        "text/x-python" | "application/x-python" => "file.py",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "file.docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "file.xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => "file.pptx",
        "application/rtf" | "text/rtf" => "file.rtf",
        _ => "file.txt",
    }
}
