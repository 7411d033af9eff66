//! The conversation: messages of Claude as contents of Gemini.

use std::fmt;

use tollgate_macros::Read;

use crate::protocol::claude::wire::content::{
    CacheControl, CompactionBlock, Content as ClaudeContent, ContentBlock, RedactedThinkingBlock, ThinkingBlock,
    ToolResultBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::request::{InputMessage, MessagesRequest, Role};
use crate::protocol::claude::wire::server_tools::{CodeExecutionContent, ServerToolResult, WebSearchContent};
use crate::protocol::convert::loss::{FOREIGN_THINKING, NO_CACHE_MARKS};
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::notice::{self, notice};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::seal::{self, Family};
use crate::protocol::convert::to_gemini::media::{MediaReader, Place};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::turns::{BEGINS_WITH_MODEL, Turns};
use crate::protocol::gemini::wire::content::{
    CodeExecutionResult, Content, ExecutableCode, FunctionCall, Outcome, Part, Role as Side,
};
use crate::protocol::wire::{Text, TextOr};

use super::{kept, media, results};

/// The conversation, converted.
pub(super) struct Messages<'a> {
    /// System messages before the first turn.
    pub(super) system: Vec<Part<'a>>,
    /// The turns.
    pub(super) contents: Vec<Content<'a>>,
}

/// Converts the messages of `request`.
pub(super) fn messages<'a>(
    request: &'a MessagesRequest<'a>,
    context: &'a Context<'a>,
    model: &Capabilities,
    notes: &mut Notes,
) -> Result<Messages<'a>, ConvertError> {
    let mut reader = Reader {
        notes,
        media: MediaReader::new(context),
        model,
        turns: Turns::default(),
        pairing: Pairing::default(),
        answer: UserTurn::default(),
        signature: None,
        code_that_ran: Vec::new(),
        system: Vec::new(),
        has_begun: false,
    };
    for (index, message) in request.messages.iter().enumerate() {
        reader.message(index, message, request.messages.get(index + 1..).unwrap_or_default())?;
    }
    reader.end_of_user_turn()?;
    if request.messages.last().is_some_and(|message| message.role == Role::Assistant) {
        reader.notes.losses.add_once("messages", "the answer may begin anew instead of going on with the last message");
    }
    if reader.turns.begin_with_the_user() {
        reader.notes.losses.add("messages", BEGINS_WITH_MODEL);
    }
    if model.demands_signatures {
        reader.turns.sign_calls();
    }
    reader.media.finish()?;
    Ok(Messages { system: reader.system, contents: reader.turns.finish() })
}

/// B47: a text as a part, unless it is blank: no part may be empty.
pub(super) fn text_part<'a>(text: &'a Text<'a>) -> Option<Part<'a>> {
    (!text.trim().is_empty()).then(|| Part { text: Some(text.by_ref()), ..Part::default() })
}

/// Notes a mark for Claude's cache. Gemini caches by itself.
pub(super) fn cache_mark(mark: &Option<CacheControl<'_>>, path: impl fmt::Display, notes: &mut Notes) {
    if mark.is_some() {
        notes.losses.hint_once(format_args!("{path}.cache_control"), NO_CACHE_MARKS);
    }
}

/// What the user says between two answers of the model: results in the order of their calls, what belongs to them, all else.
#[derive(Default)]
struct UserTurn<'a> {
    results: Vec<(usize, Part<'a>)>,
    beside: Vec<Part<'a>>,
    rest: Vec<Part<'a>>,
}

struct Reader<'a, 'n> {
    notes: &'n mut Notes,
    media: MediaReader<'a>,
    model: &'n Capabilities,
    turns: Turns<'a>,
    pairing: Pairing,
    answer: UserTurn<'a>,
    /// The signature for the next part of the model.
    signature: Option<Text<'a>>,
    /// The ids of code whose result stands in the same message.
    code_that_ran: Vec<&'a str>,
    system: Vec<Part<'a>>,
    has_begun: bool,
}

impl<'a> Reader<'a, '_> {
    fn message(
        &mut self,
        index: usize,
        message: &'a InputMessage<'a>,
        later: &[InputMessage<'_>],
    ) -> Result<(), ConvertError> {
        let path = format!("messages[{index}]");
        match &message.role {
            Role::System => return self.system_message(&path, message, later),
            Role::User => self.user_message(&path, message.content.as_ref())?,
            Role::Assistant => {
                self.end_of_user_turn()?;
                self.assistant_message(&path, message.content.as_ref())?;
            }
            Role::Other(_) => {
                return Err(ConvertError::invalid(format!("{path}.role"), "has to be user, assistant or system"));
            }
        }
        self.has_begun = true;
        Ok(())
    }

    fn user_message(&mut self, path: &str, content: Option<&'a ClaudeContent<'a>>) -> Result<(), ConvertError> {
        match content {
            None => {}
            Some(TextOr::Text(text)) => self.answer.rest.extend(text_part(text)),
            Some(TextOr::Structured(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    self.user_block(&format!("{path}.content[{index}]"), block)?;
                }
            }
        }
        Ok(())
    }

    fn user_block(&mut self, path: &str, block: &'a ContentBlock<'a>) -> Result<(), ConvertError> {
        let rest = &mut self.answer.rest;
        match block {
            ContentBlock::Text(block) => {
                cache_mark(&block.cache_control, path, self.notes);
                rest.extend(text_part(&block.text));
            }
            ContentBlock::Image(block) => {
                cache_mark(&block.cache_control, path, self.notes);
                media::image(block, Place::Turn, path, &mut self.media, rest)?;
            }
            ContentBlock::Document(block) => {
                cache_mark(&block.cache_control, path, self.notes);
                media::document(block, Place::Turn, path, &mut self.media, rest, &mut self.notes.losses)?;
            }
            ContentBlock::SearchResult(block) => {
                cache_mark(&block.cache_control, path, self.notes);
                rest.push(media::search_result(block, path, &mut self.notes.losses));
            }
            ContentBlock::ToolResult(block) => self.tool_result(path, block)?,
            ContentBlock::Compaction(block) => self.compaction(path, block)?,
            ContentBlock::ContainerUpload(_) => {
                return Err(ConvertError::unsupported(path, "this model's code cannot be given files"));
            }
            _ => return Err(ConvertError::unsupported(path, "this kind of block is not known in a user message")),
        }
        Ok(())
    }

    fn tool_result(&mut self, path: &str, block: &'a ToolResultBlock<'a>) -> Result<(), ConvertError> {
        cache_mark(&block.cache_control, path, self.notes);
        let (index, name) = self.pairing.result(&block.tool_use_id, path)?;
        let part = results::response(
            block,
            block.tool_use_id.by_ref(),
            name.to_owned(),
            path,
            &mut self.media,
            &mut self.answer.beside,
            &mut self.notes.losses,
        )?;
        self.answer.results.push((index, part));
        Ok(())
    }

    /// What stands for the conversation before it.
    fn compaction(&mut self, path: &str, block: &'a CompactionBlock<'a>) -> Result<(), ConvertError> {
        let Some(summary) = &block.content else {
            return Err(ConvertError::unsupported(path, "this summary is sealed and can be read by Claude alone"));
        };
        let text = format!("Summary of the conversation so far:\n{}", &**summary);
        self.answer.rest.push(Part { text: Some(text.into()), ..Part::default() });
        Ok(())
    }

    /// A system message: before all turns it joins the system prompt, later the user says it, marked as a notice. So the beginning
    /// of the conversation stays the same from turn to turn.
    fn system_message(
        &mut self,
        path: &str,
        message: &'a InputMessage<'a>,
        later: &[InputMessage<'_>],
    ) -> Result<(), ConvertError> {
        let is_past = message.clear_at.as_ref().is_some_and(|until| *until == "next_user_message")
            && later.iter().any(|message| message.role == Role::User);
        if is_past {
            return Ok(());
        }
        match &message.content {
            None => {}
            Some(TextOr::Text(text)) => self.notice(path, text),
            Some(TextOr::Structured(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    self.system_block(&format!("{path}.content[{index}]"), block)?;
                }
            }
        }
        Ok(())
    }

    fn system_block(&mut self, path: &str, block: &'a ContentBlock<'a>) -> Result<(), ConvertError> {
        match block {
            ContentBlock::Text(block) => {
                cache_mark(&block.cache_control, path, self.notes);
                self.notice(path, &block.text);
                Ok(())
            }
            // They were carried out where the tools are declared.
            ContentBlock::ToolAddition(_) | ContentBlock::ToolRemoval(_) => Ok(()),
            _ => Err(ConvertError::unsupported(path, "this kind of block is not known in a system message")),
        }
    }

    fn notice(&mut self, path: &str, text: &'a Text<'a>) {
        if text.is_empty() {
            return;
        }
        if !self.has_begun {
            self.system.extend(text_part(text));
            return;
        }
        self.notes.losses.add_once(path, notice::TOLD);
        self.answer.rest.push(Part { text: Some(notice(text).into()), ..Part::default() });
    }

    /// Writes what the user said since the last answer; every call must have got its result.
    fn end_of_user_turn(&mut self) -> Result<(), ConvertError> {
        let is_empty = self.answer.results.is_empty() && self.answer.rest.is_empty();
        if is_empty && !self.pairing.is_open() {
            return Ok(());
        }
        self.pairing.settle()?;
        let UserTurn { mut results, beside, rest } = std::mem::take(&mut self.answer);
        results.sort_by_key(|(index, _)| *index);
        for part in results.into_iter().map(|(_, part)| part).chain(beside).chain(rest) {
            self.turns.push(Side::User, part);
        }
        Ok(())
    }

    fn assistant_message(&mut self, path: &str, content: Option<&'a ClaudeContent<'a>>) -> Result<(), ConvertError> {
        match content {
            None => {}
            Some(TextOr::Text(text)) => self.model_parts(text_part(text)),
            Some(TextOr::Structured(blocks)) => {
                self.code_that_ran = blocks.iter().filter_map(code_of_result).collect();
                for (index, block) in blocks.iter().enumerate() {
                    self.assistant_block(&format!("{path}.content[{index}]"), block)?;
                }
            }
        }
        self.flush_signature();
        Ok(())
    }

    fn assistant_block(&mut self, path: &str, block: &'a ContentBlock<'a>) -> Result<(), ConvertError> {
        match block {
            ContentBlock::Text(block) => {
                cache_mark(&block.cache_control, path, self.notes);
                if block.citations.as_ref().is_some_and(|citations| !citations.is_empty()) {
                    self.notes.losses.hint_once(format_args!("{path}.citations"), "former citations are not sent");
                }
                self.model_parts(text_part(&block.text));
            }
            ContentBlock::Thinking(block) => self.thinking(path, block),
            ContentBlock::RedactedThinking(block) => self.redacted_thinking(path, block),
            ContentBlock::ToolUse(block) => self.tool_use(path, block)?,
            ContentBlock::ServerToolUse(block) => self.server_tool_use(path, block),
            ContentBlock::CodeExecutionToolResult(block) => self.code_execution_result(path, block),
            ContentBlock::Image(block) => {
                let mut parts = Vec::new();
                media::image(block, Place::Turn, path, &mut self.media, &mut parts)?;
                self.model_parts(parts);
            }
            ContentBlock::Document(block) => {
                let mut parts = Vec::new();
                media::document(block, Place::Turn, path, &mut self.media, &mut parts, &mut self.notes.losses)?;
                self.model_parts(parts);
            }
            ContentBlock::Compaction(block) => self.compaction(path, block)?,
            ContentBlock::WebSearchToolResult(block) if is_own_search(&block.content) => {
                self.notes.losses.hint_once(path, "Gemini is not shown its own former searches");
            }
            ContentBlock::Fallback(_) | ContentBlock::McpToolListing(_) => {
                self.notes.losses.hint_once(path, "says nothing to the model");
            }
            ContentBlock::Other(_) => {
                return Err(ConvertError::unsupported(path, "this kind of block is not known"));
            }
            _ => self.vendors_call(path),
        }
        Ok(())
    }

    /// What Claude's own tools did. Its results are mostly sealed; the text that was drawn from them stays.
    fn vendors_call(&mut self, path: &str) {
        self.notes.losses.add_once(path, "former calls of the provider's own tools are not shown to another provider");
    }

    /// Adds parts of the model; the first gets the signature that waits for it.
    fn model_parts(&mut self, parts: impl IntoIterator<Item = Part<'a>>) {
        for mut part in parts {
            part.thought_signature = self.signature.take();
            self.turns.push(Side::Model, part);
        }
    }

    /// A signature without a part to stand on gets one of its own, as in Gemini's streams.
    fn flush_signature(&mut self) {
        if self.signature.is_some() {
            self.model_parts([Part { text: Some("".into()), ..Part::default() }]);
        }
    }

    /// B13: only what Gemini sealed goes back, onto the part that follows. Its text does not: Gemini does not read it.
    fn thinking(&mut self, path: &str, block: &'a ThinkingBlock<'a>) {
        match block.signature.as_deref().and_then(seal::unseal) {
            Some((Family::Gemini, signature)) => {
                self.flush_signature();
                self.signature = Some(signature.into_owned().into());
            }
            _ => self.foreign_thinking(path),
        }
    }

    /// A part that Gemini wants back whole is kept by the client in a sealed block.
    fn redacted_thinking(&mut self, path: &str, block: &'a RedactedThinkingBlock<'a>) {
        let part = match seal::unseal(&block.data) {
            Some((Family::Gemini, part)) => kept::read(&part),
            _ => None,
        };
        match part {
            Some(part) => {
                self.flush_signature();
                self.turns.push(Side::Model, part);
            }
            None => self.foreign_thinking(path),
        }
    }

    fn foreign_thinking(&mut self, path: &str) {
        self.notes.losses.hint_once(path, FOREIGN_THINKING);
    }

    fn tool_use(&mut self, path: &str, block: &'a ToolUseBlock<'a>) -> Result<(), ConvertError> {
        cache_mark(&block.cache_control, path, self.notes);
        if !block.input.get().trim_start().starts_with('{') {
            return Err(ConvertError::invalid(format!("{path}.input"), "has to be an object"));
        }
        if block.caller.as_ref().is_some_and(|caller| caller.kind != "direct") {
            self.notes.losses.add_once(format_args!("{path}.caller"), "the call is told as one of the model itself");
        }
        let namespace = block.toolset_name.as_deref();
        let name = self.notes.tools.upstream(Charset::GEMINI, namespace, &block.name, ToolKind::Function);
        self.pairing.call(&block.id, &name, path);
        let call =
            FunctionCall { id: Some(block.id.by_ref()), name: Some(Text(name)), args: Some(block.input.by_ref()) };
        self.model_parts([Part { function_call: Some(call), ..Part::default() }]);
        Ok(())
    }

    /// Code that ran is code of Gemini's; other calls of the vendor are not, nor is code that waits for something.
    fn server_tool_use(&mut self, path: &str, block: &'a ToolUseBlock<'a>) {
        #[derive(Read)]
        struct Input<'a> {
            #[serde(borrow)]
            code: Text<'a>,
        }
        match block.input.read::<Input<'a>>() {
            Ok(Input { code }) if block.name == "code_execution" && self.code_that_ran.contains(&&*block.id) => {
                let code =
                    ExecutableCode { id: self.code_id(&block.id), language: Some("PYTHON".into()), code: Some(code) };
                self.model_parts([Part { executable_code: Some(Box::new(code)), ..Part::default() }]);
            }
            // What is lost is noted where its result stands.
            _ if block.name == "web_search" => {}
            _ => self.vendors_call(path),
        }
    }

    fn code_execution_result(&mut self, path: &str, block: &'a ServerToolResult<'a, CodeExecutionContent<'a>>) {
        let (outcome, output) = match &block.content {
            CodeExecutionContent::Result(result) if result.return_code == 0 => (Outcome::Ok, result.stdout.by_ref()),
            CodeExecutionContent::Result(result) => (Outcome::Failed, result.stderr.by_ref()),
            CodeExecutionContent::Error(error) if error.error_code == "execution_time_exceeded" => {
                (Outcome::DeadlineExceeded, error.error_code.by_ref())
            }
            CodeExecutionContent::Error(error) => (Outcome::Failed, error.error_code.by_ref()),
            CodeExecutionContent::Encrypted(result) => {
                self.notes.losses.add_once(path, "the output is sealed and can be read by Claude alone");
                (if result.return_code == 0 { Outcome::Ok } else { Outcome::Failed }, result.stderr.by_ref())
            }
            CodeExecutionContent::Other(_) => return self.vendors_call(path),
        };
        let id = self.code_id(&block.tool_use_id);
        let result = CodeExecutionResult { id, outcome: Some(outcome), output: Some(output) };
        self.model_parts([Part { code_execution_result: Some(Box::new(result)), ..Part::default() }]);
    }

    /// Newer models tie code and result with an id.
    fn code_id(&self, id: &'a Text<'a>) -> Option<Text<'a>> {
        self.model.third_generation.then(|| id.by_ref())
    }
}

/// Whether Gemini made the search, which was sealed as such.
fn is_own_search(content: &WebSearchContent<'_>) -> bool {
    let is_own = |content: &str| matches!(seal::unseal(content), Some((Family::Gemini, _)));
    match content {
        WebSearchContent::Results(pages) => pages.iter().all(|page| is_own(&page.encrypted_content)),
        WebSearchContent::Error(_) => false,
    }
}

/// The id of the code that a block has the result of.
fn code_of_result<'a>(block: &'a ContentBlock<'a>) -> Option<&'a str> {
    match block {
        ContentBlock::CodeExecutionToolResult(block) => Some(&block.tool_use_id),
        _ => None,
    }
}
