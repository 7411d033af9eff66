//! Tools, and which of them is to be called.

use std::borrow::Cow;

use serde_json::Value;

use super::cache::Marks;
use super::schema;
use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::claude::wire::request::Empty;
use crate::protocol::claude::wire::tools::{
    CustomTool, Tool, ToolChoice, ToolChoiceMode, ToolChoiceTool, UserLocation, WebSearchTool,
};
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind};
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::openai_chat::wire::request::{Request, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    AllowedTool, AllowedTools, CustomDefinition, CustomFormat, FunctionCallChoice, FunctionDefinition, NamedToolChoice,
    Tool as ChatTool, ToolChoice as ChatToolChoice, ToolChoiceMode as ChatMode,
};
use crate::protocol::wire::{Raw, Text, kind};

/// The oldest search, which all models that search know.
const WEB_SEARCH: &str = "web_search_20250305";

/// The most tools of a request that can be strict.
const MOST_STRICT: usize = 20;

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
                    converted.strict = be_strict(&converted, model, &mut strict, &path, notes);
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
    let input_schema = match &definition.parameters {
        Some(parameters) => object_schema(parameters, &format!("{path}.parameters"))?,
        None => raw(&serde_json::json!({"type": "object", "properties": {}}))?,
    };
    Ok(tool(name, description, input_schema))
}

fn tool<'a>(name: Text<'a>, description: Option<Text<'a>>, input_schema: Raw<'a>) -> CustomTool<'a> {
    CustomTool {
        kind: None,
        name,
        description,
        input_schema,
        strict: None,
        eager_input_streaming: None,
        input_examples: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }
}

/// Claude wants a schema of type `object`; some clients leave the type out, or send `{}` or null for "no parameters".
fn object_schema<'a>(parameters: &'a Raw<'a>, path: &str) -> Result<Raw<'a>, ConvertError> {
    #[derive(tollgate_macros::Read)]
    struct Kind<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<&'a serde_json::value::RawValue>,
    }
    if parameters.read::<Kind<'_>>().is_ok_and(|schema| schema.kind.is_some_and(|kind| kind.get() == "\"object\"")) {
        return Ok(parameters.by_ref());
    }
    match parameters.read::<Value>() {
        Ok(Value::Object(mut members)) => {
            members.insert("type".to_owned(), "object".into());
            members.entry("properties").or_insert_with(|| serde_json::json!({}));
            raw(&Value::Object(members))
        }
        _ => Err(ConvertError::invalid(path, "the parameters of a function are a JSON Schema of an object")),
    }
}

/// Whether Claude can be sure to follow the schema: only if it knows all that the schema says.
fn be_strict(
    tool: &CustomTool<'_>,
    model: Capabilities,
    strict: &mut usize,
    path: &str,
    notes: &mut Notes,
) -> Option<bool> {
    let is_known = |schema: Value| {
        let (known, is_changed) = schema::strict(schema.clone());
        !is_changed && known == schema
    };
    if !model.structured_output || *strict >= MOST_STRICT || !tool.input_schema.read().is_ok_and(is_known) {
        notes.losses.add_once(
            format!("{path}.function.strict"),
            "is left out, Claude cannot be held to this schema; it mostly follows it all the same",
        );
        return None;
    }
    *strict += 1;
    Some(true)
}

/// A tool that takes text is a function with one argument.
fn custom<'a>(definition: &'a CustomDefinition<'a>, path: &str, notes: &mut Notes) -> Result<Tool<'a>, ConvertError> {
    let name = Text(notes.tools.upstream(Charset::CLAUDE, None, &definition.name, ToolKind::Custom));
    let own = definition.description.as_ref().map(Text::by_ref);
    let description = match &definition.format {
        Some(CustomFormat::Grammar(format)) => {
            notes
                .losses
                .add_once(format!("{path}.custom.format"), "is told in the description, Claude knows no grammars");
            let (syntax, grammar) = (&*format.grammar.syntax, &*format.grammar.definition);
            let own = own.as_deref().unwrap_or_default();
            let text = format!("{own}\n\nThe input has to follow this grammar ({syntax}):\n{grammar}");
            Some(text.trim_start().to_owned().into())
        }
        _ => own,
    };
    let schema = raw(&serde_json::json!({
        "type": "object",
        "properties": {CUSTOM_INPUT: {"type": "string", "description": "The input, as it is."}},
        "required": [CUSTOM_INPUT],
        "additionalProperties": false,
    }))?;
    Ok(Tool::Custom(Box::new(tool(name, description, schema))))
}

fn web_search<'a>(options: &'a WebSearchOptions<'a>, notes: &mut Notes) -> Tool<'a> {
    if options.search_context_size.is_some() {
        notes.losses.hint("web_search_options.search_context_size", "has no counterpart");
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
    Tool::WebSearch(Box::new(WebSearchTool {
        kind: WEB_SEARCH.into(),
        name: "web_search".into(),
        max_uses: None,
        allowed_domains: None,
        blocked_domains: None,
        user_location,
        response_inclusion: None,
        strict: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }))
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

/// Whether the answer has to have a call.
pub fn is_forced(choice: Option<&ToolChoice<'_>>) -> bool {
    matches!(choice, Some(ToolChoice::Any(_) | ToolChoice::Tool(_)))
}

fn allowed_names<'a>(allowed: &'a AllowedTools<'a>) -> Vec<Cow<'a, str>> {
    let names = allowed.tools.iter().filter_map(|tool| match tool {
        AllowedTool::Function(choice) => Some(&choice.function.name),
        AllowedTool::Custom(choice) => Some(&choice.custom.name),
        AllowedTool::Other(_) => None,
    });
    names.map(|name| Charset::CLAUDE.fit(name)).collect()
}

fn raw(value: &Value) -> Result<Raw<'static>, ConvertError> {
    Raw::of(value).map_err(|error| ConvertError::invalid("tools", error.to_string()))
}
