//! Tools, and which of them is to be called.

use crate::protocol::convert::custom_tool::{self, Grammar};
use crate::protocol::convert::loss::{NO_CACHE_MARKS, NO_COUNTERPART};
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_gemini::tools::{FUNCTIONS_ONLY, combined, free_text};
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools, to_gemini};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::wire::tools::{
    CodeExecution, FunctionCallingConfig, FunctionCallingMode, FunctionDeclaration, GoogleSearch, Tool as Target,
    ToolConfig, UrlContext,
};
use crate::protocol::openai_chat::wire::request::{Request, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    AllowedTool, CustomDefinition, CustomFormat, FunctionCallChoice, FunctionDefinition, NamedToolChoice, Tool,
    ToolChoice, ToolChoiceMode,
};
use crate::protocol::wire::{Raw, Text, kind};

/// The tools and how they are used.
pub(super) struct Tools<'a> {
    pub(super) tools: Vec<Target<'a>>,
    pub(super) config: Option<ToolConfig<'a>>,
}

/// Converts the tools of `request`.
pub(super) fn tools<'a>(
    request: &'a Request<'a>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Tools<'a>, ConvertError> {
    let model = capabilities::of(context.model);
    let mut functions = Vec::new();
    let mut vendors = Vec::new();
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        match tool {
            Tool::Function(tool) => {
                if tool.cache_control.is_some() {
                    notes.losses.hint_once(format!("{path}.cache_control"), NO_CACHE_MARKS);
                }
                functions.push(function(&tool.function, &format!("{path}.function"), model, notes)?);
            }
            Tool::Custom(tool) => functions.push(custom(&tool.custom, &format!("{path}.custom"), model, notes)?),
            Tool::Other(raw) => vendors.extend(server_tool(raw, &path, context, notes)?),
        }
    }
    for (index, definition) in request.functions.iter().flatten().enumerate() {
        functions.push(function(definition, &format!("functions[{index}]"), model, notes)?);
    }
    if let Some(options) = &request.web_search_options {
        vendors.push(web_search(options, notes));
    }
    let function_calling_config = function_calling(request, !functions.is_empty(), notes)?;
    let mut config = ToolConfig { function_calling_config, ..ToolConfig::default() };
    let tools = combined(functions, vendors, &mut config, model, context.server_tools, &mut notes.losses)?;
    Ok(Tools { tools, config: (config != ToolConfig::default()).then_some(config) })
}

fn function<'a>(
    definition: &'a FunctionDefinition<'a>,
    path: &str,
    model: Capabilities,
    notes: &mut Notes,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let name = Text(notes.tools.upstream(Charset::GEMINI, None, &definition.name, ToolKind::Function));
    let description = definition.description.as_ref().map(Text::by_ref);
    let schema = definition.parameters.as_ref().map(Raw::by_ref);
    to_gemini::tools::function(name, description, schema, &format!("{path}.parameters"), model, &mut notes.losses)
}

/// A tool that takes text becomes a function with one string; a grammar can only be described.
fn custom<'a>(
    definition: &'a CustomDefinition<'a>,
    path: &str,
    model: Capabilities,
    notes: &mut Notes,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let name = Text(notes.tools.upstream(Charset::GEMINI, None, &definition.name, ToolKind::Custom));
    let grammar = match &definition.format {
        Some(CustomFormat::Grammar(format)) => {
            notes.losses.add(format!("{path}.format"), custom_tool::GRAMMAR);
            Some(Grammar { syntax: &format.grammar.syntax, definition: &format.grammar.definition })
        }
        _ => None,
    };
    free_text(name, definition.description.as_ref().map(Text::by_ref), grammar, model)
}

fn web_search<'a>(options: &WebSearchOptions<'_>, notes: &mut Notes) -> Target<'a> {
    if options.user_location.is_some() {
        notes.losses.add("web_search_options.user_location", "Gemini's search does not take a place by its name");
    }
    if options.search_context_size.is_some() {
        notes.losses.hint("web_search_options.search_context_size", NO_COUNTERPART);
    }
    Target { google_search: Some(GoogleSearch::default()), ..Target::default() }
}

/// Tools of other kinds, by which compatible vendors and clients mean what the vendor runs.
fn server_tool<'a>(
    raw: &Raw<'_>,
    path: &str,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Option<Target<'a>>, ConvertError> {
    let kind = kind(&raw.0).map_err(|error| ConvertError::invalid(path, error.to_string()))?;
    let found = |word: &str| kind.starts_with(word);
    if found("web_search") || found("google_search") {
        return Ok(Some(Target { google_search: Some(GoogleSearch::default()), ..Target::default() }));
    }
    if found("code_interpreter") || found("code_execution") {
        return Ok(Some(Target { code_execution: Some(CodeExecution::default()), ..Target::default() }));
    }
    if found("web_fetch") || found("url_context") {
        return Ok(Some(Target { url_context: Some(UrlContext::default()), ..Target::default() }));
    }
    match context.server_tools {
        ServerTools::Refuse => {
            Err(ConvertError::unsupported(path, format!("Gemini has no tool like {:?}; leave it out", &*kind)))
        }
        ServerTools::Drop => {
            notes.losses.add(path, "Gemini has no tool like this");
            Ok(None)
        }
    }
}

/// Which functions are to be called. Only where there are any.
fn function_calling<'a>(
    request: &'a Request<'a>,
    has_functions: bool,
    notes: &mut Notes,
) -> Result<Option<FunctionCallingConfig<'a>>, ConvertError> {
    if !has_functions {
        let demands = |choice| !matches!(choice, &ToolChoice::Mode(ToolChoiceMode::None | ToolChoiceMode::Auto));
        if request.tools.iter().flatten().next().is_some() && request.tool_choice.as_ref().is_some_and(demands) {
            notes.losses.add("tool_choice", FUNCTIONS_ONLY);
        }
        return Ok(None);
    }
    let config = match (&request.tool_choice, &request.function_call) {
        (Some(choice), _) => tool_choice(choice, notes)?,
        (None, Some(choice)) => legacy_choice(choice, notes)?,
        (None, None) => FunctionCallingConfig::default(),
    };
    let config = strict(request, config);
    Ok(config.mode.is_some().then_some(config))
}

fn mode<'a>(mode: FunctionCallingMode<'a>) -> FunctionCallingConfig<'a> {
    FunctionCallingConfig { mode: Some(mode), allowed_function_names: vec![] }
}

fn tool_choice<'a>(choice: &'a ToolChoice<'a>, notes: &mut Notes) -> Result<FunctionCallingConfig<'a>, ConvertError> {
    match choice {
        ToolChoice::Mode(ToolChoiceMode::None) => Ok(mode(FunctionCallingMode::None)),
        ToolChoice::Mode(ToolChoiceMode::Auto) => Ok(mode(FunctionCallingMode::Auto)),
        ToolChoice::Mode(ToolChoiceMode::Required) => Ok(mode(FunctionCallingMode::Any)),
        ToolChoice::Mode(ToolChoiceMode::Other(_)) => Err(ConvertError::invalid(
            "tool_choice",
            "must be \"none\", \"auto\", \"required\" or an object that names tools",
        )),
        ToolChoice::Tools(NamedToolChoice::Function(choice)) => {
            Ok(only([(&*choice.function.name, ToolKind::Function)], FunctionCallingMode::Any, notes))
        }
        ToolChoice::Tools(NamedToolChoice::Custom(choice)) => {
            Ok(only([(&*choice.custom.name, ToolKind::Custom)], FunctionCallingMode::Any, notes))
        }
        ToolChoice::Tools(NamedToolChoice::AllowedTools(choice)) => {
            let names = choice.allowed_tools.tools.iter().filter_map(|tool| match tool {
                AllowedTool::Function(choice) => Some((&*choice.function.name, ToolKind::Function)),
                AllowedTool::Custom(choice) => Some((&*choice.custom.name, ToolKind::Custom)),
                AllowedTool::Other(_) => None,
            });
            // With `AUTO` no names are taken.
            let mode = match choice.allowed_tools.mode {
                ToolChoiceMode::Required => FunctionCallingMode::Any,
                _ => FunctionCallingMode::Validated,
            };
            Ok(only(names, mode, notes))
        }
        ToolChoice::Tools(NamedToolChoice::Other(_)) => {
            Err(ConvertError::unsupported("tool_choice", "names a tool of a kind that Gemini cannot be made to use"))
        }
    }
}

fn only<'a>(
    names: impl IntoIterator<Item = (&'a str, ToolKind)>,
    mode: FunctionCallingMode<'a>,
    notes: &mut Notes,
) -> FunctionCallingConfig<'a> {
    let names = names.into_iter().map(|(name, kind)| Text(notes.tools.upstream(Charset::GEMINI, None, name, kind)));
    FunctionCallingConfig { mode: Some(mode), allowed_function_names: names.collect() }
}

fn legacy_choice<'a>(
    choice: &'a FunctionCallChoice<'a>,
    notes: &mut Notes,
) -> Result<FunctionCallingConfig<'a>, ConvertError> {
    match choice {
        FunctionCallChoice::Function(named) => {
            Ok(only([(&*named.name, ToolKind::Function)], FunctionCallingMode::Any, notes))
        }
        FunctionCallChoice::Text(word) if *word == "none" => Ok(mode(FunctionCallingMode::None)),
        FunctionCallChoice::Text(word) if *word == "auto" => Ok(mode(FunctionCallingMode::Auto)),
        FunctionCallChoice::Text(_) => {
            Err(ConvertError::invalid("function_call", "must be \"none\", \"auto\" or an object with a name"))
        }
    }
}

/// A strict function's arguments are sure to follow its schema, for which Gemini has a mode for all functions.
fn strict<'a>(request: &Request<'_>, config: FunctionCallingConfig<'a>) -> FunctionCallingConfig<'a> {
    let is_strict = request.tools.iter().flatten().any(|tool| match tool {
        Tool::Function(tool) => tool.function.strict == Some(true),
        _ => false,
    });
    match config.mode {
        None | Some(FunctionCallingMode::Auto) if is_strict => {
            FunctionCallingConfig { mode: Some(FunctionCallingMode::Validated), ..config }
        }
        _ => config,
    }
}
