//! The contents of a request: messages.

use super::calls::Calls;
use super::media::Media;
use super::thinking::Thoughts;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::content::{Content, Part, Role};
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::openai_chat::capabilities::{self, Capabilities};
use crate::protocol::openai_chat::wire::content::{Content as TargetContent, Part as TargetPart, TextPart};
use crate::protocol::openai_chat::wire::message::{Message, Role as TargetRole, ToolCall};
use crate::protocol::wire::Text;

/// A conversation while it is converted.
pub(super) struct Conversation<'a, 'n> {
    context: &'a Context<'a>,
    capabilities: Capabilities,
    notes: &'n mut Notes,
    messages: Vec<Message<'a>>,
    media: Media<'a>,
    calls: Calls<'a>,
    /// The turn of the model that is not complete.
    model: Option<ModelTurn<'a>>,
    /// What is to be shown to the model in the next message of the user.
    shown: Vec<TargetPart<'a>>,
}

/// A turn of the model.
#[derive(Default)]
struct ModelTurn<'a> {
    texts: Vec<Text<'a>>,
    thoughts: Thoughts<'a>,
    calls: Vec<ToolCall<'a>>,
}

impl<'a, 'n> Conversation<'a, 'n> {
    /// All messages.
    pub(super) fn messages(
        request: &'a GenerateContentRequest<'a>,
        context: &'a Context<'a>,
        notes: &'n mut Notes,
    ) -> Result<Vec<Message<'a>>, ConvertError> {
        let resolution = request.generation_config.as_ref().and_then(|config| config.media_resolution.as_ref());
        let mut conversation = Self {
            context,
            capabilities: capabilities::of(context.model),
            notes,
            messages: vec![],
            media: Media::new(context, resolution),
            calls: Calls::default(),
            model: None,
            shown: vec![],
        };
        if let Some(system) = &request.system_instruction {
            conversation.system(system);
        }
        for (index, content) in request.contents.iter().enumerate() {
            conversation.content(content, &format!("contents[{index}]"))?;
        }
        conversation.finish()
    }

    fn system(&mut self, system: &'a Content<'a>) {
        if system.parts.iter().any(|part| part.text.is_none()) {
            self.notes.losses.add("systemInstruction", "only its texts are sent");
        }
        let texts = system.parts.iter().filter_map(|part| part.text.as_ref()).filter(|text| !text.is_empty());
        if let Some(text) = joined(texts.map(Text::by_ref).collect(), "\n\n") {
            self.messages.push(message(TargetRole::System, TargetContent::Text(text)));
        }
    }

    fn content(&mut self, content: &'a Content<'a>, path: &str) -> Result<(), ConvertError> {
        match &content.role {
            Some(Role::Model) => self.model_turn(content, path),
            None | Some(Role::User | Role::Function | Role::Tool) => self.user_turn(content, path),
            Some(Role::Other(_)) => Err(ConvertError::invalid(format!("{path}.role"), "must be user or model")),
        }
    }

    fn model_turn(&mut self, content: &'a Content<'a>, path: &str) -> Result<(), ConvertError> {
        if self.model.is_none() {
            self.settle()?;
        }
        let mut turn = self.model.take().unwrap_or_default();
        for (index, part) in content.parts.iter().enumerate() {
            self.model_part(part, &mut turn, &format!("{path}.parts[{index}]"))?;
        }
        self.model = Some(turn);
        Ok(())
    }

    fn model_part(&mut self, part: &'a Part<'a>, turn: &mut ModelTurn<'a>, path: &str) -> Result<(), ConvertError> {
        if part.thought == Some(true) {
            turn.thoughts.thought(part);
            return Ok(());
        }
        if let Some(call) = &part.function_call {
            let extra_content = turn.thoughts.extra_content(part, self.context.model);
            turn.calls.push(self.calls.call(call, extra_content, path, self.notes)?);
            return Ok(());
        }
        if let Some(text) = &part.text {
            turn.texts.extend((!text.is_empty()).then(|| text.by_ref()));
            turn.thoughts.text(part);
            return Ok(());
        }
        if part.executable_code.is_some() || part.code_execution_result.is_some() {
            self.notes.losses.add(path, "code that the vendor has run has no place in Chat Completions");
            return Ok(());
        }
        if part.tool_call.is_some() || part.tool_response.is_some() {
            self.notes.losses.add(path, "calls that the vendor has carried out have no place in Chat Completions");
            return Ok(());
        }
        turn.thoughts.text(part);
        let is_medium = part.inline_data.is_some() || part.file_data.is_some();
        if !is_medium && part.thought_signature.is_none() {
            return Err(ConvertError::unsupported(path, "this kind of part is not known"));
        }
        if is_medium && let Some(shown) = self.media.part(part, path, self.notes)? {
            self.notes.losses.add(path, "what the model has made is shown to it in the next user message");
            self.shown.extend([text_part("[made by the assistant:]".into()), shown]);
        }
        Ok(())
    }

    /// Results of calls come first, whatever the order of the parts: nothing may stand between them and the calls.
    fn user_turn(&mut self, content: &'a Content<'a>, path: &str) -> Result<(), ConvertError> {
        self.end_model_turn();
        let indexed = || content.parts.iter().enumerate();
        for (index, part) in indexed() {
            if let Some(response) = &part.function_response {
                let path = format!("{path}.parts[{index}].functionResponse");
                let shown = self.calls.result(response, &path, &mut self.media, self.notes)?;
                self.shown.extend(shown);
            }
        }
        if content.parts.iter().all(|part| part.function_response.is_some()) {
            return Ok(());
        }
        self.settle_calls()?;
        let mut parts = std::mem::take(&mut self.shown);
        for (index, part) in indexed().filter(|(_, part)| part.function_response.is_none()) {
            parts.extend(self.media.part(part, &format!("{path}.parts[{index}]"), self.notes)?);
        }
        self.user(parts);
        Ok(())
    }

    fn user(&mut self, mut parts: Vec<TargetPart<'a>>) {
        let content = match parts.pop() {
            None => return,
            Some(TargetPart::Text(only)) if parts.is_empty() => TargetContent::Text(only.text),
            Some(last) => {
                parts.push(last);
                TargetContent::Parts(parts)
            }
        };
        self.messages.push(message(TargetRole::User, content));
    }

    fn end_model_turn(&mut self) {
        let Some(turn) = self.model.take() else { return };
        let mut message = Message {
            role: TargetRole::Assistant,
            content: joined(turn.texts, "").map(TargetContent::Text),
            tool_calls: (!turn.calls.is_empty()).then_some(turn.calls),
            ..Message::default()
        };
        if message.content.is_none() && message.tool_calls.is_none() {
            return;
        }
        turn.thoughts.tell(&mut message, self.context.model, self.capabilities, self.notes);
        self.messages.push(message);
    }

    fn settle_calls(&mut self) -> Result<(), ConvertError> {
        let results = self.calls.settle()?;
        self.messages.extend(results);
        Ok(())
    }

    /// Ends the turn of the user, before one of the model and at the end.
    fn settle(&mut self) -> Result<(), ConvertError> {
        self.settle_calls()?;
        let shown = std::mem::take(&mut self.shown);
        self.user(shown);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Message<'a>>, ConvertError> {
        self.end_model_turn();
        self.settle()?;
        self.media.complete()?;
        if self.messages.iter().all(|message| message.role == TargetRole::System) {
            return Err(ConvertError::invalid("contents", "there is nothing in them to answer"));
        }
        Ok(self.messages)
    }
}

fn message<'a>(role: TargetRole<'a>, content: TargetContent<'a>) -> Message<'a> {
    Message { role, content: Some(content), ..Message::default() }
}

/// A part with text.
pub(super) fn text_part(text: Text<'_>) -> TargetPart<'_> {
    TargetPart::Text(TextPart { text, ..TextPart::default() })
}

/// All texts as one; `None` if there are none. A single one is not copied.
pub(super) fn joined<'a>(mut texts: Vec<Text<'a>>, separator: &str) -> Option<Text<'a>> {
    if texts.len() <= 1 {
        return texts.pop();
    }
    Some(texts.iter().map(|text| &**text).collect::<Vec<_>>().join(separator).into())
}
