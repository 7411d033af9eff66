//! What steers an answer beside conversation and tools.

use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{Display, MessagesRequest, OutputFormat, Role, Thinking};
use crate::protocol::convert::effort::{DOES_NOT_THINK, Effort, UNKNOWN_EFFORT};
use crate::protocol::convert::from_claude::{BILLING_HEADER, FOR_THE_BILL, edits_context};
use crate::protocol::convert::loss::{NO_CACHE_MARKS, NO_COUNTERPART};
use crate::protocol::convert::names::Charset;
use crate::protocol::convert::sampling::{NOT_WHILE_THINKING, note_not_taken, within};
use crate::protocol::convert::to_openai::schema;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::capabilities;
use crate::protocol::openai_responses::wire::request::{
    Effort as EffortWord, JsonSchema, Reasoning, TextFormat, TextOptions,
};
use crate::protocol::wire::{Text, TextOr};

/// The least bound on the output that the vendor takes.
const LEAST_OUTPUT: u64 = 16;

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
            BasicBlock::Text(block) if block.text.starts_with(BILLING_HEADER) => {
                losses.hint(format!("system[{index}]"), FOR_THE_BILL);
            }
            BasicBlock::Text(block) => {
                if block.cache_control.is_some() && !std::mem::replace(&mut is_marked, true) {
                    losses.hint(format!("system[{index}].cache_control"), NO_CACHE_MARKS);
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
    let temperature = within("temperature", request.temperature, 0.0..=1.0, losses)?;
    let top_p = within("top_p", request.top_p, 0.0..=1.0, losses)?;
    if request.top_k.is_some() {
        losses.add("top_k", NO_COUNTERPART);
    }
    let effort = reasoning.and_then(|reasoning| Effort::from_word(reasoning.effort.as_ref()?.as_str()));
    if capabilities::of(model).takes_sampling(effort) {
        return Ok(Sampling { temperature, top_p });
    }
    note_not_taken(&[("temperature", temperature), ("top_p", top_p)], NOT_WHILE_THINKING, losses);
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
            losses.add("thinking", DOES_NOT_THINK);
        }
        return None;
    }
    let efforts = capabilities::of(model).efforts;
    let effort = match (effort, &request.thinking) {
        // A budget stands for no exact word.
        (Some(effort), Some(Thinking::Enabled(_))) => Some(effort.nearest(efforts)),
        (effort, _) => effort.map(|effort| effort.fitted(efforts, "output_config.effort", losses)),
    };
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
            losses.add("output_config.effort", UNKNOWN_EFFORT);
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
                losses.add(path, schema::NOT_STRICT);
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
        losses.add("stop_sequences", NO_COUNTERPART);
    }
    if request.fallbacks.is_some() {
        losses.add("fallbacks", NO_COUNTERPART);
    }
    if request.inference_geo.is_some() {
        losses.add("inference_geo", NO_COUNTERPART);
    }
    if request.container.is_some() {
        losses.add("container", "code runs in a new container of the other vendor");
    }
    if request.output_config.as_ref().is_some_and(|config| config.task_budget.is_some()) {
        losses.add("output_config.task_budget", NO_COUNTERPART);
    }
    if let Some(edits) = &request.context_management {
        match edits_context(edits) {
            true => losses.add("context_management", "the conversation is sent as it is"),
            false => losses.hint("context_management", "the conversation is sent as it is"),
        }
    }
    let hints = [
        (request.cache_control.is_some(), "cache_control", NO_CACHE_MARKS),
        (request.diagnostics.is_some(), "diagnostics", NO_COUNTERPART),
        (request.fallback_credit_token.is_some(), "fallback_credit_token", NO_COUNTERPART),
        (request.billing_policy.is_some(), "billing_policy", NO_COUNTERPART),
    ];
    for (is_there, path, reason) in hints {
        if is_there {
            losses.hint(path, reason);
        }
    }
}
