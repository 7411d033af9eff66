//! What a request says beside its conversation and its tools.

use super::tools::Tools;
use crate::protocol::convert::loss::{NO_CACHE_MARKS, NO_COUNTERPART};
use crate::protocol::convert::sampling::{max_tokens, within};
use crate::protocol::convert::to_gemini::answer_format;
use crate::protocol::convert::to_gemini::tools::FUNCTIONS_ONLY;
use crate::protocol::convert::{ConvertError, Losses, Notes};
use crate::protocol::gemini::capabilities::Capabilities;
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::proto::{Count, Number};
use crate::protocol::gemini::wire::request::{GenerationConfig, ServiceTier};
use crate::protocol::gemini::wire::tools::{FunctionCallingConfig, FunctionCallingMode};
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::choice::{AllowedTools, ToolChoice, ToolChoiceMode, ToolChoiceTool};
use crate::protocol::openai_responses::wire::request::{Request, TextFormat};
use crate::protocol::wire::{Text, TextOr, kind};

/// Refuses what needs a state that Gemini does not have.
pub(super) fn refuse_state(request: &Request<'_>) -> Result<(), ConvertError> {
    let refuse = |path: &str, message: &'static str| Err(ConvertError::unsupported(path, message));
    if request.previous_response_id.is_some() {
        return refuse("previous_response_id", "Gemini keeps no responses; send the whole conversation in input");
    }
    match &request.conversation {
        Some(TextOr::Text(_) | TextOr::Structured(_)) => {
            return refuse("conversation", "Gemini keeps no conversations; send the whole conversation in input");
        }
        None => {}
    }
    if request.prompt.is_some() {
        return refuse(
            "prompt",
            "Gemini does not know prompts that OpenAI keeps; send their text in instructions or input",
        );
    }
    if request.background == Some(true) {
        return refuse("background", "Gemini answers at once; leave background out and wait, or stream");
    }
    if request.prompt_cache_options.as_ref().and_then(|options| options.prewarm) == Some(true) {
        return refuse("prompt_cache_options.prewarm", "Gemini cannot fill a cache without an answer");
    }
    Ok(())
}

/// Notes what has no counterpart.
pub(super) fn note_losses(request: &Request<'_>, losses: &mut Losses) {
    let matters = [
        ("parallel_tool_calls", request.parallel_tool_calls == Some(false), "Gemini may call several tools at once"),
        ("max_tool_calls", request.max_tool_calls.is_some(), "Gemini has no bound on calls"),
        (
            "text.verbosity",
            request.text.as_ref().is_some_and(|text| text.verbosity.as_ref().is_some_and(|word| *word != "medium")),
            NO_COUNTERPART,
        ),
        ("context_management", request.context_management.is_some(), "the conversation is sent as it is"),
        ("moderation", request.moderation.is_some(), NO_COUNTERPART),
    ];
    for (path, is_there, reason) in matters {
        if is_there {
            losses.add(path, reason);
        }
    }
    let hints = [
        ("store", request.store == Some(true), "the answer is not kept"),
        ("truncation", request.truncation.as_deref() == Some("auto"), "the conversation is sent as it is"),
        ("image", request.image.is_some(), NO_COUNTERPART),
        ("access_programs", request.access_programs.is_some(), NO_COUNTERPART),
        ("metadata", request.metadata.is_some(), NO_COUNTERPART),
        ("client_metadata", request.client_metadata.is_some(), NO_COUNTERPART),
        ("safety_identifier", request.safety_identifier.is_some(), NO_COUNTERPART),
        ("user", request.user.is_some(), NO_COUNTERPART),
        ("prompt_cache_key", request.prompt_cache_key.is_some(), NO_CACHE_MARKS),
        ("prompt_cache_options", request.prompt_cache_options.is_some(), NO_CACHE_MARKS),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some(), NO_CACHE_MARKS),
    ];
    for (path, is_there, reason) in hints {
        if is_there {
            losses.hint(path, reason);
        }
    }
}

/// The member `serviceTier`.
pub(super) fn service_tier<'a>(tier: &str, losses: &mut Losses) -> Option<ServiceTier<'a>> {
    match tier {
        "auto" => None,
        "default" => Some(ServiceTier::Standard),
        "flex" => Some(ServiceTier::Flex),
        "priority" => Some(ServiceTier::Priority),
        _ => {
            losses.hint("service_tier", NO_COUNTERPART);
            None
        }
    }
}

/// Sampling and limits (B82, B83).
pub(super) fn sampling(
    request: &Request<'_>,
    model: Capabilities,
    config: &mut GenerationConfig<'_>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    if let Some(tokens) = request.max_output_tokens {
        let wanted = u64::try_from(tokens).unwrap_or(0);
        config.max_output_tokens = Some(Count(max_tokens("max_output_tokens", wanted, model.max_output, losses)?));
    }
    config.temperature = within("temperature", request.temperature, 0.0..=2.0, losses)?.map(Number);
    config.top_p = within("top_p", request.top_p, 0.0..=1.0, losses)?.map(Number);
    let asks = |wanted: &str| request.include.iter().flatten().any(|included| *included == wanted);
    if asks("message.output_text.logprobs") || request.top_logprobs.is_some_and(|count| count > 0) {
        config.response_logprobs = Some(true);
        config.logprobs = request.top_logprobs.filter(|count| *count > 0).map(Count);
    }
    Ok(())
}

/// The form of the answer; gives the instruction for models that cannot be held to it.
pub(super) fn format<'a>(
    format: &'a TextFormat<'a>,
    path: &str,
    has_tools: bool,
    model: Capabilities,
    config: &mut GenerationConfig<'a>,
    losses: &mut Losses,
) -> Result<Option<Part<'a>>, ConvertError> {
    let schema = match format {
        TextFormat::Text(_) => return Ok(None),
        TextFormat::JsonObject(_) => None,
        TextFormat::JsonSchema(format) => Some(format.schema.by_ref()),
        TextFormat::Other(_) => return Err(ConvertError::unsupported(path, "this form is not known")),
    };
    answer_format::json(schema, path, has_tools, model, config, losses)
}

/// Whether and which functions are called.
pub(super) fn tool_choice<'a>(
    choice: &ToolChoice<'_>,
    tools: &Tools<'a>,
    notes: &mut Notes,
) -> Option<FunctionCallingConfig<'a>> {
    const PATH: &str = "tool_choice";
    let config = |mode, names| Some(FunctionCallingConfig { mode: Some(mode), allowed_function_names: names });
    let has_functions = tools.has_functions();
    match choice {
        ToolChoice::Mode(ToolChoiceMode::None) if has_functions => config(FunctionCallingMode::None, Vec::new()),
        ToolChoice::Mode(ToolChoiceMode::Auto) if has_functions => config(FunctionCallingMode::Auto, Vec::new()),
        ToolChoice::Mode(ToolChoiceMode::Required) if has_functions => config(FunctionCallingMode::Any, Vec::new()),
        ToolChoice::Mode(ToolChoiceMode::Auto | ToolChoiceMode::None) => None,
        ToolChoice::Mode(_) => {
            notes.losses.add(PATH, FUNCTIONS_ONLY);
            None
        }
        ToolChoice::Tool(ToolChoiceTool::AllowedTools(allowed)) => allowed_tools(allowed, tools, notes),
        ToolChoice::Tool(tool) => match function(tool, tools, notes) {
            Some(name) => config(FunctionCallingMode::Any, vec![name]),
            None => {
                notes.losses.add(PATH, FUNCTIONS_ONLY);
                None
            }
        },
    }
}

fn allowed_tools<'a>(
    allowed: &AllowedTools<'_>,
    tools: &Tools<'a>,
    notes: &mut Notes,
) -> Option<FunctionCallingConfig<'a>> {
    let names: Vec<_> = allowed.tools.iter().filter_map(|tool| function(tool, tools, notes)).collect();
    if names.len() < allowed.tools.len() {
        notes.losses.add("tool_choice.tools", FUNCTIONS_ONLY);
    }
    if names.is_empty() {
        return None;
    }
    let mode = match allowed.mode {
        ToolChoiceMode::Required => FunctionCallingMode::Any,
        // Names may stand with this mode and not with AUTO.
        _ => FunctionCallingMode::Validated,
    };
    Some(FunctionCallingConfig { mode: Some(mode), allowed_function_names: names })
}

/// The function that stands for a tool of the choice.
fn function<'a>(tool: &ToolChoiceTool<'_>, tools: &Tools<'a>, notes: &Notes) -> Option<Text<'a>> {
    match tool {
        ToolChoiceTool::Function(tool) | ToolChoiceTool::Custom(tool) => tools.function_for(&tool.name, notes),
        ToolChoiceTool::Other(tool) => match &*kind(&tool.0).ok()? {
            "computer_use_preview" => tools.function_for(LocalTool::Computer.name(), notes),
            name => tools.function_for(LocalTool::from_name(name)?.name(), notes),
        },
        ToolChoiceTool::Mcp(_) | ToolChoiceTool::AllowedTools(_) => None,
    }
}
