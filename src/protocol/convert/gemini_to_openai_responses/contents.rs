//! The contents of a request.

use super::{media, results, thinking};
use crate::protocol::convert::names::{Charset, ToolKind, made_up_call_id, openai_call_id};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::gemini::wire::content::{Content, FunctionCall, FunctionResponse, MediaResolution, Part, Role};
use crate::protocol::openai_responses::wire::content::{InputText, OutputText, Part as ItemPart};
use crate::protocol::openai_responses::wire::item::{
    FunctionCall as CallItem, FunctionCallOutput, InputItem, Item, Message, Role as ItemRole,
};
use crate::protocol::wire::{Text, TextOr};

/// The items so far.
pub(super) struct Conversation<'a, 'n> {
    notes: &'n mut Notes,
    resolution: Option<&'a MediaResolution<'a>>,
    items: Vec<InputItem<'a>>,
    message: Option<(ItemRole<'a>, Vec<ItemPart<'a>>)>,
    thoughts: Vec<&'a str>,
    calls: Pairing,
    call_count: usize,
    lacks_ids: bool,
}

impl<'a, 'n> Conversation<'a, 'n> {
    pub(super) fn new(resolution: Option<&'a MediaResolution<'a>>, notes: &'n mut Notes) -> Self {
        Self {
            notes,
            resolution,
            items: Vec::new(),
            message: None,
            thoughts: Vec::new(),
            calls: Pairing::default(),
            call_count: 0,
            lacks_ids: false,
        }
    }

    /// The next turn, which stands at `path`.
    pub(super) fn turn(&mut self, content: &'a Content<'a>, path: &str) -> Result<(), ConvertError> {
        let is_model = content.role == Some(Role::Model);
        let has_results = content.parts.iter().any(|part| part.function_response.is_some());
        if !is_model && !has_results || is_model && !self.follows_calls() {
            self.calls.settle()?;
            self.lacks_ids = false;
        }
        for (index, part) in content.parts.iter().enumerate() {
            self.part(part, is_model, &format!("{path}.parts[{index}]"))?;
        }
        self.drop_thoughts(path);
        self.end_message();
        if is_model {
            self.drop_last_reasoning();
        }
        Ok(())
    }

    /// The items.
    pub(super) fn finish(mut self) -> Result<Vec<InputItem<'a>>, ConvertError> {
        self.calls.settle()?;
        if self.items.is_empty() {
            return Err(ConvertError::invalid("contents", "there is nothing to answer; send at least one text"));
        }
        Ok(self.items)
    }

    /// Whether the model is still speaking, as it is where a client has cut its turn in two.
    fn follows_calls(&self) -> bool {
        matches!(self.items.last(), Some(InputItem::Typed(Item::FunctionCall(_))))
    }

    fn part(&mut self, part: &'a Part<'a>, is_model: bool, path: &str) -> Result<(), ConvertError> {
        if part.thought == Some(true) {
            self.thoughts.extend(part.text.as_deref().filter(|text| !text.is_empty()));
            if let Some(signature) = &part.thought_signature {
                self.signature(signature, path);
            }
            return Ok(());
        }
        if let Some(signature) = &part.thought_signature {
            self.signature(signature, path);
        }
        self.drop_thoughts(path);
        self.note_members(part, path);
        if let Some(text) = &part.text {
            self.text(text, is_model);
        } else if let Some(call) = &part.function_call {
            self.call(call, path)?;
        } else if let Some(response) = &part.function_response {
            self.result(response, &format!("{path}.functionResponse"))?;
        } else if part.inline_data.is_some() || part.file_data.is_some() {
            self.medium(part, is_model, path)?;
        } else if part.executable_code.is_some()
            || part.code_execution_result.is_some()
            || part.tool_call.is_some()
            || part.tool_response.is_some()
        {
            self.notes.losses.add_once(path, "what the other vendor's tools did is left out");
        } else if part.thought_signature.is_none() {
            return Err(ConvertError::unsupported(path, "this kind of part is not known"));
        }
        Ok(())
    }

    /// What a part says about itself.
    fn note_members(&mut self, part: &Part<'_>, path: &str) {
        let members = [
            ("videoMetadata", part.video_metadata.is_some()),
            ("documentMetadata", part.document_metadata.is_some()),
            ("spreadsheetMetadata", part.spreadsheet_metadata.is_some()),
            ("audioMetadata", part.audio_metadata.is_some()),
            ("speechMetadata", part.speech_metadata.is_some()),
            ("mediaProcessing", part.media_processing.is_some()),
        ];
        for (name, is_there) in members {
            if is_there {
                self.notes.losses.add(format!("{path}.{name}"), "has no counterpart");
            }
        }
        if part.part_metadata.is_some() {
            self.notes.losses.hint(format!("{path}.partMetadata"), "has no counterpart");
        }
    }

    /// OpenAI's own reasoning goes back; that of others is left out.
    fn signature(&mut self, signature: &'a str, path: &str) {
        match thinking::replayed(signature, &self.thoughts) {
            Some(reasoning) => {
                self.end_message();
                self.items.push(InputItem::Typed(Item::Reasoning(reasoning)));
                self.thoughts.clear();
            }
            None => {
                self.notes.losses.hint_once(format_args!("{path}.thoughtSignature"), "is another vendor's and left out")
            }
        }
    }

    /// OpenAI refuses reasoning from which nothing follows.
    fn drop_last_reasoning(&mut self) {
        while let Some(InputItem::Typed(Item::Reasoning(_))) = self.items.last() {
            self.items.pop();
        }
    }

    fn drop_thoughts(&mut self, path: &str) {
        let has_thoughts = !self.thoughts.is_empty();
        self.thoughts.clear();
        if has_thoughts {
            self.notes.losses.hint_once(path, "thoughts of another model are left out");
        }
    }

    /// B47: a text that is empty is no part.
    fn text(&mut self, text: &'a str, is_model: bool) {
        if text.is_empty() {
            return;
        }
        if is_model {
            let part = OutputText { text: text.into(), ..OutputText::default() };
            self.say(ItemRole::Assistant, ItemPart::OutputText(part));
        } else {
            self.say(ItemRole::User, ItemPart::InputText(InputText { text: text.into(), ..InputText::default() }));
        }
    }

    fn medium(&mut self, part: &'a Part<'a>, is_model: bool, path: &str) -> Result<(), ConvertError> {
        let own = part.media_resolution.as_ref().and_then(|resolution| resolution.level.as_ref());
        let detail = media::detail(own.or(self.resolution));
        let medium = match (&part.inline_data, &part.file_data) {
            (Some(blob), _) => media::inline(blob, detail, &format!("{path}.inlineData"))?,
            (None, Some(file)) => media::elsewhere(file, detail, &format!("{path}.fileData"))?,
            (None, None) => return Ok(()),
        };
        if is_model {
            self.notes.losses.add(path, "told as a user turn, since the model's turns take nothing but text");
        }
        self.say(ItemRole::User, medium);
        Ok(())
    }

    fn call(&mut self, call: &'a FunctionCall<'a>, path: &str) -> Result<(), ConvertError> {
        self.end_message();
        let path = format!("{path}.functionCall");
        let Some(name) = &call.name else {
            return Err(ConvertError::invalid(format!("{path}.name"), "the call has no name"));
        };
        let id: Text<'a> = match call.id.as_ref().filter(|id| !id.is_empty()) {
            Some(id) => id.by_ref(),
            None => {
                self.lacks_ids = true;
                made_up_call_id("contents", self.call_count).into()
            }
        };
        self.call_count += 1;
        self.calls.call(&id, name, path);
        let upstream = self.notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function);
        self.items.push(InputItem::Typed(Item::FunctionCall(CallItem {
            call_id: fit(id),
            name: Text(upstream),
            arguments: call.args.as_ref().map_or("{}", |args| args.get()).into(),
            ..CallItem::default()
        })));
        Ok(())
    }

    fn result(&mut self, response: &'a FunctionResponse<'a>, path: &str) -> Result<(), ConvertError> {
        self.end_message();
        if response.will_continue == Some(true) || response.scheduling.is_some() {
            self.notes.losses.add(path, "OpenAI takes a result whole and at once");
        }
        let name = response.name.as_deref().unwrap_or_default();
        let id: Text<'a> = match response.id.as_ref().filter(|id| !id.is_empty()) {
            Some(id) => match self.calls.result(id, path) {
                Ok(_) => id.by_ref(),
                Err(error) if !self.lacks_ids => return Err(error),
                Err(_) => self.calls.result_by_name(name, path)?.1.to_owned().into(),
            },
            None => self.calls.result_by_name(name, path)?.1.to_owned().into(),
        };
        self.items.push(InputItem::Typed(Item::FunctionCallOutput(FunctionCallOutput {
            call_id: Some(fit(id)),
            output: results::output(response, self.resolution, path)?,
            ..FunctionCallOutput::default()
        })));
        Ok(())
    }

    fn say(&mut self, role: ItemRole<'a>, part: ItemPart<'a>) {
        match &mut self.message {
            Some((speaker, parts)) if *speaker == role => parts.push(part),
            _ => {
                self.end_message();
                self.message = Some((role, vec![part]));
            }
        }
    }

    fn end_message(&mut self) {
        if let Some((role, parts)) = self.message.take() {
            self.items.push(InputItem::Typed(Item::Message(Message {
                id: None,
                role,
                content: TextOr::Structured(parts),
                phase: None,
                status: None,
            })));
        }
    }
}

/// B07: an id that OpenAI takes.
fn fit(id: Text<'_>) -> Text<'_> {
    match openai_call_id(&id) {
        std::borrow::Cow::Borrowed(_) => id,
        std::borrow::Cow::Owned(fitted) => fitted.into(),
    }
}
