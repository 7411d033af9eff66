//! Tools, and the choice among them.

use tollgate_macros::Read;

use super::functions;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::request::MessagesRequest;
use crate::protocol::claude::wire::tools::{
    CustomTool, McpToolset, Tool as Source, ToolChoice as Choice, WebFetchTool, WebSearchTool,
};
use crate::protocol::convert::from_claude::built_in_tools::{self, DESCRIBED, Function};
use crate::protocol::convert::loss::NO_CACHE_MARKS;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_openai::schema;
use crate::protocol::convert::{Context, ConvertError, Losses, Notes, ServerTools};
use crate::protocol::openai_responses::wire::choice::{ToolChoice, ToolChoiceMode, ToolChoiceTool, ToolName};
use crate::protocol::openai_responses::wire::tools::{
    CodeInterpreterContainer, CodeInterpreterTool, McpTool, Tool, UserLocation, WebSearchFilters,
    WebSearchTool as Search,
};
use crate::protocol::wire::{Hidden, Raw, Text, TextOr};

/// The tools of a request, and what follows from them.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    /// The tools.
    pub(super) tools: Vec<Tool<'a>>,
    /// What the answer is to contain besides.
    pub(super) include: Vec<Text<'a>>,
    /// Bound on the calls of tools that the vendor runs.
    pub(super) max_tool_calls: Option<u64>,
}

/// The tools that are there at the end of the conversation.
pub(super) fn convert<'a>(
    request: &'a MessagesRequest<'a>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Tools<'a>, ConvertError> {
    let mut tools = Tools::default();
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        tools.add(tool, request, context.server_tools, &format!("tools[{index}]"), notes)?;
    }
    for (index, message) in request.messages.iter().enumerate() {
        let Some(TextOr::Structured(blocks)) = &message.content else { continue };
        for block in blocks {
            match block {
                ContentBlock::ToolAddition(change) => {
                    tools.change(&change.tool, true, &format!("messages[{index}]"), notes);
                }
                ContentBlock::ToolRemoval(change) => {
                    tools.change(&change.tool, false, &format!("messages[{index}]"), notes);
                }
                _ => {}
            }
        }
    }
    Ok(tools)
}

impl<'a> Tools<'a> {
    fn add(
        &mut self,
        tool: &'a Source<'a>,
        request: &'a MessagesRequest<'a>,
        hosted: ServerTools,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        match tool {
            Source::Custom(tool) => {
                note_custom(tool, path, &mut notes.losses);
                let description = tool.description.as_ref().map(Text::by_ref);
                self.function(&tool.name, description, tool.input_schema.by_ref(), tool.strict, path, notes);
            }
            Source::Bash(tool) => return self.built_in(&tool.name, built_in_tools::bash(), path, notes),
            Source::TextEditor(tool) => return self.built_in(&tool.name, built_in_tools::text_editor(), path, notes),
            Source::Memory(tool) => return self.built_in(&tool.name, built_in_tools::memory(), path, notes),
            Source::Computer(tool) => return self.built_in(&tool.name, built_in_tools::computer(tool), path, notes),
            Source::WebSearch(tool) => self.web_search(tool, path, &mut notes.losses),
            Source::WebFetch(tool) => self.web_fetch(tool, path, &mut notes.losses),
            Source::CodeExecution(_) => self.code_execution(),
            Source::ToolSearch(_) => notes.losses.hint_once(path, "all tools are declared from the start"),
            Source::McpToolset(toolset) => return self.mcp(toolset, request, hosted, path, &mut notes.losses),
            Source::Toolset(tool) => return missing(hosted, &tool.kind, path, &mut notes.losses),
            Source::Other(_) => return missing(hosted, "a tool of this type", path, &mut notes.losses),
        }
        Ok(())
    }

    /// A tool that Claude knows by its name and the client carries out.
    fn built_in(
        &mut self,
        name: &'a Text<'a>,
        tool: Function,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        notes.losses.hint_once(path, DESCRIBED);
        self.tools.push(functions::described(name.by_ref(), tool)?);
        Ok(())
    }

    fn function(
        &mut self,
        name: &str,
        description: Option<Text<'a>>,
        parameters: Raw<'a>,
        strict: Option<bool>,
        path: &str,
        notes: &mut Notes,
    ) {
        let can = schema::is_enforceable(&parameters);
        if strict == Some(true) && !can {
            notes.losses.add_once(format!("{path}.strict"), schema::NOT_STRICT);
        }
        let name = notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function).into_owned();
        self.tools.push(functions::function(name.into(), description, parameters, strict == Some(true) && can));
    }

    /// A tool that comes or goes in the course of the conversation.
    fn change(&mut self, tool: &'a Raw<'a>, comes: bool, path: &str, notes: &mut Notes) {
        #[derive(Read)]
        struct Change<'a> {
            #[serde(borrow, default)]
            name: Option<Text<'a>>,
            #[serde(borrow, default)]
            definition: Option<CustomTool<'a>>,
        }
        match tool.read::<Change<'a>>() {
            Ok(Change { definition: Some(tool), .. }) if comes => {
                self.remove(&tool.name, notes);
                self.function(&tool.name, tool.description, tool.input_schema, tool.strict, path, notes);
            }
            Ok(Change { name: Some(name), .. }) if !comes => self.remove(&name, notes),
            // A deferred tool, which is there already.
            Ok(Change { name: Some(_), definition: None }) => {}
            _ => notes.losses.add(path, "a change of the tools of this kind is not known"),
        }
    }

    fn remove(&mut self, name: &str, notes: &mut Notes) {
        let name = notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function);
        self.tools.retain(|tool| !matches!(tool, Tool::Function(tool) if *tool.name == *name));
    }

    fn web_search(&mut self, tool: &'a WebSearchTool<'a>, path: &str, losses: &mut Losses) {
        if tool.blocked_domains.as_ref().is_some_and(|domains| !domains.is_empty()) {
            losses.add(format!("{path}.blocked_domains"), "the other vendor cannot leave domains out");
        }
        let text = |text: &'a Option<Text<'a>>| text.as_ref().map(Text::by_ref);
        self.search(Search {
            filters: tool.allowed_domains.as_ref().map(|domains| domains_of(domains)),
            user_location: tool.user_location.as_ref().map(|place| UserLocation {
                r#type: Some("approximate".into()),
                city: text(&place.city),
                region: text(&place.region),
                country: text(&place.country),
                timezone: text(&place.timezone),
            }),
            ..Search::default()
        });
        self.max_tool_calls = tool.max_uses;
    }

    /// The other vendor's search opens pages as well.
    fn web_fetch(&mut self, tool: &'a WebFetchTool<'a>, path: &str, losses: &mut Losses) {
        losses.add(path, "pages are fetched by the other vendor's search");
        if self.tools.iter().all(|tool| !matches!(tool, Tool::WebSearch(_))) {
            self.search(Search {
                filters: tool.allowed_domains.as_ref().map(|domains| domains_of(domains)),
                ..Search::default()
            });
        }
    }

    fn search(&mut self, search: Search<'a>) {
        self.tools.push(Tool::WebSearch(search));
        self.include.push("web_search_call.action.sources".into());
    }

    fn code_execution(&mut self) {
        let container = CodeInterpreterContainer { r#type: "auto".into(), ..CodeInterpreterContainer::default() };
        let tool = CodeInterpreterTool { container: TextOr::Structured(container), allowed_callers: None };
        self.tools.push(Tool::CodeInterpreter(tool));
        self.include.push("code_interpreter_call.outputs".into());
    }

    /// The tools of a remote server. Claude's vendor calls them without asking, so no approval is asked for here.
    fn mcp(
        &mut self,
        toolset: &'a McpToolset<'a>,
        request: &'a MessagesRequest<'a>,
        hosted: ServerTools,
        path: &str,
        losses: &mut Losses,
    ) -> Result<(), ConvertError> {
        let mut servers = request.mcp_servers.iter().flatten();
        let Some(server) = servers.find(|server| *server.name == *toolset.mcp_server_name) else {
            return missing(hosted, "an MCP toolset without its server", path, losses);
        };
        self.tools.push(Tool::Mcp(McpTool {
            server_label: server.name.by_ref(),
            server_url: Some(server.url.by_ref()),
            authorization: server.authorization_token.as_ref().map(|token| Hidden(token.0.by_ref())),
            allowed_tools: allowed_mcp_tools(toolset, server.tool_configuration.as_ref(), path, losses),
            require_approval: Raw::parse("\"never\"").ok(),
            ..McpTool::default()
        }));
        Ok(())
    }
}

/// What of a function has no counterpart.
fn note_custom(tool: &CustomTool<'_>, path: &str, losses: &mut Losses) {
    if tool.defer_loading == Some(true) {
        losses.hint_once(format!("{path}.defer_loading"), "all tools are declared from the start");
    }
    if tool.input_examples.is_some() {
        losses.hint_once(format!("{path}.input_examples"), "examples are not told");
    }
    if tool.cache_control.is_some() {
        losses.hint_once(format!("{path}.cache_control"), NO_CACHE_MARKS);
    }
    if tool.allowed_callers.as_ref().is_some_and(|callers| callers.iter().all(|caller| *caller != "direct")) {
        losses.add(format!("{path}.allowed_callers"), "the model calls the tool itself, not out of code");
    }
}

fn domains_of<'a>(domains: &'a [Text<'a>]) -> WebSearchFilters<'a> {
    WebSearchFilters { allowed_domains: Some(domains.iter().map(Text::by_ref).collect()) }
}

/// The names of the tools of a server that may be called, where not all may.
fn allowed_mcp_tools<'a>(
    toolset: &McpToolset<'_>,
    former: Option<&Raw<'_>>,
    path: &str,
    losses: &mut Losses,
) -> Option<Raw<'a>> {
    #[derive(Read)]
    struct Config {
        enabled: Option<bool>,
    }
    #[derive(Read)]
    struct Former {
        allowed_tools: Option<Vec<String>>,
    }
    let by_default = toolset.default_config.as_ref().and_then(|config| config.read::<Config>().ok()?.enabled);
    let configs: std::collections::BTreeMap<String, Config> =
        toolset.configs.as_ref().and_then(|configs| configs.read().ok()).unwrap_or_default();
    if by_default == Some(false) {
        let enabled = configs.iter().filter(|(_, config)| config.enabled == Some(true));
        return Raw::of(&enabled.map(|(name, _)| name).collect::<Vec<_>>()).ok();
    }
    let former = former.and_then(|former| former.read::<Former>().ok()?.allowed_tools);
    let is_off = |name: &String| configs.get(name).is_some_and(|config| config.enabled == Some(false));
    match former {
        Some(names) => Raw::of(&names.into_iter().filter(|name| !is_off(name)).collect::<Vec<_>>()).ok(),
        None => {
            if configs.keys().any(is_off) {
                losses.add(
                    format!("{path}.configs"),
                    "the other vendor can list the tools to allow, not those to leave out",
                );
            }
            None
        }
    }
}

/// Refuses or leaves out a tool that the other vendor does not have.
fn missing(hosted: ServerTools, what: &str, path: &str, losses: &mut Losses) -> Result<(), ConvertError> {
    match hosted {
        ServerTools::Refuse => {
            Err(ConvertError::unsupported(path, format!("the other vendor does not have {what}; leave it out")))
        }
        ServerTools::Drop => {
            losses.add(path, "the other vendor does not have this tool, it is left out");
            Ok(())
        }
    }
}

/// Whether and what has to be called, and whether one call at a time.
pub(super) fn choice<'a>(
    choice: Option<&Choice<'_>>,
    tools: &[Tool<'_>],
    notes: &mut Notes,
) -> (Option<ToolChoice<'a>>, Option<bool>) {
    let Some(choice) = choice.filter(|_| !tools.is_empty()) else { return (None, None) };
    let mode = |mode| Some(ToolChoice::Mode(mode));
    let parallel = |disabled: Option<bool>| disabled.map(|disabled| !disabled);
    match choice {
        Choice::Auto(how) => (mode(ToolChoiceMode::Auto), parallel(how.disable_parallel_tool_use)),
        Choice::Any(how) => (mode(ToolChoiceMode::Required), parallel(how.disable_parallel_tool_use)),
        Choice::None(_) => (mode(ToolChoiceMode::None), None),
        Choice::Tool(tool) => {
            (Some(ToolChoice::Tool(named(&tool.name, tools, notes))), parallel(tool.disable_parallel_tool_use))
        }
        Choice::Other(_) => {
            notes.losses.add("tool_choice", "this choice is not known, the model is free to choose");
            (None, None)
        }
    }
}

fn named<'a>(name: &str, tools: &[Tool<'_>], notes: &mut Notes) -> ToolChoiceTool<'a> {
    let hosted = tools.iter().find_map(|tool| match (tool, name) {
        (Tool::WebSearch(_), "web_search" | "web_fetch") => Some(r#"{"type":"web_search"}"#),
        (Tool::CodeInterpreter(_), "code_execution") => Some(r#"{"type":"code_interpreter"}"#),
        _ => None,
    });
    match hosted.and_then(|hosted| Raw::parse(hosted).ok()) {
        Some(hosted) => ToolChoiceTool::Other(hosted),
        None => {
            let name = notes.tools.upstream(Charset::OPENAI, None, name, ToolKind::Function);
            ToolChoiceTool::Function(ToolName { name: name.into_owned().into() })
        }
    }
}
