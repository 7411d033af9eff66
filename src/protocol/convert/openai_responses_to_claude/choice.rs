//! The choice among tools.

use super::tools::Toolbox;
use crate::protocol::claude::wire::request::Empty;
use crate::protocol::claude::wire::tools::{ToolChoice, ToolChoiceMode, ToolChoiceTool};
use crate::protocol::convert::Losses;
use crate::protocol::convert::to_claude::tools::possible_choice;
use crate::protocol::openai_responses::wire::choice::{
    AllowedTools, ToolChoice as Source, ToolChoiceMode as Mode, ToolChoiceTool as Choice,
};
use crate::protocol::openai_responses::wire::request::Request;
use crate::protocol::wire::{Raw, Text};

/// The choice among the tools of `toolbox`, which loses those that may not be called.
pub(super) fn convert<'a>(
    request: &'a Request<'a>,
    model: &str,
    toolbox: &mut Toolbox<'a>,
    losses: &mut Losses,
) -> Option<ToolChoice<'a>> {
    let wanted = match &request.tool_choice {
        None => Wanted::Auto,
        Some(Source::Mode(mode)) => of_mode(mode, losses),
        Some(Source::Tool(Choice::AllowedTools(allowed))) => of_allowed(allowed, toolbox, losses),
        Some(Source::Tool(choice)) => of_tool(choice, toolbox, losses),
    };
    if toolbox.tools.is_empty() {
        return None;
    }
    let disable_parallel_tool_use = (request.parallel_tool_calls == Some(false)).then_some(true);
    let mode = ToolChoiceMode { disable_parallel_tool_use };
    let choice = match wanted {
        Wanted::Auto if request.tool_choice.is_none() && disable_parallel_tool_use.is_none() => None,
        Wanted::Auto => Some(ToolChoice::Auto(mode)),
        Wanted::Any => Some(ToolChoice::Any(mode)),
        Wanted::Tool(name) => Some(ToolChoice::Tool(ToolChoiceTool { name, disable_parallel_tool_use })),
        Wanted::None => Some(ToolChoice::None(Empty {})),
    };
    possible_choice(choice, "tool_choice", model, losses)
}

enum Wanted<'a> {
    Auto,
    Any,
    None,
    Tool(Text<'a>),
}

fn of_mode<'a>(mode: &Mode<'_>, losses: &mut Losses) -> Wanted<'a> {
    match mode {
        Mode::Auto => Wanted::Auto,
        Mode::None => Wanted::None,
        Mode::Required => Wanted::Any,
        Mode::Other(_) => {
            losses.add("tool_choice", "this choice is not known, the model is free to choose");
            Wanted::Auto
        }
    }
}

fn of_tool<'a>(choice: &'a Choice<'a>, toolbox: &Toolbox<'a>, losses: &mut Losses) -> Wanted<'a> {
    let (kind, name) = reference(choice);
    match toolbox.find(&kind, name) {
        Some(tool) if tool.kind == "mcp" => {
            losses.add("tool_choice", "Claude has to call any of the tools, not one of this server");
            Wanted::Any
        }
        Some(tool) => Wanted::Tool(tool.upstream.clone()),
        None => {
            losses.add("tool_choice", "this tool is not there, the model is free to choose");
            Wanted::Auto
        }
    }
}

/// Among some: the others are not shown at all.
fn of_allowed<'a>(allowed: &'a AllowedTools<'a>, toolbox: &mut Toolbox<'a>, losses: &mut Losses) -> Wanted<'a> {
    let references: Vec<_> = allowed.tools.iter().map(reference).collect();
    let found: Vec<_> = references.iter().filter_map(|(kind, name)| toolbox.find(kind, name).cloned()).collect();
    let before = toolbox.tools.len();
    toolbox.retain(|tool| found.contains(tool));
    if toolbox.tools.len() < before {
        losses.add("tool_choice.tools", "the model is not told of the other tools");
    }
    of_mode(&allowed.mode, losses)
}

/// The type of a chosen tool, and its name or its server's.
fn reference<'a>(choice: &'a Choice<'a>) -> (Text<'a>, &'a str) {
    #[derive(tollgate_macros::Read)]
    struct Kind<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
    }
    let kind_of = |raw: &'a Raw<'a>| raw.read::<Kind<'a>>().map(|kind| kind.kind).unwrap_or_default();
    match choice {
        Choice::Function(tool) => ("function".into(), &tool.name),
        Choice::Custom(tool) => ("custom".into(), &tool.name),
        Choice::Mcp(tool) => ("mcp".into(), &tool.server_label),
        Choice::AllowedTools(_) => (Text::default(), ""),
        Choice::Other(raw) => (kind_of(raw), ""),
    }
}
