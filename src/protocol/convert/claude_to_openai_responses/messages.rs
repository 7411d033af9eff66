//! The conversation as items.

use super::content::{self, Parts};
use super::sealed;
use crate::protocol::claude::wire::content::{
    Content, ContentBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::request::{InputMessage, Role};
use crate::protocol::convert::loss::{FOREIGN_THINKING, NO_CACHE_MARKS};
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::openai_responses::wire::item::{
    FunctionCall, FunctionCallOutput, InputItem, Item, Message, Role as Speaker,
};
use crate::protocol::wire::{Text, TextOr};

/// What the model takes beside the plain items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Features {
    /// Explicit cache breakpoints.
    pub(super) marks: bool,
    /// The phase of the model's own messages, which it wants back.
    pub(super) phases: bool,
}

/// The conversation as items.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    /// The items.
    pub(super) items: Vec<InputItem<'a>>,
    pairing: Pairing,
    features: Features,
    /// Whether the user, or a tool, has spoken since the model did.
    is_users_turn: bool,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(features: Features) -> Self {
        Self { items: Vec::new(), pairing: Pairing::default(), features, is_users_turn: false }
    }

    /// Adds a message, which stands at `path`.
    pub(super) fn message(
        &mut self,
        message: &'a InputMessage<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(content) = &message.content else { return Ok(()) };
        match &message.role {
            Role::User => self.user(content, path, notes),
            Role::Assistant => self.assistant(content, path, notes),
            Role::System => {
                self.system(content, path, notes);
                Ok(())
            }
            Role::Other(_) => {
                Err(ConvertError::invalid(format!("{path}.role"), "the role has to be user, assistant or system"))
            }
        }
    }

    /// Ends the conversation: every call must have been answered, and the model does not go on with a text it has begun.
    pub(super) fn finish(mut self, notes: &mut Notes) -> Result<Vec<InputItem<'a>>, ConvertError> {
        self.pairing.settle()?;
        if self.items.is_empty() {
            return Err(ConvertError::invalid("messages", "there is nothing to answer; send at least one text"));
        }
        if !self.is_users_turn {
            notes.losses.add("messages", "the other vendor's models begin anew, they do not go on with a begun answer");
        }
        Ok(self.items)
    }

    fn user(&mut self, content: &'a Content<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        self.is_users_turn = true;
        let blocks = match content {
            TextOr::Text(text) if text.trim().is_empty() => return Ok(()),
            TextOr::Text(text) => {
                self.push(message(Speaker::User, TextOr::Text(text.by_ref())));
                return Ok(());
            }
            TextOr::Structured(blocks) => blocks,
        };
        let place = |index: usize| format!("{path}.content[{index}]");
        for (index, block) in blocks.iter().enumerate() {
            if let ContentBlock::ToolResult(result) = block {
                self.result(result, &place(index), notes)?;
            }
        }
        let mut parts = Parts::new(self.features.marks, &mut notes.losses);
        for (index, block) in blocks.iter().enumerate() {
            let path = place(index);
            match block {
                ContentBlock::ToolResult(_) => {}
                ContentBlock::Text(block) => parts.text_block(block, &path),
                ContentBlock::Image(block) => parts.image(block, &path)?,
                ContentBlock::Document(block) => parts.document(block, &path)?,
                ContentBlock::SearchResult(block) => parts.search_result(block, &path)?,
                ContentBlock::ContainerUpload(_) => {
                    return Err(ConvertError::unsupported(path, "files for Claude's containers stay at its vendor"));
                }
                _ => {
                    return Err(ConvertError::unsupported(path, "a block of this type cannot stand in a user turn"));
                }
            }
        }
        if let Some(parts) = parts.finish() {
            self.push(message(Speaker::User, TextOr::Structured(parts)));
        }
        Ok(())
    }

    /// An instruction in the course of the conversation, at its place.
    fn system(&mut self, content: &'a Content<'a>, path: &str, notes: &mut Notes) {
        let mut parts = Parts::new(self.features.marks, &mut notes.losses);
        match content {
            TextOr::Text(text) => parts.text(text.by_ref()),
            TextOr::Structured(blocks) => {
                for (index, block) in blocks.iter().enumerate() {
                    if let ContentBlock::Text(block) = block {
                        parts.text_block(block, &format!("{path}.content[{index}]"));
                    }
                }
            }
        }
        if let Some(parts) = parts.finish() {
            self.push(message(Speaker::Developer, TextOr::Structured(parts)));
        }
    }

    fn assistant(&mut self, content: &'a Content<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        if std::mem::take(&mut self.is_users_turn) {
            self.pairing.settle()?;
        }
        let blocks = match content {
            TextOr::Text(text) => {
                self.said(vec![text], false);
                return Ok(());
            }
            TextOr::Structured(blocks) => blocks,
        };
        let last_call = blocks.iter().rposition(|block| matches!(block, ContentBlock::ToolUse(_)));
        let mut texts: Vec<&'a Text<'a>> = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let is_commentary = last_call.is_some_and(|last| index <= last);
            if let ContentBlock::Text(block) = block {
                note_citations(block, &format!("{path}.content[{index}]"), notes);
                texts.push(&block.text);
                continue;
            }
            self.said(std::mem::take(&mut texts), is_commentary);
            self.models_block(block, &format!("{path}.content[{index}]"), notes)?;
        }
        self.said(texts, false);
        Ok(())
    }

    fn models_block(&mut self, block: &'a ContentBlock<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        match block {
            ContentBlock::Thinking(block) => self.thinking(block, path, notes),
            ContentBlock::RedactedThinking(_) => notes.losses.hint_once(path, FOREIGN_THINKING),
            ContentBlock::ToolUse(call) => self.call(call, path, notes),
            ContentBlock::Compaction(block) => match &block.content {
                Some(summary) => {
                    let text = format!("Summary of the conversation so far:\n{}", &**summary);
                    self.push(message(Speaker::Developer, TextOr::Text(text.into())));
                }
                None => {
                    return Err(ConvertError::unsupported(
                        path,
                        "a sealed compaction is for Claude only; send the conversation",
                    ));
                }
            },
            ContentBlock::Fallback(_) | ContentBlock::McpToolListing(_) => {
                notes.losses.hint_once(path, "a note of Claude's vendor is left out");
            }
            ContentBlock::ServerToolUse(_)
            | ContentBlock::WebSearchToolResult(_)
            | ContentBlock::WebFetchToolResult(_)
            | ContentBlock::ToolSearchToolResult(_)
            | ContentBlock::AdvisorToolResult(_) => {
                notes.losses.hint_once(path, "what the vendor's own tools did before is left out, the answers stay");
            }
            ContentBlock::CodeExecutionToolResult(_)
            | ContentBlock::BashCodeExecutionToolResult(_)
            | ContentBlock::TextEditorCodeExecutionToolResult(_)
            | ContentBlock::McpToolUse(_)
            | ContentBlock::McpToolResult(_) => {
                notes.losses.add_once(path, "what code and MCP tools of Claude's vendor gave before is left out");
            }
            _ => {
                return Err(ConvertError::unsupported(
                    path,
                    "a block of this type cannot stand in a turn of the model",
                ));
            }
        }
        Ok(())
    }

    /// Adds what the model said: successive texts are one message, as they were one flow.
    fn said(&mut self, texts: Vec<&'a Text<'a>>, is_commentary: bool) {
        let text = match texts.as_slice() {
            [] => return,
            [only] => only.by_ref(),
            texts => texts.iter().map(|text| &***text).collect::<String>().into(),
        };
        if text.trim().is_empty() {
            return;
        }
        let phase = if is_commentary { "commentary" } else { "final_answer" };
        let message = Message {
            id: None,
            role: Speaker::Assistant,
            content: TextOr::Text(text),
            phase: self.features.phases.then(|| phase.into()),
            status: None,
        };
        self.push(Item::Message(message));
    }

    /// Thinking goes back to the model if it is that vendor's.
    fn thinking(&mut self, block: &'a ThinkingBlock<'a>, path: &str, notes: &mut Notes) {
        let signature = block.signature.as_deref().unwrap_or_default();
        match sealed::item(&block.thinking, signature) {
            Some(item) => self.push(Item::Reasoning(item)),
            None => notes.losses.hint_once(path, FOREIGN_THINKING),
        }
    }

    fn call(&mut self, call: &'a ToolUseBlock<'a>, path: &str, notes: &mut Notes) {
        self.pairing.call(&call.id, &call.name, path);
        let name = notes.tools.upstream(Charset::OPENAI, None, &call.name, ToolKind::Function);
        self.push(Item::FunctionCall(FunctionCall {
            call_id: Text(Charset::OPENAI.fit(&call.id)),
            name: Text(name),
            arguments: call.input.get().into(),
            ..FunctionCall::default()
        }));
    }

    fn result(&mut self, result: &'a ToolResultBlock<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        self.pairing.result(&result.tool_use_id, path)?;
        if result.cache_control.is_some() {
            notes.losses.hint_once(format!("{path}.cache_control"), NO_CACHE_MARKS);
        }
        let mut parts = Parts::new(self.features.marks, &mut notes.losses);
        match &result.content {
            None => {}
            Some(TextOr::Text(text)) => parts.text(text.by_ref()),
            Some(TextOr::Structured(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    parts.result_block(block, &format!("{path}.content[{index}]"))?;
                }
            }
        }
        self.push(Item::FunctionCallOutput(FunctionCallOutput {
            call_id: Some(Text(Charset::OPENAI.fit(&result.tool_use_id))),
            output: content::output(parts.finish(), result.is_error == Some(true)),
            ..FunctionCallOutput::default()
        }));
        Ok(())
    }

    fn push(&mut self, item: Item<'a>) {
        self.items.push(InputItem::Typed(item));
    }
}

fn message<'a>(role: Speaker<'a>, content: crate::protocol::openai_responses::wire::content::Content<'a>) -> Item<'a> {
    Item::Message(Message { id: None, role, content, phase: None, status: None })
}

fn note_citations(block: &TextBlock<'_>, path: &str, notes: &mut Notes) {
    if block.citations.as_ref().is_some_and(|citations| !citations.is_empty()) {
        notes.losses.hint_once(format!("{path}.citations"), "citations of earlier answers are left out");
    }
}
