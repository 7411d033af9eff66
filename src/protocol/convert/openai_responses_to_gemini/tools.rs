//! Tools, and which of them are to be called.

use crate::protocol::convert::custom_tool::{self, Grammar};
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::to_gemini::tools::{combined, free_text};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes, ServerTools, to_gemini};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::gemini::wire::tools::{
    CodeExecution, FunctionDeclaration, GoogleSearch, McpServer, StreamableHttpTransport, Tool as Target, ToolConfig,
};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::tools::{
    CustomTool, CustomToolFormat, FunctionTool, McpTool, Tool, ToolSearchTool, WebSearchTool,
};
use crate::protocol::wire::{Hidden, Raw, Text, TextOr};

/// The tools of a request.
pub(super) struct Tools<'a> {
    context: &'a Context<'a>,
    model: Capabilities,
    functions: Vec<FunctionDeclaration<'a>>,
    servers: Vec<McpServer<'a>>,
    searches: bool,
    runs_code: bool,
}

impl<'a> Tools<'a> {
    pub(super) fn new(context: &'a Context<'a>, model: Capabilities) -> Self {
        Self { context, model, functions: Vec::new(), servers: Vec::new(), searches: false, runs_code: false }
    }

    /// Adds `tools`, which stand at `path`.
    pub(super) fn declare(&mut self, tools: &'a [Tool<'a>], path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        for (index, tool) in tools.iter().enumerate() {
            self.tool(tool, None, &format!("{path}[{index}]"), notes)?;
        }
        Ok(())
    }

    /// Whether the client has any functions.
    pub(super) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The function that stands for the client's tool `name`, in whatever namespace it was declared.
    pub(super) fn function_for(&self, name: &str, notes: &Notes) -> Option<Text<'a>> {
        let is_it = |function: &&FunctionDeclaration<'a>| match function.name.as_deref() {
            Some(upstream) => upstream == name || notes.tools.client(upstream).is_some_and(|tool| tool.name == name),
            None => false,
        };
        self.functions.iter().find(is_it)?.name.clone()
    }

    /// The tools as Gemini takes them.
    pub(super) fn finish(
        self,
        config: &mut ToolConfig<'a>,
        notes: &mut Notes,
    ) -> Result<Vec<Target<'a>>, ConvertError> {
        let vendors = Target {
            google_search: self.searches.then(GoogleSearch::default),
            code_execution: self.runs_code.then(CodeExecution::default),
            mcp_servers: self.servers,
            ..Target::default()
        };
        let vendors = if vendors == Target::default() { Vec::new() } else { vec![vendors] };
        combined(self.functions, vendors, config, self.model, self.context.server_tools, &mut notes.losses)
    }

    fn tool(
        &mut self,
        tool: &'a Tool<'a>,
        namespace: Option<&'a str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        match tool {
            Tool::Function(function) => self.function(function, namespace, path, notes),
            Tool::Custom(custom) => self.custom(custom, namespace, path, notes),
            Tool::Namespace(group) => {
                if group.description.is_some() {
                    notes.losses.hint(format!("{path}.description"), "Gemini has no groups of tools");
                }
                for (index, tool) in group.tools.iter().enumerate() {
                    self.tool(tool, Some(&group.name), &format!("{path}.tools[{index}]"), notes)?;
                }
                Ok(())
            }
            Tool::ToolSearch(search) if LocalTool::of(tool).is_some() => self.tool_search(search, path, notes),
            Tool::ToolSearch(_) => {
                notes.losses.hint(path, "all tools are declared at once, so that none has to be searched for");
                Ok(())
            }
            Tool::LocalShell(_) | Tool::Shell(_) | Tool::ApplyPatch(_) => match LocalTool::of(tool) {
                Some(local) => self.local(local, notes),
                None => self.refuse(path, "Gemini has no containers in which commands run", notes),
            },
            Tool::Computer(_) | Tool::ComputerUsePreview(_) if self.model.third_generation => {
                notes.losses.add(path, "is told as a function, since Gemini's own actions at a computer are others");
                self.local(LocalTool::Computer, notes)
            }
            Tool::WebSearch(search)
            | Tool::WebSearch20250826(search)
            | Tool::WebSearchPreview(search)
            | Tool::WebSearchPreview20250311(search) => {
                self.web_search(search, path, notes);
                Ok(())
            }
            Tool::CodeInterpreter(interpreter) => {
                let has_files = match &interpreter.container {
                    TextOr::Text(_) => true,
                    TextOr::Structured(container) => container.file_ids.as_ref().is_some_and(|ids| !ids.is_empty()),
                };
                if has_files {
                    notes.losses.add(format!("{path}.container"), "Gemini runs code without files of OpenAI");
                }
                self.runs_code = true;
                Ok(())
            }
            Tool::Mcp(server) => self.mcp(server, path, notes),
            Tool::FileSearch(_) => self.refuse(path, "Gemini cannot search OpenAI's vector stores", notes),
            Tool::Computer(_) | Tool::ComputerUsePreview(_) => {
                self.refuse(path, "this model takes no images from functions", notes)
            }
            Tool::ImageGeneration(_) => self.refuse(path, "Gemini has no tool that makes images", notes),
            Tool::ProgrammaticToolCalling(_) => self.refuse(path, "Gemini cannot call tools out of programs", notes),
            Tool::Other(_) => self.refuse(path, "this kind of tool is not known", notes),
        }
    }

    /// A tool that Gemini does not have.
    fn refuse(&self, path: &str, message: &'static str, notes: &mut Notes) -> Result<(), ConvertError> {
        match self.context.server_tools {
            ServerTools::Refuse => Err(ConvertError::unsupported(path, message)),
            ServerTools::Drop => {
                notes.losses.add(path, message);
                Ok(())
            }
        }
    }

    fn function(
        &mut self,
        function: &'a FunctionTool<'a>,
        namespace: Option<&str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let name = notes.tools.upstream(Charset::GEMINI, namespace, &function.name, ToolKind::Function);
        if function.strict == Some(true) {
            notes.losses.hint(format!("{path}.strict"), "Gemini keeps to schemas without a promise");
        }
        if function.r#async == Some(true) {
            notes.losses.add(format!("{path}.async"), "Gemini waits for the output of each call");
        }
        let path = format!("{path}.parameters");
        let description = function.description.as_ref().map(Text::by_ref);
        let schema = function.parameters.as_ref().map(Raw::by_ref);
        let (name, losses) = (Text(name), &mut notes.losses);
        self.add(to_gemini::tools::function(name, description, schema, &path, self.model, losses)?);
        Ok(())
    }

    /// A function whose one argument is the free text.
    fn custom(
        &mut self,
        custom: &'a CustomTool<'a>,
        namespace: Option<&str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let name = notes.tools.upstream(Charset::GEMINI, namespace, &custom.name, ToolKind::Custom);
        let grammar = match &custom.format {
            Some(CustomToolFormat::Grammar(grammar)) => {
                notes.losses.add(format!("{path}.format"), custom_tool::GRAMMAR);
                Some(Grammar { syntax: &grammar.syntax, definition: &grammar.definition })
            }
            _ => None,
        };
        let description = custom.description.as_ref().map(Text::by_ref);
        self.add(free_text(Text(name), description, grammar, self.model)?);
        Ok(())
    }

    /// The client's own search among its tools.
    fn tool_search(
        &mut self,
        search: &'a ToolSearchTool<'a>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        let Some(parameters) = &search.parameters else { return self.local(LocalTool::ToolSearch, notes) };
        let tool = LocalTool::ToolSearch;
        let name = notes.tools.upstream(Charset::GEMINI, None, tool.name(), tool.kind());
        let description = search.description.as_deref().unwrap_or(tool.description()).into();
        let (path, schema) = (format!("{path}.parameters"), Some(parameters.by_ref()));
        let (name, losses) = (Text(name), &mut notes.losses);
        self.add(to_gemini::tools::function(name, Some(description), schema, &path, self.model, losses)?);
        Ok(())
    }

    /// A tool that OpenAI has defined and the client carries out.
    fn local(&mut self, tool: LocalTool, notes: &mut Notes) -> Result<(), ConvertError> {
        let name = notes.tools.upstream(Charset::GEMINI, None, tool.name(), tool.kind());
        let schema =
            Raw::parse(tool.parameters()).map_err(|error| ConvertError::invalid("tools", error.to_string()))?;
        let (description, mut losses) = (Some(tool.description().into()), Losses::default());
        let function =
            to_gemini::tools::function(Text(name), description, Some(schema), "tools", self.model, &mut losses);
        self.add(function?);
        Ok(())
    }

    fn web_search(&mut self, search: &WebSearchTool<'_>, path: &str, notes: &mut Notes) {
        let losses = &mut notes.losses;
        if search.filters.is_some() {
            losses.add(format!("{path}.filters"), "Google searches the whole web");
        }
        if search.user_location.is_some() {
            losses.add(format!("{path}.user_location"), "Google is not told where the user is");
        }
        if search.search_context_size.is_some() || search.external_web_access.is_some() {
            losses.hint(path, "Google decides by itself how it searches");
        }
        self.searches = true;
    }

    /// A server that is reached the same way and whose tools are called without asking, as Gemini does.
    fn mcp(&mut self, server: &'a McpTool<'a>, path: &str, notes: &mut Notes) -> Result<(), ConvertError> {
        let asks = server.require_approval.as_ref().is_none_or(|approval| approval.get() != "\"never\"");
        let (Some(url), false, None) = (&server.server_url, asks, &server.allowed_tools) else {
            let message = "Gemini calls any tool of an MCP server without asking; only a server with an address, all its tools and require_approval never can be the same";
            return self.refuse(path, message, notes);
        };
        let mut headers = match &server.headers {
            Some(Hidden(headers)) => headers
                .read::<Members<'_, Text<'_>>>()
                .map_err(|_| ConvertError::invalid(format!("{path}.headers"), "this has to be an object of strings"))?,
            None => Members(Vec::new()),
        };
        if let Some(token) = &server.authorization {
            headers.0.push(("Authorization".into(), format!("Bearer {}", &*token.0).into()));
        }
        self.servers.push(McpServer {
            name: Some(server.server_label.by_ref()),
            streamable_http_transport: Some(StreamableHttpTransport {
                url: Some(url.by_ref()),
                headers: (!headers.0.is_empty()).then_some(Hidden(headers)),
                ..StreamableHttpTransport::default()
            }),
        });
        Ok(())
    }

    /// A tool that was found and loaded may have been declared before.
    fn add(&mut self, function: FunctionDeclaration<'a>) {
        if !self.functions.iter().any(|other| other.name == function.name) {
            self.functions.push(function);
        }
    }
}
