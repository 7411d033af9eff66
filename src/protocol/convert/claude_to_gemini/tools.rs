//! What the model can call, and the choice among it.

use std::borrow::Cow;

use tollgate_macros::Read;

use crate::protocol::claude::wire::content::{Content, ContentBlock, ToolChangeBlock};
use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::claude::wire::tools::{CustomTool, McpServer, Tool, ToolChoice, WebFetchTool, WebSearchTool};
use crate::protocol::convert::from_claude::built_in_tools::{self, DESCRIBED, Function};
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_gemini::tools::{FUNCTIONS_ONLY, combined, described, function};
use crate::protocol::convert::{Context, ConvertError, Notes, ServerTools};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::gemini::wire::tools::{
    CodeExecution, FunctionCallingConfig, FunctionCallingMode, FunctionDeclaration, GoogleSearch,
    McpServer as TargetMcpServer, StreamableHttpTransport, Tool as TargetTool, ToolConfig, UrlContext,
};
use crate::protocol::wire::{Hidden, Text, TextOr};

use super::messages::cache_mark;

/// The tools and how they are used.
pub(super) struct Tools<'a> {
    pub(super) tools: Vec<TargetTool<'a>>,
    pub(super) config: Option<ToolConfig<'a>>,
}

/// Converts the tools of `request`.
pub(super) fn tools<'a>(
    request: &'a MessagesRequest<'a>,
    context: &Context<'_>,
    model: Capabilities,
    notes: &mut Notes,
) -> Result<Tools<'a>, ConvertError> {
    let mut reader =
        Reader { notes, model, server_tools: context.server_tools, functions: Vec::new(), vendors: Vec::new() };
    let changes = Changes::of(request);
    let mut is_strict = false;
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        if let Tool::Custom(tool) = tool {
            if changes.removed.contains(&tool.name) {
                continue;
            }
            is_strict |= tool.strict == Some(true);
        }
        reader.tool(&format!("tools[{index}]"), tool)?;
    }
    for tool in changes.added {
        reader.custom_tool("messages", tool)?;
    }
    for (index, server) in request.mcp_servers.iter().flatten().enumerate() {
        reader.mcp_server(&format!("mcp_servers[{index}]"), server);
    }
    let Reader { functions, vendors, .. } = reader;
    let function_calling_config = choice(request.tool_choice.as_ref(), &functions, is_strict, notes)?;
    let mut config = ToolConfig { function_calling_config, ..ToolConfig::default() };
    let tools = combined(functions, vendors, &mut config, model, context.server_tools, &mut notes.losses)?;
    Ok(Tools { tools, config: (config != ToolConfig::default()).then_some(config) })
}

/// What system messages have changed about the tools.
#[derive(Default)]
struct Changes<'a> {
    removed: Vec<Text<'a>>,
    added: Vec<CustomTool<'a>>,
}

impl<'a> Changes<'a> {
    fn of(request: &'a MessagesRequest<'a>) -> Self {
        #[derive(Read)]
        struct Change<'a> {
            #[serde(borrow)]
            name: Option<Text<'a>>,
            #[serde(borrow)]
            definition: Option<CustomTool<'a>>,
        }
        let read = |block: &'a ToolChangeBlock<'a>| block.tool.read::<Change<'a>>().ok();
        let blocks = |content: &'a Content<'a>| match content {
            TextOr::Structured(blocks) => blocks.as_slice(),
            TextOr::Text(_) => &[],
        };
        let mut changes = Self::default();
        let contents = request.messages.iter().filter_map(|message| message.content.as_ref());
        for block in contents.flat_map(blocks) {
            match block {
                ContentBlock::ToolRemoval(block) => {
                    let Some(name) = read(block).and_then(|change| change.name) else { continue };
                    changes.added.retain(|tool| tool.name != name);
                    changes.removed.push(name);
                }
                ContentBlock::ToolAddition(block) => {
                    let Some(change) = read(block) else { continue };
                    changes.removed.retain(|removed| Some(removed) != change.name.as_ref());
                    changes.added.extend(change.definition);
                }
                _ => {}
            }
        }
        changes
    }
}

struct Reader<'a, 'n> {
    notes: &'n mut Notes,
    model: Capabilities,
    server_tools: ServerTools,
    functions: Vec<FunctionDeclaration<'a>>,
    vendors: Vec<TargetTool<'a>>,
}

impl<'a> Reader<'a, '_> {
    fn tool(&mut self, path: &str, tool: &'a Tool<'a>) -> Result<(), ConvertError> {
        let vendors = match tool {
            Tool::Custom(tool) => return self.custom_tool(path, CustomTool::clone(tool)),
            Tool::Bash(tool) => return self.built_in(path, &tool.name, built_in_tools::bash()),
            Tool::TextEditor(tool) => return self.built_in(path, &tool.name, built_in_tools::text_editor()),
            Tool::Memory(tool) => return self.built_in(path, &tool.name, built_in_tools::memory()),
            Tool::Computer(tool) => return self.built_in(path, &tool.name, built_in_tools::computer(tool)),
            Tool::WebSearch(tool) => self.web_search(path, tool),
            Tool::WebFetch(tool) => self.web_fetch(path, tool),
            Tool::CodeExecution(_) => TargetTool { code_execution: Some(CodeExecution {}), ..TargetTool::default() },
            Tool::ToolSearch(_) => {
                self.notes.losses.hint_once(path, "all tools are declared from the start");
                return Ok(());
            }
            Tool::McpToolset(tool) => {
                if tool.configs.is_some() || tool.default_config.is_some() {
                    self.notes.losses.add(path, "which tools of the server are enabled cannot be set");
                }
                return Ok(());
            }
            Tool::Toolset(tool) => return self.without_counterpart(path, &tool.kind),
            Tool::Other(_) => return self.without_counterpart(path, "of an unknown type"),
        };
        self.vendors.push(vendors);
        Ok(())
    }

    /// A tool that Claude's vendor runs and Gemini's does not.
    fn without_counterpart(&mut self, path: &str, kind: &str) -> Result<(), ConvertError> {
        match self.server_tools {
            ServerTools::Refuse => Err(ConvertError::unsupported(
                path,
                format!("the tool {kind} is not there for this model; leave it out"),
            )),
            ServerTools::Drop => {
                self.notes.losses.add(path, "the tool is not there for this model");
                Ok(())
            }
        }
    }

    fn custom_tool(&mut self, path: &str, tool: CustomTool<'a>) -> Result<(), ConvertError> {
        let losses = &mut self.notes.losses;
        if tool.defer_loading == Some(true) {
            losses.hint_once(format_args!("{path}.defer_loading"), "all tools are declared from the start");
        }
        if tool.input_examples.is_some() {
            losses.hint_once(format_args!("{path}.input_examples"), "examples have no counterpart");
        }
        if tool.allowed_callers.as_ref().is_some_and(|callers| !callers.iter().any(|caller| *caller == "direct")) {
            losses.add_once(format_args!("{path}.allowed_callers"), "the model calls the tool itself");
        }
        cache_mark(&tool.cache_control, path, self.notes);
        let name = match tool.name.0 {
            Cow::Borrowed(name) => self.notes.tools.upstream(Charset::GEMINI, None, name, ToolKind::Function),
            Cow::Owned(name) => {
                self.notes.tools.upstream(Charset::GEMINI, None, &name, ToolKind::Function).into_owned().into()
            }
        };
        let path = format!("{path}.input_schema");
        let (schema, losses) = (Some(tool.input_schema), &mut self.notes.losses);
        self.functions.push(function(Text(name), tool.description, schema, &path, self.model, losses)?);
        Ok(())
    }

    /// A tool that Claude knows by its name and the client carries out. Gemini is told what it takes.
    fn built_in(&mut self, path: &str, name: &'a str, function: Function) -> Result<(), ConvertError> {
        self.notes.losses.hint_once(path, DESCRIBED);
        self.functions.push(described(name.into(), function.description.into(), &function.schema, self.model)?);
        Ok(())
    }

    fn web_search(&mut self, path: &str, tool: &WebSearchTool<'_>) -> TargetTool<'a> {
        self.note_limits(
            path,
            &[
                ("max_uses", tool.max_uses.is_some()),
                ("allowed_domains", tool.allowed_domains.is_some()),
                ("blocked_domains", tool.blocked_domains.is_some()),
                ("user_location", tool.user_location.is_some()),
            ],
        );
        TargetTool { google_search: Some(GoogleSearch::default()), ..TargetTool::default() }
    }

    fn web_fetch(&mut self, path: &str, tool: &WebFetchTool<'_>) -> TargetTool<'a> {
        self.note_limits(
            path,
            &[
                ("max_uses", tool.max_uses.is_some()),
                ("allowed_domains", tool.allowed_domains.is_some()),
                ("blocked_domains", tool.blocked_domains.is_some()),
                ("max_content_tokens", tool.max_content_tokens.is_some()),
            ],
        );
        TargetTool { url_context: Some(UrlContext {}), ..TargetTool::default() }
    }

    fn note_limits(&mut self, path: &str, limits: &[(&str, bool)]) {
        for (limit, _) in limits.iter().filter(|(_, is_set)| *is_set) {
            self.notes.losses.add(format!("{path}.{limit}"), "the provider's tool cannot be limited");
        }
    }

    fn mcp_server(&mut self, path: &str, server: &'a McpServer<'a>) {
        if server.tool_configuration.is_some() {
            self.notes
                .losses
                .add(format!("{path}.tool_configuration"), "which tools of the server are enabled cannot be set");
        }
        let authorization = server.authorization_token.as_ref().map(|token| format!("Bearer {}", &*token.0).into());
        let transport = StreamableHttpTransport {
            url: Some(server.url.by_ref()),
            headers: authorization.map(|value| Hidden(Members(vec![("Authorization".into(), value)]))),
            ..StreamableHttpTransport::default()
        };
        let server = TargetMcpServer { name: Some(server.name.by_ref()), streamable_http_transport: Some(transport) };
        self.vendors.push(TargetTool { mcp_servers: vec![server], ..TargetTool::default() });
    }
}

fn choice<'a>(
    choice: Option<&'a ToolChoice<'a>>,
    functions: &[FunctionDeclaration<'a>],
    is_strict: bool,
    notes: &mut Notes,
) -> Result<Option<FunctionCallingConfig<'a>>, ConvertError> {
    let is_declared = |name: &str| functions.iter().any(|function| function.name.as_deref() == Some(name));
    let disables_parallel = match choice {
        Some(ToolChoice::Auto(mode) | ToolChoice::Any(mode)) => mode.disable_parallel_tool_use,
        Some(ToolChoice::Tool(tool)) => tool.disable_parallel_tool_use,
        _ => None,
    };
    if disables_parallel == Some(true) && !functions.is_empty() {
        notes.losses.add("tool_choice.disable_parallel_tool_use", "the model may call several tools at once");
    }
    let mode = |mode| FunctionCallingConfig { mode: Some(mode), allowed_function_names: Vec::new() };
    // Calls of strict tools match their schemas.
    let free = if is_strict { FunctionCallingMode::Validated } else { FunctionCallingMode::Auto };
    let config = match choice {
        // Without functions there is nothing to set, and setting it is an error.
        _ if functions.is_empty() => {
            if matches!(choice, Some(ToolChoice::Any(_) | ToolChoice::Tool(_))) {
                notes.losses.add("tool_choice", FUNCTIONS_ONLY);
            }
            return Ok(None);
        }
        None if is_strict => mode(free),
        None => return Ok(None),
        Some(ToolChoice::Auto(_)) => mode(free),
        Some(ToolChoice::Any(_)) => mode(FunctionCallingMode::Any),
        Some(ToolChoice::None(_)) => mode(FunctionCallingMode::None),
        Some(ToolChoice::Tool(tool)) => {
            let name = notes.tools.upstream(Charset::GEMINI, None, &tool.name, ToolKind::Function);
            if !is_declared(&name) {
                notes.losses.add("tool_choice", FUNCTIONS_ONLY);
                return Ok(None);
            }
            FunctionCallingConfig { mode: Some(FunctionCallingMode::Any), allowed_function_names: vec![Text(name)] }
        }
        Some(ToolChoice::Other(_)) => {
            return Err(ConvertError::unsupported("tool_choice", "this choice is not known"));
        }
    };
    Ok(Some(config))
}
