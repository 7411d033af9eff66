//! Items of the input: the conversation so far.

use serde_json::json;

use super::content;
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::{
    ContentBlock, RedactedThinkingBlock, ResultBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock,
};
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::Role;
use crate::protocol::convert::loss::FOREIGN_THINKING;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind};
use crate::protocol::convert::notice::{self, notice};
use crate::protocol::convert::pairing::Pairing;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::to_claude::content::{is_blank, text_block};
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::content::{Content, Part};
use crate::protocol::openai_responses::wire::context::{ToolSearchCall, ToolSearchOutput};
use crate::protocol::openai_responses::wire::item::{
    CustomToolCall, FunctionCall, FunctionCallOutput, InputItem, Item, Message, ReasoningItem, Role as Speaker,
};
use crate::protocol::openai_responses::wire::local::{
    ApplyPatchCall, ApplyPatchCallOutput, ComputerCall, ComputerCallOutput, LocalShellCall, LocalShellCallOutput,
    ShellCall, ShellCallOutput,
};
use crate::protocol::openai_responses::wire::tools::Tool;
use crate::protocol::wire::{Raw, Text, TextOr};

/// The conversation as Claude takes it.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    /// What stands before everything else.
    pub(super) system: Vec<BasicBlock<'a>>,
    /// The turns.
    pub(super) turns: Turns<'a>,
    pairing: Pairing,
}

impl<'a> Conversation<'a> {
    /// Adds a text of the user.
    pub(super) fn user_text(&mut self, text: Text<'a>) {
        if !is_blank(&text) {
            self.turns.push(Role::User, ContentBlock::Text(text_block(text)));
        }
    }

    /// Adds an item, which stands at `path`.
    pub(super) fn item(&mut self, item: &'a InputItem<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        match item {
            InputItem::Typed(item) => self.typed(item, path, notes),
            InputItem::Message(message) => self.message(message, path, notes),
            InputItem::Reference(_) => Err(reference(path)),
        }
    }

    /// Ends the conversation: every call must have been answered.
    pub(super) fn settle(&mut self) -> Result<(), ConvertError> {
        self.pairing.settle()
    }

    fn typed(&mut self, item: &'a Item<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        match item {
            Item::Message(message) => return self.message(message, path, notes),
            Item::Reasoning(reasoning) => return self.reasoning(reasoning, path, notes),
            Item::FunctionCall(call) => return self.function_call(call, path, notes),
            Item::CustomToolCall(call) => return self.custom_call(call, path, notes),
            Item::FunctionCallOutput(output) | Item::CustomToolCallOutput(output) => {
                return self.output(output, path, notes);
            }
            Item::ToolSearchCall(call) => return self.tool_search_call(call, path, notes),
            Item::ToolSearchOutput(output) => return self.tool_search_output(output, path, notes),
            Item::LocalShellCall(call) => return self.local_shell_call(call, path, notes),
            Item::LocalShellCallOutput(output) => return self.local_shell_output(output, path),
            Item::ShellCall(call) => return self.shell_call(call, path, notes),
            Item::ShellCallOutput(output) => return self.shell_output(output, path),
            Item::ApplyPatchCall(call) => return self.apply_patch_call(call, path, notes),
            Item::ApplyPatchCallOutput(output) => return self.apply_patch_output(output, path),
            Item::ComputerCall(call) => return self.computer_call(call, path, notes),
            Item::ComputerCallOutput(output) => return self.computer_output(output, path),
            Item::ItemReference(_) => return Err(reference(path)),
            Item::Compaction(_) | Item::CompactionTrigger(_) => {
                return Err(ConvertError::unsupported(
                    path,
                    "Claude can neither read nor make a compaction of another vendor; send the conversation itself",
                ));
            }
            // Read elsewhere.
            Item::AdditionalTools(_) | Item::ConfigurationUpdate(_) => {}
            Item::McpListTools(_) => notes.losses.hint_once(path, "Claude lists the tools of MCP servers itself"),
            Item::WebSearchCall(_) => notes.losses.hint_once(path, "earlier searches are left out, the answers stay"),
            Item::CodeInterpreterCall(_)
            | Item::FileSearchCall(_)
            | Item::ImageGenerationCall(_)
            | Item::McpCall(_)
            | Item::McpApprovalRequest(_)
            | Item::McpApprovalResponse(_)
            | Item::Program(_)
            | Item::ProgramOutput(_) => {
                notes.losses.add_once(path, "what the other vendor's own tools did is left out");
            }
            Item::Other(_) => notes.losses.add(path, "items of this type are not known"),
        }
        Ok(())
    }

    fn message(&mut self, message: &'a Message<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        match &message.role {
            Speaker::User => self.user(&message.content, path, notes),
            Speaker::Assistant => self.assistant(&message.content, path, notes),
            Speaker::System | Speaker::Developer => self.instruction(&message.content, path, notes),
            Speaker::Other(_) => Err(ConvertError::invalid(
                format!("{path}.role"),
                "the role has to be user, assistant, system or developer",
            )),
        }
    }

    fn user(&mut self, content: &'a Content<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let parts = match content {
            TextOr::Text(text) => {
                self.user_text(text.by_ref());
                return Ok(());
            }
            TextOr::Structured(parts) => parts,
        };
        for (index, part) in parts.iter().enumerate() {
            let path = format!("{path}.content[{index}]");
            if let Some(material) = content::part(part, &path, &mut notes.losses)? {
                self.turns.push(Role::User, material.into());
            }
        }
        Ok(())
    }

    fn assistant(&mut self, content: &'a Content<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let parts = match content {
            TextOr::Text(text) if is_blank(text) => return Ok(()),
            TextOr::Text(text) => return self.model(ContentBlock::Text(text_block(text.by_ref()))),
            TextOr::Structured(parts) => parts,
        };
        for (index, part) in parts.iter().enumerate() {
            let path = format!("{path}.content[{index}]");
            match content::part(part, &path, &mut notes.losses)? {
                Some(content::Material::Text(text)) => self.model(ContentBlock::Text(text))?,
                Some(_) => {
                    return Err(ConvertError::unsupported(path, "Claude takes images and files from the user only"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// What the application says: at the beginning it is part of the system prompt. Later it is told at its place, as a notice
    /// in a turn of the user, since not all models take system turns.
    fn instruction(&mut self, content: &'a Content<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let is_first = self.turns.last().is_none();
        let single;
        let parts = match content {
            TextOr::Text(text) => {
                single = text.by_ref();
                vec![Some(content::Material::Text(text_block(single)))]
            }
            TextOr::Structured(parts) => {
                let part = |(index, part)| content::part(part, &format!("{path}.content[{index}]"), &mut notes.losses);
                parts.iter().enumerate().map(part).collect::<Result<_, _>>()?
            }
        };
        for material in parts.into_iter().flatten() {
            match material {
                content::Material::Text(text) if is_blank(&text.text) => {}
                content::Material::Text(text) if is_first => self.system.push(BasicBlock::Text(text)),
                content::Material::Text(text) => {
                    notes.losses.add_once(path, notice::TOLD);
                    let text = TextBlock { text: notice(&text.text).into(), ..text };
                    self.turns.push(Role::User, ContentBlock::Text(text));
                }
                material => self.turns.push(Role::User, material.into()),
            }
        }
        Ok(())
    }

    /// Thinking goes back to Claude if it is Claude's, text and signature as they came.
    fn reasoning(&mut self, item: &'a ReasoningItem<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let sealed = item.encrypted_content.as_deref().and_then(unseal);
        match sealed {
            Some((Family::Claude, signature)) if !signature.is_empty() => {
                let thinking = joined(&item.summary);
                self.model(ContentBlock::Thinking(ThinkingBlock { thinking, signature: Some(Text(signature)) }))
            }
            Some((Family::ClaudeRedacted, data)) if !data.is_empty() => {
                self.model(ContentBlock::RedactedThinking(RedactedThinkingBlock { data: Text(data) }))
            }
            _ => {
                notes.losses.hint_once(path, FOREIGN_THINKING);
                Ok(())
            }
        }
    }

    fn function_call(&mut self, call: &'a FunctionCall<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let arguments = call.arguments.trim();
        let input = match Raw::parse(if arguments.is_empty() { "{}" } else { arguments }) {
            Ok(input) if input.get().starts_with('{') => input,
            _ => {
                return Err(ConvertError::invalid(
                    format!("{path}.arguments"),
                    format!("the arguments of the call {:?} are not a JSON object", &*call.call_id),
                ));
            }
        };
        let namespace = call.namespace.as_deref();
        let name = notes.tools.upstream(Charset::CLAUDE, namespace, &call.name, ToolKind::Function);
        self.call(&call.call_id, Text(name), input, path)
    }

    fn custom_call(&mut self, call: &'a CustomToolCall<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let namespace = call.namespace.as_deref();
        let name = notes.tools.upstream(Charset::CLAUDE, namespace, &call.name, ToolKind::Custom);
        self.call(&call.call_id, Text(name), raw(&json!({CUSTOM_INPUT: &*call.input}), path)?, path)
    }

    fn tool_search_call(
        &mut self,
        call: &'a ToolSearchCall<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(id) = &call.call_id else {
            notes.losses.hint_once(path, "all tools are loaded from the start");
            return Ok(());
        };
        let input = match call.arguments.get().starts_with('{') {
            true => call.arguments.by_ref(),
            false => raw(&json!({"query": call.arguments}), path)?,
        };
        self.client_call(LocalTool::ToolSearch, id, input, path, notes)
    }

    fn local_shell_call(
        &mut self,
        call: &'a LocalShellCall<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        self.client_call(LocalTool::LocalShell, &call.call_id, without_type(&call.action, path)?, path, notes)
    }

    fn shell_call(&mut self, call: &'a ShellCall<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        self.client_call(LocalTool::Shell, &call.call_id, raw(&call.action, path)?, path, notes)
    }

    fn apply_patch_call(
        &mut self,
        call: &'a ApplyPatchCall<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        self.client_call(LocalTool::ApplyPatch, &call.call_id, raw(&call.operation, path)?, path, notes)
    }

    fn computer_call(&mut self, call: &'a ComputerCall<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let input = match (&call.action, &call.actions) {
            (Some(action), _) => action.by_ref(),
            (None, Some(actions)) if actions.len() == 1 => raw(&actions.first(), path)?,
            (None, actions) => raw(&json!({"actions": actions}), path)?,
        };
        self.client_call(LocalTool::Computer, &call.call_id, input, path, notes)
    }

    fn client_call(
        &mut self,
        tool: LocalTool,
        id: &'a Text<'a>,
        input: Raw<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let name = notes.tools.upstream(Charset::CLAUDE, None, tool.name(), tool.kind());
        self.call(id, Text(name), input, path)
    }

    fn call(&mut self, id: &'a str, name: Text<'a>, input: Raw<'a>, path: &str) -> Result<(), ConvertError> {
        self.model(ContentBlock::ToolUse(Box::new(ToolUseBlock {
            id: Text(Charset::CLAUDE.fit(id)),
            name: name.clone(),
            input,
            caller: None,
            toolset_name: None,
            cache_control: None,
        })))?;
        self.pairing.call(id, &name, path);
        Ok(())
    }

    fn output(
        &mut self,
        output: &'a FunctionCallOutput<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let blocks = match &output.output {
            TextOr::Text(text) => text_result(text.by_ref()),
            TextOr::Structured(parts) => {
                let mut blocks = Vec::with_capacity(parts.len());
                for (index, part) in parts.iter().enumerate() {
                    let path = format!("{path}.output[{index}]");
                    blocks.extend(content::part(part, &path, &mut notes.losses)?.map(ResultBlock::from));
                }
                (!blocks.is_empty()).then_some(TextOr::Structured(blocks))
            }
        };
        self.result(output.call_id.as_deref(), blocks, None, path)
    }

    fn tool_search_output(
        &mut self,
        output: &'a ToolSearchOutput<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(id) = &output.call_id else { return Ok(()) };
        let mut names = Vec::new();
        found(&output.tools, None, notes, &mut names);
        let text = match names.is_empty() {
            true => "No tools were found.".to_owned(),
            false => format!("These tools can now be called: {}", names.join(", ")),
        };
        self.result(Some(id), text_result(text.into()), None, path)
    }

    fn local_shell_output(&mut self, output: &'a LocalShellCallOutput<'a>, path: &str) -> Result<(), ConvertError> {
        let id = output.call_id.as_deref().or(output.id.as_deref());
        self.result(id, text_result(output.output.by_ref()), None, path)
    }

    fn shell_output(&mut self, output: &'a ShellCallOutput<'a>, path: &str) -> Result<(), ConvertError> {
        let text = raw(&output.output, path)?.get().to_owned();
        self.result(Some(&output.call_id), text_result(text.into()), None, path)
    }

    fn apply_patch_output(&mut self, output: &'a ApplyPatchCallOutput<'a>, path: &str) -> Result<(), ConvertError> {
        let text = output.output.as_ref().unwrap_or(&output.status).by_ref();
        let is_error = (output.status == "failed").then_some(true);
        self.result(Some(&output.call_id), text_result(text), is_error, path)
    }

    fn computer_output(&mut self, output: &'a ComputerCallOutput<'a>, path: &str) -> Result<(), ConvertError> {
        let path = format!("{path}.output");
        let Some(url) = &output.output.image_url else {
            return Err(ConvertError::unsupported(path, "this image is kept at another vendor; send its data"));
        };
        let image = content::image_at(url, &path)?;
        self.result(Some(&output.call_id), Some(TextOr::Structured(vec![image.into()])), None, &path)
    }

    fn result(
        &mut self,
        id: Option<&'a str>,
        content: Option<TextOr<'a, Vec<ResultBlock<'a>>>>,
        is_error: Option<bool>,
        path: &str,
    ) -> Result<(), ConvertError> {
        let id = id.ok_or_else(|| ConvertError::invalid(format!("{path}.call_id"), "the id of the call is missing"))?;
        self.pairing.result(id, path)?;
        let tool_use_id = Text(Charset::CLAUDE.fit(id));
        let block = ToolResultBlock { tool_use_id, content, is_error, toolset_name: None, cache_control: None };
        self.turns.push(Role::User, ContentBlock::ToolResult(Box::new(block)));
        Ok(())
    }

    /// Adds a block of the model. Its former turn ends with what the user has said since.
    fn model(&mut self, block: ContentBlock<'a>) -> Result<(), ConvertError> {
        if self.turns.last().is_some_and(|(role, _)| *role == Role::User) {
            self.pairing.settle()?;
        }
        self.turns.push(Role::Assistant, block);
        Ok(())
    }
}

/// The names at Claude of tools that a search has found.
fn found(tools: &[Tool<'_>], group: Option<&str>, notes: &mut Notes, names: &mut Vec<String>) {
    for tool in tools {
        let (name, kind) = match tool {
            Tool::Function(tool) => (&tool.name, ToolKind::Function),
            Tool::Custom(tool) => (&tool.name, ToolKind::Custom),
            Tool::Namespace(group) => {
                found(&group.tools, Some(&group.name), notes, names);
                continue;
            }
            _ => continue,
        };
        names.push(notes.tools.upstream(Charset::CLAUDE, group, name, kind).into_owned());
    }
}

/// The sections of a summary as one text; a single one stays as it is, byte for byte.
fn joined<'a>(summary: &'a [Part<'a>]) -> Text<'a> {
    let mut texts = summary.iter().filter_map(|part| match part {
        Part::SummaryText(part) => Some(&part.text),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Text::default(),
        (Some(only), None) => only.by_ref(),
        (Some(first), Some(second)) => {
            let rest = texts.map(|text| format!("\n\n{}", &**text)).collect::<String>();
            format!("{}\n\n{}{rest}", &**first, &**second).into()
        }
    }
}

fn text_result(text: Text<'_>) -> Option<TextOr<'_, Vec<ResultBlock<'_>>>> {
    (!is_blank(&text)).then_some(TextOr::Text(text))
}

/// The action of a call without its type, which the tool implies.
fn without_type<'a>(action: &Raw<'_>, path: &str) -> Result<Raw<'a>, ConvertError> {
    let action: Result<serde_json::Map<String, serde_json::Value>, _> = action.read();
    let mut action = action.map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    action.shift_remove("type");
    raw(&action, path)
}

fn raw<'a>(value: &impl serde::Serialize, path: &str) -> Result<Raw<'a>, ConvertError> {
    Raw::of(value).map_err(|error| ConvertError::invalid(path, error.to_string()))
}

fn reference(path: &str) -> ConvertError {
    ConvertError::unsupported(path, "this item is kept at another vendor, Claude cannot see it; send the item itself")
}
