//! Calls of functions in a conversation, and what they gave.

use super::answer;
use super::media::Media;
use super::messages::text_part;
use crate::protocol::convert::from_gemini::results::told;
use crate::protocol::convert::names::{Charset, ToolKind, made_up_call_id};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::gemini::wire::content::{FunctionCall, FunctionResponse, Part};
use crate::protocol::openai_chat::wire::content::{Content, Part as TargetPart};
use crate::protocol::openai_chat::wire::message::{
    FunctionCall as TargetCall, FunctionToolCall, Message, Role, ToolCall,
};
use crate::protocol::wire::{Raw, Text};

/// From what ids are made up for calls that have none; the same in each turn.
const HISTORY: &str = "history";

/// The calls of the last turn of the model, and their results so far.
#[derive(Default)]
pub(super) struct Calls<'a> {
    pairing: Pairing,
    open: Vec<Open<'a>>,
    results: Vec<(usize, Message<'a>)>,
    /// How many calls the conversation had so far.
    count: usize,
}

struct Open<'a> {
    /// The id at the upstream.
    id: Text<'a>,
    is_made_up: bool,
}

impl<'a> Calls<'a> {
    /// A call.
    pub(super) fn call(
        &mut self,
        call: &'a FunctionCall<'a>,
        extra_content: Option<Raw<'a>>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<ToolCall<'a>, ConvertError> {
        let path = format!("{path}.functionCall");
        let Some(name) = call.name.as_deref().filter(|name| !name.is_empty()) else {
            return Err(ConvertError::invalid(path, "a call needs the name of its function"));
        };
        if call.args.as_ref().is_some_and(|args| !args.get().starts_with('{')) {
            return Err(ConvertError::invalid(format!("{path}.args"), "must be an object"));
        }
        let given = call.id.as_deref().filter(|id| !id.is_empty());
        let id = given.map_or_else(|| made_up_call_id(HISTORY, self.count).into(), |id| Charset::OPENAI.fit(id));
        self.count += 1;
        // Results are matched by the client's own ids, which may be cut to the same length at the upstream.
        self.pairing.call(given.unwrap_or(&id), name, path);
        self.open.push(Open { id: Text(id.clone()), is_made_up: given.is_none() });
        let name = notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function);
        Ok(ToolCall::Function(FunctionToolCall {
            id: Text(id),
            function: TargetCall { name: Text(name), arguments: Text(answer::arguments(call)) },
            extra_content,
            cache_control: None,
        }))
    }

    /// What a call gave. What is returned has to be shown in a message of the user, since a result has only text.
    pub(super) fn result(
        &mut self,
        response: &'a FunctionResponse<'a>,
        path: &str,
        media: &mut Media<'a>,
        notes: &mut Notes,
    ) -> Result<Vec<TargetPart<'a>>, ConvertError> {
        let index = self.answered(response, path)?;
        let id = self.open.get(index).map(|open| open.id.clone()).unwrap_or_default();
        if response.will_continue == Some(true) || response.scheduling.is_some() {
            notes.losses.hint(path, "how a result is scheduled has no counterpart in Chat Completions");
        }
        let mut shown = Vec::new();
        for (place, part) in response.parts.iter().enumerate() {
            if part.inline_data.is_none() && part.file_data.is_none() {
                let path = format!("{path}.parts[{place}]");
                return Err(ConvertError::unsupported(path, "this kind of part is not known"));
            }
            let part = Part {
                inline_data: part.inline_data.clone(),
                file_data: part.file_data.clone(),
                media_resolution: part.media_resolution.clone(),
                ..Part::default()
            };
            let converted = media.owned_part(&part, &format!("{path}.parts[{place}]"), notes)?;
            shown.extend(converted);
        }
        let mut content = told(response);
        // An object without members says nothing.
        if *content == *"{}" {
            content = Text::default();
        }
        if !shown.is_empty() {
            if content.is_empty() {
                content = "The result is shown in the next user message.".into();
            }
            shown.insert(0, text_part(format!("[result of the tool call {}:]", &*id).into()));
        }
        let message = Message {
            role: Role::Tool,
            content: Some(Content::Text(content)),
            tool_call_id: Some(id),
            ..Message::default()
        };
        self.results.push((index, message));
        Ok(shown)
    }

    /// Which call is answered: that of the id, or, where calls have none, the first open one of the function.
    fn answered(&mut self, response: &FunctionResponse<'_>, path: &str) -> Result<usize, ConvertError> {
        let name = response.name.as_deref().unwrap_or_default();
        let Some(id) = response.id.as_deref().filter(|id| !id.is_empty()) else {
            return self.pairing.result_by_name(name, path).map(|(index, _)| index);
        };
        let error = match self.pairing.result(id, path) {
            Ok((index, _)) => return Ok(index),
            Err(error) => error,
        };
        if self.open.iter().any(|open| !open.is_made_up) {
            return Err(error);
        }
        self.pairing.result_by_name(name, path).map(|(index, _)| index).map_err(|_| error)
    }

    /// The results in the order of their calls, each of which must have been answered.
    pub(super) fn settle(&mut self) -> Result<Vec<Message<'a>>, ConvertError> {
        self.pairing.settle()?;
        self.open.clear();
        let mut results = std::mem::take(&mut self.results);
        results.sort_by_key(|(index, _)| *index);
        Ok(results.into_iter().map(|(_, message)| message).collect())
    }
}
