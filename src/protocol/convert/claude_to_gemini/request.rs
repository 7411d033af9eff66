//! A Claude Messages request for a Gemini upstream.

use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest, OutputFormat};
use crate::protocol::convert::from_claude::{BILLING_HEADER, FOR_THE_BILL, edits_context};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::sampling::{max_tokens, within};
use crate::protocol::convert::to_gemini::answer_format::{self, stop_sequences};
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::wire::content::{Content, Part};
use crate::protocol::gemini::wire::proto::{Count, Number};
use crate::protocol::gemini::wire::request::{GenerateContentRequest as Target, GenerationConfig, ServiceTier};
use crate::protocol::gemini::wire::tools::Tool;
use crate::protocol::wire::TextOr;

use super::messages::{self, text_part};
use super::{thinking, tools};

/// Converts `request`.
pub fn convert<'a>(
    request: &'a MessagesRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    refuse_state_of_the_vendor(request)?;
    note_what_has_no_counterpart(request, notes);
    let model = capabilities::of(context.model);
    let tools = tools::tools(request, context, model, notes)?;
    let messages = messages::messages(request, context, &model, notes)?;
    let mut system = system(request, notes);
    system.extend(messages.system);
    let mut config = generation_config(request, model, notes)?;
    config.thinking_config = thinking::thinking_config(request, context.model, notes);
    if let Some(instruction) = answer_format(request, model, &tools.tools, &mut config, notes)? {
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
    let losses = &mut notes.losses;
    if request.container.is_some() {
        losses.add("container", "code runs in a container of its own");
    }
    if let Some(edits) = &request.context_management {
        // Edits that only forget old thinking change nothing: Gemini is not shown any.
        match edits_context(edits) {
            true => losses.add("context_management", "the conversation is sent as it is"),
            false => losses.hint("context_management", "the conversation is sent as it is"),
        }
    }
    if request.inference_geo.is_some() {
        losses.add("inference_geo", "where the answer is generated cannot be chosen");
    }
    if request.output_config.as_ref().is_some_and(|config| config.task_budget.is_some()) {
        losses.add("output_config.task_budget", NO_COUNTERPART);
    }
    if request.fallbacks.is_some() {
        losses.add("fallbacks", "no other model is tried");
    }
    if request.speed.as_ref().is_some_and(|speed| *speed != "standard") {
        losses.hint("speed", NO_COUNTERPART);
    }
    for (path, is_there) in [
        ("metadata.user_id", request.metadata.as_ref().is_some_and(|metadata| metadata.user_id.is_some())),
        ("fallback_credit_token", request.fallback_credit_token.is_some()),
        ("billing_policy", request.billing_policy.is_some()),
        ("diagnostics", request.diagnostics.is_some()),
        ("cache_control", request.cache_control.is_some()),
    ] {
        if is_there {
            losses.hint(path, NO_COUNTERPART);
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
            notes.losses.hint(format!("system[{index}]"), FOR_THE_BILL);
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
    model: Capabilities,
    notes: &mut Notes,
) -> Result<GenerationConfig<'a>, ConvertError> {
    let losses = &mut notes.losses;
    let wanted = request.max_tokens.map(|wanted| max_tokens("max_tokens", wanted, model.max_output, losses));
    Ok(GenerationConfig {
        temperature: within("temperature", request.temperature, 0.0..=1.0, losses)?.map(Number),
        top_p: within("top_p", request.top_p, 0.0..=1.0, losses)?.map(Number),
        top_k: request.top_k.map(|count| Number(count as f64)),
        max_output_tokens: wanted.transpose()?.map(Count),
        stop_sequences: stop_sequences(request.stop_sequences.as_deref().unwrap_or_default(), "stop_sequences", losses),
        ..GenerationConfig::default()
    })
}

/// Sets the form of the answer. Where the model cannot be bound to it, gives the instruction that stands for it.
fn answer_format<'a>(
    request: &'a MessagesRequest<'a>,
    model: Capabilities,
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
    let schema = Some(format.schema.by_ref());
    answer_format::json(schema, path, !tools.is_empty(), model, config, &mut notes.losses)
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
