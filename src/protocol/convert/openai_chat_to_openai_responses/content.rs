//! What messages contain.

use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::wire::content::{
    Content, FilePart, ImagePart, Part, PromptCacheBreakpoint as SourceBreakpoint,
};
use crate::protocol::openai_responses::wire::content::{
    Content as TargetContent, InputFile, InputImage, InputText, OutputText, Part as Target, Refusal,
};
use crate::protocol::openai_responses::wire::request::PromptCacheBreakpoint;
use crate::protocol::wire::{Text, TextOr};

/// The content of a message that the model does not say, or of a tool's output; `None` if nothing is left of it.
pub(super) fn input<'a>(
    content: &'a Content<'a>,
    path: &str,
    losses: &mut Losses,
) -> Result<Option<TargetContent<'a>>, ConvertError> {
    let parts = match content {
        Content::Text(text) => return Ok(Some(TextOr::Text(text.by_ref()))),
        Content::Parts(parts) => parts,
    };
    let mut converted = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        converted.extend(input_part(part, &format!("{path}.content[{index}]"), losses)?);
    }
    Ok(match converted.len() {
        0 => None,
        1 => Some(alone(converted)),
        _ => Some(TextOr::Structured(converted)),
    })
}

/// A text that is alone and not marked goes as a string.
fn alone(parts: Vec<Target<'_>>) -> TargetContent<'_> {
    match <[Target<'_>; 1]>::try_from(parts) {
        Ok([Target::InputText(part)]) if part.prompt_cache_breakpoint.is_none() => TextOr::Text(part.text),
        Ok([part]) => TextOr::Structured(vec![part]),
        Err(parts) => TextOr::Structured(parts),
    }
}

fn input_part<'a>(part: &'a Part<'a>, path: &str, losses: &mut Losses) -> Result<Option<Target<'a>>, ConvertError> {
    Ok(Some(match part {
        Part::Text(part) => Target::InputText(InputText {
            text: part.text.by_ref(),
            prompt_cache_breakpoint: breakpoint(part.prompt_cache_breakpoint.as_ref()),
        }),
        Part::ImageUrl(part) => Target::InputImage(image(part)),
        Part::File(part) => Target::InputFile(file(part, path)?),
        Part::Refusal(part) => {
            Target::InputText(InputText { text: part.refusal.by_ref(), prompt_cache_breakpoint: None })
        }
        Part::InputAudio(_) => {
            return Err(ConvertError::unsupported(
                path,
                "the provider takes no sound in Responses; send a transcript, or use a model that is reached by Chat Completions",
            ));
        }
        Part::Other(_) => {
            losses.add(path, "a part of an unknown type, left out");
            return Ok(None);
        }
    }))
}

fn image<'a>(part: &'a ImagePart<'a>) -> InputImage<'a> {
    InputImage {
        image_url: Some(part.image_url.url.by_ref()),
        file_id: None,
        detail: Some(part.image_url.detail.as_ref().map_or_else(|| "auto".into(), Text::by_ref)),
        prompt_cache_breakpoint: breakpoint(part.prompt_cache_breakpoint.as_ref()),
    }
}

fn file<'a>(part: &'a FilePart<'a>, path: &str) -> Result<InputFile<'a>, ConvertError> {
    let file = &part.file;
    let filename = file.filename.as_ref().map(Text::by_ref);
    let file_data = file.file_data.as_ref().map(|data| match data.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data:") => data.by_ref(),
        // Some clients send the base64 alone; what is not said is a PDF, as at OpenAI.
        _ => format!("data:application/pdf;base64,{}", &**data).into(),
    });
    let file_id = file.file_id.as_ref().filter(|_| file_data.is_none()).map(Text::by_ref);
    if file_data.is_none() && file_id.is_none() {
        return Err(ConvertError::invalid(path, "one of `file.file_data` and `file.file_id` is needed"));
    }
    let filename = filename.or_else(|| file_data.is_some().then(|| "file.pdf".into()));
    Ok(InputFile {
        file_data,
        file_url: None,
        file_id,
        filename,
        detail: None,
        prompt_cache_breakpoint: breakpoint(part.prompt_cache_breakpoint.as_ref()),
    })
}

fn breakpoint<'a>(breakpoint: Option<&'a SourceBreakpoint<'a>>) -> Option<PromptCacheBreakpoint<'a>> {
    breakpoint.map(|breakpoint| PromptCacheBreakpoint {
        mode: breakpoint.mode.by_ref(),
        ttl: breakpoint.ttl.as_ref().map(Text::by_ref),
    })
}

/// What the model said, with the refusal that stands beside it; `None` if that is nothing.
pub(super) fn answer<'a>(
    content: Option<&'a Content<'a>>,
    refusal: Option<&'a Text<'a>>,
    path: &str,
    losses: &mut Losses,
) -> Option<TargetContent<'a>> {
    let refusal = refusal.filter(|refusal| !refusal.is_empty());
    let mut parts = match (content, refusal) {
        (None, None) => return None,
        (Some(Content::Text(text)), None) => {
            return (!text.is_empty()).then(|| TextOr::Text(text.by_ref()));
        }
        (Some(Content::Text(text)), Some(_)) if !text.is_empty() => vec![said(text)],
        (Some(Content::Parts(parts)), _) => said_parts(parts, path, losses),
        (None | Some(Content::Text(_)), Some(_)) => vec![],
    };
    parts.extend(refusal.map(|refusal| Target::Refusal(Refusal { refusal: refusal.by_ref() })));
    if let [Target::OutputText(part)] = parts.as_mut_slice() {
        return Some(TextOr::Text(std::mem::take(&mut part.text)));
    }
    (!parts.is_empty()).then_some(TextOr::Structured(parts))
}

fn said_parts<'a>(parts: &'a [Part<'a>], path: &str, losses: &mut Losses) -> Vec<Target<'a>> {
    let convert = |(index, part): (usize, &'a Part<'a>)| match part {
        Part::Text(part) => (!part.text.is_empty()).then(|| said(&part.text)),
        Part::Refusal(part) => Some(Target::Refusal(Refusal { refusal: part.refusal.by_ref() })),
        _ => {
            losses.add(format!("{path}.content[{index}]"), "the model says only text, left out");
            None
        }
    };
    parts.iter().enumerate().filter_map(convert).collect()
}

fn said<'a>(text: &'a Text<'a>) -> Target<'a> {
    Target::OutputText(OutputText { text: text.by_ref(), annotations: Some(vec![]), logprobs: None })
}

/// The text of a system message; `None` if it is empty.
pub(super) fn system<'a>(content: &'a Content<'a>) -> Option<Text<'a>> {
    match content {
        Content::Text(text) => Some(text.by_ref()),
        Content::Parts(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| if let Part::Text(part) = part { Some(&*part.text) } else { None })
                .collect();
            Some(texts.join("\n\n").into())
        }
    }
    .filter(|text| !text.is_empty())
}

/// Whether a part of `content` is more than text.
pub(super) fn is_marked(content: &Content<'_>) -> bool {
    let Content::Parts(parts) = content else { return false };
    parts.iter().any(|part| !matches!(part, Part::Text(part) if part.prompt_cache_breakpoint.is_none()))
}

/// Where the first of Claude's marks for the cache stands.
pub(super) fn cache_control(content: &Content<'_>) -> Option<usize> {
    let Content::Parts(parts) = content else { return None };
    parts.iter().position(|part| match part {
        Part::Text(part) => part.cache_control.is_some(),
        Part::ImageUrl(part) => part.cache_control.is_some(),
        Part::InputAudio(part) => part.cache_control.is_some(),
        Part::File(part) => part.cache_control.is_some(),
        Part::Refusal(_) | Part::Other(_) => false,
    })
}
