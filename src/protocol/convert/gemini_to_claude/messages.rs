//! The conversation: contents of Gemini as messages of Claude.

use std::collections::BTreeSet;

use serde_json::json;

use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::{
    ContentBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::request::Role;
use crate::protocol::claude::wire::server_tools::{
    BashContent, CodeExecutionContent, CodeExecutionResult, ServerToolResult, ToolError,
};
use crate::protocol::convert::loss::FOREIGN_THINKING;
use crate::protocol::convert::names::{Charset, ToolKind, made_up_call_id};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::seal::{self, Family};
use crate::protocol::convert::to_claude::conversation::begin_with_the_user;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::SKIP_SIGNATURE;
use crate::protocol::gemini::wire::content::{
    CodeExecutionResult as CodeResult, Content, ExecutableCode, FunctionCall, FunctionResponse, Outcome, Part,
    Role as Side,
};
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::wire::{Raw, Text};

use super::media::MediaReader;
use super::results;

/// Converts the contents of `request`.
pub(super) fn turns<'a>(
    request: &'a GenerateContentRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Turns<'a>, ConvertError> {
    let mut reader = Reader {
        notes,
        media: MediaReader::new(context),
        runs_code: request.tools.iter().any(|tool| tool.code_execution.is_some()),
        turns: Turns::default(),
        pairing: Pairing::default(),
        calls: Vec::new(),
        used_ids: BTreeSet::new(),
        code: None,
        shown: Vec::new(),
        answer: UserTurn::default(),
        restores_thinking: false,
    };
    for (index, content) in request.contents.iter().enumerate() {
        reader.content(&format!("contents[{index}]"), content)?;
    }
    reader.end_of_user_turn()?;
    reader.pairing.settle()?;
    reader.media.finish()?;
    if reader.turns.last().is_none() {
        return Err(ConvertError::invalid("contents", "there is nothing to answer; send at least one text"));
    }
    begin_with_the_user(&mut reader.turns, "contents", &mut reader.notes.losses);
    Ok(reader.turns)
}

/// What the user says between two answers of the model: results in the order of their calls, then all else.
#[derive(Default)]
struct UserTurn<'a> {
    results: Vec<(usize, ContentBlock<'a>)>,
    rest: Vec<ContentBlock<'a>>,
}

struct Reader<'a, 'n> {
    notes: &'n mut Notes,
    media: MediaReader<'a>,
    runs_code: bool,
    turns: Turns<'a>,
    pairing: Pairing,
    /// The calls that wait for their results: the id at Claude, and whether the client gave one.
    calls: Vec<(String, bool)>,
    used_ids: BTreeSet<String>,
    /// The id of the code that waits for its result, and whether it is of bash.
    code: Option<(String, bool)>,
    /// What the model showed: Claude's answers are text, so it comes with what the user says next.
    shown: Vec<ContentBlock<'a>>,
    answer: UserTurn<'a>,
    /// Whether the turn of the model that is read brings Claude's thinking back as a whole, sealed.
    restores_thinking: bool,
}

impl<'a> Reader<'a, '_> {
    fn content(&mut self, path: &str, content: &'a Content<'a>) -> Result<(), ConvertError> {
        match &content.role {
            Some(Side::Model) => {
                self.end_of_user_turn()?;
                let is_claudes = |sealed: &Text<'_>| matches!(seal::unseal(sealed), Some((Family::Claude, _)));
                self.restores_thinking =
                    content.parts.iter().filter_map(|part| part.thought_signature.as_ref()).any(is_claudes);
                for (index, part) in content.parts.iter().enumerate() {
                    self.model_part(&format!("{path}.parts[{index}]"), part)?;
                }
                Ok(())
            }
            None | Some(Side::User | Side::Function | Side::Tool) => {
                for (index, part) in content.parts.iter().enumerate() {
                    self.user_part(&format!("{path}.parts[{index}]"), part)?;
                }
                Ok(())
            }
            Some(Side::Other(_)) => Err(ConvertError::invalid(format!("{path}.role"), "has to be user or model")),
        }
    }

    fn user_part(&mut self, path: &str, part: &'a Part<'a>) -> Result<(), ConvertError> {
        self.note_what_is_said_about(path, part);
        if let Some(response) = &part.function_response {
            return self.function_response(&format!("{path}.functionResponse"), response);
        }
        let block = match part {
            Part { text: Some(text), .. } => text_block(text),
            Part { inline_data: Some(blob), .. } => Some(self.media.blob(blob, &format!("{path}.inlineData"))?.into()),
            Part { file_data: Some(file), .. } => {
                self.media.file(file, &format!("{path}.fileData"))?.map(ContentBlock::from)
            }
            Part { thought_signature: Some(_), .. } => None,
            _ => return Err(ConvertError::unsupported(path, "this kind of part is not known in a turn of the user")),
        };
        self.answer.rest.extend(block);
        Ok(())
    }

    /// What parts tell beside their content.
    fn note_what_is_said_about(&mut self, path: &str, part: &Part<'_>) {
        for (name, is_there) in [
            ("mediaResolution", part.media_resolution.is_some()),
            ("mediaProcessing", part.media_processing.is_some()),
            ("videoMetadata", part.video_metadata.is_some()),
            ("documentMetadata", part.document_metadata.is_some()),
            ("spreadsheetMetadata", part.spreadsheet_metadata.is_some()),
            ("audioMetadata", part.audio_metadata.is_some()),
            ("speechMetadata", part.speech_metadata.is_some()),
        ] {
            if is_there {
                self.notes.losses.add_once(format_args!("{path}.{name}"), "what of a file counts cannot be told");
            }
        }
        if part.part_metadata.is_some() {
            self.notes.losses.hint_once(format_args!("{path}.partMetadata"), "is not for the model");
        }
    }

    fn function_response(&mut self, path: &str, response: &'a FunctionResponse<'a>) -> Result<(), ConvertError> {
        if response.will_continue == Some(true) {
            return Err(ConvertError::unsupported(
                path,
                "with this model a call has one response; send it when it is whole",
            ));
        }
        let name = response.name.as_deref().unwrap_or_default();
        let by_id = match response.id.as_deref() {
            // A call without an id is noted under the empty one.
            Some(id) if !id.is_empty() => self.pairing.result(id, path).map(|(index, _)| index),
            _ => self.pairing.result_by_name(name, path).map(|(index, _)| index),
        };
        let index = match by_id {
            Err(_) if !self.calls.is_empty() && self.calls.iter().all(|(_, has_id)| !has_id) => {
                self.pairing.result_by_name(name, path)?.0
            }
            found => found?,
        };
        let id = self.calls.get(index).map(|(id, _)| Text::from(id.clone())).unwrap_or_default();
        let result = results::result(response, id, path, &mut self.media)?;
        self.answer.results.push((index, ContentBlock::ToolResult(Box::new(result))));
        Ok(())
    }

    /// Writes what the user said since the last answer; every call must have got its result.
    fn end_of_user_turn(&mut self) -> Result<(), ConvertError> {
        let UserTurn { results, rest } = &self.answer;
        if results.is_empty() && rest.is_empty() {
            // An answer may be spread over several contents.
            return Ok(());
        }
        self.pairing.settle()?;
        self.calls.clear();
        let UserTurn { mut results, rest } = std::mem::take(&mut self.answer);
        results.sort_by_key(|(index, _)| *index);
        let shown = std::mem::take(&mut self.shown);
        for block in results.into_iter().map(|(_, block)| block).chain(shown).chain(rest) {
            self.turns.push(Role::User, block);
        }
        Ok(())
    }

    fn model_part(&mut self, path: &str, part: &'a Part<'a>) -> Result<(), ConvertError> {
        self.sealed_thinking(path, part);
        self.note_what_is_said_about(path, part);
        match part {
            // Claude wants its own thinking, which is sealed in the signature, and nobody else's.
            Part { thought: Some(true), .. } => {
                if part.thought_signature.is_none() && !self.restores_thinking {
                    self.notes.losses.hint_once(path, FOREIGN_THINKING);
                }
                Ok(())
            }
            Part { text: Some(text), .. } => {
                if let Some(block) = text_block(text) {
                    self.turns.push(Role::Assistant, block);
                }
                Ok(())
            }
            Part { function_call: Some(call), .. } => self.function_call(&format!("{path}.functionCall"), call),
            Part { executable_code: Some(code), .. } => self.executable_code(path, code),
            Part { code_execution_result: Some(result), .. } => {
                self.code_execution_result(result);
                Ok(())
            }
            Part { tool_call: Some(_), .. } | Part { tool_response: Some(_), .. } => {
                self.notes
                    .losses
                    .add_once(path, "former calls of the provider's own tools are not shown to another provider");
                Ok(())
            }
            Part { inline_data: Some(blob), .. } => {
                self.notes.losses.add_once(path, "what the model drew is shown in the user's turn");
                let medium = self.media.blob(blob, &format!("{path}.inlineData"))?;
                self.shown.push(medium.into());
                Ok(())
            }
            Part { file_data: Some(file), .. } => {
                self.notes.losses.add_once(path, "what the model drew is shown in the user's turn");
                if let Some(medium) = self.media.file(file, &format!("{path}.fileData"))? {
                    self.shown.push(medium.into());
                }
                Ok(())
            }
            Part { thought_signature: Some(_), .. } => Ok(()),
            _ => Err(ConvertError::unsupported(path, "this kind of part is not known in a turn of the model")),
        }
    }

    /// B13: thinking that Claude sealed goes back, before the part that its signature stands on. Another model's does not.
    fn sealed_thinking(&mut self, path: &str, part: &Part<'_>) {
        let Some(signature) = &part.thought_signature else { return };
        let Some((Family::Claude, sealed)) = seal::unseal(signature) else {
            if *signature != SKIP_SIGNATURE {
                self.notes.losses.hint_once(path, FOREIGN_THINKING);
            }
            return;
        };
        let blocks: Vec<ContentBlock<'_>> = serde_json::from_str(&sealed).unwrap_or_default();
        for block in blocks {
            let block = match block {
                ContentBlock::Thinking(block) => ContentBlock::Thinking(ThinkingBlock {
                    thinking: block.thinking.into_owned().into(),
                    signature: block.signature.map(|signature| signature.into_owned().into()),
                }),
                ContentBlock::RedactedThinking(block) => {
                    ContentBlock::RedactedThinking(RedactedThinkingBlock { data: block.data.into_owned().into() })
                }
                _ => continue,
            };
            self.turns.push(Role::Assistant, block);
        }
    }

    fn function_call(&mut self, path: &str, call: &'a FunctionCall<'a>) -> Result<(), ConvertError> {
        let name = call.name.as_deref().filter(|name| !name.is_empty());
        let Some(name) = name else { return Err(ConvertError::invalid(format!("{path}.name"), "is missing")) };
        let id = self.id_at_claude(call.id.as_deref().unwrap_or_default());
        let own = call.id.as_deref().unwrap_or_default();
        self.pairing.call(own, name, path);
        self.calls.push((id.clone(), !own.is_empty()));
        let name = self.notes.tools.upstream(Charset::CLAUDE, None, name, ToolKind::Function);
        let input = match &call.args {
            Some(args) if args.get().trim_start().starts_with('{') => args.by_ref(),
            None => json(&json!({})),
            Some(args) if args.get() == "null" => json(&json!({})),
            Some(_) => return Err(ConvertError::invalid(format!("{path}.args"), "has to be an object")),
        };
        self.turns.push(Role::Assistant, ContentBlock::ToolUse(Box::new(tool_use(id.into(), Text(name), input))));
        Ok(())
    }

    /// The id of a call at Claude, where no two may be equal: the client's own, if it has one that fits and is new.
    fn id_at_claude(&mut self, id: &str) -> String {
        let fitted =
            if id.is_empty() { made_up_call_id("", self.used_ids.len()) } else { Charset::CLAUDE.fit(id).into_owned() };
        if self.used_ids.insert(fitted.clone()) {
            return fitted;
        }
        let other = made_up_call_id(&fitted, self.used_ids.len());
        self.used_ids.insert(other.clone());
        other
    }

    /// Code that Claude can run too. Where it may not in this request, its former runs would be refused.
    fn executable_code(&mut self, path: &str, code: &'a ExecutableCode<'a>) -> Result<(), ConvertError> {
        if !self.runs_code {
            self.notes.losses.add_once(path, "former runs of code are not shown, since the model has no tool for it");
            self.code = None;
            return Ok(());
        }
        let own = code.id.as_deref().unwrap_or_default();
        let id = match own.strip_prefix("srvtoolu_") {
            Some(_) => own.to_owned(),
            None => format!("srvtoolu_{}", made_up_call_id(own, self.used_ids.len()).trim_start_matches("call_")),
        };
        self.used_ids.insert(id.clone());
        let text = code.code.as_deref().unwrap_or_default();
        // A command of the shell, as it is shown to clients of Gemini.
        let command = text.strip_prefix('!');
        let (name, input) = match command {
            Some(command) => ("bash_code_execution", json!({"command": command})),
            None => ("code_execution", json!({"code": text})),
        };
        self.code = Some((id.clone(), command.is_some()));
        let call = tool_use(id.into(), name.into(), json(&input));
        self.turns.push(Role::Assistant, ContentBlock::ServerToolUse(Box::new(call)));
        Ok(())
    }

    fn code_execution_result(&mut self, result: &'a CodeResult<'a>) {
        // Without its code it was noted there.
        let Some((id, is_bash)) = self.code.take() else { return };
        let output = result.output.as_ref().map(Text::by_ref).unwrap_or_default();
        let own =
            |stdout, stderr, return_code| CodeExecutionResult { stdout, stderr, return_code, content: Vec::new() };
        let ran = match &result.outcome {
            Some(Outcome::Ok) | None => Ok(own(output, Text::default(), 0)),
            Some(Outcome::Failed | Outcome::Other(_)) => Ok(own(Text::default(), output, 1)),
            Some(Outcome::DeadlineExceeded) => {
                Err(ToolError { error_code: "execution_time_exceeded".into(), error_message: None })
            }
        };
        let block = if is_bash {
            let content = ran.map_or_else(BashContent::Error, BashContent::Result);
            ContentBlock::BashCodeExecutionToolResult(Box::new(server_result(id, content)))
        } else {
            let content = ran.map_or_else(CodeExecutionContent::Error, CodeExecutionContent::Result);
            ContentBlock::CodeExecutionToolResult(Box::new(server_result(id, content)))
        };
        self.turns.push(Role::Assistant, block);
    }
}

/// A text, unless it is blank: Claude refuses that.
fn text_block<'a>(text: &'a Text<'a>) -> Option<ContentBlock<'a>> {
    let block = || TextBlock { text: text.by_ref(), citations: None, cache_control: None };
    (!text.trim().is_empty()).then(|| ContentBlock::Text(block()))
}

fn tool_use<'a>(id: Text<'a>, name: Text<'a>, input: Raw<'a>) -> ToolUseBlock<'a> {
    ToolUseBlock { id, name, input, caller: None, toolset_name: None, cache_control: None }
}

fn server_result<'a, C>(id: String, content: C) -> ServerToolResult<'a, C> {
    ServerToolResult { tool_use_id: id.into(), content, caller: None, cache_control: None }
}

fn json<'a>(value: &serde_json::Value) -> Raw<'a> {
    // A value is always JSON.
    Raw::of(value).unwrap_or(Raw(std::borrow::Cow::Borrowed(serde_json::value::RawValue::NULL)))
}
