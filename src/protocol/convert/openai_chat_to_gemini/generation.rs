//! How the answer is generated: lengths, sampling, thinking.

use tollgate_macros::Read;

use crate::protocol::convert::effort::{Amount, Effort};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::sampling::{max_tokens, within};
use crate::protocol::convert::to_gemini::answer_format::{self, stop_sequences};
use crate::protocol::convert::{Context, ConvertError, Losses, from_openai_chat, to_gemini};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::proto::{Count, Int, Number};
use crate::protocol::gemini::wire::request::{GenerationConfig, Modality, ThinkingConfig};
use crate::protocol::openai_chat::wire::request::{Request, ResponseFormat, Stop};
use crate::protocol::wire::{Raw, Text};

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

/// The configuration; `None` if the request says nothing. Where the model cannot be held to the form of the answer, an instruction is
/// added to `system`.
pub(super) fn config<'a>(
    request: &'a Request<'a>,
    extra: &Extra<'a>,
    has_tools: bool,
    context: &Context<'_>,
    system: &mut Vec<Part<'a>>,
    losses: &mut Losses,
) -> Result<Option<GenerationConfig<'a>>, ConvertError> {
    let model = capabilities::of(context.model);
    let (response_logprobs, logprobs) = logprobs(request, losses);
    let mut number = |path: &str, value, limits| Ok(within(path, value, limits, losses)?.map(Number));
    let mut config = GenerationConfig {
        temperature: number("temperature", request.temperature, 0.0..=2.0)?,
        top_p: number("top_p", request.top_p, 0.0..=1.0)?,
        presence_penalty: number("presence_penalty", request.presence_penalty, -2.0..=2.0)?,
        frequency_penalty: number("frequency_penalty", request.frequency_penalty, -2.0..=2.0)?,
        top_k: request.top_k.map(|top_k| Number(top_k as f64)),
        candidate_count: candidate_count(request)?,
        max_output_tokens: max_output_tokens(request, model, losses)?,
        stop_sequences: stop(request, losses),
        seed: request.seed.map(|seed| self::seed(seed, losses)),
        response_logprobs,
        logprobs,
        response_modalities: modalities(request)?,
        thinking_config: thinking(request, extra, context.model, losses),
        ..GenerationConfig::default()
    };
    system.extend(response_format(request, has_tools, model, &mut config, losses)?);
    Ok((config != GenerationConfig::default()).then_some(config))
}

/// What the answer has to look like, and the instruction for models that cannot be held to it.
fn response_format<'a>(
    request: &'a Request<'a>,
    has_tools: bool,
    model: Capabilities,
    config: &mut GenerationConfig<'a>,
    losses: &mut Losses,
) -> Result<Option<Part<'a>>, ConvertError> {
    const PATH: &str = "response_format";
    let schema = match &request.response_format {
        None | Some(ResponseFormat::Text(_)) => return Ok(None),
        Some(ResponseFormat::JsonObject(_)) => None,
        Some(ResponseFormat::JsonSchema(format)) => {
            if format.json_schema.description.is_some() {
                losses.hint("response_format.json_schema.description", NO_COUNTERPART);
            }
            format.json_schema.schema.as_ref().map(Raw::by_ref)
        }
        Some(ResponseFormat::Other(_)) => {
            return Err(ConvertError::unsupported(PATH, "has to be text, json_object or json_schema"));
        }
    };
    answer_format::json(schema, PATH, has_tools, model, config, losses)
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
    model: Capabilities,
    losses: &mut Losses,
) -> Result<Option<Count>, ConvertError> {
    let (path, wanted) = match (request.max_completion_tokens, request.max_tokens) {
        (Some(tokens), _) => ("max_completion_tokens", tokens),
        (None, Some(tokens)) => ("max_tokens", tokens),
        (None, None) => return Ok(None),
    };
    max_tokens(path, wanted, model.max_output, losses).map(|tokens| Some(Count(tokens)))
}

fn stop<'a>(request: &'a Request<'a>, losses: &mut Losses) -> Vec<Text<'a>> {
    let sequences = match &request.stop {
        None => &[],
        Some(Stop::Text(sequence)) => std::slice::from_ref(sequence),
        Some(Stop::Sequences(sequences)) => sequences.as_slice(),
    };
    stop_sequences(sequences, "stop", losses)
}

/// Gemini's seed has 32 bits.
fn seed(seed: i64, losses: &mut Losses) -> Int {
    if i32::try_from(seed).is_err() {
        losses.hint("seed", "has more than the 32 bits that Gemini takes, the lower ones are sent");
    }
    #[allow(clippy::cast_possible_truncation)]
    Int(i64::from(seed as i32))
}

fn logprobs(request: &Request<'_>, losses: &mut Losses) -> (Option<bool>, Option<Count>) {
    if request.logprobs != Some(true) {
        return (None, None);
    }
    let top = request.top_logprobs.unwrap_or(0);
    if top > MAX_LOGPROBS {
        losses.add("top_logprobs", "Gemini tells at most 20 alternatives");
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

/// How much is to be thought: Gemini's own words for it count before those of other vendors.
fn thinking<'a>(
    request: &Request<'_>,
    extra: &Extra<'_>,
    model: &str,
    losses: &mut Losses,
) -> Option<ThinkingConfig<'a>> {
    if let Some(config) = &extra.thinking_config {
        let path = "extra_body.google.thinking_config";
        return to_gemini::thinking::config(of_gemini(config), config.include_thoughts, path, model, losses);
    }
    let shown = request.reasoning.as_ref().is_none_or(|reasoning| reasoning.exclude != Some(true));
    let (path, amount) = from_openai_chat::amount(request, losses)?;
    let include_thoughts = (!amount.is_nothing() && shown).then_some(true);
    to_gemini::thinking::config(Some(amount), include_thoughts, path, model, losses)
}

fn of_gemini(config: &ThinkingConfig<'_>) -> Option<Amount> {
    match (config.thinking_budget, &config.thinking_level) {
        (Some(Int(budget)), _) => Some(u64::try_from(budget).map_or(Amount::Free, Amount::Tokens)),
        (None, Some(level)) => Some(Effort::from_word(level.as_str()).map_or(Amount::Free, Amount::Effort)),
        (None, None) => None,
    }
}
