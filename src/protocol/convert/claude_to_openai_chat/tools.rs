//! Tools, and which of them is to be called.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content::unmarked;
use super::models::Model;
use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::claude::wire::tools::{BuiltInTool, CustomTool, Tool, ToolChoice, WebSearchTool};
use crate::protocol::convert::from_claude::built_in_tools::{self, DESCRIBED, Function};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_openai::schema;
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::openai_chat::wire::request::{ApproximateLocation, UserLocation, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    FunctionChoice, FunctionDefinition, FunctionTool, Named, NamedToolChoice, Tool as ChatTool,
    ToolChoice as ChatToolChoice, ToolChoiceMode,
};
use crate::protocol::wire::{Raw, Text};

/// What becomes of the tools.
#[derive(Debug, Default)]
pub struct Tools<'a> {
    /// The functions.
    pub functions: Vec<ChatTool<'a>>,
    /// A search in the web, which is no tool in this dialect.
    pub web_search: Option<WebSearchOptions<'a>>,
}

/// Converts the tools.
pub fn tools<'a>(
    request: &'a MessagesRequest<'a>,
    model: Model<'_>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Tools<'a>, ConvertError> {
    let mut tools = Tools::default();
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        match tool {
            Tool::Custom(tool) => tools.functions.push(custom(tool, &path, notes)?),
            Tool::Bash(tool) | Tool::TextEditor(tool) | Tool::Memory(tool) => {
                tools.functions.push(built_in(tool, &path, notes)?);
            }
            Tool::WebSearch(tool) if model.searches() => tools.web_search = Some(web_search(tool, &path, notes)),
            // All tools are declared from the start, so that there is nothing to search.
            Tool::ToolSearch(_) => notes.losses.hint_once(path, "all tools are declared from the start"),
            tool => missing(name_of(tool), path, context, notes)?,
        }
    }
    if request.mcp_servers.as_ref().is_some_and(|servers| !servers.is_empty()) {
        missing("mcp_servers", "mcp_servers".to_owned(), context, notes)?;
    }
    if request.container.is_some() {
        missing("container", "container".to_owned(), context, notes)?;
    }
    Ok(tools)
}

/// What only Claude's vendor has: refused, or left out by the route's setting.
fn missing(name: &str, path: String, context: &Context<'_>, notes: &mut Notes) -> Result<(), ConvertError> {
    match context.server_tools {
        ServerTools::Refuse => Err(ConvertError::unsupported(
            path,
            format!("the provider has nothing like {name:?}; drop it, or use a model of Claude's"),
        )),
        ServerTools::Drop => {
            notes.losses.add(path, "is left out, the provider has nothing like it");
            Ok(())
        }
    }
}

fn name_of<'t>(tool: &'t Tool<'_>) -> &'t str {
    match tool {
        Tool::WebSearch(tool) => &tool.name,
        Tool::WebFetch(tool) => &tool.name,
        Tool::CodeExecution(tool) => &tool.name,
        Tool::Computer(tool) => &tool.name,
        Tool::Toolset(tool) => &tool.kind,
        Tool::McpToolset(tool) => &tool.kind,
        _ => "this tool",
    }
}

fn custom<'a>(tool: &'a CustomTool<'a>, path: &str, notes: &mut Notes) -> Result<ChatTool<'a>, ConvertError> {
    unmarked(tool.cache_control.as_ref(), path, &mut notes.losses);
    for (member, is_given) in [
        ("input_examples", tool.input_examples.is_some()),
        ("defer_loading", tool.defer_loading == Some(true)),
        (
            "allowed_callers",
            tool.allowed_callers.as_ref().is_some_and(|callers| callers.iter().all(|caller| *caller != "direct")),
        ),
    ] {
        if is_given {
            notes.losses.hint_once(format!("{path}.{member}"), NO_COUNTERPART);
        }
    }
    let strict = match tool.strict {
        Some(true) if schema::is_enforceable(&tool.input_schema) => Some(true),
        Some(true) => {
            notes.losses.add_once(format!("{path}.strict"), schema::NOT_STRICT);
            None
        }
        _ => None,
    };
    let parameters = object_schema(&tool.input_schema, path)?;
    let description = tool.description.as_ref().map(Text::by_ref);
    Ok(function(&tool.name, description, parameters, strict, notes))
}

/// OpenAI wants `properties` in the schema of an object, even if it has none.
fn object_schema<'a>(schema: &'a Raw<'a>, path: &str) -> Result<Raw<'a>, ConvertError> {
    #[derive(tollgate_macros::Read)]
    struct Members<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<&'a RawValue>,
        #[serde(borrow)]
        properties: Option<&'a RawValue>,
    }
    if schema.read::<Members<'_>>().is_ok_and(|schema| schema.kind.is_some() && schema.properties.is_some()) {
        return Ok(schema.by_ref());
    }
    let path = format!("{path}.input_schema");
    let Ok(Value::Object(mut members)) = schema.read() else {
        return Err(ConvertError::invalid(path, "is a JSON Schema of an object"));
    };
    members.entry("type").or_insert_with(|| "object".into());
    members.entry("properties").or_insert_with(|| json!({}));
    Raw::of(&members).map_err(|error| ConvertError::invalid(path, error.to_string()))
}

fn function<'a>(
    name: &'a Text<'a>,
    description: Option<Text<'a>>,
    parameters: Raw<'a>,
    strict: Option<bool>,
    notes: &mut Notes,
) -> ChatTool<'a> {
    let name = Text(notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function));
    let function = FunctionDefinition { name, description, parameters: Some(parameters), strict };
    ChatTool::Function(FunctionTool { function, cache_control: None })
}

/// A tool that Claude knows by heart and the client runs: another model has to be told what it is.
fn built_in<'a>(tool: &'a BuiltInTool<'a>, path: &str, notes: &mut Notes) -> Result<ChatTool<'a>, ConvertError> {
    unmarked(tool.cache_control.as_ref(), path, &mut notes.losses);
    let Function { description, schema } = if tool.kind.starts_with("bash_") {
        built_in_tools::bash()
    } else if tool.kind.starts_with("memory_") {
        built_in_tools::memory()
    } else {
        built_in_tools::text_editor()
    };
    notes.losses.hint_once(path, DESCRIBED);
    let parameters = Raw::of(&schema).map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    Ok(function(&tool.name, Some(description.into()), parameters, None, notes))
}

fn web_search<'a>(tool: &'a WebSearchTool<'a>, path: &str, notes: &mut Notes) -> WebSearchOptions<'a> {
    for (member, is_given) in [
        ("max_uses", tool.max_uses.is_some()),
        ("allowed_domains", tool.allowed_domains.is_some()),
        ("blocked_domains", tool.blocked_domains.is_some()),
    ] {
        if is_given {
            notes.losses.add(format!("{path}.{member}"), NO_COUNTERPART);
        }
    }
    let by_ref = |text: &'a Option<Text<'a>>| text.as_ref().map(Text::by_ref);
    let user_location = tool.user_location.as_ref().map(|location| UserLocation {
        kind: "approximate".into(),
        approximate: ApproximateLocation {
            city: by_ref(&location.city),
            country: by_ref(&location.country),
            region: by_ref(&location.region),
            timezone: by_ref(&location.timezone),
        },
    });
    WebSearchOptions { search_context_size: None, user_location }
}

/// Which tool is to be called, and whether one answer may have several calls.
pub fn choice<'a>(
    request: &'a MessagesRequest<'a>,
    tools: &Tools<'a>,
    notes: &mut Notes,
) -> Result<(Option<ChatToolChoice<'a>>, Option<bool>), ConvertError> {
    let Some(choice) = request.tool_choice.as_ref().filter(|_| !tools.functions.is_empty()) else {
        return Ok((None, None));
    };
    let (choice, is_single) = match choice {
        ToolChoice::Auto(mode) => (ChatToolChoice::Mode(ToolChoiceMode::Auto), mode.disable_parallel_tool_use),
        ToolChoice::Any(mode) => (ChatToolChoice::Mode(ToolChoiceMode::Required), mode.disable_parallel_tool_use),
        ToolChoice::None(_) => (ChatToolChoice::Mode(ToolChoiceMode::None), None),
        ToolChoice::Tool(choice) => {
            let name = Text(notes.tools.upstream(Charset::OPENAI, None, &choice.name, ToolKind::Function));
            let is_it = |tool: &ChatTool<'_>| matches!(tool, ChatTool::Function(tool) if tool.function.name == name);
            if !tools.functions.iter().any(is_it) {
                return Err(ConvertError::invalid(
                    "tool_choice.name",
                    format!("there is no tool {:?} that could be called", &*choice.name),
                ));
            }
            let named = NamedToolChoice::Function(FunctionChoice { function: Named { name } });
            (ChatToolChoice::Tools(named), choice.disable_parallel_tool_use)
        }
        ToolChoice::Other(_) => {
            return Err(ConvertError::invalid("tool_choice.type", "is auto, any, tool or none"));
        }
    };
    Ok((Some(choice), (is_single == Some(true)).then_some(false)))
}
