//! A Claude Messages request for a Gemini upstream.

use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest, OutputFormat};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::content::{Content, Part};
use crate::protocol::gemini::wire::proto::{Count, Number};
use crate::protocol::gemini::wire::request::{GenerateContentRequest as Target, GenerationConfig, ServiceTier};
use crate::protocol::gemini::wire::tools::Tool;
use crate::protocol::wire::{Text, TextOr};

use super::messages::{self, text_part};
use super::{thinking, tools};

/// Most stop sequences that Gemini takes.
const MAX_STOP_SEQUENCES: usize = 5;

/// Begins a system block that Claude Code writes for Claude's bill alone.
const BILLING_HEADER: &str = "x-anthropic-billing-header:";

/// Converts `request`.
pub fn convert<'a>(
    request: &'a MessagesRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    refuse_state_of_the_vendor(request)?;
    note_what_has_no_counterpart(request, notes);
    let model = capabilities::of(context.model);
    let tools = tools::tools(request, context, &model, notes)?;
    let messages = messages::messages(request, context, &model, notes)?;
    let mut system = system(request, notes);
    system.extend(messages.system);
    let mut config = generation_config(request, &model, notes)?;
    config.thinking_config = thinking::thinking_config(request, context.model, &model, notes);
    if let Some(instruction) = answer_format(request, &model, &tools.tools, &mut config, notes)? {
        system.push(instruction);
    }
    if messages.contents.is_empty() {
        return Err(ConvertError::invalid(
            "messages",
            "there is nothing to answer; send at least one message with text",
        ));
    }
    Ok(Target {
        system_instruction: (!system.is_empty()).then_some(Content { role: None, parts: system }),
        contents: messages.contents,
        tools: tools.tools,
        tool_config: tools.config,
        generation_config: (config != GenerationConfig::default()).then_some(config),
        service_tier: service_tier(request, notes),
        ..Target::default()
    })
}

/// What only Claude can answer, since it keeps a part of the conversation.
fn refuse_state_of_the_vendor(request: &MessagesRequest<'_>) -> Result<(), ConvertError> {
    let refuse = |path: &str, message: &'static str| Err(ConvertError::unsupported(path, message));
    if request.thread.is_some() {
        return refuse("thread", "conversations that the provider keeps are not there for this model; send the whole");
    }
    if request.compaction.is_some() {
        return refuse("compaction", "this model does not compact conversations; leave `compaction` out");
    }
    if request.max_tokens == Some(0) {
        return refuse("max_tokens", "0 only fills Claude's cache, which this model does not have; send 1 or more");
    }
    Ok(())
}

fn note_what_has_no_counterpart(request: &MessagesRequest<'_>, notes: &mut Notes) {
    const NONE: &str = "has no counterpart";
    let losses = &mut notes.losses;
    if request.container.is_some() {
        losses.add("container", "code runs in a container of its own");
    }
    if let Some(edits) = &request.context_management {
        // Edits that only forget old thinking change nothing: Gemini is not shown any.
        match edits.get().contains("clear_tool_uses") || edits.get().contains("compact_") {
            true => losses.add("context_management", "the conversation is not edited"),
            false => losses.hint("context_management", "no former thinking is sent anyway"),
        }
    }
    if request.inference_geo.is_some() {
        losses.add("inference_geo", "where the answer is generated cannot be chosen");
    }
    if request.output_config.as_ref().is_some_and(|config| config.task_budget.is_some()) {
        losses.add("output_config.task_budget", NONE);
    }
    if request.fallbacks.is_some() {
        losses.add("fallbacks", "no other model is tried");
    }
    if request.speed.as_ref().is_some_and(|speed| *speed != "standard") {
        losses.hint("speed", NONE);
    }
    for (path, is_there) in [
        ("metadata.user_id", request.metadata.as_ref().is_some_and(|metadata| metadata.user_id.is_some())),
        ("fallback_credit_token", request.fallback_credit_token.is_some()),
        ("billing_policy", request.billing_policy.is_some()),
        ("diagnostics", request.diagnostics.is_some()),
        ("cache_control", request.cache_control.is_some()),
    ] {
        if is_there {
            losses.hint(path, NONE);
        }
    }
}

fn system<'a>(request: &'a MessagesRequest<'a>, notes: &mut Notes) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    match &request.system {
        None => {}
        Some(TextOr::Text(text)) => parts.extend(text_part(text)),
        Some(TextOr::Structured(blocks)) => {
            for (index, block) in blocks.iter().enumerate() {
                system_block(index, block, &mut parts, notes);
            }
        }
    }
    parts
}

fn system_block<'a>(index: usize, block: &'a BasicBlock<'a>, parts: &mut Vec<Part<'a>>, notes: &mut Notes) {
    match block {
        BasicBlock::Text(block) if block.text.starts_with(BILLING_HEADER) => {
            notes.losses.hint(format!("system[{index}]"), "is for Claude's bill");
        }
        BasicBlock::Text(block) => {
            messages::cache_mark(&block.cache_control, format_args!("system[{index}]"), notes);
            parts.extend(text_part(&block.text));
        }
        BasicBlock::Image(_) | BasicBlock::Other(_) => {
            notes.losses.add(format!("system[{index}]"), "is no text");
        }
    }
}

fn generation_config<'a>(
    request: &'a MessagesRequest<'a>,
    model: &Capabilities,
    notes: &mut Notes,
) -> Result<GenerationConfig<'a>, ConvertError> {
    Ok(GenerationConfig {
        temperature: within_one("temperature", request.temperature)?,
        top_p: within_one("top_p", request.top_p)?,
        top_k: request.top_k.map(|count| Number(count as f64)),
        max_output_tokens: max_output_tokens(request, model, notes),
        stop_sequences: stop_sequences(request, notes),
        ..GenerationConfig::default()
    })
}

/// What Claude takes from 0 to 1, which Gemini takes too.
fn within_one(path: &str, value: Option<f64>) -> Result<Option<Number>, ConvertError> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(ConvertError::invalid(path, "has to be from 0 to 1")),
        value => Ok(value.map(Number)),
    }
}

fn max_output_tokens(request: &MessagesRequest<'_>, model: &Capabilities, notes: &mut Notes) -> Option<Count> {
    let wanted = request.max_tokens?;
    if wanted > model.max_output {
        notes.losses.add("max_tokens", "is lowered to what the model can write");
    }
    Some(Count(wanted.min(model.max_output)))
}

fn stop_sequences<'a>(request: &'a MessagesRequest<'a>, notes: &mut Notes) -> Vec<Text<'a>> {
    let sequences = request.stop_sequences.as_deref().unwrap_or_default();
    if sequences.len() > MAX_STOP_SEQUENCES {
        notes.losses.add("stop_sequences", "only the first 5 are heeded");
    }
    sequences.iter().take(MAX_STOP_SEQUENCES).map(Text::by_ref).collect()
}

/// Sets the form of the answer. Where the model cannot be bound to it, gives the instruction that stands for it.
fn answer_format<'a>(
    request: &'a MessagesRequest<'a>,
    model: &Capabilities,
    tools: &[Tool<'a>],
    config: &mut GenerationConfig<'a>,
    notes: &mut Notes,
) -> Result<Option<Part<'a>>, ConvertError> {
    let current = request.output_config.as_ref().and_then(|config| config.format.as_ref());
    let (path, format) = match (current, &request.output_format) {
        (Some(format), _) => ("output_config.format", format),
        (None, Some(format)) => ("output_format", format),
        (None, None) => return Ok(None),
    };
    let OutputFormat::JsonSchema(format) = format else {
        return Err(ConvertError::unsupported(path, "this form of answer is not known; use `json_schema`"));
    };
    // Before the third generation functions and a JSON answer exclude each other.
    if !tools.is_empty() && !model.third_generation {
        notes.losses.add(path, "the model is only told of the schema, since it has tools");
        let told = format!("Answer with nothing but JSON that matches this JSON Schema:\n{}", format.schema.get());
        return Ok(Some(Part { text: Some(told.into()), ..Part::default() }));
    }
    config.response_mime_type = Some("application/json".into());
    config.response_schema =
        Some(Box::new(json_schema::response_subset(&format.schema, &format!("{path}.schema"), &mut notes.losses)?));
    Ok(None)
}

fn service_tier<'a>(request: &'a MessagesRequest<'a>, notes: &mut Notes) -> Option<ServiceTier<'a>> {
    match request.service_tier.as_deref() {
        None | Some("auto") => None,
        Some("standard_only") => Some(ServiceTier::Standard),
        Some(_) => {
            notes.losses.hint("service_tier", "is not known");
            None
        }
    }
}
