//! Tools, and which of them are to be called.

use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::gemini::json_schema::standard;
use crate::protocol::gemini::wire::tools::{
    FunctionCallingMode, FunctionDeclaration, McpServer, Tool as Source, ToolConfig,
};
use crate::protocol::openai_responses::wire::choice::{
    AllowedTools, ToolChoice, ToolChoiceMode, ToolChoiceTool, ToolName,
};
use crate::protocol::openai_responses::wire::tools::{
    CodeInterpreterContainer, CodeInterpreterTool, FunctionTool, ImageGenerationTool, McpTool, Tool, WebSearchTool,
};
use crate::protocol::wire::{Hidden, Raw, Text, TextOr};

/// The tools of a request.
pub(super) fn tools<'a>(
    tools: &'a [Source<'a>],
    makes_images: bool,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Vec<Tool<'a>>, ConvertError> {
    let mut converted = Vec::new();
    let (mut searches, mut runs_code) = (false, false);
    for (index, tool) in tools.iter().enumerate() {
        let path = format!("tools[{index}]");
        for (index, declaration) in tool.function_declarations.iter().flatten().enumerate() {
            let path = format!("{path}.functionDeclarations[{index}]");
            converted.push(Tool::Function(function(declaration, &path, notes)?));
        }
        for (index, server) in tool.mcp_servers.iter().enumerate() {
            converted.push(Tool::Mcp(mcp(server, &format!("{path}.mcpServers[{index}]"), notes)?));
        }
        if let Some(search) = &tool.google_search
            && (search.search_types.is_some() || search.time_range_filter.is_some())
        {
            notes.losses.add(format!("{path}.googleSearch"), "OpenAI decides by itself how it searches");
        }
        // OpenAI's search opens pages too.
        searches |=
            tool.google_search.is_some() || tool.google_search_retrieval.is_some() || tool.url_context.is_some();
        runs_code |= tool.code_execution.is_some();
        let unknown = [
            ("googleMaps", tool.google_maps.is_some(), "OpenAI cannot search maps"),
            ("fileSearch", tool.file_search.is_some(), "OpenAI cannot search Google's file stores"),
            ("computerUse", tool.computer_use.is_some(), "the actions at a computer are others at OpenAI"),
        ];
        for (name, is_there, message) in unknown {
            if is_there {
                refuse(&format!("{path}.{name}"), message, context, notes)?;
            }
        }
        // What has no member that is known is a kind that is not.
        if *tool == Source::default() {
            refuse(&path, "OpenAI has no tool like it", context, notes)?;
        }
    }
    if searches {
        converted.push(Tool::WebSearch(WebSearchTool::default()));
    }
    if runs_code {
        let container = CodeInterpreterContainer { r#type: "auto".into(), ..CodeInterpreterContainer::default() };
        let container = TextOr::Structured(container);
        converted.push(Tool::CodeInterpreter(CodeInterpreterTool { container, allowed_callers: None }));
    }
    if makes_images {
        converted.push(Tool::ImageGeneration(ImageGenerationTool::default()));
    }
    Ok(converted)
}

/// A tool that OpenAI does not have.
fn refuse(path: &str, message: &'static str, context: &Context<'_>, notes: &mut Notes) -> Result<(), ConvertError> {
    match context.server_tools {
        ServerTools::Refuse => Err(ConvertError::unsupported(path, message)),
        ServerTools::Drop => {
            notes.losses.add(path, message);
            Ok(())
        }
    }
}

fn function<'a>(
    declaration: &'a FunctionDeclaration<'a>,
    path: &str,
    notes: &mut Notes,
) -> Result<FunctionTool<'a>, ConvertError> {
    let Some(name) = &declaration.name else {
        return Err(ConvertError::invalid(format!("{path}.name"), "the function has no name"));
    };
    if declaration.response.is_some() || declaration.response_json_schema.is_some() {
        notes.losses.hint(format!("{path}.response"), "OpenAI is not told what functions give");
    }
    if declaration.behavior.as_deref().is_some_and(|behavior| behavior != "BLOCKING") {
        notes.losses.add(format!("{path}.behavior"), "OpenAI waits for the output of each call");
    }
    let parameters = match (&declaration.parameters_json_schema, &declaration.parameters) {
        (Some(schema), _) => schema.by_ref(),
        (None, Some(schema)) => standard(schema),
        (None, None) => Raw::parse(NO_PARAMETERS).map_err(|error| ConvertError::invalid(path, error.to_string()))?,
    };
    Ok(FunctionTool {
        name: Text(notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function)),
        description: declaration.description.as_ref().map(Text::by_ref),
        parameters: Some(parameters),
        // Gemini's clients rely on optional members, which strict schemas do not have.
        strict: Some(false),
        ..FunctionTool::default()
    })
}

const NO_PARAMETERS: &str = r#"{"type":"object","properties":{}}"#;

/// Gemini calls the tools of a server without asking, so OpenAI is told to do so too.
fn mcp<'a>(server: &'a McpServer<'a>, path: &str, notes: &mut Notes) -> Result<McpTool<'a>, ConvertError> {
    let transport = server.streamable_http_transport.as_ref();
    let Some((transport, url)) = transport.and_then(|transport| Some((transport, transport.url.as_ref()?))) else {
        return Err(ConvertError::invalid(path, "the server has no address"));
    };
    if transport.timeout.is_some() || transport.sse_read_timeout.is_some() || transport.terminate_on_close.is_some() {
        notes.losses.hint(path, "OpenAI has its own bounds on the time");
    }
    let fault = |error: serde_json::Error| ConvertError::invalid(path, error.to_string());
    Ok(McpTool {
        server_label: server.name.as_ref().map(Text::by_ref).unwrap_or_else(|| "mcp".into()),
        server_url: Some(url.by_ref()),
        headers: transport.headers.as_ref().map(|headers| Raw::of(&headers.0)).transpose().map_err(fault)?.map(Hidden),
        require_approval: Some(Raw::parse("\"never\"").map_err(fault)?),
        ..McpTool::default()
    })
}

/// Whether and which tools are called.
pub(super) fn tool_choice<'a>(config: &'a ToolConfig<'a>, notes: &mut Notes) -> Option<ToolChoice<'a>> {
    if config.retrieval_config.is_some() {
        notes.losses.add("toolConfig.retrievalConfig", "has no counterpart");
    }
    let calling = config.function_calling_config.as_ref()?;
    let mode = match calling.mode.as_ref()? {
        FunctionCallingMode::Auto => return Some(ToolChoice::Mode(ToolChoiceMode::Auto)),
        FunctionCallingMode::None => return Some(ToolChoice::Mode(ToolChoiceMode::None)),
        FunctionCallingMode::Any => ToolChoiceMode::Required,
        FunctionCallingMode::Validated => ToolChoiceMode::Auto,
        FunctionCallingMode::Other(mode) if mode.ends_with("UNSPECIFIED") => return None,
        FunctionCallingMode::Other(_) => {
            notes.losses.add("toolConfig.functionCallingConfig.mode", "this mode is not known");
            return None;
        }
    };
    let mut names = calling.allowed_function_names.iter().map(|name| {
        let name = notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function);
        ToolChoiceTool::Function(ToolName { name: Text(name) })
    });
    let Some(first) = names.next() else { return Some(ToolChoice::Mode(mode)) };
    let rest: Vec<_> = names.collect();
    if rest.is_empty() && mode == ToolChoiceMode::Required {
        return Some(ToolChoice::Tool(first));
    }
    let tools = std::iter::once(first).chain(rest).collect();
    Some(ToolChoice::Tool(ToolChoiceTool::AllowedTools(AllowedTools { mode, tools })))
}
