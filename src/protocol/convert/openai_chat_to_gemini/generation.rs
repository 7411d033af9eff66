//! How the answer is generated: lengths, sampling, thinking.

use tollgate_macros::Read;

use super::format;
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::capabilities::{self, Capabilities, Thinking};
use crate::protocol::gemini::wire::proto::{Count, Int, Number};
use crate::protocol::gemini::wire::request::{GenerationConfig, Modality, ThinkingConfig, ThinkingLevel};
use crate::protocol::openai_chat::wire::request::{Request, Stop};
use crate::protocol::wire::Text;

/// Most sequences that end an answer.
const MAX_STOP_SEQUENCES: usize = 5;
/// Most answers to one request.
const MAX_CANDIDATES: u64 = 8;
/// Most alternatives to a token.
const MAX_LOGPROBS: u64 = 20;

/// What clients say to Gemini in `extra_body.google` (<https://ai.google.dev/gemini-api/docs/openai#extra-body>).
#[derive(Debug, Default, Read)]
pub(super) struct Extra<'a> {
    #[serde(borrow, default)]
    thinking_config: Option<ThinkingConfig<'a>>,
    /// `cachedContents/{id}`.
    #[serde(borrow, default)]
    pub(super) cached_content: Option<Text<'a>>,
}

impl<'a> Extra<'a> {
    /// What stands in the request.
    pub(super) fn read(request: &'a Request<'a>) -> Self {
        #[derive(Read)]
        struct Body<'a> {
            #[serde(borrow)]
            google: Extra<'a>,
        }
        let body = request.extra_body.as_ref().and_then(|raw| raw.read::<Body<'a>>().ok());
        body.map(|body| body.google).unwrap_or_default()
    }
}

/// The configuration; `None` if the request says nothing.
pub(super) fn config<'a>(
    request: &'a Request<'a>,
    extra: &Extra<'a>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Result<Option<GenerationConfig<'a>>, ConvertError> {
    let capabilities = capabilities::of(context.model);
    let (response_logprobs, logprobs) = logprobs(request, notes);
    let mut config = GenerationConfig {
        temperature: within("temperature", request.temperature, 0.0, 2.0, notes)?,
        top_p: within("top_p", request.top_p, 0.0, 1.0, notes)?,
        top_k: request.top_k.map(|top_k| Number(top_k as f64)),
        candidate_count: candidate_count(request)?,
        max_output_tokens: max_output_tokens(request, capabilities, notes)?,
        stop_sequences: stop_sequences(request, notes),
        presence_penalty: clamped("presence_penalty", request.presence_penalty, -2.0, 2.0, notes),
        frequency_penalty: clamped("frequency_penalty", request.frequency_penalty, -2.0, 2.0, notes),
        seed: request.seed.map(|seed| self::seed(seed, notes)),
        response_logprobs,
        logprobs,
        response_modalities: modalities(request)?,
        thinking_config: thinking(request, extra, capabilities, context.model, notes),
        ..GenerationConfig::default()
    };
    format::response_format(request, &mut config, context, notes)?;
    Ok((config != GenerationConfig::default()).then_some(config))
}

fn within(
    path: &'static str,
    value: Option<f64>,
    min: f64,
    max: f64,
    notes: &mut Notes,
) -> Result<Option<Number>, ConvertError> {
    match value {
        Some(value) if value < min || !value.is_finite() => {
            Err(ConvertError::invalid(path, format!("must be from {min} to {max}")))
        }
        value => Ok(clamped(path, value, min, max, notes)),
    }
}

fn clamped(path: &'static str, value: Option<f64>, min: f64, max: f64, notes: &mut Notes) -> Option<Number> {
    let value = value?;
    if value < min || value > max {
        notes.losses.add(path, "is outside of what Gemini takes and was brought to its border");
    }
    Some(Number(value.clamp(min, max)))
}

fn candidate_count(request: &Request<'_>) -> Result<Option<Count>, ConvertError> {
    match request.n {
        Some(0) => Err(ConvertError::invalid("n", "must be at least 1")),
        Some(n) if n > MAX_CANDIDATES => {
            Err(ConvertError::unsupported("n", format!("Gemini gives at most {MAX_CANDIDATES} answers")))
        }
        Some(1) | None => Ok(None),
        Some(n) => Ok(Some(Count(n))),
    }
}

fn max_output_tokens(
    request: &Request<'_>,
    capabilities: Capabilities,
    notes: &mut Notes,
) -> Result<Option<Count>, ConvertError> {
    let (path, wanted) = match (request.max_completion_tokens, request.max_tokens) {
        (Some(tokens), _) => ("max_completion_tokens", tokens),
        (None, Some(tokens)) => ("max_tokens", tokens),
        (None, None) => return Ok(None),
    };
    if wanted == 0 {
        return Err(ConvertError::invalid(path, "must be at least 1"));
    }
    if wanted > capabilities.max_output {
        notes.losses.add(path, "is above the model's limit, which is sent instead");
    }
    Ok(Some(Count(wanted.min(capabilities.max_output))))
}

fn stop_sequences<'a>(request: &'a Request<'a>, notes: &mut Notes) -> Vec<Text<'a>> {
    let sequences = match &request.stop {
        None => &[],
        Some(Stop::Text(sequence)) => std::slice::from_ref(sequence),
        Some(Stop::Sequences(sequences)) => sequences.as_slice(),
    };
    if sequences.len() > MAX_STOP_SEQUENCES {
        notes.losses.add("stop", "Gemini takes at most 5 stop sequences, the first are sent");
    }
    let sequences = sequences.iter().filter(|sequence| !sequence.is_empty());
    sequences.take(MAX_STOP_SEQUENCES).map(Text::by_ref).collect()
}

/// Gemini's seed has 32 bits.
fn seed(seed: i64, notes: &mut Notes) -> Int {
    if i32::try_from(seed).is_err() {
        notes.losses.hint("seed", "has more than the 32 bits that Gemini takes, the lower ones are sent");
    }
    #[allow(clippy::cast_possible_truncation)]
    Int(i64::from(seed as i32))
}

fn logprobs(request: &Request<'_>, notes: &mut Notes) -> (Option<bool>, Option<Count>) {
    if request.logprobs != Some(true) {
        return (None, None);
    }
    let top = request.top_logprobs.unwrap_or(0);
    if top > MAX_LOGPROBS {
        notes.losses.add("top_logprobs", "Gemini tells at most 20 alternatives");
    }
    (Some(true), (top > 0).then_some(Count(top.min(MAX_LOGPROBS))))
}

fn modalities<'a>(request: &Request<'_>) -> Result<Vec<Modality<'a>>, ConvertError> {
    let wanted = request.modalities.as_deref().unwrap_or_default();
    if wanted.iter().all(|modality| *modality == "text") {
        return Ok(vec![]);
    }
    let modality = |modality: &Text<'_>| match &**modality {
        "text" => Ok(Modality::Text),
        "image" => Ok(Modality::Image),
        other => Err(ConvertError::unsupported(
            "modalities",
            format!("Gemini's models do not answer in {other:?} as OpenAI's do: its voices and formats are others"),
        )),
    };
    wanted.iter().map(modality).collect()
}

/// How much is to be thought, as the client says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Effort(Effort),
    Budget(u64),
    /// As the model likes.
    Free,
}

fn thinking<'a>(
    request: &Request<'_>,
    extra: &Extra<'a>,
    capabilities: Capabilities,
    model: &str,
    notes: &mut Notes,
) -> Option<ThinkingConfig<'a>> {
    let shown = request.reasoning.as_ref().is_none_or(|reasoning| reasoning.exclude != Some(true));
    let (path, wanted, include) = match &extra.thinking_config {
        Some(config) => ("extra_body.google.thinking_config", of_gemini(config), config.include_thoughts),
        None => {
            let (path, wanted) = of_client(request, notes)?;
            (path, wanted, (wanted != Wanted::Effort(Effort::None) && shown).then_some(true))
        }
    };
    if capabilities.thinking == Thinking::None {
        if wanted != Wanted::Effort(Effort::None) {
            notes.losses.add(path, "the model does not think");
        }
        return None;
    }
    let config = ThinkingConfig { include_thoughts: include, ..ThinkingConfig::default() };
    let config = match (capabilities.thinking, wanted) {
        (Thinking::Budget { min, max }, wanted) => {
            let tokens = match wanted {
                Wanted::Free => return Some(ThinkingConfig { thinking_budget: Some(Int(-1)), ..config }),
                Wanted::Effort(effort) => effort.budget(),
                Wanted::Budget(tokens) => tokens,
            };
            let budget = tokens.clamp(min, max);
            if budget != tokens {
                notes.losses.add(path, "is outside of the model's thinking budgets and was brought to their border");
            }
            ThinkingConfig { thinking_budget: i64::try_from(budget).ok().map(Int), ..config }
        }
        (_, Wanted::Free) => config,
        (_, Wanted::Effort(effort)) => {
            let level = effort.nearest(capabilities::levels(model));
            if level != effort {
                notes.losses.add(path, "is no thinking level of the model, the nearest is sent");
            }
            ThinkingConfig { thinking_level: Some(thinking_level(level)), ..config }
        }
        (_, Wanted::Budget(tokens)) => {
            notes.losses.add(path, "the model takes no thinking budget, the nearest level is sent");
            let level = Effort::from_budget(tokens).nearest(capabilities::levels(model));
            ThinkingConfig { thinking_level: Some(thinking_level(level)), ..config }
        }
    };
    Some(config)
}

fn thinking_level(effort: Effort) -> ThinkingLevel<'static> {
    match effort {
        Effort::None | Effort::Minimal => ThinkingLevel::Minimal,
        Effort::Low => ThinkingLevel::Low,
        Effort::Medium => ThinkingLevel::Medium,
        Effort::High => ThinkingLevel::High,
        Effort::Xhigh | Effort::Max => ThinkingLevel::Xhigh,
    }
}

fn of_gemini(config: &ThinkingConfig<'_>) -> Wanted {
    match (config.thinking_budget, &config.thinking_level) {
        (Some(Int(0)), _) => Wanted::Effort(Effort::None),
        (Some(Int(budget)), _) => u64::try_from(budget).map_or(Wanted::Free, Wanted::Budget),
        (None, Some(level)) => Effort::from_word(level.as_str()).map_or(Wanted::Free, Wanted::Effort),
        (None, None) => Wanted::Free,
    }
}

/// What the client wants; a number of tokens says more than a word.
fn of_client(request: &Request<'_>, notes: &mut Notes) -> Option<(&'static str, Wanted)> {
    if let Some(thinking) = &request.thinking {
        let wanted = match (&*thinking.kind, thinking.budget_tokens) {
            ("disabled", _) => Wanted::Effort(Effort::None),
            (_, Some(tokens)) => Wanted::Budget(tokens),
            (_, None) => effort(request).unwrap_or(Wanted::Free),
        };
        return Some(("thinking", wanted));
    }
    if let Some(reasoning) = &request.reasoning {
        if let Some(tokens) = reasoning.max_tokens {
            return Some(("reasoning.max_tokens", Wanted::Budget(tokens)));
        }
        if let Some(effort) = reasoning.effort.as_ref() {
            return word("reasoning.effort", effort.as_str(), notes);
        }
        match reasoning.enabled {
            Some(false) => return Some(("reasoning.enabled", Wanted::Effort(Effort::None))),
            Some(true) if request.reasoning_effort.is_none() => return Some(("reasoning.enabled", Wanted::Free)),
            _ => {}
        }
    }
    word("reasoning_effort", request.reasoning_effort.as_ref()?.as_str(), notes)
}

fn effort(request: &Request<'_>) -> Option<Wanted> {
    Effort::from_word(request.reasoning_effort.as_ref()?.as_str()).map(Wanted::Effort)
}

fn word(path: &'static str, word: &str, notes: &mut Notes) -> Option<(&'static str, Wanted)> {
    let effort = Effort::from_word(word);
    if effort.is_none() {
        notes.losses.add(path, "is not a known effort");
    }
    Some((path, Wanted::Effort(effort?)))
}
