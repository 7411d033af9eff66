//! Parts of messages and of outputs.

use crate::protocol::claude::wire::content::{CacheControl, ContentBlock, ResultBlock, TextBlock};
use crate::protocol::claude::wire::document::{DocumentBlock, ImageBlock};
use crate::protocol::convert::media::data_url;
use crate::protocol::convert::to_claude::content::{Medium, at, document, inline, is_blank, text_block};
use crate::protocol::convert::{ConvertError, Losses, to_claude};
use crate::protocol::openai_responses::wire::content::{InputFile, InputImage, Part};
use crate::protocol::openai_responses::wire::request::PromptCacheBreakpoint;
use crate::protocol::wire::Text;

/// What a part becomes, in a turn or in the result of a tool.
pub(super) enum Material<'a> {
    /// Text.
    Text(TextBlock<'a>),
    /// An image or a document.
    Medium(Medium<'a>),
}

impl<'a> From<Material<'a>> for ContentBlock<'a> {
    fn from(material: Material<'a>) -> Self {
        match material {
            Material::Text(text) => Self::Text(text),
            Material::Medium(medium) => medium.into(),
        }
    }
}

impl<'a> From<Material<'a>> for ResultBlock<'a> {
    fn from(material: Material<'a>) -> Self {
        match material {
            Material::Text(text) => Self::Text(text),
            Material::Medium(medium) => medium.into(),
        }
    }
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
        Part::InputImage(part) => return image(part, path, losses).map(|image| Some(Material::Medium(image))),
        Part::InputFile(part) => return file(part, path, losses).map(|file| Some(Material::Medium(file))),
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
    let block = TextBlock { cache_control: mark.map(cache_control), ..text_block(words.by_ref()) };
    Ok((!is_blank(words)).then_some(Material::Text(block)))
}

/// A cache breakpoint of about the same life.
pub(super) fn cache_control<'a>(mark: &PromptCacheBreakpoint<'_>) -> CacheControl<'a> {
    let is_long = mark.ttl.as_ref().is_some_and(|ttl| *ttl == "12h");
    CacheControl { kind: "ephemeral".into(), ttl: is_long.then(|| "1h".into()) }
}

fn image<'a>(part: &'a InputImage<'a>, path: &str, losses: &mut Losses) -> Result<Medium<'a>, ConvertError> {
    if part.detail.as_ref().is_some_and(|detail| *detail != "auto") {
        losses.hint_once(format!("{path}.detail"), "the model looks at all files in the same detail");
    }
    let Some(url) = &part.image_url else { return Err(foreign_file(&format!("{path}.file_id"))) };
    let mark = part.prompt_cache_breakpoint.as_ref().map(cache_control);
    Ok(marked(image_at(url, &format!("{path}.image_url"))?, mark))
}

/// An image by its URL, which may hold its data.
pub(super) fn image_at<'a>(url: &'a str, path: &str) -> Result<Medium<'a>, ConvertError> {
    match data_url(url) {
        Some(parts) => inline(parts.media_type, parts.data, None, path),
        None => Ok(to_claude::content::image(at(url))),
    }
}

fn file<'a>(part: &'a InputFile<'a>, path: &str, losses: &mut Losses) -> Result<Medium<'a>, ConvertError> {
    if part.detail.is_some() {
        losses.hint_once(format!("{path}.detail"), "the model looks at all files in the same detail");
    }
    let title = part.filename.as_ref().map(Text::by_ref);
    let medium = match (&part.file_data, &part.file_url) {
        (Some(data), _) => {
            // Some clients send the base64 alone.
            let (media_type, base64) = data_url(data).map_or(("", &**data), |parts| (parts.media_type, parts.data));
            inline(media_type, base64, title, &format!("{path}.file_data"))?
        }
        (None, Some(url)) => document(at(url), title),
        (None, None) => return Err(foreign_file(&format!("{path}.file_id"))),
    };
    Ok(marked(medium, part.prompt_cache_breakpoint.as_ref().map(cache_control)))
}

/// With a border of the prompt cache behind it.
fn marked<'a>(medium: Medium<'a>, mark: Option<CacheControl<'a>>) -> Medium<'a> {
    match medium {
        Medium::Image(image) => Medium::Image(ImageBlock { cache_control: mark, ..image }),
        Medium::Document(document) => Medium::Document(Box::new(DocumentBlock { cache_control: mark, ..*document })),
    }
}

fn foreign_file(path: &str) -> ConvertError {
    ConvertError::unsupported(
        path,
        "this file is kept at another vendor, Claude cannot see it; send its data or its address",
    )
}
