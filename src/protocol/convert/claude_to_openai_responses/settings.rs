//! What steers an answer beside conversation and tools.

use super::schema;
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{Display, MessagesRequest, OutputFormat, Role, Thinking};
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::names::Charset;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::capabilities;
use crate::protocol::openai_responses::wire::request::{
    Effort as EffortWord, JsonSchema, Reasoning, TextFormat, TextOptions,
};
use crate::protocol::wire::{Text, TextOr};

/// The least bound on the output that the vendor takes.
const LEAST_OUTPUT: u64 = 16;

/// With this begins a line of Claude Code for the accounting of Claude's vendor; it is no instruction.
const BILLING: &str = "x-anthropic-billing-header:";

/// Refuses what needs a state, or a service, that only Claude's vendor has.
pub(super) fn refuse_state(request: &MessagesRequest<'_>) -> Result<(), ConvertError> {
    if request.thread.is_some() {
        let message = "the other vendor keeps no threads; send the whole conversation in messages";
        return Err(ConvertError::unsupported("thread", message));
    }
    if request.compaction.is_some() {
        let message = "the other vendor compacts no conversation in this way; ask for a summary in a message";
        return Err(ConvertError::unsupported("compaction", message));
    }
    Ok(())
}

/// The system prompt.
pub(super) fn instructions<'a>(request: &'a MessagesRequest<'a>, losses: &mut Losses) -> Option<Text<'a>> {
    let blocks = match request.system.as_ref()? {
        TextOr::Text(text) => return (!text.trim().is_empty()).then(|| text.by_ref()),
        TextOr::Structured(blocks) => blocks,
    };
    let mut texts: Vec<&'a Text<'a>> = Vec::with_capacity(blocks.len());
    let mut is_marked = false;
    for (index, block) in blocks.iter().enumerate() {
        match block {
            BasicBlock::Text(block) if block.text.starts_with(BILLING) => {
                losses.hint(format!("system[{index}]"), "a line for the accounting of Claude's vendor is left out");
            }
            BasicBlock::Text(block) => {
                if block.cache_control.is_some() && !std::mem::replace(&mut is_marked, true) {
                    losses.hint(format!("system[{index}].cache_control"), "the other vendor caches by itself");
                }
                if !block.text.trim().is_empty() {
                    texts.push(&block.text);
                }
            }
            BasicBlock::Image(_) | BasicBlock::Other(_) => {
                losses.add(format!("system[{index}]"), "a system prompt is text at the other vendor");
            }
        }
    }
    match texts.as_slice() {
        [] => None,
        [only] => Some(only.by_ref()),
        texts => Some(texts.iter().map(|text| &***text).collect::<Vec<_>>().join("\n\n").into()),
    }
}

/// The bound on the output, within what the model takes; zero, which only fills the cache, has none: B82.
pub(super) fn max_output_tokens(request: &MessagesRequest<'_>, model: &str, losses: &mut Losses) -> Option<i64> {
    let wanted = request.max_tokens.filter(|tokens| *tokens > 0)?;
    let most = capabilities::of(model).max_output.unwrap_or(u64::MAX);
    if wanted < LEAST_OUTPUT {
        losses.hint("max_tokens", "raised to 16, the least that the other vendor takes");
    }
    if wanted > most {
        losses.add("max_tokens", "lowered to the most that the model writes");
    }
    i64::try_from(wanted.max(LEAST_OUTPUT).min(most)).ok()
}

/// Temperature and nucleus.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
}

/// Sampling, which models refuse while they reason: B83.
pub(super) fn sampling(
    request: &MessagesRequest<'_>,
    model: &str,
    reasoning: Option<&Reasoning<'_>>,
    losses: &mut Losses,
) -> Result<Sampling, ConvertError> {
    for (path, value) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
            return Err(ConvertError::invalid(path, "it has to be between 0 and 1"));
        }
    }
    if request.top_k.is_some() {
        losses.add("top_k", "the other vendor has no such parameter");
    }
    let effort = reasoning.and_then(|reasoning| Effort::from_word(reasoning.effort.as_ref()?.as_str()));
    if capabilities::of(model).takes_sampling(effort) {
        return Ok(Sampling { temperature: request.temperature, top_p: request.top_p });
    }
    // The default, which clients send without meaning it, changes nothing.
    for (path, value) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if value.is_some_and(|value| value < 1.0) {
            losses.add(path, "the model takes no sampling parameters while it reasons");
        }
    }
    Ok(Sampling::default())
}

/// How much the model reasons, and whether a summary is shown.
pub(super) fn reasoning<'a>(request: &MessagesRequest<'_>, model: &str, losses: &mut Losses) -> Option<Reasoning<'a>> {
    let effort = wanted_effort(request, losses);
    let shows = match &request.thinking {
        Some(Thinking::Enabled(enabled)) => enabled.display.as_ref().is_none_or(|display| *display != Display::Omitted),
        Some(Thinking::Adaptive(adaptive)) => {
            adaptive.display.as_ref().is_some_and(|display| *display != Display::Omitted)
        }
        _ => false,
    };
    if !capabilities::of(model).reasoning {
        if effort.is_some_and(|effort| effort > Effort::None) || shows {
            losses.add("thinking", "this model does not reason");
        }
        return None;
    }
    let effort = effort.map(|effort| effort.nearest(capabilities::of(model).efforts));
    (effort.is_some() || shows).then(|| Reasoning {
        effort: effort.map(effort_word),
        summary: shows.then(|| "auto".into()),
        ..Reasoning::default()
    })
}

/// The effort: of the last system message that sets one, else of the request, else what the budget amounts to.
fn wanted_effort(request: &MessagesRequest<'_>, losses: &mut Losses) -> Option<Effort> {
    let mut effort = request.output_config.as_ref().and_then(|config| config.effort.as_ref());
    for message in &request.messages {
        let later = message.output_config.as_ref().and_then(|config| config.effort.as_ref());
        effort = later.filter(|_| message.role == Role::System).or(effort);
    }
    let effort = match effort.map(|effort| Effort::from_word(effort.as_str())) {
        Some(None) => {
            losses.add("output_config.effort", "this effort is not known");
            None
        }
        Some(effort) => effort,
        None => None,
    };
    match &request.thinking {
        Some(Thinking::Disabled(_) | Thinking::BetweenTools(_)) => Some(Effort::None),
        Some(Thinking::Enabled(enabled)) => effort.or(Some(Effort::from_budget(enabled.budget_tokens))),
        Some(Thinking::Other(_)) => {
            losses.add("thinking", "this way of thinking is not known");
            effort
        }
        Some(Thinking::Adaptive(_)) | None => effort,
    }
}

fn effort_word<'a>(effort: Effort) -> EffortWord<'a> {
    match effort {
        Effort::None => EffortWord::None,
        Effort::Minimal => EffortWord::Minimal,
        Effort::Low => EffortWord::Low,
        Effort::Medium => EffortWord::Medium,
        Effort::High => EffortWord::High,
        Effort::Xhigh => EffortWord::XHigh,
        Effort::Max => EffortWord::Max,
    }
}

/// The form of the answer's text.
pub(super) fn text<'a>(request: &'a MessagesRequest<'a>, losses: &mut Losses) -> Option<TextOptions<'a>> {
    let current = request.output_config.as_ref().and_then(|config| config.format.as_ref());
    let (format, path) = match (current, &request.output_format) {
        (Some(format), _) => (format, "output_config.format"),
        (None, Some(format)) => (format, "output_format"),
        (None, None) => return None,
    };
    match format {
        OutputFormat::JsonSchema(format) => {
            let strict = schema::is_enforceable(&format.schema);
            if !strict {
                losses.add(path, "the model is shown this schema, the other vendor cannot hold it to it");
            }
            let schema = JsonSchema {
                name: "output".into(),
                schema: format.schema.by_ref(),
                description: None,
                strict: Some(strict),
            };
            Some(TextOptions { format: Some(TextFormat::JsonSchema(schema)), verbosity: None })
        }
        OutputFormat::Other(_) => {
            losses.add(path, "this form of text is not known");
            None
        }
    }
}

/// Stands for the end user, within the length that the vendor takes.
pub(super) fn user<'a>(request: &'a MessagesRequest<'a>) -> Option<Text<'a>> {
    let user = request.metadata.as_ref()?.user_id.as_ref()?;
    (!user.is_empty()).then(|| Text(Charset::OPENAI.fit(user)))
}

/// The tier.
pub(super) fn service_tier<'a>(request: &MessagesRequest<'_>) -> Option<Text<'a>> {
    if request.speed.as_ref().is_some_and(|speed| *speed == "fast") {
        return Some("fast".into());
    }
    match &**request.service_tier.as_ref()? {
        "standard_only" => Some("default".into()),
        _ => Some("auto".into()),
    }
}

/// Notes members that have no counterpart.
pub(super) fn note_what_is_left(request: &MessagesRequest<'_>, losses: &mut Losses) {
    if request.stop_sequences.as_ref().is_some_and(|sequences| !sequences.is_empty()) {
        losses.add("stop_sequences", "the other vendor has no such parameter");
    }
    if request.inference_geo.is_some() {
        losses.add("inference_geo", "the other vendor does not let this be chosen");
    }
    if request.container.is_some() {
        losses.add("container", "code runs in a new container of the other vendor");
    }
    if request.output_config.as_ref().is_some_and(|config| config.task_budget.is_some()) {
        losses.add("output_config.task_budget", "the other vendor has no such budget");
    }
    if request.context_management.is_some() {
        losses.hint("context_management", "the conversation is sent as it is");
    }
    let hints = [
        (request.cache_control.is_some(), "cache_control", "the other vendor caches by itself"),
        (request.diagnostics.is_some(), "diagnostics", "the other vendor does not tell why its cache was missed"),
        (request.fallbacks.is_some(), "fallbacks", "the other vendor has no fallbacks"),
        (request.fallback_credit_token.is_some(), "fallback_credit_token", "the other vendor has no fallbacks"),
        (request.billing_policy.is_some(), "billing_policy", "the other vendor has no such policy"),
    ];
    for (is_there, path, reason) in hints {
        if is_there {
            losses.hint(path, reason);
        }
    }
}
