//! Tools, and which of them is to be called.

use std::fmt::Write;

use super::messages::CACHE_MARKS;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind};
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::gemini::capabilities::{self, Thinking};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::gemini::wire::schema::{Schema, Type};
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

/// The tools: functions in one list, as Gemini wants them, and what it runs itself.
pub(super) fn tools<'a>(
    request: &'a Request<'a>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Vec<Target<'a>>, ConvertError> {
    let mut functions = Vec::new();
    let mut server = Vec::new();
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        match tool {
            Tool::Function(tool) => {
                if tool.cache_control.is_some() {
                    notes.losses.hint_once(format!("{path}.cache_control"), CACHE_MARKS);
                }
                functions.push(function(&tool.function, &format!("{path}.function"), context, notes)?);
            }
            Tool::Custom(tool) => functions.push(custom(&tool.custom, &format!("{path}.custom"), notes)),
            Tool::Other(raw) => server.extend(server_tool(raw, &path, context, notes)?),
        }
    }
    for (index, definition) in request.functions.iter().flatten().enumerate() {
        functions.push(function(definition, &format!("functions[{index}]"), context, notes)?);
    }
    if let Some(options) = &request.web_search_options {
        server.push(web_search(options, notes));
    }
    let functions = (!functions.is_empty()).then(|| Target { function_declarations: functions, ..Target::default() });
    Ok(functions.into_iter().chain(server).collect())
}

fn function<'a>(
    definition: &'a FunctionDefinition<'a>,
    path: &str,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    let name = notes.tools.upstream(Charset::GEMINI, None, &definition.name, ToolKind::Function);
    let parameters = match &definition.parameters {
        // Anything goes, as where nothing is said.
        Some(schema) if schema.get().split_whitespace().eq(["{}"]) => FunctionDeclaration::default(),
        Some(schema) => parameters(schema, &format!("{path}.parameters"), context, notes)?,
        None => FunctionDeclaration::default(),
    };
    Ok(FunctionDeclaration {
        name: Some(Text(name)),
        description: definition.description.as_ref().map(Text::by_ref),
        ..parameters
    })
}

/// The arguments of a function, as a declaration that has nothing else. What Gemini's schemas cannot say, as a recursion, newer
/// models take as JSON Schema.
fn parameters<'a>(
    schema: &'a Raw<'a>,
    path: &str,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<FunctionDeclaration<'a>, ConvertError> {
    match json_schema::subset(schema, path, &mut notes.losses) {
        Ok(parameters) => {
            Ok(FunctionDeclaration { parameters: parameters.map(Box::new), ..FunctionDeclaration::default() })
        }
        Err(ConvertError::Unsupported { .. }) if takes_json_schema(context.model) => {
            Ok(FunctionDeclaration { parameters_json_schema: Some(schema.by_ref()), ..FunctionDeclaration::default() })
        }
        Err(error) => Err(error),
    }
}

/// Whether the model takes JSON Schema beside its own (<https://ai.google.dev/gemini-api/docs/structured-output>).
pub(super) fn takes_json_schema(model: &str) -> bool {
    capabilities::of(model).thinking != Thinking::None
}

/// A tool that takes text becomes a function with one string; a grammar can only be described.
fn custom<'a>(definition: &'a CustomDefinition<'a>, path: &str, notes: &mut Notes) -> FunctionDeclaration<'a> {
    let name = notes.tools.upstream(Charset::GEMINI, None, &definition.name, ToolKind::Custom);
    let mut description = definition.description.as_deref().unwrap_or_default().to_owned();
    if let Some(CustomFormat::Grammar(format)) = &definition.format {
        notes.losses.add(format!("{path}.format"), "the grammar is described to the model and not enforced");
        let separator = if description.is_empty() { "" } else { "\n\n" };
        // Writing to a string cannot fail.
        let _ = write!(
            description,
            "{separator}The input must match this {} grammar:\n{}",
            &*format.grammar.syntax, &*format.grammar.definition
        );
    }
    let input = Schema {
        r#type: Some(Type::String),
        description: Some("The whole input of the tool, as plain text.".into()),
        ..Schema::default()
    };
    let schema = Schema {
        r#type: Some(Type::Object),
        properties: Some(Members(vec![(CUSTOM_INPUT.into(), input)])),
        required: vec![CUSTOM_INPUT.into()],
        ..Schema::default()
    };
    FunctionDeclaration {
        name: Some(Text(name)),
        description: (!description.is_empty()).then(|| description.into()),
        parameters: Some(Box::new(schema)),
        ..FunctionDeclaration::default()
    }
}

fn web_search<'a>(options: &WebSearchOptions<'_>, notes: &mut Notes) -> Target<'a> {
    if options.user_location.is_some() {
        notes.losses.add("web_search_options.user_location", "Gemini's search does not take a place by its name");
    }
    if options.search_context_size.is_some() {
        notes.losses.hint("web_search_options.search_context_size", "has no counterpart at Gemini");
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
pub(super) fn tool_config<'a>(
    request: &'a Request<'a>,
    tools: &[Target<'a>],
    notes: &mut Notes,
) -> Result<Option<ToolConfig<'a>>, ConvertError> {
    if tools.iter().all(|tool| tool.function_declarations.is_empty()) {
        let demands = |choice| !matches!(choice, &ToolChoice::Mode(ToolChoiceMode::None | ToolChoiceMode::Auto));
        if request.tools.iter().flatten().next().is_some() && request.tool_choice.as_ref().is_some_and(demands) {
            return Err(ConvertError::unsupported(
                "tool_choice",
                "demands a tool that Gemini does not have, or that it runs as it likes; leave the choice to the model",
            ));
        }
        return Ok(None);
    }
    let config = match (&request.tool_choice, &request.function_call) {
        (Some(choice), _) => tool_choice(choice, notes)?,
        (None, Some(choice)) => legacy_choice(choice, notes)?,
        (None, None) => FunctionCallingConfig::default(),
    };
    let config = strict(request, config);
    let is_said = config.mode.is_some();
    Ok(is_said.then(|| ToolConfig { function_calling_config: Some(config), ..ToolConfig::default() }))
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
