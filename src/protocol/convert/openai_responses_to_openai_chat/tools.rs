//! Tools, and the choice among them.

use serde_json::json;

use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind};
use crate::protocol::convert::{ConvertError, Notes, ServerTools};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::request::{ApproximateLocation, UserLocation, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    AllowedTool, AllowedTools, AllowedToolsChoice, Bare, CustomChoice, CustomDefinition, CustomFormat, CustomTool,
    FunctionChoice, FunctionDefinition, FunctionTool, Grammar, GrammarFormat, Named, NamedToolChoice, Tool, ToolChoice,
    ToolChoiceMode,
};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::choice::{
    ToolChoice as SourceChoice, ToolChoiceMode as SourceMode, ToolChoiceTool,
};
use crate::protocol::openai_responses::wire::tools::{
    CustomTool as SourceCustom, CustomToolFormat, FunctionTool as SourceFunction, Tool as Source, WebSearchTool,
};
use crate::protocol::wire::{Raw, Text};

/// The tools that were found so far: at the top of the request, and in its input.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    model: Capabilities,
    /// Whether the model searches the web by itself, without a tool.
    searches: bool,
    server_tools: ServerTools,
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) web_search: Option<WebSearchOptions<'a>>,
}

impl<'a> Tools<'a> {
    pub(super) fn new(name: &str, model: Capabilities, server_tools: ServerTools) -> Self {
        // <https://developers.openai.com/api/docs/guides/tools-web-search>: in Chat Completions only models of that name search.
        let searches = name.contains("-search");
        Self { model, searches, server_tools, tools: Vec::new(), web_search: None }
    }

    /// Adds `tools`, which stand at `path`.
    pub(super) fn add(
        &mut self,
        tools: &'a [Source<'a>],
        namespace: Option<&str>,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(), ConvertError> {
        for (index, tool) in tools.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match tool {
                Source::Function(tool) => self.function(tool, namespace, &path, notes),
                Source::Custom(tool) => self.custom(tool, namespace, &path, notes),
                Source::Namespace(group) => {
                    if group.description.is_some() {
                        notes.losses.hint(format!("{path}.description"), "tools have no groups at this provider");
                    }
                    self.add(&group.tools, Some(&group.name), &format!("{path}.tools"), notes)?;
                }
                Source::WebSearch(search)
                | Source::WebSearch20250826(search)
                | Source::WebSearchPreview(search)
                | Source::WebSearchPreview20250311(search)
                    if self.searches =>
                {
                    self.web_search = Some(web_search(search, &path, notes));
                }
                Source::ToolSearch(search) if search.execution.as_deref() != Some("client") => {
                    notes.losses.hint(path, "all tools are declared at once, so that none has to be searched for");
                }
                other => match LocalTool::of(other) {
                    Some(tool) => self.local(tool, other, notes),
                    None => self.server_tool(other, path, notes)?,
                },
            }
        }
        Ok(())
    }

    fn function(&mut self, tool: &'a SourceFunction<'a>, namespace: Option<&str>, path: &str, notes: &mut Notes) {
        only_here(path, tool.allowed_callers.as_deref(), tool.r#async, notes);
        self.declare(Tool::Function(FunctionTool {
            function: FunctionDefinition {
                name: notes.tools.upstream(Charset::OPENAI, namespace, &tool.name, ToolKind::Function).into_text(),
                description: tool.description.as_ref().map(Text::by_ref),
                parameters: tool.parameters.as_ref().map(Raw::by_ref),
                strict: tool.strict,
            },
            cache_control: None,
        }));
    }

    /// Reasoning models of OpenAI have custom tools; for others they become functions.
    fn custom(&mut self, tool: &'a SourceCustom<'a>, namespace: Option<&str>, path: &str, notes: &mut Notes) {
        only_here(path, tool.allowed_callers.as_deref(), tool.r#async, notes);
        let name = notes.tools.upstream(Charset::OPENAI, namespace, &tool.name, ToolKind::Custom).into_text();
        let description = tool.description.as_ref().map(Text::by_ref);
        if self.model.reasoning {
            let format = tool.format.as_ref().and_then(|format| custom_format(format, path, notes));
            return self.declare(Tool::Custom(CustomTool { custom: CustomDefinition { name, description, format } }));
        }
        if matches!(tool.format, Some(CustomToolFormat::Grammar(_))) {
            notes.losses.add(format!("{path}.format"), "the grammar is told to the model, but not enforced");
        }
        self.declare(Tool::Function(FunctionTool {
            function: FunctionDefinition {
                name,
                description,
                parameters: custom_parameters(tool.format.as_ref()),
                strict: None,
            },
            cache_control: None,
        }));
    }

    fn local(&mut self, local: LocalTool, tool: &'a Source<'a>, notes: &mut Notes) {
        let (mut description, mut parameters) = (local.description().into(), Raw::parse(local.parameters()).ok());
        if let Source::ToolSearch(search) = tool {
            description = search.description.as_ref().map_or(description, Text::by_ref);
            parameters = search.parameters.as_ref().map(Raw::by_ref).or(parameters);
        }
        let name = notes.tools.upstream(Charset::OPENAI, None, local.name(), local.kind()).into_text();
        self.declare(Tool::Function(FunctionTool {
            function: FunctionDefinition { name, description: Some(description), parameters, strict: None },
            cache_control: None,
        }));
    }

    fn server_tool(&self, tool: &Source<'_>, path: String, notes: &mut Notes) -> Result<(), ConvertError> {
        match self.server_tools {
            ServerTools::Refuse => {
                let kind = Raw::of(tool).ok();
                let kind = kind.as_ref().and_then(|raw| crate::protocol::wire::kind(&raw.0).ok());
                let kind = kind.as_deref().unwrap_or("unknown");
                Err(ConvertError::unsupported(
                    path,
                    format!(
                        "the provider does not run the tool `{kind}`; leave it out, or use a model of a provider that does"
                    ),
                ))
            }
            ServerTools::Drop => {
                notes.losses.add(path, "a tool that the provider does not run, left out");
                Ok(())
            }
        }
    }

    /// A tool that is declared again replaces the earlier one.
    fn declare(&mut self, tool: Tool<'a>) {
        self.tools.retain(|other| name(other) != name(&tool));
        self.tools.push(tool);
    }

    /// The choice; it may only be sent with tools.
    pub(super) fn choice(&self, choice: Option<&'a SourceChoice<'a>>, notes: &mut Notes) -> Option<ToolChoice<'a>> {
        let choice = choice?;
        if self.tools.is_empty() {
            if !matches!(choice, SourceChoice::Mode(SourceMode::Auto | SourceMode::None)) {
                notes.losses.add("tool_choice", "there is no tool to choose");
            }
            return None;
        }
        match choice {
            SourceChoice::Mode(mode) => Some(ToolChoice::Mode(mode_of(mode))),
            SourceChoice::Tool(ToolChoiceTool::AllowedTools(allowed)) => {
                let tools = allowed.tools.iter().filter_map(|tool| self.chosen(tool)).map(|chosen| match chosen {
                    Chosen::Function(function) => AllowedTool::Function(FunctionChoice { function }),
                    Chosen::Custom(custom) => AllowedTool::Custom(CustomChoice { custom }),
                });
                let tools: Vec<_> = tools.collect();
                if tools.len() < allowed.tools.len() {
                    notes.losses.add("tool_choice.tools", "names tools that the provider does not have, left out");
                }
                if tools.is_empty() {
                    return Some(ToolChoice::Mode(ToolChoiceMode::None));
                }
                let allowed_tools = AllowedTools { mode: mode_of(&allowed.mode), tools };
                Some(ToolChoice::Tools(NamedToolChoice::AllowedTools(AllowedToolsChoice { allowed_tools })))
            }
            SourceChoice::Tool(tool) => match self.chosen(tool) {
                Some(Chosen::Function(function)) => {
                    Some(ToolChoice::Tools(NamedToolChoice::Function(FunctionChoice { function })))
                }
                Some(Chosen::Custom(custom)) => {
                    Some(ToolChoice::Tools(NamedToolChoice::Custom(CustomChoice { custom })))
                }
                None => {
                    notes.losses.add("tool_choice", "chooses a tool that the provider does not have, left out");
                    None
                }
            },
        }
    }

    fn chosen(&self, tool: &'a ToolChoiceTool<'a>) -> Option<Chosen<'a>> {
        let name: Text<'a> = match tool {
            ToolChoiceTool::Function(tool) | ToolChoiceTool::Custom(tool) => {
                Charset::OPENAI.fit(&tool.name).into_text()
            }
            ToolChoiceTool::Other(raw) => {
                let kind = crate::protocol::wire::kind(&raw.0).ok()?;
                LocalTool::from_name(&kind)?.name().into()
            }
            ToolChoiceTool::Mcp(_) | ToolChoiceTool::AllowedTools(_) => return None,
        };
        self.tools.iter().find(|tool| self::name(tool) == &*name).map(|tool| match tool {
            Tool::Custom(_) => Chosen::Custom(Named { name }),
            _ => Chosen::Function(Named { name }),
        })
    }
}

enum Chosen<'a> {
    Function(Named<'a>),
    Custom(Named<'a>),
}

/// A name as a text.
pub(super) trait IntoText<'a> {
    fn into_text(self) -> Text<'a>;
}

impl<'a> IntoText<'a> for std::borrow::Cow<'a, str> {
    fn into_text(self) -> Text<'a> {
        Text(self)
    }
}

fn name<'b>(tool: &'b Tool<'_>) -> &'b str {
    match tool {
        Tool::Function(tool) => &tool.function.name,
        Tool::Custom(tool) => &tool.custom.name,
        Tool::Other(_) => "",
    }
}

fn only_here(path: &str, callers: Option<&[Text<'_>]>, is_async: Option<bool>, notes: &mut Notes) {
    if callers.is_some_and(|callers| callers.iter().any(|caller| *caller == "programmatic")) {
        notes.losses.hint(format!("{path}.allowed_callers"), "the model calls tools itself, not out of programs");
    }
    if is_async == Some(true) {
        notes.losses.add(format!("{path}.async"), "the model waits for the output of each call");
    }
}

fn custom_format<'a>(format: &'a CustomToolFormat<'a>, path: &str, notes: &mut Notes) -> Option<CustomFormat<'a>> {
    match format {
        CustomToolFormat::Text(_) => Some(CustomFormat::Text(Bare {})),
        CustomToolFormat::Grammar(grammar) => Some(CustomFormat::Grammar(GrammarFormat {
            grammar: Grammar { definition: grammar.definition.by_ref(), syntax: grammar.syntax.by_ref() },
        })),
        CustomToolFormat::Other(_) => {
            notes.losses.add(format!("{path}.format"), "a format of an unknown type, left out");
            None
        }
    }
}

/// The schema of a function that takes a custom tool's text.
fn custom_parameters(format: Option<&CustomToolFormat<'_>>) -> Option<Raw<'static>> {
    let description = match format {
        Some(CustomToolFormat::Grammar(grammar)) => {
            format!("Text by this grammar ({}):\n{}", &*grammar.syntax, &*grammar.definition)
        }
        _ => "The tool's input, free text.".to_owned(),
    };
    Raw::of(&json!({
        "type": "object",
        "properties": {CUSTOM_INPUT: {"type": "string", "description": description}},
        "required": [CUSTOM_INPUT],
        "additionalProperties": false,
    }))
    .ok()
}

fn web_search<'a>(search: &'a WebSearchTool<'a>, path: &str, notes: &mut Notes) -> WebSearchOptions<'a> {
    if search.filters.is_some() {
        notes.losses.add(format!("{path}.filters"), "the search cannot be bounded to domains");
    }
    if search.external_web_access == Some(false) {
        notes.losses.add(format!("{path}.external_web_access"), "the search goes to the web");
    }
    if search.search_content_types.is_some() {
        notes.losses.add(format!("{path}.search_content_types"), "the search finds text");
    }
    WebSearchOptions {
        search_context_size: search.search_context_size.as_ref().map(Text::by_ref),
        user_location: search.user_location.as_ref().map(|location| UserLocation {
            kind: "approximate".into(),
            approximate: ApproximateLocation {
                city: location.city.as_ref().map(Text::by_ref),
                country: location.country.as_ref().map(Text::by_ref),
                region: location.region.as_ref().map(Text::by_ref),
                timezone: location.timezone.as_ref().map(Text::by_ref),
            },
        }),
    }
}

fn mode_of<'a>(mode: &'a SourceMode<'a>) -> ToolChoiceMode<'a> {
    match mode {
        SourceMode::Auto => ToolChoiceMode::Auto,
        SourceMode::None => ToolChoiceMode::None,
        SourceMode::Required => ToolChoiceMode::Required,
        SourceMode::Other(word) => ToolChoiceMode::Other(word.by_ref()),
    }
}
