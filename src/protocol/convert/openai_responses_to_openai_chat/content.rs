//! What messages and results contain.

use super::turns::{joined, text_part};
use crate::protocol::convert::media::Media;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::content::{
    Content, File, FilePart, ImagePart, ImageUrl, InputAudio, InputAudioPart, Part, PromptCacheBreakpoint, RefusalPart,
    TextPart,
};
use crate::protocol::openai_responses::wire::content::{
    Content as SourceContent, InputFile, InputImage, Part as SourcePart,
};
use crate::protocol::openai_responses::wire::request::PromptCacheBreakpoint as SourceBreakpoint;
use crate::protocol::wire::{Text, TextOr};

/// Converts contents, and remembers which files have to be fetched.
#[derive(Debug)]
pub(super) struct Contents<'a> {
    pub(super) model: Capabilities,
    pub(super) media: &'a Media,
    pub(super) wanted: Vec<String>,
    /// Whether it was told that marks for the cache are left out.
    pub(super) marks_are_lost: bool,
}

/// A tool's output: a text, and what a text cannot hold.
pub(super) struct Output<'a> {
    pub(super) text: Text<'a>,
    pub(super) shown: Vec<Part<'a>>,
}

impl<'a> Contents<'a> {
    /// The content of a message that the model does not say; `None` if nothing is left of it.
    pub(super) fn of_message(
        &mut self,
        content: &'a SourceContent<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Option<Content<'a>>, ConvertError> {
        match content {
            TextOr::Text(text) => Ok(Some(Content::Text(text.by_ref()))),
            TextOr::Structured(parts) => {
                let parts = self.parts(parts, &format!("{path}.content"), losses)?;
                Ok(self.as_short_as_possible(parts))
            }
        }
    }

    /// A text alone goes as a string, which every vendor takes; several texts do so for vendors other than OpenAI.
    fn as_short_as_possible(&self, parts: Vec<Part<'a>>) -> Option<Content<'a>> {
        let is_plain = |part: &Part<'_>| matches!(part, Part::Text(text) if text.prompt_cache_breakpoint.is_none());
        if !parts.iter().all(is_plain) || (self.model.openai && parts.len() > 1) {
            return Some(Content::Parts(parts));
        }
        joined(parts.into_iter().filter_map(text_of)).map(Content::Text)
    }

    /// The parts of what the model said.
    pub(super) fn of_answer(
        &mut self,
        content: &'a SourceContent<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Vec<Part<'a>>, ConvertError> {
        match content {
            TextOr::Text(text) => Ok(vec![text_part(text.by_ref())]),
            TextOr::Structured(parts) => self.parts(parts, &format!("{path}.content"), losses),
        }
    }

    /// The output of a tool: texts are one string, since no other form is taken by all vendors.
    pub(super) fn of_output(
        &mut self,
        output: &'a SourceContent<'a>,
        call_id: &str,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Output<'a>, ConvertError> {
        let parts = match output {
            TextOr::Text(text) => return Ok(Output { text: text.by_ref(), shown: vec![] }),
            TextOr::Structured(parts) => self.parts(parts, &format!("{path}.output"), losses)?,
        };
        let (texts, mut shown): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| matches!(part, Part::Text(_)));
        let texts: Vec<&str> = texts
            .iter()
            .filter_map(|part| if let Part::Text(part) = part { Some(&*part.text) } else { None })
            .collect();
        let mut text = texts.join("\n");
        if !shown.is_empty() {
            if text.is_empty() {
                "The result follows in the next message of the user.".clone_into(&mut text);
            }
            shown.insert(0, text_part(format!("The result of the tool call {call_id}:").into()));
        }
        Ok(Output { text: text.into(), shown })
    }

    fn parts(
        &mut self,
        parts: &'a [SourcePart<'a>],
        path: &str,
        losses: &mut Losses,
    ) -> Result<Vec<Part<'a>>, ConvertError> {
        let mut converted = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            converted.extend(self.part(part, &format!("{path}[{index}]"), losses)?);
        }
        Ok(converted)
    }

    fn part(
        &mut self,
        part: &'a SourcePart<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Option<Part<'a>>, ConvertError> {
        Ok(Some(match part {
            SourcePart::InputText(part) => Part::Text(TextPart {
                text: part.text.by_ref(),
                prompt_cache_breakpoint: self.breakpoint(part.prompt_cache_breakpoint.as_ref(), path, losses),
                cache_control: None,
            }),
            SourcePart::OutputText(part) => text_part(part.text.by_ref()),
            SourcePart::Refusal(part) if self.model.openai => {
                Part::Refusal(RefusalPart { refusal: part.refusal.by_ref() })
            }
            SourcePart::Refusal(part) => text_part(part.refusal.by_ref()),
            SourcePart::InputImage(image) => self.image(image, path, losses)?,
            SourcePart::InputFile(file) => {
                let Some(file) = self.file(file, path, losses)? else { return Ok(None) };
                Part::File(file)
            }
            SourcePart::InputAudio(audio) => Part::InputAudio(InputAudioPart {
                input_audio: InputAudio {
                    data: audio.input_audio.data.by_ref(),
                    format: audio.input_audio.format.by_ref(),
                },
                prompt_cache_breakpoint: None,
                cache_control: None,
            }),
            SourcePart::ReasoningText(_) | SourcePart::SummaryText(_) => {
                losses.add(path, "reasoning is no part of a message, left out");
                return Ok(None);
            }
            SourcePart::Other(_) => {
                losses.add(path, "a part of an unknown type, left out");
                return Ok(None);
            }
        }))
    }

    fn image(&mut self, image: &'a InputImage<'a>, path: &str, losses: &mut Losses) -> Result<Part<'a>, ConvertError> {
        let Some(url) = &image.image_url else {
            return Err(ConvertError::unsupported(
                path,
                "the provider cannot see images by their file id; send the image as a URL or a data URL",
            ));
        };
        Ok(Part::ImageUrl(ImagePart {
            image_url: ImageUrl { url: url.by_ref(), detail: image.detail.as_ref().map(Text::by_ref) },
            prompt_cache_breakpoint: self.breakpoint(image.prompt_cache_breakpoint.as_ref(), path, losses),
            cache_control: None,
        }))
    }

    /// `None` while it has to be fetched.
    fn file(
        &mut self,
        file: &'a InputFile<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<Option<FilePart<'a>>, ConvertError> {
        let mut filename = file.filename.as_ref().map(Text::by_ref);
        let (mut file_data, mut file_id) = (None, None);
        if let Some(data) = &file.file_data {
            file_data = Some(data.by_ref());
        } else if let Some(url) = &file.file_url {
            let Some(fetched) = self.media.get(&**url) else {
                self.wanted.push(url.to_string());
                return Ok(None);
            };
            file_data = Some(format!("data:{};base64,{}", fetched.media_type, fetched.data).into());
            filename = filename.or_else(|| Some(name_in(url).into()));
        } else if let Some(id) = &file.file_id {
            if !self.model.openai {
                return Err(ConvertError::unsupported(
                    path,
                    "the provider does not have OpenAI's files; send the file itself",
                ));
            }
            file_id = Some(id.by_ref());
        } else {
            return Err(ConvertError::invalid(path, "one of `file_data`, `file_url` and `file_id` is needed"));
        }
        if file.detail.is_some() {
            losses.add(format!("{path}.detail"), "files have no detail at this provider");
        }
        Ok(Some(FilePart {
            file: File { file_data, file_id, filename },
            prompt_cache_breakpoint: self.breakpoint(file.prompt_cache_breakpoint.as_ref(), path, losses),
            cache_control: None,
        }))
    }

    fn breakpoint(
        &mut self,
        breakpoint: Option<&'a SourceBreakpoint<'a>>,
        path: &str,
        losses: &mut Losses,
    ) -> Option<PromptCacheBreakpoint<'a>> {
        let breakpoint = breakpoint?;
        if !self.model.openai {
            if !std::mem::replace(&mut self.marks_are_lost, true) {
                losses.hint(format!("{path}.prompt_cache_breakpoint"), "only OpenAI's models have it");
            }
            return None;
        }
        let ttl = breakpoint.ttl.as_ref().map(Text::by_ref);
        Some(PromptCacheBreakpoint { mode: breakpoint.mode.by_ref(), ttl })
    }
}

fn text_of(part: Part<'_>) -> Option<Text<'_>> {
    if let Part::Text(part) = part { Some(part.text) } else { None }
}

/// The last segment of a URL's path.
fn name_in(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("file")
}
