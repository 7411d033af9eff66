//! The conversation: turns, calls and their results.

use super::content::{Blocks, search_result, text, unmarked};
use super::results;
use super::thinking;
use crate::protocol::claude::wire::content::{CompactionBlock, ContentBlock, ToolResultBlock, ToolUseBlock};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{InputMessage, MessagesRequest, Role as ClaudeRole};
use crate::protocol::convert::from_claude::{BILLING_HEADER, FOR_THE_BILL};
use crate::protocol::convert::names::{Charset, ToolKind, openai_call_id};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::openai_chat::wire::content::{Content, Part, TextPart};
use crate::protocol::openai_chat::wire::message::{FunctionCall, FunctionToolCall, Message, Role, ToolCall};
use crate::protocol::wire::{Raw, Text, TextOr};

struct Conversation<'a, 'n> {
    messages: Vec<Message<'a>>,
    turn: Turn<'a>,
    blocks: Blocks<'a>,
    notes: &'n mut Notes,
    pairing: Pairing,
    server_tools: ServerTools,
}

/// What neighbours of the same role say, which counts as one turn at Claude.
#[derive(Default)]
enum Turn<'a> {
    #[default]
    None,
    User(User<'a>),
    Assistant(Assistant<'a>),
}

#[derive(Default)]
struct User<'a> {
    results: Vec<Message<'a>>,
    /// What results show, then what the user says.
    shown: Vec<Part<'a>>,
    said: Vec<Part<'a>>,
}

#[derive(Default)]
struct Assistant<'a> {
    texts: Vec<Text<'a>>,
    /// Whether the next text is of another message.
    is_next: bool,
    thinking: Vec<Text<'a>>,
    calls: Vec<ToolCall<'a>>,
    /// Gemini's signature, for the part that follows.
    signature: Option<Raw<'a>>,
    /// The one of a text.
    text_signature: Option<Raw<'a>>,
}

/// Converts the system prompt and the messages.
pub fn convert<'a>(
    request: &'a MessagesRequest<'a>,
    context: &'a Context<'a>,
    blocks: Blocks<'a>,
    notes: &mut Notes,
) -> Result<Vec<Message<'a>>, ConvertError> {
    let mut conversation = Conversation {
        messages: Vec::new(),
        turn: Turn::None,
        blocks,
        notes,
        pairing: Pairing::default(),
        server_tools: context.server_tools,
    };
    conversation.system_prompt(request)?;
    for (index, message) in request.messages.iter().enumerate() {
        conversation.message(message, index)?;
    }
    conversation.end_turn()?;
    conversation.pairing.settle()?;
    if !conversation.blocks.missing.is_empty() {
        return Err(ConvertError::NeedsMedia(conversation.blocks.missing));
    }
    if conversation.messages.is_empty() {
        return Err(ConvertError::invalid("messages", "there is nothing to answer; send a message with content"));
    }
    if conversation.messages.last().is_some_and(|last| last.role == Role::Assistant) {
        conversation
            .notes
            .losses
            .add("messages", "end with the assistant, whose words are not gone on with but answered anew");
    }
    Ok(conversation.messages)
}

impl<'a> Conversation<'a, '_> {
    fn system_prompt(&mut self, request: &'a MessagesRequest<'a>) -> Result<(), ConvertError> {
        let mut parts = Vec::new();
        match &request.system {
            None => {}
            Some(TextOr::Text(prompt)) => parts.push(text(prompt.by_ref())),
            Some(TextOr::Structured(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    let path = format!("system[{index}]");
                    match block {
                        BasicBlock::Text(block) if block.text.starts_with(BILLING_HEADER) => {
                            self.notes.losses.hint(path, FOR_THE_BILL);
                        }
                        block => parts.extend(self.blocks.basic(block, &path, &mut self.notes.losses)?),
                    }
                }
            }
        }
        self.push(Role::System, parts, "\n\n");
        Ok(())
    }

    fn message(&mut self, message: &'a InputMessage<'a>, index: usize) -> Result<(), ConvertError> {
        let path = format!("messages[{index}]");
        match &message.role {
            ClaudeRole::User if !matches!(self.turn, Turn::User(_)) => {
                self.end_turn()?;
                self.turn = Turn::User(User::default());
            }
            ClaudeRole::Assistant if !matches!(self.turn, Turn::Assistant(_)) => {
                self.end_turn()?;
                self.turn = Turn::Assistant(Assistant::default());
            }
            ClaudeRole::System => return self.system(message, &path),
            ClaudeRole::Other(_) => {
                return Err(ConvertError::invalid(format!("{path}.role"), "a role is user, assistant or system"));
            }
            ClaudeRole::User => {}
            ClaudeRole::Assistant => {
                if let Turn::Assistant(assistant) = &mut self.turn {
                    assistant.next_message();
                }
            }
        }
        match &message.content {
            None => {}
            Some(TextOr::Text(text)) => self.said(text),
            Some(TextOr::Structured(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    self.block(block, &format!("{path}.content[{index}]"))?;
                }
            }
        }
        Ok(())
    }

    /// An instruction in the course of the conversation, which stays in its place.
    fn system(&mut self, message: &'a InputMessage<'a>, path: &str) -> Result<(), ConvertError> {
        self.end_turn()?;
        self.pairing.settle()?;
        let losses = &mut self.notes.losses;
        if message.output_config.is_some() {
            losses.add_once(format!("{path}.output_config"), "has no counterpart within a conversation");
        }
        if message.clear_at.as_ref().is_some_and(|clear_at| *clear_at != "never") {
            losses.add_once(format!("{path}.clear_at"), "has no counterpart, the instruction stays");
        }
        let mut parts = Vec::new();
        match &message.content {
            None => {}
            Some(TextOr::Text(said)) => parts.push(text(said.by_ref())),
            Some(TextOr::Structured(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    match block {
                        ContentBlock::Text(block) => parts.push(self.blocks.text(block, path, losses)),
                        ContentBlock::ToolAddition(_) | ContentBlock::ToolRemoval(_) => losses
                            .add_once(format!("{path}.content[{index}]"), "has no counterpart, tools stay as declared"),
                        _ => losses.add(format!("{path}.content[{index}]"), "is no instruction"),
                    }
                }
            }
        }
        self.push(Role::System, parts, "\n\n");
        Ok(())
    }

    fn said(&mut self, said: &'a Text<'a>) {
        if said.is_empty() {
            return;
        }
        match &mut self.turn {
            Turn::User(user) => user.said.push(text(said.by_ref())),
            Turn::Assistant(assistant) => assistant.text(said.by_ref()),
            Turn::None => {}
        }
    }

    fn block(&mut self, block: &'a ContentBlock<'a>, path: &str) -> Result<(), ConvertError> {
        let losses = &mut self.notes.losses;
        match (&mut self.turn, block) {
            (Turn::User(user), ContentBlock::Text(block)) => {
                if !block.text.is_empty() {
                    user.said.push(self.blocks.text(block, path, losses));
                }
            }
            (Turn::User(user), ContentBlock::Image(block)) => user.said.push(self.blocks.image(block, path, losses)?),
            (Turn::User(user), ContentBlock::Document(block)) => {
                user.said.extend(self.blocks.document(block, path, losses)?);
            }
            (Turn::User(user), ContentBlock::SearchResult(block)) => {
                unmarked(block.cache_control.as_ref(), path, losses);
                user.said.push(text(search_result(block, path, losses).into()));
            }
            (Turn::User(_), ContentBlock::ToolResult(block)) => return self.tool_result(block, path),
            (_, ContentBlock::ContainerUpload(_)) => return self.server_tool(path, "container_upload"),
            (Turn::Assistant(assistant), ContentBlock::Text(block)) => {
                unmarked(block.cache_control.as_ref(), path, losses);
                assistant.text(block.text.by_ref());
            }
            (Turn::Assistant(assistant), ContentBlock::Thinking(block)) => {
                let signature = block.signature.as_ref().and_then(|signature| thinking::gemini_signature(signature));
                match signature.filter(|_| self.blocks.model.is_gemini()) {
                    Some(signature) => assistant.signature = Some(signature),
                    None if self.blocks.model.can.openai => {
                        losses.hint_once(path, "is thinking, which OpenAI's models do not get back");
                    }
                    None if block.thinking.is_empty() => {}
                    None => assistant.thinking.push(block.thinking.by_ref()),
                }
            }
            (Turn::Assistant(_), ContentBlock::RedactedThinking(_)) => {
                losses.hint_once(path, "is thinking that only Claude can read");
            }
            (Turn::Assistant(_), ContentBlock::ToolUse(block)) => return self.tool_use(block, path),
            (_, ContentBlock::Compaction(block)) => return self.compaction(block, path),
            (_, ContentBlock::Fallback(_)) => {}
            (Turn::Assistant(_), ContentBlock::Other(_)) => losses.add(path, "is of a kind that is not known"),
            (Turn::Assistant(_), _) => {
                losses.add_once(path, "is of a tool that the vendor ran, which the conversation does without");
            }
            (_, ContentBlock::Other(_)) => {
                return Err(ConvertError::unsupported(path, "is content of a kind that is not known"));
            }
            _ => return Err(ConvertError::invalid(path, "does not belong into a turn of this role")),
        }
        Ok(())
    }

    fn tool_use(&mut self, block: &'a ToolUseBlock<'a>, path: &str) -> Result<(), ConvertError> {
        unmarked(block.cache_control.as_ref(), path, &mut self.notes.losses);
        self.pairing.call(&block.id, &block.name, path);
        let name = Text(self.notes.tools.upstream(Charset::OPENAI, None, &block.name, ToolKind::Function));
        let Turn::Assistant(assistant) = &mut self.turn else { return Ok(()) };
        assistant.calls.push(ToolCall::Function(FunctionToolCall {
            id: Text(openai_call_id(&block.id)),
            function: FunctionCall { name, arguments: Text::from(block.input.get()) },
            extra_content: assistant.signature.take(),
            cache_control: None,
        }));
        Ok(())
    }

    fn tool_result(&mut self, block: &'a ToolResultBlock<'a>, path: &str) -> Result<(), ConvertError> {
        self.pairing.result(&block.tool_use_id, path)?;
        let mut parts = results::take_apart(block, path, &mut self.blocks, &mut self.notes.losses)?;
        let id = Text(openai_call_id(&block.tool_use_id));
        let content = parts.text(block.is_error == Some(true));
        let Turn::User(user) = &mut self.turn else { return Ok(()) };
        user.shown.extend(parts.labelled(&id));
        user.results.push(Message {
            role: Role::Tool,
            content: Some(Content::Text(content)),
            tool_call_id: Some(id),
            ..Message::default()
        });
        Ok(())
    }

    fn server_tool(&mut self, path: &str, what: &'static str) -> Result<(), ConvertError> {
        match self.server_tools {
            ServerTools::Refuse => {
                Err(ConvertError::unsupported(path, format!("the provider has nothing like {what}")))
            }
            ServerTools::Drop => {
                self.notes.losses.add_once(path, "is left out, the provider has nothing like it");
                Ok(())
            }
        }
    }

    /// What stands for all that was said before it.
    fn compaction(&mut self, block: &'a CompactionBlock<'a>, path: &str) -> Result<(), ConvertError> {
        let Some(summary) = &block.content else {
            return Err(ConvertError::unsupported(
                path,
                "is a summary that only Claude can read; send the conversation",
            ));
        };
        self.messages.retain(|message| message.role == Role::System);
        self.pairing = Pairing::default();
        self.messages.push(Message {
            role: Role::User,
            content: Some(Content::Text(format!("Summary of the conversation so far:\n{}", &**summary).into())),
            ..Message::default()
        });
        self.turn = match self.turn {
            Turn::Assistant(_) => Turn::Assistant(Assistant::default()),
            _ => Turn::User(User::default()),
        };
        Ok(())
    }

    fn end_turn(&mut self) -> Result<(), ConvertError> {
        match std::mem::take(&mut self.turn) {
            Turn::None => {}
            Turn::User(user) => {
                self.pairing.settle()?;
                self.messages.extend(user.results);
                let parts = user.shown.into_iter().chain(user.said).collect();
                self.push(Role::User, parts, "\n");
            }
            Turn::Assistant(assistant) => self.messages.extend(assistant.message(self.blocks.model.can.openai)),
        }
        Ok(())
    }

    /// A message of parts. One text is a string, which all vendors take; so are several where only OpenAI's are known to take
    /// parts.
    fn push(&mut self, role: Role<'a>, mut parts: Vec<Part<'a>>, between: &str) {
        let joins = !self.blocks.model.can.openai || role == Role::System;
        let content = match parts.as_mut_slice() {
            [] => return,
            [Part::Text(part @ TextPart { prompt_cache_breakpoint: None, .. })] => {
                Content::Text(std::mem::take(&mut part.text))
            }
            _ => match parts.iter().map(plain_text).collect::<Option<Vec<_>>>().filter(|_| joins) {
                Some(texts) => Content::Text(texts.join(between).into()),
                None => Content::Parts(parts),
            },
        };
        self.messages.push(Message { role, content: Some(content), ..Message::default() });
    }
}

impl<'a> Assistant<'a> {
    /// Texts of several messages stand on lines of their own.
    fn next_message(&mut self) {
        self.is_next = !self.texts.is_empty();
    }

    fn text(&mut self, text: Text<'a>) {
        if !text.is_empty() {
            if std::mem::take(&mut self.is_next) {
                self.texts.push("\n".into());
            }
            self.text_signature = self.signature.take().or(self.text_signature.take());
            self.texts.push(text);
        }
    }

    fn message(mut self, is_openai: bool) -> Option<Message<'a>> {
        if self.texts.iter().all(|text| text.trim().is_empty()) {
            self.texts.clear();
        }
        if self.texts.is_empty() && self.calls.is_empty() && self.thinking.is_empty() {
            return None;
        }
        let content = match self.texts.as_mut_slice() {
            [] => None,
            [text] => Some(std::mem::take(text)),
            texts => Some(texts.iter().map(|text| &**text).collect::<String>().into()),
        };
        let reasoning_content = match self.thinking.as_mut_slice() {
            [] => None,
            [text] => Some(std::mem::take(text)),
            texts => Some(texts.iter().map(|text| &**text).collect::<Vec<_>>().join("\n").into()),
        };
        Some(Message {
            role: Role::Assistant,
            // Beside calls it may be absent, but not at all vendors.
            content: content.or_else(|| (self.calls.is_empty() || !is_openai).then(Text::default)).map(Content::Text),
            reasoning_content,
            tool_calls: (!self.calls.is_empty()).then_some(self.calls),
            extra_content: self.text_signature.or(self.signature),
            ..Message::default()
        })
    }
}

fn plain_text<'p>(part: &'p Part<'_>) -> Option<&'p str> {
    match part {
        Part::Text(TextPart { text, prompt_cache_breakpoint: None, .. }) => Some(text),
        _ => None,
    }
}
