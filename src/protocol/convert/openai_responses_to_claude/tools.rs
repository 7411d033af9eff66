//! Tools.

use serde::Deserialize;
use serde_json::json;
use tollgate_macros::Read;

use super::client_tools;
use crate::protocol::claude::capabilities;
use crate::protocol::claude::wire::tools::{CustomTool, McpServer, McpToolset, Tool, UserLocation, WebSearchTool};
use crate::protocol::convert::custom_tool::{self, Grammar};
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_claude::tools::{MAX_STRICT, NOT_STRICT, code_execution, free_text, function};
use crate::protocol::convert::to_claude::{self, schema};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes, ServerTools};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::tools as responses;
use crate::protocol::wire::{Hidden, Raw, Text};

/// The tools of a request, from all the places where Responses has them.
pub(super) struct Toolbox<'a> {
    /// The tools.
    pub(super) tools: Vec<Tool<'a>>,
    /// Remote servers with tools.
    pub(super) servers: Vec<McpServer<'a>>,
    /// What there is to say about groups of tools.
    pub(super) guidance: Vec<String>,
    /// How each of `tools` is referred to.
    declared: Vec<Declared<'a>>,
    strict: usize,
    max_searches: Option<u64>,
    context: &'a Context<'a>,
}

/// How a tool is referred to at the client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared<'a> {
    /// `function`, `custom`, `mcp`, or the type of a tool of the vendor.
    pub(super) kind: &'static str,
    /// The name; of `mcp` the server's.
    pub(super) name: &'a str,
    /// The name at Claude.
    pub(super) upstream: Text<'a>,
}

impl<'a> Toolbox<'a> {
    /// An empty one. `max_searches` bounds the calls of tools that the vendor runs.
    pub(super) fn new(context: &'a Context<'a>, max_searches: Option<u64>) -> Self {
        Self {
            tools: Vec::new(),
            servers: Vec::new(),
            guidance: Vec::new(),
            declared: Vec::new(),
            strict: 0,
            max_searches,
            context,
        }
    }

    /// Adds the tools of a list; `path` is the list's.
    pub(super) fn add_all(
        &mut self,
        tools: &'a [responses::Tool<'a>],
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        for (index, tool) in tools.iter().enumerate() {
            self.add(tool, None, &format!("{path}[{index}]"), notes)?;
        }
        Ok(())
    }

    /// The tool that is referred to in this way; any kind of a vendor's tool counts for each of its versions.
    pub(super) fn find(&self, kind: &str, name: &str) -> Option<&Declared<'a>> {
        self.declared.iter().find(|tool| tool.kind == family(kind) && (tool.name == name || name.is_empty()))
    }

    /// Leaves only the tools for which `keep` says so.
    pub(super) fn retain(&mut self, keep: impl Fn(&Declared<'a>) -> bool) {
        let mut kept = self.declared.iter().map(keep);
        self.tools.retain(|_| kept.next().unwrap_or(false));
        let servers: Vec<&str> = self
            .tools
            .iter()
            .filter_map(|tool| match tool {
                Tool::McpToolset(toolset) => Some(&*toolset.mcp_server_name),
                _ => None,
            })
            .collect();
        self.servers.retain(|server| servers.contains(&&*server.name));
    }

    fn add(
        &mut self,
        tool: &'a responses::Tool<'a>,
        group: Option<&'a str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        use responses::Tool as Source;
        let hosted = || self.context.server_tools;
        match tool {
            Source::Function(tool) => self.function(tool, group, path, notes),
            Source::Custom(tool) => self.custom(tool, group, path, notes),
            Source::Namespace(group) => self.namespace(group, path, notes),
            Source::ToolSearch(tool) => self.tool_search(tool, path, notes),
            Source::WebSearch(tool)
            | Source::WebSearch20250826(tool)
            | Source::WebSearchPreview(tool)
            | Source::WebSearchPreview20250311(tool) => {
                let search = web_search(tool, self.max_searches, path, &mut notes.losses);
                self.push("web_search", "", "web_search".into(), Tool::WebSearch(Box::new(search)));
                Ok(())
            }
            Source::CodeInterpreter(tool) => self.code_interpreter(&tool.container, path, &mut notes.losses),
            Source::Shell(tool) if runs_at_vendor(tool) => {
                notes.losses.add(path, "commands run in a container of Claude's code execution");
                self.code_execution();
                Ok(())
            }
            Source::Shell(_) => self.local(LocalTool::Shell, client_tools::local(LocalTool::Shell)?, notes),
            Source::LocalShell(_) => {
                self.local(LocalTool::LocalShell, client_tools::local(LocalTool::LocalShell)?, notes)
            }
            Source::ApplyPatch(_) => {
                self.local(LocalTool::ApplyPatch, client_tools::local(LocalTool::ApplyPatch)?, notes)
            }
            Source::Computer(_) => self.local(LocalTool::Computer, client_tools::computer(None)?, notes),
            Source::ComputerUsePreview(tool) => {
                self.local(LocalTool::Computer, client_tools::computer(Some(tool))?, notes)
            }
            Source::Mcp(tool) => self.mcp(tool, path, &mut notes.losses),
            Source::FileSearch(_) => missing(hosted(), "file_search", path, &mut notes.losses),
            Source::ImageGeneration(_) => missing(hosted(), "image_generation", path, &mut notes.losses),
            Source::ProgrammaticToolCalling(_) => {
                missing(hosted(), "programmatic_tool_calling", path, &mut notes.losses)
            }
            Source::Other(_) => missing(hosted(), "this type of tool", path, &mut notes.losses),
        }
    }

    /// Notes a tool, unless one of its name is there: what a search has found may have been declared before.
    fn push(&mut self, kind: &'static str, name: &'a str, upstream: Text<'a>, tool: Tool<'a>) {
        if self.declared.iter().all(|declared| declared.upstream != *upstream || declared.kind == "mcp") {
            self.tools.push(tool);
            self.declared.push(Declared { kind, name, upstream });
        }
    }

    fn function(
        &mut self,
        tool: &'a responses::FunctionTool<'a>,
        group: Option<&'a str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let losses = &mut notes.losses;
        if tool.r#async == Some(true) {
            losses.add(format!("{path}.async"), "Claude waits for the results of its calls");
        }
        if tool.defer_loading == Some(true) {
            losses.hint_once(format!("{path}.defer_loading"), "the tool is loaded from the start");
        }
        let name = Text(notes.tools.upstream(Charset::CLAUDE, group, &tool.name, ToolKind::Function));
        let schema =
            schema::of_arguments(tool.parameters.as_ref().map(Raw::by_ref), &format!("{path}.parameters"), losses)?;
        let mut function = function(name.clone(), tool.description.as_ref().map(Text::by_ref), schema);
        if tool.strict == Some(true) {
            let can = capabilities::of(self.context.model).structured_output && self.strict < MAX_STRICT;
            match schema::enforceable(&function.input_schema).filter(|_| can) {
                Some(schema) => {
                    function.input_schema = schema;
                    function.strict = Some(true);
                    self.strict += 1;
                }
                None => losses.add_once(format!("{path}.strict"), NOT_STRICT),
            }
        }
        self.push("function", &tool.name, name, Tool::Custom(Box::new(function)));
        Ok(())
    }

    fn custom(
        &mut self,
        tool: &'a responses::CustomTool<'a>,
        group: Option<&'a str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let grammar = match &tool.format {
            Some(responses::CustomToolFormat::Grammar(grammar)) => {
                notes.losses.add_once(format!("{path}.format"), custom_tool::GRAMMAR);
                Some(Grammar { syntax: &grammar.syntax, definition: &grammar.definition })
            }
            _ => None,
        };
        let name = Text(notes.tools.upstream(Charset::CLAUDE, group, &tool.name, ToolKind::Custom));
        let function = free_text(name.clone(), tool.description.as_ref().map(Text::by_ref), grammar)?;
        self.push("custom", &tool.name, name, Tool::Custom(Box::new(function)));
        Ok(())
    }

    /// The tools of a group, each with the group's name before its own.
    fn namespace(
        &mut self,
        group: &'a responses::NamespaceTool<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        if let Some(description) = group.description.as_ref().filter(|description| !description.trim().is_empty()) {
            self.guidance
                .push(format!("About the tools whose names begin with `{}__`: {}", &*group.name, &**description));
        }
        for (index, tool) in group.tools.iter().enumerate() {
            self.add(tool, Some(&group.name), &format!("{path}.tools[{index}]"), notes)?;
        }
        Ok(())
    }

    /// A search that the client carries out is a function. One at the vendor is not needed: all tools are loaded.
    fn tool_search(
        &mut self,
        tool: &'a responses::ToolSearchTool<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        if tool.execution.as_ref().is_none_or(|execution| *execution != "client") {
            notes.losses.hint_once(path, "all tools are loaded from the start");
            return Ok(());
        }
        let path = format!("{path}.parameters");
        let function = client_tools::tool_search(tool, &path, &mut notes.losses)?;
        self.local(LocalTool::ToolSearch, function, notes)
    }

    /// A tool that the client carries out.
    fn local(&mut self, local: LocalTool, function: CustomTool<'a>, notes: &mut Notes) -> Result<(), ConvertError> {
        let upstream = notes.tools.upstream(Charset::CLAUDE, None, local.name(), local.kind());
        self.push(local.name(), "", Text(upstream), Tool::Custom(Box::new(function)));
        Ok(())
    }

    fn code_interpreter(
        &mut self,
        container: &crate::protocol::wire::TextOr<'_, responses::CodeInterpreterContainer<'_>>,
        path: &str,
        losses: &mut Losses,
    ) -> Result<(), ConvertError> {
        use crate::protocol::wire::TextOr;
        match container {
            TextOr::Text(_) => losses.add(format!("{path}.container"), "code runs in a new container of Claude's"),
            TextOr::Structured(new) => {
                if new.file_ids.as_ref().is_some_and(|ids| !ids.is_empty()) {
                    let path = format!("{path}.container.file_ids");
                    missing(self.context.server_tools, "files of another vendor in its containers", &path, losses)?;
                }
                if new.memory_limit.is_some() || new.network_policy.is_some() {
                    losses.add(format!("{path}.container"), "Claude's containers have limits of their own");
                }
            }
        }
        self.code_execution();
        Ok(())
    }

    fn code_execution(&mut self) {
        self.push("code_interpreter", "", "code_execution".into(), code_execution());
    }

    /// A remote server with tools. Claude calls them without asking, so only a server that needs no approval is handed on.
    fn mcp(&mut self, tool: &'a responses::McpTool<'a>, path: &str, losses: &mut Losses) -> Result<(), ConvertError> {
        let hosted = self.context.server_tools;
        let Some(url) = &tool.server_url else {
            return missing(hosted, "an MCP connector or tunnel", path, losses);
        };
        if tool.require_approval.as_ref().is_none_or(|approval| approval.get() != "\"never\"") {
            return missing(hosted, "MCP tools that need an approval", path, losses);
        }
        if tool.headers.is_some() {
            losses.add(format!("{path}.headers"), "Claude sends no headers to MCP servers");
        }
        if tool.defer_loading == Some(true) {
            losses.hint_once(format!("{path}.defer_loading"), "the tools are loaded from the start");
        }
        let label = &tool.server_label;
        let (default_config, configs) = allowed_mcp_tools(tool.allowed_tools.as_ref(), path, losses);
        self.servers.push(McpServer {
            kind: "url".into(),
            url: url.by_ref(),
            name: label.by_ref(),
            authorization_token: tool.authorization.as_ref().map(|token| Hidden(token.0.by_ref())),
            tool_configuration: None,
        });
        let toolset = McpToolset {
            kind: "mcp_toolset".into(),
            mcp_server_name: label.by_ref(),
            default_config,
            configs,
            tools: None,
            cache_control: None,
        };
        self.push("mcp", label, label.by_ref(), Tool::McpToolset(Box::new(toolset)));
        Ok(())
    }
}

/// The type of tool that stands for all its versions.
fn family(kind: &str) -> &str {
    match kind {
        _ if kind.starts_with("web_search") => "web_search",
        "computer_use_preview" => "computer",
        _ => kind,
    }
}

fn runs_at_vendor(tool: &responses::ShellTool<'_>) -> bool {
    #[derive(Read)]
    struct Environment<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
    }
    let environment = tool.environment.as_ref().and_then(|raw| raw.read::<Environment<'_>>().ok());
    environment.is_some_and(|environment| environment.kind != "local")
}

/// Refuses or leaves out a tool that Claude does not have.
fn missing(hosted: ServerTools, what: &str, path: &str, losses: &mut Losses) -> Result<(), ConvertError> {
    match hosted {
        ServerTools::Refuse => {
            Err(ConvertError::unsupported(path, format!("Claude does not have {what}; leave it out")))
        }
        ServerTools::Drop => {
            losses.add(path, "Claude does not have this, it is left out");
            Ok(())
        }
    }
}

fn web_search<'a>(
    tool: &'a responses::WebSearchTool<'a>,
    max_uses: Option<u64>,
    path: &str,
    losses: &mut Losses,
) -> WebSearchTool<'a> {
    if tool.search_context_size.is_some() || tool.search_content_types.is_some() {
        losses.hint_once(path, "how much a search brings is Claude's own choice");
    }
    if tool.external_web_access == Some(false) {
        losses.add(format!("{path}.external_web_access"), "Claude searches the web as it is now");
    }
    let domains = tool.filters.as_ref().and_then(|filters| filters.allowed_domains.as_ref());
    let text = |text: &'a Option<Text<'a>>| text.as_ref().map(Text::by_ref);
    let user_location = tool.user_location.as_ref().map(|place| UserLocation {
        kind: "approximate".into(),
        city: text(&place.city),
        region: text(&place.region),
        country: text(&place.country),
        timezone: text(&place.timezone),
    });
    let allowed_domains =
        domains.filter(|domains| !domains.is_empty()).map(|domains| domains.iter().map(Text::by_ref).collect());
    WebSearchTool { max_uses, allowed_domains, ..to_claude::tools::web_search(user_location) }
}

/// Which tools of a server are enabled: the rule for all, and the exceptions by name.
fn allowed_mcp_tools<'a>(
    allowed: Option<&Raw<'_>>,
    path: &str,
    losses: &mut Losses,
) -> (Option<Raw<'a>>, Option<Raw<'a>>) {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Allowed {
        Names(Vec<String>),
        Filter { tool_names: Option<Vec<String>>, read_only: Option<bool> },
    }
    let names = match allowed.and_then(|allowed| allowed.read().ok()) {
        Some(Allowed::Names(names)) => Some(names),
        Some(Allowed::Filter { tool_names, read_only }) => {
            if read_only.is_some() {
                losses.add(format!("{path}.allowed_tools"), "Claude cannot tell tools that only read");
            }
            tool_names
        }
        None => None,
    };
    let Some(names) = names else { return (None, None) };
    let configs: serde_json::Map<_, _> = names.into_iter().map(|name| (name, json!({"enabled": true}))).collect();
    (Raw::of(&json!({"enabled": false})).ok(), Raw::of(&configs).ok())
}
