//! The items of the input as messages.

use serde_json::json;

use super::content::Contents;
use super::tools::{IntoText, Tools};
use super::turns::{Turns, joined};
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind, openai_call_id};
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::{Context, ConvertError, Notes, arguments};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::content::Content;
use crate::protocol::openai_chat::wire::message::{
    CustomCall, CustomToolCall, FunctionCall, FunctionToolCall, Message, RedactedThinking, Role, Thinking,
    ThinkingBlock, ToolCall,
};
use crate::protocol::openai_responses::local_tools;
use crate::protocol::openai_responses::wire::content::Part;
use crate::protocol::openai_responses::wire::context::{ConfigurationUpdate, ToolSearchOutput};
use crate::protocol::openai_responses::wire::item::{
    CustomToolCall as SourceCustomCall, FunctionCall as SourceCall, FunctionCallOutput, InputItem, Item,
    Message as SourceMessage, ReasoningItem, Role as SourceRole,
};
use crate::protocol::openai_responses::wire::request::{Effort, Request, TextFormat};
use crate::protocol::openai_responses::wire::tools::Tool as SourceTool;
use crate::protocol::wire::{Raw, Text, TextOr};

/// What stands in the input.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub(super) messages: Vec<Message<'a>>,
    pub(super) tools: Tools<'a>,
    /// The last effort and the last format that the input sets.
    pub(super) effort: Option<&'a Effort<'a>>,
    pub(super) format: Option<&'a TextFormat<'a>>,
}

/// Reads the input of `request`, and its instructions.
pub(super) fn input<'a>(
    request: &'a Request<'a>,
    model: Capabilities,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Input<'a>, ConvertError> {
    let mut tools = Tools::new(context.model, model, context.server_tools);
    tools.add(request.tools.as_deref().unwrap_or_default(), None, "tools", notes)?;
    let contents = Contents { model, media: context.media, wanted: Vec::new(), marks_are_lost: false };
    let turns = Turns::default();
    let mut reader = Reader {
        model_name: context.model,
        model,
        contents,
        turns,
        tools,
        signature: None,
        hosted: None,
        lost_reasoning: None,
        effort: None,
        format: None,
    };
    if let Some(instructions) = request.instructions.as_ref().filter(|instructions| !instructions.is_empty()) {
        let role = reader.role(&SourceRole::Developer, "instructions")?;
        let content = Some(Content::Text(instructions.by_ref()));
        reader.turns.say(Message { role, content, ..Message::default() });
    }
    match &request.input {
        Some(TextOr::Text(text)) => {
            let content = Some(Content::Text(text.by_ref()));
            reader.turns.say(Message { role: Role::User, content, ..Message::default() });
        }
        Some(TextOr::Structured(items)) => {
            for (index, item) in items.iter().enumerate() {
                reader.item(item, format!("input[{index}]"), notes)?;
            }
        }
        None => {}
    }
    reader.finish(notes)
}

struct Reader<'a> {
    model_name: &'a str,
    model: Capabilities,
    contents: Contents<'a>,
    turns: Turns<'a>,
    tools: Tools<'a>,
    /// Gemini's signature for the next call.
    signature: Option<String>,
    /// The first item of a tool that ran at the vendor.
    hosted: Option<String>,
    /// The first reasoning that the provider cannot take back.
    lost_reasoning: Option<String>,
    effort: Option<&'a Effort<'a>>,
    format: Option<&'a TextFormat<'a>>,
}

impl<'a> Reader<'a> {
    fn item(&mut self, item: &'a InputItem<'a>, path: String, notes: &mut Notes) -> Result<(), ConvertError> {
        match item {
            InputItem::Message(message) | InputItem::Typed(Item::Message(message)) => {
                self.message(message, path, notes)
            }
            InputItem::Reference(_) | InputItem::Typed(Item::ItemReference(_)) => Err(ConvertError::unsupported(
                path,
                "the provider does not keep items; send the item itself in place of its id",
            )),
            InputItem::Typed(item) => self.typed(item, path, notes),
        }
    }

    fn typed(&mut self, item: &'a Item<'a>, path: String, notes: &mut Notes) -> Result<(), ConvertError> {
        match item {
            Item::Reasoning(reasoning) => self.reasoning(reasoning, path),
            Item::FunctionCall(call) => return self.function_call(call, path, notes),
            Item::CustomToolCall(call) => self.custom_call(call, path, notes),
            Item::FunctionCallOutput(output) | Item::CustomToolCallOutput(output) => {
                return self.output(output, path, notes);
            }
            Item::AdditionalTools(added) => {
                return self.tools.add(&added.tools, None, &format!("{path}.tools"), notes);
            }
            Item::ConfigurationUpdate(update) => self.configure(update),
            Item::ToolSearchOutput(found) => return self.found_tools(found, path, notes),
            Item::Compaction(_) | Item::CompactionTrigger(_) => {
                return Err(ConvertError::unsupported(
                    path,
                    "the provider cannot compact conversations, nor read one that OpenAI has compacted; send the conversation itself",
                ));
            }
            Item::Other(_) => notes.losses.add(path, "an item of an unknown type, left out"),
            other => {
                if let Some(call) = local_tools::call(other) {
                    let name =
                        notes.tools.upstream(Charset::OPENAI, None, call.tool.name(), call.tool.kind()).into_owned();
                    self.call(call.call_id, name.into(), call.arguments, path);
                } else if let Some((call_id, text)) = local_tools::output(other) {
                    return self.result(call_id, path, text, Vec::new());
                } else {
                    self.hosted.get_or_insert(path);
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, message: &'a SourceMessage<'a>, path: String, notes: &mut Notes) -> Result<(), ConvertError> {
        if message.role == SourceRole::Assistant {
            let parts = self.contents.of_answer(&message.content, &path, &mut notes.losses)?;
            self.turns.answer(parts);
            return Ok(());
        }
        let role = self.role(&message.role, &path)?;
        let Some(content) = self.contents.of_message(&message.content, &path, &mut notes.losses)? else {
            return Ok(());
        };
        self.turns.say(Message { role, content: Some(content), ..Message::default() });
        Ok(())
    }

    /// Others than OpenAI may know `system` only.
    fn role(&self, role: &SourceRole<'_>, path: &str) -> Result<Role<'static>, ConvertError> {
        match role {
            SourceRole::User => Ok(Role::User),
            SourceRole::Assistant => Ok(Role::Assistant),
            SourceRole::Developer if self.model.openai => Ok(Role::Developer),
            SourceRole::Developer | SourceRole::System => Ok(Role::System),
            SourceRole::Other(_) => Err(ConvertError::invalid(
                format!("{path}.role"),
                "the role has to be `user`, `assistant`, `system` or `developer`",
            )),
        }
    }

    /// OpenAI takes no reasoning back in Chat Completions. Others show theirs as text, and want it back.
    fn reasoning(&mut self, item: &'a ReasoningItem<'a>, path: String) {
        let text = text_of(item);
        let sealed = item.encrypted_content.as_deref().and_then(unseal);
        let sealed = sealed.filter(|(family, _)| family.has_model(self.model_name));
        if self.model.openai {
            if text.is_some() || item.encrypted_content.is_some() {
                self.lost_reasoning.get_or_insert(path);
            }
            return;
        }
        match sealed {
            Some((Family::Claude, signature)) => {
                let signature = Some(signature.into_owned().into());
                let thinking = Some(text.as_ref().map_or_else(Text::default, |text| text.to_string().into()));
                let block = Thinking { thinking, signature, cache_control: None };
                self.turns.think_signed(ThinkingBlock::Thinking(block));
            }
            Some((Family::ClaudeRedacted, data)) => {
                let data = data.into_owned().into();
                self.turns.think_signed(ThinkingBlock::RedactedThinking(RedactedThinking { data }));
            }
            Some((Family::Gemini, signature)) => self.signature = Some(signature.into_owned()),
            Some((Family::OpenAi, _)) | None => {
                if item.encrypted_content.is_some() && text.is_none() {
                    self.lost_reasoning.get_or_insert(path);
                }
            }
        }
        if let Some(text) = text {
            self.turns.think(text);
        }
    }

    fn function_call(&mut self, call: &'a SourceCall<'a>, path: String, notes: &mut Notes) -> Result<(), ConvertError> {
        let namespace = call.namespace.as_deref();
        let name = notes.tools.upstream(Charset::OPENAI, namespace, &call.name, ToolKind::Function).into_text();
        let arguments = arguments::repeated(&call.arguments, &call.call_id, &path)?.into();
        self.call(&call.call_id, name, arguments, path);
        Ok(())
    }

    fn custom_call(&mut self, call: &'a SourceCustomCall<'a>, path: String, notes: &mut Notes) {
        let name =
            notes.tools.upstream(Charset::OPENAI, call.namespace.as_deref(), &call.name, ToolKind::Custom).into_text();
        if !self.model.custom_tools {
            let arguments = json!({CUSTOM_INPUT: &*call.input}).to_string().into();
            return self.call(&call.call_id, name, arguments, path);
        }
        let custom = CustomCall { name: name.by_ref().into_owned().into(), input: call.input.by_ref() };
        let id = openai_call_id(&call.call_id).into_text();
        self.turns.call(&call.call_id, &name, path, ToolCall::Custom(CustomToolCall { id, custom }));
    }

    fn call(&mut self, id: &'a str, name: Text<'a>, arguments: Text<'a>, path: String) {
        let extra_content = self
            .signature
            .take()
            .and_then(|signature| Raw::of(&json!({"google": {"thought_signature": signature}})).ok());
        let call = ToolCall::Function(FunctionToolCall {
            id: openai_call_id(id).into_text(),
            function: FunctionCall { name: name.by_ref().into_owned().into(), arguments },
            extra_content,
            cache_control: None,
        });
        self.turns.call(id, &name, path, call);
    }

    fn output(
        &mut self,
        output: &'a FunctionCallOutput<'a>,
        path: String,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(call_id) = output.call_id.as_deref().or(output.id.as_deref()) else {
            return Err(ConvertError::invalid(path, "the output needs the `call_id` of its call"));
        };
        let output = self.contents.of_output(&output.output, call_id, &path, &mut notes.losses)?;
        self.turns.result(call_id, path, result(call_id, output.text), output.shown)
    }

    fn result(
        &mut self,
        call_id: &'a str,
        path: String,
        text: Text<'a>,
        shown: Vec<crate::protocol::openai_chat::wire::content::Part<'a>>,
    ) -> Result<(), ConvertError> {
        self.turns.result(call_id, path, result(call_id, text), shown)
    }

    /// What was found can be called from here on; the result says what that is.
    fn found_tools(
        &mut self,
        found: &'a ToolSearchOutput<'a>,
        path: String,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        self.tools.add(&found.tools, None, &format!("{path}.tools"), notes)?;
        let Some(call_id) = found.call_id.as_deref() else {
            self.hosted.get_or_insert(path);
            return Ok(());
        };
        let names: Vec<&str> = found.tools.iter().filter_map(name_of).collect();
        self.result(call_id, path, json!({"tools": names}).to_string().into(), Vec::new())
    }

    fn configure(&mut self, update: &'a ConfigurationUpdate<'a>) {
        let effort = update.reasoning.as_ref().and_then(|reasoning| reasoning.effort.as_ref());
        let format = update.text.as_ref().and_then(|text| text.format.as_ref());
        self.effort = effort.or(self.effort);
        self.format = format.or(self.format);
    }

    fn finish(self, notes: &mut Notes) -> Result<Input<'a>, ConvertError> {
        if !self.contents.wanted.is_empty() {
            return Err(ConvertError::NeedsMedia(self.contents.wanted));
        }
        if let Some(path) = self.hosted {
            notes.losses.add(path, "items of tools that ran at another provider, left out");
        }
        if let Some(path) = self.lost_reasoning {
            notes.losses.hint(path, "earlier reasoning that the provider cannot take back, left out");
        }
        let messages = self.turns.finish()?;
        if messages.is_empty() {
            return Err(ConvertError::invalid("input", "there is no message in it; send at least one"));
        }
        Ok(Input { messages, tools: self.tools, effort: self.effort, format: self.format })
    }
}

fn result<'a>(call_id: &'a str, text: Text<'a>) -> Message<'a> {
    Message {
        role: Role::Tool,
        tool_call_id: Some(openai_call_id(call_id).into_text()),
        content: Some(Content::Text(text)),
        ..Message::default()
    }
}

/// The reasoning itself where it is open, else its summary.
fn text_of<'a>(item: &'a ReasoningItem<'a>) -> Option<Text<'a>> {
    let texts = |parts: &'a [Part<'a>]| {
        joined(parts.iter().filter_map(|part| match part {
            Part::ReasoningText(part) | Part::SummaryText(part) => Some(part.text.by_ref()),
            _ => None,
        }))
    };
    let content = item.content.as_deref().and_then(texts);
    content.or_else(|| texts(&item.summary)).filter(|text| !text.is_empty())
}

fn name_of<'a>(tool: &'a SourceTool<'a>) -> Option<&'a str> {
    match tool {
        SourceTool::Function(tool) => Some(&tool.name),
        SourceTool::Custom(tool) => Some(&tool.name),
        SourceTool::Namespace(tool) => Some(&tool.name),
        _ => None,
    }
}
