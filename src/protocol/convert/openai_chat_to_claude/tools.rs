//! Tools, and which of them is to be called.

use std::borrow::Cow;

use super::cache::Marks;
use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::claude::wire::request::Empty;
use crate::protocol::claude::wire::tools::{
    CustomTool, Tool, ToolChoice, ToolChoiceMode, ToolChoiceTool, UserLocation,
};
use crate::protocol::convert::custom_tool::{self, Grammar};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_claude::tools::{MAX_STRICT, NOT_STRICT, free_text};
use crate::protocol::convert::to_claude::{self, schema};
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::openai_chat::wire::request::{Request, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    AllowedTool, AllowedTools, CustomDefinition, CustomFormat, FunctionCallChoice, FunctionDefinition, NamedToolChoice,
    Tool as ChatTool, ToolChoice as ChatToolChoice, ToolChoiceMode as ChatMode,
};
use crate::protocol::wire::{Raw, Text, kind};

/// Converts the tools.
pub fn tools<'a>(
    request: &'a Request<'a>,
    model: Capabilities,
    marks: &mut Marks,
    notes: &mut Notes,
) -> Result<Vec<Tool<'a>>, ConvertError> {
    let mut tools = Vec::new();
    let mut strict = 0;
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        match tool {
            ChatTool::Function(tool) => {
                let mut converted = function(&tool.function, &format!("{path}.function"), notes)?;
                if tool.function.strict == Some(true) {
                    be_strict(&mut converted, model, &mut strict, &path, notes);
                }
                converted.cache_control = marks.mark(None, tool.cache_control.as_ref(), &path, &mut notes.losses);
                tools.push(Tool::Custom(Box::new(converted)));
            }
            ChatTool::Custom(tool) => tools.push(custom(&tool.custom, &path, notes)?),
            ChatTool::Other(raw) => {
                let kind = kind(&raw.0).map(Text::into_owned).unwrap_or_default();
                return Err(ConvertError::unsupported(path, format!("Claude has no tool of type {kind:?}")));
            }
        }
    }
    for (index, definition) in request.functions.iter().flatten().enumerate() {
        tools.push(Tool::Custom(Box::new(function(definition, &format!("functions[{index}]"), notes)?)));
    }
    if let Some(ChatToolChoice::Tools(NamedToolChoice::AllowedTools(choice))) = &request.tool_choice {
        let names = allowed_names(&choice.allowed_tools);
        tools.retain(|tool| matches!(tool, Tool::Custom(tool) if names.iter().any(|name| *name == *tool.name)));
        notes.losses.hint("tool_choice.allowed_tools", "are the only ones that are declared, which caches less");
    }
    if let Some(options) = &request.web_search_options {
        tools.push(web_search(options, notes));
    }
    Ok(tools)
}

fn function<'a>(
    definition: &'a FunctionDefinition<'a>,
    path: &str,
    notes: &mut Notes,
) -> Result<CustomTool<'a>, ConvertError> {
    if definition.name.is_empty() {
        return Err(ConvertError::invalid(format!("{path}.name"), "a function has a name"));
    }
    let name = Text(notes.tools.upstream(Charset::CLAUDE, None, &definition.name, ToolKind::Function));
    let description = definition.description.as_ref().map(Text::by_ref).filter(|description| !description.is_empty());
    let schema = definition.parameters.as_ref().map(Raw::by_ref);
    let input_schema = schema::of_arguments(schema, &format!("{path}.parameters"), &mut notes.losses)?;
    Ok(to_claude::tools::function(name, description, input_schema))
}

/// Whether Claude can be sure to follow the schema: only if it knows all that the schema says.
fn be_strict(tool: &mut CustomTool<'_>, model: Capabilities, strict: &mut usize, path: &str, notes: &mut Notes) {
    let can = model.structured_output && *strict < MAX_STRICT;
    match schema::enforceable(&tool.input_schema).filter(|_| can) {
        Some(schema) => {
            tool.input_schema = schema;
            tool.strict = Some(true);
            *strict += 1;
        }
        None => notes.losses.add_once(format!("{path}.function.strict"), NOT_STRICT),
    }
}

/// A tool that takes text is a function with one argument.
fn custom<'a>(definition: &'a CustomDefinition<'a>, path: &str, notes: &mut Notes) -> Result<Tool<'a>, ConvertError> {
    let name = Text(notes.tools.upstream(Charset::CLAUDE, None, &definition.name, ToolKind::Custom));
    let grammar = match &definition.format {
        Some(CustomFormat::Grammar(format)) => {
            notes.losses.add_once(format!("{path}.custom.format"), custom_tool::GRAMMAR);
            Some(Grammar { syntax: &format.grammar.syntax, definition: &format.grammar.definition })
        }
        _ => None,
    };
    let description = definition.description.as_ref().map(Text::by_ref);
    Ok(Tool::Custom(Box::new(free_text(name, description, grammar)?)))
}

fn web_search<'a>(options: &'a WebSearchOptions<'a>, notes: &mut Notes) -> Tool<'a> {
    if options.search_context_size.is_some() {
        notes.losses.hint("web_search_options.search_context_size", NO_COUNTERPART);
    }
    let user_location = options.user_location.as_ref().map(|location| {
        let by_ref = |text: &'a Option<Text<'a>>| text.as_ref().map(Text::by_ref);
        let place = &location.approximate;
        UserLocation {
            kind: "approximate".into(),
            city: by_ref(&place.city),
            region: by_ref(&place.region),
            country: by_ref(&place.country),
            timezone: by_ref(&place.timezone),
        }
    });
    Tool::WebSearch(Box::new(to_claude::tools::web_search(user_location)))
}

/// Which tool is to be called, with what Claude has no place for elsewhere: whether one answer may have several calls.
pub fn choice<'a>(
    request: &'a Request<'a>,
    tools: &[Tool<'a>],
    notes: &mut Notes,
) -> Result<Option<ToolChoice<'a>>, ConvertError> {
    if tools.is_empty() {
        return Ok(None);
    }
    // The legacy form has place for one call in an answer.
    let is_legacy = request.functions.is_some() && request.tools.is_none();
    let disable_parallel_tool_use = (request.parallel_tool_calls == Some(false) || is_legacy).then_some(true);
    let mode = ToolChoiceMode { disable_parallel_tool_use };
    let mut named = |name: &'a Text<'a>, kind| {
        let name = Text(notes.tools.upstream(Charset::CLAUDE, None, name, kind));
        if !tools.iter().any(|tool| matches!(tool, Tool::Custom(tool) if tool.name == name)) {
            return Err(ConvertError::invalid("tool_choice", format!("there is no tool {:?}", &*name)));
        }
        Ok(ToolChoice::Tool(ToolChoiceTool { name, disable_parallel_tool_use }))
    };
    let by_mode = |word: &ChatMode<'_>| match word {
        ChatMode::None => Ok(ToolChoice::None(Empty {})),
        ChatMode::Auto => Ok(ToolChoice::Auto(mode.clone())),
        ChatMode::Required => Ok(ToolChoice::Any(mode.clone())),
        ChatMode::Other(_) => Err(ConvertError::invalid("tool_choice", "is none, auto, required or an object")),
    };
    let choice = match (&request.tool_choice, &request.function_call) {
        (Some(ChatToolChoice::Mode(word)), _) => by_mode(word)?,
        (Some(ChatToolChoice::Tools(choice)), _) => match choice {
            NamedToolChoice::Function(choice) => named(&choice.function.name, ToolKind::Function)?,
            NamedToolChoice::Custom(choice) => named(&choice.custom.name, ToolKind::Custom)?,
            NamedToolChoice::AllowedTools(choice) => by_mode(&choice.allowed_tools.mode)?,
            NamedToolChoice::Other(_) => {
                return Err(ConvertError::unsupported("tool_choice", "Claude knows no choice of this type"));
            }
        },
        (None, Some(FunctionCallChoice::Text(word))) => by_mode(&word.by_ref().into())?,
        (None, Some(FunctionCallChoice::Function(choice))) => named(&choice.name, ToolKind::Function)?,
        (None, None) => match disable_parallel_tool_use {
            Some(_) => ToolChoice::Auto(mode),
            None => return Ok(None),
        },
    };
    Ok(Some(choice))
}

fn allowed_names<'a>(allowed: &'a AllowedTools<'a>) -> Vec<Cow<'a, str>> {
    let names = allowed.tools.iter().filter_map(|tool| match tool {
        AllowedTool::Function(choice) => Some(&choice.function.name),
        AllowedTool::Custom(choice) => Some(&choice.custom.name),
        AllowedTool::Other(_) => None,
    });
    names.map(|name| Charset::CLAUDE.fit(name)).collect()
}
