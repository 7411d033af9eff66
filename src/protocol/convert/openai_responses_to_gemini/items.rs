//! The items of a request's input.

use super::calls::{Call, call};
use super::media::{audio, file, image};
use super::outputs::{self, Outputs, call_id};
use super::thinking;
use crate::protocol::convert::loss::{FOREIGN_THINKING, NO_CACHE_MARKS};
use crate::protocol::convert::notice::{self, notice};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::to_gemini::media::{MediaReader, Place};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::turns::{BEGINS_WITH_MODEL, Turns};
use crate::protocol::gemini::wire::content::{CodeExecutionResult, Content, ExecutableCode, Outcome, Part, Role};
use crate::protocol::openai_responses::wire::content::{Content as ItemContent, Part as ContentPart};
use crate::protocol::openai_responses::wire::context::ConfigurationUpdate;
use crate::protocol::openai_responses::wire::hosted::{CodeInterpreterCall, CodeInterpreterOutput};
use crate::protocol::openai_responses::wire::item::{InputItem, Item, Message, Role as ItemRole};
use crate::protocol::openai_responses::wire::tools::Tool;
use crate::protocol::wire::{Text, TextOr};

/// The conversation as far as it was read.
pub(super) struct Conversation<'a, 'n> {
    capabilities: Capabilities,
    notes: &'n mut Notes,
    files: MediaReader<'a>,
    system: Vec<Part<'a>>,
    turns: Turns<'a>,
    has_turns: bool,
    calls: Pairing,
    call_ids: Vec<(&'a str, Text<'a>)>,
    signature: Option<Text<'a>>,
    found: Found<'a>,
}

/// What stands in the input and is no part of the conversation.
#[derive(Default)]
pub(super) struct Found<'a> {
    /// Tools, with where they stand.
    pub(super) tools: Vec<(String, &'a [Tool<'a>])>,
    /// The last parameters that hold.
    pub(super) update: Option<&'a ConfigurationUpdate<'a>>,
}

/// What became of an input.
pub(super) struct Input<'a> {
    pub(super) system: Vec<Part<'a>>,
    pub(super) contents: Vec<Content<'a>>,
    pub(super) found: Found<'a>,
}

impl<'a, 'n> Conversation<'a, 'n> {
    pub(super) fn new(context: &'a Context<'a>, capabilities: Capabilities, notes: &'n mut Notes) -> Self {
        Self {
            capabilities,
            notes,
            files: MediaReader::new(context),
            system: Vec::new(),
            turns: Turns::default(),
            has_turns: false,
            calls: Pairing::default(),
            call_ids: Vec::new(),
            signature: None,
            found: Found::default(),
        }
    }

    /// The text that is always said first.
    pub(super) fn instructions(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.system.push(text_part(text));
        }
    }

    /// The input, once.
    pub(super) fn input(&mut self, input: &'a TextOr<'a, Vec<InputItem<'a>>>) -> Result<(), ConvertError> {
        let items = match input {
            TextOr::Text(text) => {
                self.say(Role::User, text);
                return Ok(());
            }
            TextOr::Structured(items) => items,
        };
        let mut outputs = Outputs::of(items);
        for (index, item) in items.iter().enumerate() {
            let path = format!("input[{index}]");
            match item {
                InputItem::Typed(item) => self.item(item, index, &path, &mut outputs)?,
                InputItem::Message(message) => self.message(message, &path, &mut outputs)?,
                InputItem::Reference(_) => return Err(reference(&path)),
            }
        }
        self.answer_calls(&mut outputs)
    }

    /// All that was read.
    pub(super) fn finish(mut self) -> Result<Input<'a>, ConvertError> {
        self.end_model_turn();
        if self.turns.begin_with_the_user() {
            self.notes.losses.add("input", BEGINS_WITH_MODEL);
        }
        self.files.finish()?;
        if self.capabilities.demands_signatures {
            self.turns.sign_calls();
        }
        let mut contents = self.turns.finish();
        if contents.is_empty() {
            if self.system.is_empty() {
                return Err(ConvertError::invalid("input", "there is nothing to answer; send at least one message"));
            }
            // Gemini answers a turn; instructions alone are none.
            let parts = std::mem::take(&mut self.system);
            contents.push(Content { role: Some(Role::User), parts });
            self.notes.losses.add("input", "the instructions are told as a user turn, since there is no other");
        }
        Ok(Input { system: self.system, contents, found: self.found })
    }

    fn item(
        &mut self,
        item: &'a Item<'a>,
        index: usize,
        path: &str,
        outputs: &mut Outputs<'a>,
    ) -> Result<(), ConvertError> {
        if let Some(call) = call(item, path, &mut self.notes.tools)? {
            self.call(call, path);
            return Ok(());
        }
        if let Some(id) = call_id(item) {
            self.answer_calls(outputs)?;
            if let Item::ToolSearchOutput(output) = item {
                self.found.tools.push((format!("{path}.tools"), &output.tools));
            }
            return if outputs.was_taken(index) { Ok(()) } else { self.calls.result(id, path).map(|_| ()) };
        }
        match item {
            Item::Message(message) => self.message(message, path, outputs),
            Item::Reasoning(reasoning) => {
                let (parts, signature) = thinking::replayed(reasoning, path, self.capabilities, self.notes);
                if signature.is_some() {
                    self.place_signature();
                    self.signature = signature;
                }
                parts.into_iter().for_each(|part| self.push(Role::Model, part));
                Ok(())
            }
            Item::CodeInterpreterCall(call) => {
                self.code(call, path);
                Ok(())
            }
            Item::AdditionalTools(tools) => {
                self.found.tools.push((format!("{path}.tools"), &tools.tools));
                Ok(())
            }
            Item::ToolSearchOutput(output) => {
                self.found.tools.push((format!("{path}.tools"), &output.tools));
                Ok(())
            }
            Item::ConfigurationUpdate(update) => {
                self.found.update = Some(update);
                Ok(())
            }
            _ => self.foreign(item, path),
        }
    }

    /// Items that have no counterpart.
    fn foreign(&mut self, item: &'a Item<'a>, path: &str) -> Result<(), ConvertError> {
        match item {
            Item::ItemReference(_) => return Err(reference(path)),
            Item::Compaction(_) | Item::CompactionTrigger(_) => {
                let message =
                    "only OpenAI can compact a conversation and read what it compacted; send the items themselves";
                return Err(ConvertError::unsupported(path, message));
            }
            Item::ImageGenerationCall(call) => match call.result.as_deref().filter(|image| !image.is_empty()) {
                Some(image) => {
                    let format = call.output_format.as_deref().unwrap_or("png");
                    let media_type = format!("image/{format}");
                    let blob = crate::protocol::gemini::wire::content::Blob {
                        mime_type: Some(media_type.into()),
                        data: Some(image.into()),
                        display_name: None,
                    };
                    self.push(Role::Model, Part { inline_data: Some(blob), ..Part::default() });
                }
                None => self.notes.losses.hint(path, "an image that was not made is left out"),
            },
            Item::WebSearchCall(_) | Item::FileSearchCall(_) | Item::ToolSearchCall(_) | Item::McpListTools(_) => {
                self.notes.losses.hint_once(path, "what the other vendor's tools did is left out; the texts stay");
            }
            Item::McpCall(_)
            | Item::McpApprovalRequest(_)
            | Item::McpApprovalResponse(_)
            | Item::Program(_)
            | Item::ProgramOutput(_) => {
                self.notes.losses.add(path, "what the other vendor's tools did is left out");
            }
            _ => return Err(ConvertError::unsupported(path, "this kind of item is not known")),
        }
        Ok(())
    }

    fn message(&mut self, message: &'a Message<'a>, path: &str, outputs: &mut Outputs<'a>) -> Result<(), ConvertError> {
        let path = format!("{path}.content");
        match &message.role {
            ItemRole::Assistant => self.content(Role::Model, &message.content, &path),
            ItemRole::User => {
                self.answer_calls(outputs)?;
                self.content(Role::User, &message.content, &path)
            }
            ItemRole::System | ItemRole::Developer if !self.has_turns => self.leading_notice(&message.content, &path),
            ItemRole::System | ItemRole::Developer => {
                self.answer_calls(outputs)?;
                self.notice(&message.content, &path)
            }
            ItemRole::Other(_) => {
                Err(ConvertError::invalid(path, "the role has to be user, assistant, system or developer"))
            }
        }
    }

    fn content(&mut self, role: Role<'a>, content: &'a ItemContent<'a>, path: &str) -> Result<(), ConvertError> {
        let parts = match content {
            TextOr::Text(text) => {
                self.say(role, text);
                return Ok(());
            }
            TextOr::Structured(parts) => parts,
        };
        for (index, part) in parts.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let losses = &mut self.notes.losses;
            let part = match part {
                ContentPart::InputText(text) => {
                    if text.prompt_cache_breakpoint.is_some() {
                        losses.hint_once(format_args!("{path}.prompt_cache_breakpoint"), NO_CACHE_MARKS);
                    }
                    self.say(role.clone(), &text.text);
                    continue;
                }
                ContentPart::OutputText(text) => {
                    self.say(role.clone(), &text.text);
                    continue;
                }
                ContentPart::Refusal(refusal) => {
                    self.say(role.clone(), &refusal.refusal);
                    continue;
                }
                ContentPart::ReasoningText(_) | ContentPart::SummaryText(_) => {
                    losses.hint_once(path, FOREIGN_THINKING);
                    continue;
                }
                ContentPart::InputImage(input) => image(input, Place::Turn, &path, &mut self.files, losses)?,
                ContentPart::InputFile(input) => file(input, Place::Turn, &path, &mut self.files, losses)?,
                ContentPart::InputAudio(sound) => audio(sound, &path)?,
                ContentPart::Other(_) => {
                    return Err(ConvertError::unsupported(path, "this kind of content is not known"));
                }
            };
            self.push(role.clone(), part);
        }
        Ok(())
    }

    /// System text before the first turn.
    fn leading_notice(&mut self, content: &'a ItemContent<'a>, path: &str) -> Result<(), ConvertError> {
        for (index, text) in texts(content).enumerate() {
            let text = text.ok_or_else(|| {
                ConvertError::unsupported(format!("{path}[{index}]"), "Gemini takes nothing but text as instructions")
            })?;
            self.instructions(text);
        }
        Ok(())
    }

    /// B46: system text between the turns stays where it is, and says what it is.
    fn notice(&mut self, content: &'a ItemContent<'a>, path: &str) -> Result<(), ConvertError> {
        for (index, text) in texts(content).enumerate() {
            let text = text.ok_or_else(|| {
                ConvertError::unsupported(format!("{path}[{index}]"), "Gemini takes nothing but text as instructions")
            })?;
            if !text.is_empty() {
                self.push(Role::User, Part { text: Some(notice(text).into()), ..Part::default() });
                self.notes.losses.add_once(path, notice::TOLD);
            }
        }
        Ok(())
    }

    fn call(&mut self, call: Call<'a>, path: &str) {
        self.calls.call(call.id, &call.name, path);
        self.call_ids.push((call.id, call.name.clone()));
        self.push(Role::Model, call.part());
    }

    /// B04: the outputs of all calls of the model's turn in one turn, in the order of the calls, each with its function's name.
    fn answer_calls(&mut self, outputs: &mut Outputs<'a>) -> Result<(), ConvertError> {
        let mut following = Vec::new();
        for (id, name) in std::mem::take(&mut self.call_ids) {
            let Some((index, item)) = outputs.take(id) else { break };
            let path = format!("input[{index}]");
            self.calls.result(id, &path)?;
            let losses = &mut self.notes.losses;
            let outputs::Converted { mut response, media } = outputs::convert(item, &path, &mut self.files, losses)?;
            response.id = Some(id.into());
            response.name = Some(name);
            if !media.is_empty() {
                following.push(text_part("Media of the tool result "));
                following.push(text_part(id));
                following.extend(media);
            }
            self.push(Role::User, Part { function_response: Some(Box::new(response)), ..Part::default() });
        }
        self.calls.settle()?;
        following.into_iter().for_each(|part| self.push(Role::User, part));
        Ok(())
    }

    /// A run of Python whose output is told; another one would have no result.
    fn code(&mut self, call: &'a CodeInterpreterCall<'a>, path: &str) {
        let (Some(code), Some(results)) = (&call.code, &call.outputs) else {
            self.notes.losses.hint(path, "code of the other vendor's interpreter is left out; the texts stay");
            return;
        };
        let logs = results.iter().filter_map(|output| match output {
            CodeInterpreterOutput::Logs(logs) => Some(&*logs.logs),
            _ => None,
        });
        let output = logs.collect::<Vec<_>>().join("\n");
        let has_failed = call.status.as_deref() == Some("failed");
        let code = ExecutableCode { id: None, language: Some("PYTHON".into()), code: Some(code.by_ref()) };
        let result = CodeExecutionResult {
            id: None,
            outcome: Some(if has_failed { Outcome::Failed } else { Outcome::Ok }),
            output: Some(output.into()),
        };
        self.push(Role::Model, Part { executable_code: Some(Box::new(code)), ..Part::default() });
        self.push(Role::Model, Part { code_execution_result: Some(Box::new(result)), ..Part::default() });
    }

    /// B47: a text that is empty is no part.
    fn say(&mut self, role: Role<'a>, text: &'a str) {
        if !text.is_empty() {
            self.push(role, text_part(text));
        }
    }

    fn push(&mut self, role: Role<'a>, mut part: Part<'a>) {
        if role == Role::Model {
            if part.thought != Some(true) && part.thought_signature.is_none() {
                part.thought_signature = self.signature.take();
            }
        } else {
            self.end_model_turn();
        }
        self.has_turns = true;
        self.turns.push(role, part);
    }

    /// A signature that no part took stands alone, as it does in streams.
    fn place_signature(&mut self) {
        if let Some(signature) = self.signature.take()
            && self.has_turns
        {
            let part = Part { text: Some("".into()), thought_signature: Some(signature), ..Part::default() };
            self.turns.push(Role::Model, part);
        }
    }

    fn end_model_turn(&mut self) {
        if self.signature.is_none() {
            return;
        }
        let is_model = self.turns.iter_mut().next_back().is_some_and(|(role, _)| *role == Role::Model);
        if is_model {
            self.place_signature();
        } else {
            self.signature = None;
        }
    }
}

fn text_part(text: &str) -> Part<'_> {
    Part { text: Some(text.into()), ..Part::default() }
}

/// The texts of a content; `None` for what is no text.
fn texts<'a>(content: &'a ItemContent<'a>) -> impl Iterator<Item = Option<&'a str>> {
    let (text, parts): (Option<&'a str>, &'a [ContentPart<'a>]) = match content {
        TextOr::Text(text) => (Some(text), &[]),
        TextOr::Structured(parts) => (None, parts),
    };
    let parts = parts.iter().map(|part| match part {
        ContentPart::InputText(text) => Some(&*text.text),
        ContentPart::OutputText(text) => Some(&*text.text),
        _ => None,
    });
    text.map(Some).into_iter().chain(parts)
}

fn reference(path: &str) -> ConvertError {
    ConvertError::unsupported(path, "Gemini keeps no items; send the item itself instead of its id")
}
