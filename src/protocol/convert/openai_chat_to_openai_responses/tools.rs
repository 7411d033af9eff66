//! Tools, and the choice among them.

use std::borrow::Cow;

use crate::protocol::convert::Notes;
use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::openai_chat::wire::request::{Request, WebSearchOptions};
use crate::protocol::openai_chat::wire::tools::{
    AllowedTool, CustomDefinition, CustomFormat, FunctionCallChoice, FunctionDefinition, NamedToolChoice, Tool,
    ToolChoice, ToolChoiceMode,
};
use crate::protocol::openai_responses::wire::Bare;
use crate::protocol::openai_responses::wire::choice::{
    AllowedTools, ToolChoice as TargetChoice, ToolChoiceMode as TargetMode, ToolChoiceTool, ToolName,
};
use crate::protocol::openai_responses::wire::tools::{
    CustomTool, CustomToolFormat, FunctionTool, Grammar, Tool as Target, UserLocation, WebSearchTool,
};
use crate::protocol::wire::{Raw, Text};

/// The tools of `request`, legacy functions and the web search among them; `None` for none.
pub(super) fn tools<'a>(request: &'a Request<'a>, notes: &mut Notes) -> Option<Vec<Target<'a>>> {
    let mut tools = Vec::new();
    for (index, tool) in request.tools.iter().flatten().enumerate() {
        match tool {
            Tool::Function(tool) => {
                if tool.cache_control.is_some() {
                    notes.losses.hint(format!("tools[{index}].cache_control"), "the provider caches by itself");
                }
                tools.push(function(&tool.function, notes));
            }
            Tool::Custom(tool) => tools.push(custom(&tool.custom, index, notes)),
            Tool::Other(_) => notes.losses.add(format!("tools[{index}]"), "a tool of an unknown type, left out"),
        }
    }
    tools.extend(request.functions.iter().flatten().map(|definition| function(definition, notes)));
    tools.extend(request.web_search_options.as_ref().map(web_search));
    (!tools.is_empty()).then_some(tools)
}

/// Both dialects differ in what an absent `strict` means, so that it is always told.
fn function<'a>(definition: &'a FunctionDefinition<'a>, notes: &mut Notes) -> Target<'a> {
    let parameters = definition.parameters.as_ref().map(Raw::by_ref);
    Target::Function(FunctionTool {
        name: notes.tools.upstream(Charset::OPENAI, None, &definition.name, ToolKind::Function).into_text(),
        description: definition.description.as_ref().map(Text::by_ref),
        parameters: parameters.or_else(|| Raw::parse(r#"{"type":"object","properties":{}}"#).ok()),
        strict: Some(definition.strict == Some(true)),
        ..FunctionTool::default()
    })
}

fn custom<'a>(definition: &'a CustomDefinition<'a>, index: usize, notes: &mut Notes) -> Target<'a> {
    let format = match &definition.format {
        None => None,
        Some(CustomFormat::Text(_)) => Some(CustomToolFormat::Text(Bare {})),
        Some(CustomFormat::Grammar(format)) => Some(CustomToolFormat::Grammar(Grammar {
            syntax: format.grammar.syntax.by_ref(),
            definition: format.grammar.definition.by_ref(),
        })),
        Some(CustomFormat::Other(_)) => {
            notes.losses.add(format!("tools[{index}].custom.format"), "a format of an unknown type, left out");
            None
        }
    };
    Target::Custom(CustomTool {
        name: notes.tools.upstream(Charset::OPENAI, None, &definition.name, ToolKind::Custom).into_text(),
        description: definition.description.as_ref().map(Text::by_ref),
        format,
        ..CustomTool::default()
    })
}

fn web_search<'a>(options: &'a WebSearchOptions<'a>) -> Target<'a> {
    let location = options.user_location.as_ref().map(|location| &location.approximate);
    Target::WebSearch(WebSearchTool {
        search_context_size: options.search_context_size.as_ref().map(Text::by_ref),
        user_location: location.map(|location| UserLocation {
            r#type: Some("approximate".into()),
            city: location.city.as_ref().map(Text::by_ref),
            region: location.region.as_ref().map(Text::by_ref),
            country: location.country.as_ref().map(Text::by_ref),
            timezone: location.timezone.as_ref().map(Text::by_ref),
        }),
        ..WebSearchTool::default()
    })
}

/// The choice; without tools there is none.
pub(super) fn choice<'a>(request: &'a Request<'a>, has_tools: bool, notes: &mut Notes) -> Option<TargetChoice<'a>> {
    let choice = match (&request.tool_choice, &request.function_call) {
        (Some(choice), _) => of_tools(choice, notes)?,
        (None, Some(FunctionCallChoice::Text(word))) => TargetChoice::Mode(match &**word {
            "none" => TargetMode::None,
            "auto" => TargetMode::Auto,
            _ => TargetMode::Other(word.by_ref()),
        }),
        (None, Some(FunctionCallChoice::Function(named))) => {
            TargetChoice::Tool(ToolChoiceTool::Function(tool_name(&named.name)))
        }
        (None, None) => return None,
    };
    if !has_tools {
        if !matches!(choice, TargetChoice::Mode(TargetMode::None | TargetMode::Auto)) {
            notes.losses.add("tool_choice", "there is no tool to choose");
        }
        return None;
    }
    Some(choice)
}

fn of_tools<'a>(choice: &'a ToolChoice<'a>, notes: &mut Notes) -> Option<TargetChoice<'a>> {
    let choice = match choice {
        ToolChoice::Mode(mode) => return Some(TargetChoice::Mode(mode_of(mode))),
        ToolChoice::Tools(choice) => choice,
    };
    let tool = match choice {
        NamedToolChoice::Function(choice) => ToolChoiceTool::Function(tool_name(&choice.function.name)),
        NamedToolChoice::Custom(choice) => ToolChoiceTool::Custom(tool_name(&choice.custom.name)),
        NamedToolChoice::AllowedTools(choice) => {
            let allowed = &choice.allowed_tools;
            let tools = allowed.tools.iter().filter_map(|tool| match tool {
                AllowedTool::Function(tool) => Some(ToolChoiceTool::Function(tool_name(&tool.function.name))),
                AllowedTool::Custom(tool) => Some(ToolChoiceTool::Custom(tool_name(&tool.custom.name))),
                AllowedTool::Other(_) => None,
            });
            let tools: Vec<_> = tools.collect();
            if tools.len() < allowed.tools.len() {
                notes.losses.add("tool_choice.allowed_tools.tools", "tools of an unknown type, left out");
            }
            ToolChoiceTool::AllowedTools(AllowedTools { mode: mode_of(&allowed.mode), tools })
        }
        NamedToolChoice::Other(_) => {
            notes.losses.add("tool_choice", "a choice of an unknown type, left out");
            return None;
        }
    };
    Some(TargetChoice::Tool(tool))
}

fn mode_of<'a>(mode: &'a ToolChoiceMode<'a>) -> TargetMode<'a> {
    match mode {
        ToolChoiceMode::Auto => TargetMode::Auto,
        ToolChoiceMode::None => TargetMode::None,
        ToolChoiceMode::Required => TargetMode::Required,
        ToolChoiceMode::Other(word) => TargetMode::Other(word.by_ref()),
    }
}

fn tool_name<'a>(name: &'a Text<'a>) -> ToolName<'a> {
    ToolName { name: Charset::OPENAI.fit(name).into_text() }
}

/// A name or an id as a text.
pub(super) trait IntoText<'a> {
    fn into_text(self) -> Text<'a>;
}

impl<'a> IntoText<'a> for Cow<'a, str> {
    fn into_text(self) -> Text<'a> {
        Text(self)
    }
}
