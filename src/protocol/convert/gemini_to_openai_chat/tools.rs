//! Tools, and which of them is to be called.

use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::gemini::wire::tools::{
    FunctionCallingConfig, FunctionCallingMode, FunctionDeclaration, GoogleSearch, Tool,
};
use crate::protocol::openai_chat::capabilities;
use crate::protocol::openai_chat::wire::request::{Request as Target, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    AllowedTool, AllowedTools, AllowedToolsChoice, FunctionChoice, FunctionDefinition, FunctionTool, Named,
    NamedToolChoice, Tool as TargetTool, ToolChoice, ToolChoiceMode,
};
use crate::protocol::wire::{Raw, Text};

/// Adds tools and their choice to `target`.
pub(super) fn tools<'a>(
    request: &'a GenerateContentRequest<'a>,
    context: &Context<'_>,
    target: &mut Target<'a>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    let mut functions = Vec::new();
    for (index, tool) in request.tools.iter().enumerate() {
        let path = format!("tools[{index}]");
        for (place, declaration) in tool.function_declarations.iter().flatten().enumerate() {
            functions.push(function(declaration, &format!("{path}.functionDeclarations[{place}]"), notes)?);
        }
        if let Some(search) = &tool.google_search {
            web_search(search, &path, context, target, notes)?;
        }
        for member in server_tools(tool) {
            refuse_or_drop(&format!("{path}.{member}"), context, notes)?;
        }
        // What has no member that is known is a kind that is not.
        if *tool == Tool::default() {
            refuse_or_drop(&path, context, notes)?;
        }
    }
    let config = request.tool_config.as_ref();
    if config.is_some_and(|config| config.retrieval_config.is_some()) {
        notes.losses.add("toolConfig.retrievalConfig", NO_COUNTERPART);
    }
    if functions.is_empty() {
        return Ok(());
    }
    target.tools = Some(functions);
    if let Some(config) = config.and_then(|config| config.function_calling_config.as_ref()) {
        tool_choice(config, context, target, notes)?;
    }
    Ok(())
}

fn function<'a>(
    declaration: &'a FunctionDeclaration<'a>,
    path: &str,
    notes: &mut Notes,
) -> Result<TargetTool<'a>, ConvertError> {
    let Some(name) = declaration.name.as_deref().filter(|name| !name.is_empty()) else {
        return Err(ConvertError::invalid(format!("{path}.name"), "is missing"));
    };
    for (member, is_there) in [
        ("response", declaration.response.is_some()),
        ("responseJsonSchema", declaration.response_json_schema.is_some()),
        ("behavior", declaration.behavior.is_some()),
    ] {
        if is_there {
            notes.losses.hint(format!("{path}.{member}"), NO_COUNTERPART);
        }
    }
    let function = FunctionDefinition {
        name: Text(notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function)),
        description: declaration.description.as_ref().map(Text::by_ref),
        parameters: parameters(declaration),
        strict: None,
    };
    Ok(TargetTool::Function(FunctionTool { function, cache_control: None }))
}

/// Some vendors want a schema where OpenAI can do without.
fn parameters<'a>(declaration: &'a FunctionDeclaration<'a>) -> Option<Raw<'a>> {
    if let Some(schema) = &declaration.parameters_json_schema {
        return Some(schema.by_ref());
    }
    match &declaration.parameters {
        Some(schema) => Some(json_schema::standard(schema)),
        None => Raw::parse(r#"{"type":"object","properties":{}}"#).ok(),
    }
}

/// At OpenAI only the search models search in this dialect; other vendors let more of them.
fn web_search(
    search: &GoogleSearch<'_>,
    path: &str,
    context: &Context<'_>,
    target: &mut Target<'_>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    let path = format!("{path}.googleSearch");
    if capabilities::of(context.model).openai && !context.model.contains("search") {
        return refuse_or_drop(&path, context, notes);
    }
    if search.time_range_filter.is_some() {
        notes.losses.add(format!("{path}.timeRangeFilter"), NO_COUNTERPART);
    }
    if search.search_types.is_some() {
        notes.losses.hint(format!("{path}.searchTypes"), NO_COUNTERPART);
    }
    target.web_search_options = Some(WebSearchOptions::default());
    Ok(())
}

/// What else Google runs, none of which is in Chat Completions.
fn server_tools(tool: &Tool<'_>) -> impl Iterator<Item = &'static str> {
    let members = [
        ("googleSearchRetrieval", tool.google_search_retrieval.is_some()),
        ("codeExecution", tool.code_execution.is_some()),
        ("urlContext", tool.url_context.is_some()),
        ("googleMaps", tool.google_maps.is_some()),
        ("fileSearch", tool.file_search.is_some()),
        ("computerUse", tool.computer_use.is_some()),
        ("mcpServers", !tool.mcp_servers.is_empty()),
    ];
    members.into_iter().filter(|(_, is_there)| *is_there).map(|(member, _)| member)
}

fn refuse_or_drop(path: &str, context: &Context<'_>, notes: &mut Notes) -> Result<(), ConvertError> {
    match context.server_tools {
        ServerTools::Refuse => Err(ConvertError::unsupported(
            path,
            "the tool is run by Google, and the model has none like it; leave it out or choose another model",
        )),
        ServerTools::Drop => {
            notes.losses.add(path, "the tool is run by Google, and the model has none like it");
            Ok(())
        }
    }
}

fn tool_choice<'a>(
    config: &'a FunctionCallingConfig<'a>,
    context: &Context<'_>,
    target: &mut Target<'a>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    const PATH: &str = "toolConfig.functionCallingConfig";
    let mode = match &config.mode {
        None | Some(FunctionCallingMode::Auto) => ToolChoiceMode::Auto,
        Some(FunctionCallingMode::Any) => ToolChoiceMode::Required,
        Some(FunctionCallingMode::None) => ToolChoiceMode::None,
        Some(FunctionCallingMode::Validated) => {
            notes.losses.hint(format!("{PATH}.mode"), "whether calls match their schemas is not made sure");
            ToolChoiceMode::Auto
        }
        Some(FunctionCallingMode::Other(_)) => {
            return Err(ConvertError::invalid(format!("{PATH}.mode"), "must be AUTO, ANY, NONE or VALIDATED"));
        }
    };
    let names: Vec<_> = config
        .allowed_function_names
        .iter()
        .map(|name| Text(notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function)))
        .collect();
    let choice = match (mode, names.as_slice()) {
        (mode, []) => ToolChoice::Mode(mode),
        (ToolChoiceMode::None, _) => ToolChoice::Mode(ToolChoiceMode::None),
        (ToolChoiceMode::Required, [only]) => ToolChoice::Tools(NamedToolChoice::Function(named(only.clone()))),
        (mode, _) if capabilities::of(context.model).openai => {
            let tools = names.into_iter().map(|name| AllowedTool::Function(named(name))).collect();
            let allowed_tools = AllowedTools { mode, tools };
            ToolChoice::Tools(NamedToolChoice::AllowedTools(AllowedToolsChoice { allowed_tools }))
        }
        // Other vendors do not know how to choose among several; they get only these.
        (mode, names) => {
            if let Some(tools) = &mut target.tools {
                tools.retain(|tool| match tool {
                    TargetTool::Function(tool) => names.contains(&tool.function.name),
                    _ => true,
                });
            }
            ToolChoice::Mode(mode)
        }
    };
    target.tool_choice = Some(choice);
    Ok(())
}

fn named(name: Text<'_>) -> FunctionChoice<'_> {
    FunctionChoice { function: Named { name } }
}
