//! What the model can call, and the choice among it.

use std::borrow::Cow;

use serde_json::Value;

use crate::protocol::claude::wire::request::Empty;
use crate::protocol::claude::wire::tools::{Tool, ToolChoice, ToolChoiceMode, ToolChoiceTool, WebFetchTool};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_claude::tools::{code_execution, possible_choice, web_search};
use crate::protocol::convert::to_claude::{self, schema};
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::request::GenerateContentRequest;
use crate::protocol::gemini::wire::tools::{
    ComputerUse, FunctionCallingConfig, FunctionCallingMode, FunctionDeclaration, Tool as SourceTool,
};
use crate::protocol::wire::{Raw, Text};

use super::computer_use;

/// The tools and the choice among them.
pub(super) struct Tools<'a> {
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) choice: Option<ToolChoice<'a>>,
}

/// Converts the tools of `request`.
pub(super) fn tools<'a>(
    request: &'a GenerateContentRequest<'a>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Tools<'a>, ConvertError> {
    let config = request.tool_config.as_ref();
    let functions = config.and_then(|config| config.function_calling_config.as_ref());
    if config.is_some_and(|config| config.retrieval_config.is_some()) {
        notes.losses.add("toolConfig.retrievalConfig", NO_COUNTERPART);
    }
    let mut reader = Reader { notes, server_tools: context.server_tools, only: only(functions), tools: Vec::new() };
    for (index, tool) in request.tools.iter().enumerate() {
        reader.tool(&format!("tools[{index}]"), tool)?;
    }
    let tools = reader.tools;
    let choice = functions.filter(|_| !tools.is_empty()).map(|config| choice(config, notes)).transpose()?.flatten();
    let mode = "toolConfig.functionCallingConfig.mode";
    let choice = possible_choice(choice, mode, context.model, &mut notes.losses);
    Ok(Tools { tools, choice })
}

/// The only functions that may be called, where they are named.
fn only<'a>(config: Option<&'a FunctionCallingConfig<'a>>) -> Option<&'a [Text<'a>]> {
    let config = config?;
    let restricts = matches!(config.mode, Some(FunctionCallingMode::Any | FunctionCallingMode::Validated));
    (restricts && !config.allowed_function_names.is_empty()).then_some(config.allowed_function_names.as_slice())
}

struct Reader<'a, 'n> {
    notes: &'n mut Notes,
    server_tools: ServerTools,
    only: Option<&'a [Text<'a>]>,
    tools: Vec<Tool<'a>>,
}

impl<'a> Reader<'a, '_> {
    fn tool(&mut self, path: &str, tool: &'a SourceTool<'a>) -> Result<(), ConvertError> {
        for (index, function) in tool.function_declarations.iter().flatten().enumerate() {
            self.function(&format!("{path}.functionDeclarations[{index}]"), function)?;
        }
        if let Some(search) = &tool.google_search {
            if search.time_range_filter.is_some() || search.search_types.is_some() {
                self.notes.losses.add(format!("{path}.googleSearch"), "the search cannot be restricted like this");
            }
            self.web_search();
        } else if tool.google_search_retrieval.is_some() {
            self.web_search();
        }
        if tool.code_execution.is_some() {
            self.tools.push(code_execution());
        }
        if tool.url_context.is_some() {
            self.tools.push(Tool::WebFetch(Box::new(web_fetch())));
        }
        if let Some(computer) = &tool.computer_use {
            self.computer_use(&format!("{path}.computerUse"), computer)?;
        }
        for (name, is_there) in [
            ("googleMaps", tool.google_maps.is_some()),
            ("fileSearch", tool.file_search.is_some()),
            // Claude's vendor calls such servers too, but only those who ask for it with a beta flag.
            ("mcpServers", !tool.mcp_servers.is_empty()),
        ] {
            if is_there {
                self.without_counterpart(&format!("{path}.{name}"))?;
            }
        }
        // What has no member that is known is a kind that is not.
        if *tool == SourceTool::default() {
            self.without_counterpart(path)?;
        }
        Ok(())
    }

    /// A tool that Google runs and Claude's vendor does not.
    fn without_counterpart(&mut self, path: &str) -> Result<(), ConvertError> {
        match self.server_tools {
            ServerTools::Refuse => {
                Err(ConvertError::unsupported(path, "this tool is not there for this model; leave it out"))
            }
            ServerTools::Drop => {
                self.notes.losses.add(path, "the tool is not there for this model");
                Ok(())
            }
        }
    }

    fn function(&mut self, path: &str, function: &'a FunctionDeclaration<'a>) -> Result<(), ConvertError> {
        let name = function.name.as_deref().filter(|name| !name.is_empty());
        let Some(name) = name else { return Err(ConvertError::invalid(format!("{path}.name"), "is missing")) };
        if self.only.is_some_and(|only| !only.iter().any(|allowed| *allowed == *name)) {
            return Ok(());
        }
        if function.response.is_some() || function.response_json_schema.is_some() {
            self.notes.losses.hint_once(format_args!("{path}.response"), "what a function gives is not declared");
        }
        let (member, schema) = match (&function.parameters_json_schema, &function.parameters) {
            (Some(schema), _) => ("parametersJsonSchema", Some(schema.by_ref())),
            (None, Some(schema)) => ("parameters", Some(json_schema::standard(schema))),
            (None, None) => ("parameters", None),
        };
        let input_schema = schema::of_arguments(schema, &format!("{path}.{member}"), &mut self.notes.losses)?;
        let name = self.notes.tools.upstream(Charset::CLAUDE, None, name, ToolKind::Function);
        let description = function.description.as_ref().map(Text::by_ref);
        self.tools.push(Tool::Custom(Box::new(to_claude::tools::function(Text(name), description, input_schema))));
        Ok(())
    }

    fn web_search(&mut self) {
        self.tools.push(Tool::WebSearch(Box::new(web_search(None))));
    }

    /// The client carries out calls of functions that only Gemini knows by itself: Claude is told of them.
    fn computer_use(&mut self, path: &str, computer: &ComputerUse<'_>) -> Result<(), ConvertError> {
        if !matches!(computer.environment.as_deref(), None | Some("ENVIRONMENT_BROWSER" | "ENVIRONMENT_UNSPECIFIED")) {
            return self.without_counterpart(path);
        }
        self.notes.losses.add(path, "the functions are described to the model, which does not know them by itself");
        let is_excluded = |name| computer.excluded_predefined_functions.iter().any(|excluded| *excluded == name);
        for function in computer_use::browser().into_iter().filter(|function| !is_excluded(function.name)) {
            let (name, description) = (function.name.into(), Some(function.description.into()));
            let function = to_claude::tools::function(name, description, raw(&function.schema));
            self.tools.push(Tool::Custom(Box::new(function)));
        }
        Ok(())
    }
}

fn web_fetch<'a>() -> WebFetchTool<'a> {
    WebFetchTool {
        kind: "web_fetch_20250910".into(),
        name: "web_fetch".into(),
        max_uses: None,
        allowed_domains: None,
        blocked_domains: None,
        citations: None,
        max_content_tokens: None,
        url_sources: None,
        use_cache: None,
        response_inclusion: None,
        strict: None,
        defer_loading: None,
        allowed_callers: None,
        cache_control: None,
    }
}

fn choice<'a>(
    config: &'a FunctionCallingConfig<'a>,
    notes: &mut Notes,
) -> Result<Option<ToolChoice<'a>>, ConvertError> {
    let mode = ToolChoiceMode::default;
    Ok(match (&config.mode, config.allowed_function_names.as_slice()) {
        (None, _) => None,
        (Some(FunctionCallingMode::Any), [name]) => {
            let name = notes.tools.upstream(Charset::CLAUDE, None, name, ToolKind::Function);
            Some(ToolChoice::Tool(ToolChoiceTool { name: Text(name), disable_parallel_tool_use: None }))
        }
        (Some(FunctionCallingMode::Any), _) => Some(ToolChoice::Any(mode())),
        (Some(FunctionCallingMode::None), _) => Some(ToolChoice::None(Empty::default())),
        (Some(FunctionCallingMode::Auto | FunctionCallingMode::Validated), _) => Some(ToolChoice::Auto(mode())),
        (Some(FunctionCallingMode::Other(word)), _) if **word == *"MODE_UNSPECIFIED" => None,
        (Some(FunctionCallingMode::Other(_)), _) => {
            return Err(ConvertError::unsupported(
                "toolConfig.functionCallingConfig.mode",
                "is not known; use AUTO, ANY, NONE or VALIDATED",
            ));
        }
    })
}

fn raw<'a>(value: &Value) -> Raw<'a> {
    // A value is always JSON.
    Raw::of(value).unwrap_or(Raw(Cow::Borrowed(serde_json::value::RawValue::NULL)))
}
