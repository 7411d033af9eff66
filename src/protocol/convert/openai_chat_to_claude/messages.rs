//! The conversation: roles, calls and their results.

use super::content::{Parts, set_mark, text_block};
use super::{answer, thinking};
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::{
    CacheControl, ContentBlock, ResultBlock, TextBlock, ToolResultBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::Role as ClaudeRole;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind, made_up_call_id};
use crate::protocol::convert::notice::{self, notice};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::to_claude::conversation::begin_with_the_user;
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::openai_chat::wire::content::{Content, Part};
use crate::protocol::openai_chat::wire::message::{FunctionCall, Message, Role, ToolCall};
use crate::protocol::wire::{Raw, Text, TextOr};

/// A conversation as Claude takes it.
pub struct Conversation<'a, 'n> {
    /// What comes before all turns.
    pub system: Vec<BasicBlock<'a>>,
    /// The turns.
    pub turns: Turns<'a>,
    parts: Parts<'a>,
    notes: &'n mut Notes,
    pairing: Pairing,
    /// The first message that had nothing to say.
    blank: Option<String>,
}

/// Converts `messages`.
pub fn convert<'a, 'n>(
    messages: &'a [Message<'a>],
    parts: Parts<'a>,
    notes: &'n mut Notes,
) -> Result<Conversation<'a, 'n>, ConvertError> {
    let (system, turns, pairing) = (Vec::new(), Turns::default(), Pairing::default());
    let mut conversation = Conversation { system, turns, parts, notes, pairing, blank: None };
    for (index, message) in messages.iter().enumerate() {
        conversation.message(message, index)?;
    }
    conversation.pairing.settle()?;
    if !conversation.parts.missing.is_empty() {
        return Err(ConvertError::NeedsMedia(conversation.parts.missing));
    }
    conversation.begin_with_the_user()?;
    Ok(conversation)
}

impl<'a> Conversation<'a, '_> {
    fn message(&mut self, message: &'a Message<'a>, index: usize) -> Result<(), ConvertError> {
        let path = format!("messages[{index}]");
        if message.name.is_some() && !matches!(message.role, Role::Tool | Role::Function) {
            self.notes.losses.add_once(format!("{path}.name"), "Claude does not tell speakers apart");
        }
        match &message.role {
            Role::Tool => self.tool_result(message, &path),
            Role::Function => self.function_result(message, &path),
            role => {
                self.pairing.settle()?;
                match role {
                    Role::System | Role::Developer => self.system(message, &path),
                    Role::Assistant => self.assistant(message, &path, index),
                    Role::User => self.user(message, &path),
                    _ => Err(ConvertError::invalid(
                        format!("{path}.role"),
                        "a role is developer, system, user, assistant, tool or function",
                    )),
                }
            }
        }
    }

    /// Leading instructions are the system prompt. Claude's older models know no others; later ones are told in their place as notices,
    /// so that what stands before them stays the same and is found in the prompt cache.
    fn system(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let blocks = self.blocks(message, path)?;
        if self.turns.last().is_none() {
            for block in blocks {
                match block {
                    ContentBlock::Text(text) => self.system.push(BasicBlock::Text(text)),
                    ContentBlock::Image(image) => self.system.push(BasicBlock::Image(image)),
                    _ => return Err(ConvertError::invalid(path, "instructions are text")),
                }
            }
            return Ok(());
        }
        self.notes.losses.add_once(path, notice::TOLD);
        for (index, mut block) in blocks.into_iter().enumerate() {
            if let (0, ContentBlock::Text(block)) = (index, &mut block) {
                block.text = notice(&block.text).into();
            }
            self.turns.push(ClaudeRole::User, block);
        }
        Ok(())
    }

    fn user(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let blocks = self.blocks(message, path)?;
        if blocks.is_empty() {
            self.blank.get_or_insert_with(|| path.to_owned());
        }
        blocks.into_iter().for_each(|block| self.turns.push(ClaudeRole::User, block));
        Ok(())
    }

    fn assistant(&mut self, message: &'a Message<'a>, path: &str, index: usize) -> Result<(), ConvertError> {
        let mut blocks = thinking::replayed(message, path, &mut self.notes.losses);
        blocks.extend(self.blocks(message, path)?);
        if let Some(refusal) = &message.refusal {
            blocks.extend(text_block(refusal.by_ref()));
        }
        if message.audio.is_some() {
            self.notes.losses.add_once(format!("{path}.audio"), "a spoken answer is kept by another vendor");
        }
        for (call_index, call) in message.tool_calls.iter().flatten().enumerate() {
            blocks.push(self.call(call, &format!("{path}.tool_calls[{call_index}]"))?);
        }
        if let Some(call) = &message.function_call {
            let id = made_up_call_id("function_call", index);
            blocks.push(self.function_call(call, id, &format!("{path}.function_call"))?);
        }
        let mark = self.parts.marks.mark(None, message.cache_control.as_ref(), path, &mut self.notes.losses);
        if let Some(last) = blocks.last_mut() {
            set_mark(last, mark);
        }
        blocks.into_iter().for_each(|block| self.turns.push(ClaudeRole::Assistant, block));
        Ok(())
    }

    fn call(&mut self, call: &'a ToolCall<'a>, path: &str) -> Result<ContentBlock<'a>, ConvertError> {
        match call {
            ToolCall::Function(call) => {
                if call.extra_content.is_some() {
                    self.notes.losses.hint_once(format!("{path}.extra_content"), "is of another vendor");
                }
                let name = self.name(&call.function.name, ToolKind::Function);
                self.pairing.call(&call.id, &call.function.name, path);
                let input = arguments(&call.function, &call.id, path)?;
                let mut block = tool_use(Text(Charset::CLAUDE.fit(&call.id)), name, input);
                let mark = self.parts.marks.mark(None, call.cache_control.as_ref(), path, &mut self.notes.losses);
                set_mark(&mut block, mark);
                Ok(block)
            }
            ToolCall::Custom(call) => {
                let name = self.name(&call.custom.name, ToolKind::Custom);
                self.pairing.call(&call.id, &call.custom.name, path);
                Ok(tool_use(Text(Charset::CLAUDE.fit(&call.id)), name, custom_input(&call.custom.input)?))
            }
            ToolCall::Other(_) => Err(ConvertError::unsupported(path, "Claude knows no call of this type")),
        }
    }

    fn function_call(
        &mut self,
        call: &'a FunctionCall<'a>,
        id: String,
        path: &str,
    ) -> Result<ContentBlock<'a>, ConvertError> {
        let name = self.name(&call.name, ToolKind::Function);
        self.pairing.call(&id, &call.name, path);
        let input = arguments(call, &call.name, path)?;
        Ok(tool_use(id.into(), name, input))
    }

    fn name(&mut self, name: &'a Text<'a>, kind: ToolKind) -> Text<'a> {
        Text(self.notes.tools.upstream(Charset::CLAUDE, None, name, kind))
    }

    fn tool_result(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let Some(id) = &message.tool_call_id else {
            return Err(ConvertError::invalid(path, "a tool message has the tool_call_id of the call that it answers"));
        };
        self.pairing.result(id, path)?;
        self.result(Text(Charset::CLAUDE.fit(id)), message, path)
    }

    fn function_result(&mut self, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let name = message.name.as_deref().unwrap_or_default();
        let (_, id) = self.pairing.result_by_name(name, path)?;
        let id = id.to_owned();
        self.result(id.into(), message, path)
    }

    fn result(&mut self, id: Text<'a>, message: &'a Message<'a>, path: &str) -> Result<(), ConvertError> {
        let mut results = Vec::new();
        let mut mark = self.parts.marks.mark(None, message.cache_control.as_ref(), path, &mut self.notes.losses);
        for block in self.parts_of(message, path)? {
            results.push(match block {
                ContentBlock::Text(text) => ResultBlock::Text(text),
                ContentBlock::Image(image) => ResultBlock::Image(image),
                ContentBlock::Document(document) => ResultBlock::Document(document),
                _ => return Err(ConvertError::invalid(path, "a tool's result is text")),
            });
        }
        let content = match results.as_mut_slice() {
            [] => None,
            [ResultBlock::Text(TextBlock { text, cache_control, .. })] => {
                mark = mark.or_else(|| cache_control.take());
                Some(TextOr::Text(std::mem::take(text)))
            }
            _ => Some(TextOr::Structured(results)),
        };
        let block =
            ToolResultBlock { tool_use_id: id, content, is_error: None, toolset_name: None, cache_control: mark };
        self.turns.push(ClaudeRole::User, ContentBlock::ToolResult(Box::new(block)));
        Ok(())
    }

    /// The content of a message, with the border of the prompt cache that stands on the message itself.
    fn blocks(&mut self, message: &'a Message<'a>, path: &str) -> Result<Vec<ContentBlock<'a>>, ConvertError> {
        let mut blocks = self.parts_of(message, path)?;
        if message.role != Role::Assistant {
            let mark = self.parts.marks.mark(None, message.cache_control.as_ref(), path, &mut self.notes.losses);
            if let Some(last) = blocks.last_mut() {
                set_mark(last, mark);
            }
        }
        Ok(blocks)
    }

    fn parts_of(&mut self, message: &'a Message<'a>, path: &str) -> Result<Vec<ContentBlock<'a>>, ConvertError> {
        let parts = match &message.content {
            None => return Ok(Vec::new()),
            Some(Content::Text(text)) => return Ok(text_block(text.by_ref()).into_iter().collect()),
            Some(Content::Parts(parts)) => parts,
        };
        let mut blocks = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let path = format!("{path}.content[{index}]");
            if message.role == Role::Assistant && !matches!(part, Part::Text(_) | Part::Refusal(_)) {
                if matches!(part, Part::Other(raw) if answer::thinking_part(raw).is_some()) {
                    self.notes.losses.hint_once(path, "is thinking of another vendor");
                    continue;
                }
                return Err(ConvertError::unsupported(path, "what the assistant said is text or a refusal"));
            }
            blocks.extend(self.parts.part(part, &path, &mut self.notes.losses)?);
        }
        Ok(blocks)
    }

    fn begin_with_the_user(&mut self) -> Result<(), ConvertError> {
        let first = self.turns.iter().next().map(|(role, _)| role.clone());
        match first {
            Some(ClaudeRole::Assistant) => {
                if let Some(path) = self.blank.take() {
                    return Err(ConvertError::invalid(path, "the conversation begins with a message without content"));
                }
                begin_with_the_user(&mut self.turns, "messages", &mut self.notes.losses);
            }
            Some(_) => {}
            None => match self.system.pop() {
                Some(BasicBlock::Text(last)) => {
                    self.notes
                        .losses
                        .add("messages", "are instructions only, the last of which is told as a user turn");
                    self.turns.push(ClaudeRole::User, text(last.text, last.cache_control));
                }
                _ => {
                    let path = self.blank.take().unwrap_or_else(|| "messages".to_owned());
                    return Err(ConvertError::invalid(path, "there is nothing to answer; send a message with content"));
                }
            },
        }
        Ok(())
    }
}

fn text<'a>(text: Text<'a>, cache_control: Option<CacheControl<'a>>) -> ContentBlock<'a> {
    ContentBlock::Text(TextBlock { text, citations: None, cache_control })
}

fn tool_use<'a>(id: Text<'a>, name: Text<'a>, input: Raw<'a>) -> ContentBlock<'a> {
    let block = ToolUseBlock { id, name, input, caller: None, toolset_name: None, cache_control: None };
    ContentBlock::ToolUse(Box::new(block))
}

/// The arguments as the object that they have to be.
fn arguments<'a>(call: &'a FunctionCall<'a>, id: &str, path: &str) -> Result<Raw<'a>, ConvertError> {
    let text = match call.arguments.trim() {
        "" => "{}",
        text => text,
    };
    Raw::parse(text).ok().filter(|raw| raw.get().starts_with('{')).ok_or_else(|| {
        ConvertError::invalid(
            path,
            format!("the arguments of the call {id:?} are not a JSON object; they may have been cut"),
        )
    })
}

fn custom_input(input: &str) -> Result<Raw<'static>, ConvertError> {
    Raw::of(&std::collections::BTreeMap::from([(CUSTOM_INPUT, input)]))
        .map_err(|error| ConvertError::invalid("", error.to_string()))
}
