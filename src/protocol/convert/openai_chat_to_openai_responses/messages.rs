//! Messages as items.

use super::content;
use super::tools::IntoText;
use crate::protocol::convert::names::{Charset, ToolKind, made_up_call_id, openai_call_id};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::{ConvertError, Losses, Notes};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::content::Content;
use crate::protocol::openai_chat::wire::message::{Message, ReasoningDetail, Role, ToolCall};
use crate::protocol::openai_responses::wire::content::{Part, PlainText};
use crate::protocol::openai_responses::wire::item::{
    CustomToolCall, FunctionCall, FunctionCallOutput, InputItem, Item, Message as TargetMessage, ReasoningItem,
    Role as TargetRole,
};
use crate::protocol::wire::{Text, TextOr};

/// The conversation.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) instructions: Option<Text<'a>>,
    pub(super) items: Vec<InputItem<'a>>,
}

/// Reads `messages`. The system's texts before all others become the instructions, unless `all_in_input`.
pub(super) fn conversation<'a>(
    messages: &'a [Message<'a>],
    model: Capabilities,
    all_in_input: bool,
    notes: &mut Notes,
) -> Result<Conversation<'a>, ConvertError> {
    if let Some(path) = cache_control(messages) {
        notes.losses.hint(path, "the provider caches by itself");
    }
    let is_system = |message: &Message<'_>| matches!(message.role, Role::System | Role::Developer);
    let leading = messages.iter().take_while(|message| is_system(message)).count();
    let (system, others) = messages.split_at_checked(leading).unwrap_or((&[], messages));
    let is_marked = system.iter().any(|message| message.content.as_ref().is_some_and(content::is_marked));
    let mut reader = Reader {
        model,
        items: Vec::with_capacity(messages.len()),
        pairing: Pairing::default(),
        are_custom: Vec::new(),
        lost_reasoning: None,
        lost_name: None,
    };
    let mut instructions = None;
    if all_in_input || is_marked || others.is_empty() {
        reader.all(system, 0, notes)?;
    } else {
        let texts: Vec<_> =
            system.iter().filter_map(|message| message.content.as_ref().and_then(content::system)).collect();
        instructions = joined(texts);
    }
    reader.all(others, leading, notes)?;
    reader.pairing.settle()?;
    if let Some(path) = reader.lost_reasoning {
        notes.losses.hint(path, "reasoning that another provider made, left out");
    }
    if let Some(path) = reader.lost_name {
        notes.losses.add(path, "speakers have no names at the provider");
    }
    if reader.items.is_empty() {
        return Err(ConvertError::invalid("messages", "there is nothing said in them; send at least one text"));
    }
    Ok(Conversation { instructions, items: reader.items })
}

struct Reader<'a> {
    model: Capabilities,
    items: Vec<InputItem<'a>>,
    pairing: Pairing,
    /// Of the calls that are open, in their order: whether they are of custom tools.
    are_custom: Vec<bool>,
    lost_reasoning: Option<String>,
    lost_name: Option<String>,
}

impl<'a> Reader<'a> {
    fn all(&mut self, messages: &'a [Message<'a>], first: usize, notes: &mut Notes) -> Result<(), ConvertError> {
        for (index, message) in messages.iter().enumerate() {
            self.message(message, first + index, notes)?;
        }
        Ok(())
    }

    fn message(&mut self, message: &'a Message<'a>, index: usize, notes: &mut Notes) -> Result<(), ConvertError> {
        let path = format!("messages[{index}]");
        if !matches!(message.role, Role::Tool | Role::Function) {
            self.pairing.settle()?;
            self.are_custom.clear();
        }
        if message.name.is_some()
            && matches!(message.role, Role::User | Role::Assistant | Role::System | Role::Developer)
        {
            self.lost_name.get_or_insert_with(|| format!("{path}.name"));
        }
        match &message.role {
            Role::System | Role::Developer => self.say(TargetRole::Developer, message, &path, &mut notes.losses),
            Role::User => self.say(TargetRole::User, message, &path, &mut notes.losses),
            Role::Assistant => self.answer(message, index, &path, notes),
            Role::Tool => self.result(message, path, &mut notes.losses),
            Role::Function => self.function_result(message, path, &mut notes.losses),
            Role::Other(_) => Err(ConvertError::invalid(
                format!("{path}.role"),
                "the role has to be `system`, `developer`, `user`, `assistant` or `tool`",
            )),
        }
    }

    fn say(
        &mut self,
        role: TargetRole<'a>,
        message: &'a Message<'a>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<(), ConvertError> {
        let Some(content) = &message.content else { return Ok(()) };
        if let Some(content) = content::input(content, path, losses)? {
            self.push(Item::Message(TargetMessage { id: None, role, content, phase: None, status: None }));
        }
        Ok(())
    }

    fn answer(
        &mut self,
        message: &'a Message<'a>,
        index: usize,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        if message.audio.is_some() {
            return Err(ConvertError::unsupported(
                format!("{path}.audio"),
                "the provider does not know earlier spoken answers in Responses; send what was said as `content`",
            ));
        }
        self.reasoning(message, path);
        let said = content::answer(message.content.as_ref(), message.refusal.as_ref(), path, &mut notes.losses);
        if let Some(content) = said {
            let role = TargetRole::Assistant;
            self.push(Item::Message(TargetMessage { id: None, role, content, phase: None, status: None }));
        }
        for (place, call) in message.tool_calls.iter().flatten().enumerate() {
            self.call(call, format!("{path}.tool_calls[{place}]"), notes);
        }
        if let Some(call) = &message.function_call {
            let id = legacy_call_id(index);
            let name = notes.tools.upstream(Charset::OPENAI, None, &call.name, ToolKind::Function).into_text();
            self.open(&id, &call.name, format!("{path}.function_call"), false);
            self.push(Item::FunctionCall(FunctionCall {
                call_id: id.into(),
                name,
                arguments: or_empty_object(&call.arguments),
                ..FunctionCall::default()
            }));
        }
        Ok(())
    }

    /// OpenAI wants its own reasoning back, sealed as it was; others know what they showed.
    fn reasoning(&mut self, message: &'a Message<'a>, path: &str) {
        let shown = message.reasoning_content.as_ref().or(message.reasoning.as_ref());
        let mut shown = shown.filter(|text| !text.is_empty());
        let mut is_sent = false;
        for detail in message.reasoning_details.iter().flatten() {
            let ReasoningDetail::Encrypted(detail) = detail else { continue };
            let sealed = match unseal(&detail.data) {
                Some((Family::OpenAi, payload)) => payload.into_text(),
                None if detail.format.as_deref() == Some("openai-responses-v1") => detail.data.by_ref(),
                Some(_) | None => continue,
            };
            let summary = shown.take().map(|text| Part::SummaryText(PlainText { text: text.by_ref() }));
            self.push(Item::Reasoning(ReasoningItem {
                id: detail.id.as_ref().map(Text::by_ref),
                summary: summary.into_iter().collect(),
                content: None,
                encrypted_content: Some(sealed),
                status: None,
            }));
            is_sent = true;
        }
        if let Some(text) = shown.filter(|_| !self.model.openai && !is_sent) {
            let content = Some(vec![Part::ReasoningText(PlainText { text: text.by_ref() })]);
            self.push(Item::Reasoning(ReasoningItem { content, ..ReasoningItem::default() }));
            is_sent = true;
        }
        let has_any = shown.is_some() || message.reasoning_details.is_some() || message.thinking_blocks.is_some();
        if has_any && !is_sent {
            self.lost_reasoning.get_or_insert_with(|| path.to_owned());
        }
    }

    fn call(&mut self, call: &'a ToolCall<'a>, path: String, notes: &mut Notes) {
        match call {
            ToolCall::Function(call) => {
                let name = &call.function.name;
                self.open(&call.id, name, path, false);
                self.push(Item::FunctionCall(FunctionCall {
                    call_id: openai_call_id(&call.id).into_text(),
                    name: notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function).into_text(),
                    arguments: or_empty_object(&call.function.arguments),
                    ..FunctionCall::default()
                }));
            }
            ToolCall::Custom(call) => {
                let name = &call.custom.name;
                self.open(&call.id, name, path, true);
                self.push(Item::CustomToolCall(CustomToolCall {
                    call_id: openai_call_id(&call.id).into_text(),
                    name: notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Custom).into_text(),
                    input: call.custom.input.by_ref(),
                    ..CustomToolCall::default()
                }));
            }
            ToolCall::Other(_) => notes.losses.add(path, "a call of an unknown type, left out"),
        }
    }

    fn open(&mut self, id: &str, name: &str, path: String, is_custom: bool) {
        self.pairing.call(id, name, path);
        self.are_custom.push(is_custom);
    }

    fn result(&mut self, message: &'a Message<'a>, path: String, losses: &mut Losses) -> Result<(), ConvertError> {
        let Some(id) = &message.tool_call_id else {
            return Err(ConvertError::invalid(path, "the message needs the `tool_call_id` of its call"));
        };
        let (place, _) = self.pairing.result(id, format!("{path}.tool_call_id"))?;
        let is_custom = self.are_custom.get(place).copied().unwrap_or_default();
        let output = output(openai_call_id(id).into_text(), message.content.as_ref(), &path, losses)?;
        self.push(if is_custom { Item::CustomToolCallOutput(output) } else { Item::FunctionCallOutput(output) });
        Ok(())
    }

    fn function_result(
        &mut self,
        message: &'a Message<'a>,
        path: String,
        losses: &mut Losses,
    ) -> Result<(), ConvertError> {
        let Some(name) = &message.name else {
            return Err(ConvertError::invalid(path, "the message needs the `name` of its function"));
        };
        let (_, id) = self.pairing.result_by_name(name, format!("{path}.name"))?;
        let id = id.to_owned().into();
        let output = output(id, message.content.as_ref(), &path, losses)?;
        self.push(Item::FunctionCallOutput(output));
        Ok(())
    }

    fn push(&mut self, item: Item<'a>) {
        self.items.push(InputItem::Typed(item));
    }
}

fn output<'a>(
    call_id: Text<'a>,
    content: Option<&'a Content<'a>>,
    path: &str,
    losses: &mut Losses,
) -> Result<FunctionCallOutput<'a>, ConvertError> {
    let output = match content {
        Some(content) => content::input(content, path, losses)?,
        None => None,
    };
    let output = output.unwrap_or_else(|| TextOr::Text(Text::default()));
    Ok(FunctionCallOutput { call_id: Some(call_id), output, ..FunctionCallOutput::default() })
}

/// Legacy calls have no ids.
fn legacy_call_id(index: usize) -> String {
    made_up_call_id("function_call", index)
}

fn or_empty_object<'a>(arguments: &'a Text<'a>) -> Text<'a> {
    if arguments.trim().is_empty() { "{}".into() } else { arguments.by_ref() }
}

fn joined(texts: Vec<Text<'_>>) -> Option<Text<'_>> {
    let mut texts = texts.into_iter();
    let first = texts.next()?;
    Some(texts.fold(first, |all, text| format!("{}\n\n{}", &*all, &*text).into()))
}

/// Where the first of Claude's marks for the cache stands.
fn cache_control(messages: &[Message<'_>]) -> Option<String> {
    messages.iter().enumerate().find_map(|(index, message)| {
        if message.cache_control.is_some() {
            return Some(format!("messages[{index}].cache_control"));
        }
        let part = message.content.as_ref().and_then(content::cache_control)?;
        Some(format!("messages[{index}].content[{part}].cache_control"))
    })
}
