//! Calls of tools in a conversation, and what they gave.

use serde_json::json;

use super::media;
use super::thinking;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::to_gemini::media::{MediaReader, Place, in_response};
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::gemini::wire::content::{FunctionCall, FunctionResponse, FunctionResponsePart, Part};
use crate::protocol::openai_chat::wire::content::{Content, Part as SourcePart};
use crate::protocol::openai_chat::wire::message::{self as source, Message, ToolCall};
use crate::protocol::wire::{Raw, Text};

/// The calls of the last turn of the model, and their results so far.
#[derive(Default)]
pub(super) struct Calls<'a> {
    pairing: Pairing,
    /// The tools of the calls, by Gemini's names.
    names: Vec<Text<'a>>,
    results: Vec<(usize, Part<'a>)>,
    /// Media of results for models that take none there.
    media: Vec<Part<'a>>,
}

impl<'a> Calls<'a> {
    /// The calls of a message of the model.
    pub(super) fn calls(
        &mut self,
        message: &'a Message<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<Vec<Part<'a>>, ConvertError> {
        self.names.clear();
        let mut parts = Vec::new();
        for (index, call) in message.tool_calls.iter().flatten().enumerate() {
            let path = format!("{path}.tool_calls[{index}]");
            let mut part = self.call(call, &path, notes)?;
            if part.thought_signature.is_none() {
                part.thought_signature =
                    thinking::openrouter_signature(message, id(call).unwrap_or_default(), index == 0);
            }
            parts.push(part);
        }
        if let Some(call) = &message.function_call {
            let path = format!("{path}.function_call");
            parts.push(self.function("", call, &path, notes)?);
        }
        Ok(parts)
    }

    fn call(&mut self, call: &'a ToolCall<'a>, path: &str, notes: &mut Notes) -> Result<Part<'a>, ConvertError> {
        match call {
            ToolCall::Function(call) => {
                let mut part = self.function(&call.id, &call.function, path, notes)?;
                part.thought_signature = call.extra_content.as_ref().and_then(thinking::signature);
                Ok(part)
            }
            ToolCall::Custom(call) => {
                let name = notes.tools.upstream(Charset::GEMINI, None, &call.custom.name, ToolKind::Custom);
                let args = Raw::of(&json!({ CUSTOM_INPUT: &*call.custom.input }))
                    .map_err(|error| ConvertError::invalid(path, error.to_string()))?;
                Ok(self.noted(&call.id, Text(name), args, path))
            }
            ToolCall::Other(_) => Err(ConvertError::unsupported(path, "is a call of a kind that Gemini does not have")),
        }
    }

    fn function(
        &mut self,
        id: &'a str,
        call: &'a source::FunctionCall<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<Part<'a>, ConvertError> {
        let name = notes.tools.upstream(Charset::GEMINI, None, &call.name, ToolKind::Function);
        let args = arguments(&call.arguments).ok_or_else(|| {
            ConvertError::invalid(
                path,
                format!(
                    "the arguments of the call {id:?} of {:?} are no JSON object; repair or drop the call",
                    &*call.name
                ),
            )
        })?;
        Ok(self.noted(id, Text(name), args, path))
    }

    fn noted(&mut self, id: &'a str, name: Text<'a>, args: Raw<'a>, path: &str) -> Part<'a> {
        self.pairing.call(id, &name, path);
        self.names.push(name.clone());
        let id = (!id.is_empty()).then(|| id.into());
        Part { function_call: Some(FunctionCall { id, name: Some(name), args: Some(args) }), ..Part::default() }
    }

    /// What a call gave.
    pub(super) fn result(
        &mut self,
        message: &'a Message<'a>,
        path: &str,
        files: &mut MediaReader<'a>,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(id) = message.tool_call_id.as_deref() else {
            return Err(ConvertError::invalid(path, "a tool message needs the tool_call_id of the call it answers"));
        };
        let (index, _) = self.pairing.result(id, format!("{path}.tool_call_id"))?;
        let content = message.content.as_ref();
        let parts = self.result_media(id, content, path, files, notes)?;
        self.add_result(index, id, text(content), parts);
        Ok(())
    }

    /// What a legacy call gave.
    pub(super) fn legacy_result(
        &mut self,
        message: &'a Message<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(name) = message.name.as_deref() else {
            return Err(ConvertError::invalid(path, "a function message needs the name of the function"));
        };
        let name = notes.tools.upstream(Charset::GEMINI, None, name, ToolKind::Function);
        let (index, _) = self.pairing.result_by_name(&name, format!("{path}.name"))?;
        self.add_result(index, "", text(message.content.as_ref()), vec![]);
        Ok(())
    }

    fn add_result(&mut self, index: usize, id: &'a str, text: String, parts: Vec<FunctionResponsePart<'a>>) {
        let response = FunctionResponse {
            id: (!id.is_empty()).then(|| id.into()),
            name: self.names.get(index).cloned(),
            response: Raw::of(&json!({ "output": text })).ok(),
            parts,
            ..FunctionResponse::default()
        };
        let part = Part { function_response: Some(Box::new(response)), ..Part::default() };
        self.results.push((index, part));
    }

    /// The media of a result. What Gemini does not take with it is shown after it.
    fn result_media(
        &mut self,
        id: &str,
        content: Option<&'a Content<'a>>,
        path: &str,
        files: &mut MediaReader<'a>,
        notes: &mut Notes,
    ) -> Result<Vec<FunctionResponsePart<'a>>, ConvertError> {
        let mut with_result = Vec::new();
        let Some(Content::Parts(parts)) = content else { return Ok(with_result) };
        for (index, part) in parts.iter().enumerate() {
            if matches!(part, SourcePart::Text(_) | SourcePart::Refusal(_)) {
                continue;
            }
            let path = format!("{path}.content[{index}]");
            let Some(part) = media::part(part, Place::Response, &path, files, notes)? else { continue };
            if files.fits_response(&part) {
                with_result.push(in_response(part));
            } else {
                self.media.push(thinking::text_part(format!("Part of the result of the tool call {id}:").into()));
                self.media.push(part);
            }
        }
        Ok(with_result)
    }

    /// The results in the order of their calls, each of which must have been answered, and what is shown after them.
    pub(super) fn settle(&mut self) -> Result<Vec<Part<'a>>, ConvertError> {
        self.pairing.settle()?;
        let mut results = std::mem::take(&mut self.results);
        results.sort_by_key(|(index, _)| *index);
        let media = std::mem::take(&mut self.media);
        Ok(results.into_iter().map(|(_, part)| part).chain(media).collect())
    }
}

/// The id of a call.
pub(super) fn id<'c>(call: &'c ToolCall<'_>) -> Option<&'c str> {
    match call {
        ToolCall::Function(call) => Some(&call.id),
        ToolCall::Custom(call) => Some(&call.id),
        ToolCall::Other(_) => None,
    }
}

/// The arguments of a call as an object; those that are not there are an empty one. `None` if they are something else.
pub(super) fn arguments(text: &str) -> Option<Raw<'_>> {
    if matches!(text.trim(), "" | "null") {
        return Raw::parse("{}").ok();
    }
    Raw::parse(text).ok().filter(|raw| raw.get().starts_with('{'))
}

/// The text of a result. Gemini wants an object there, whose `output` it becomes.
fn text(content: Option<&Content<'_>>) -> String {
    match content {
        None => String::new(),
        Some(Content::Text(text)) => text.to_string(),
        Some(Content::Parts(parts)) => {
            let texts = parts.iter().filter_map(|part| match part {
                SourcePart::Text(part) => Some(&*part.text),
                SourcePart::Refusal(part) => Some(&*part.refusal),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
