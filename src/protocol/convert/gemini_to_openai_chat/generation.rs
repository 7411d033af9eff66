//! How the answer is generated: lengths, sampling, thinking.

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::proto::{Count, Int, Number};
use crate::protocol::gemini::wire::request::{GenerationConfig, Modality, ThinkingConfig};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::request::{ReasoningEffort, Request as Target, Stop};
use crate::protocol::wire::Text;

/// Most sequences that end an answer.
const MAX_STOP_SEQUENCES: usize = 4;
/// Most answers to one request.
const MAX_CHOICES: u64 = 128;
/// Most alternatives to a token.
const MAX_LOGPROBS: u64 = 20;

/// Adds the configuration to `target`.
pub(super) fn config<'a>(
    config: &'a GenerationConfig<'a>,
    context: &Context<'_>,
    capabilities: Capabilities,
    target: &mut Target<'a>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    length(config, capabilities, target)?;
    sampling(config, capabilities, target, notes)?;
    target.n = candidate_count(config)?;
    target.seed = config.seed.map(|Int(seed)| seed);
    target.stop = stop(config, notes);
    target.modalities = modalities(config, capabilities)?;
    if let Some(thinking) = &config.thinking_config {
        target.reasoning_effort = effort(thinking, context.model, capabilities, notes);
    }
    without_counterpart(config, notes);
    Ok(())
}

/// B82: reasoning models refuse `max_tokens`, and what is old knows nothing else.
fn length(
    config: &GenerationConfig<'_>,
    capabilities: Capabilities,
    target: &mut Target<'_>,
) -> Result<(), ConvertError> {
    match config.max_output_tokens {
        None => {}
        Some(Count(0)) => {
            return Err(ConvertError::invalid("generationConfig.maxOutputTokens", "must be at least 1"));
        }
        Some(Count(tokens)) if capabilities.openai => target.max_completion_tokens = Some(tokens),
        Some(Count(tokens)) => target.max_tokens = Some(tokens),
    }
    Ok(())
}

/// B83: reasoning models refuse sampling parameters.
fn sampling(
    config: &GenerationConfig<'_>,
    capabilities: Capabilities,
    target: &mut Target<'_>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    let mut taken = |name: &'static str, value: Option<Number>, min: f64, max: f64| {
        let Some(Number(value)) = value else { return Ok(None) };
        let path = format!("generationConfig.{name}");
        if value < min || !value.is_finite() {
            return Err(ConvertError::invalid(path, format!("must be from {min} to {max}")));
        }
        if capabilities.reasoning {
            notes.losses.add(path, "is not taken by reasoning models");
            return Ok(None);
        }
        if value > max {
            notes.losses.add(path, "is above what OpenAI takes and was brought to its border");
        }
        Ok(Some(value.min(max)))
    };
    target.temperature = taken("temperature", config.temperature, 0.0, 2.0)?;
    target.top_p = taken("topP", config.top_p, 0.0, 1.0)?;
    target.presence_penalty = taken("presencePenalty", config.presence_penalty, -2.0, 2.0)?;
    target.frequency_penalty = taken("frequencyPenalty", config.frequency_penalty, -2.0, 2.0)?;
    match config.top_k {
        Some(_) if capabilities.openai => notes.losses.add("generationConfig.topK", "is not taken by OpenAI"),
        Some(Number(top_k)) if top_k >= 0.0 => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let top_k = top_k as u64;
            target.top_k = Some(top_k);
        }
        _ => {}
    }
    if config.response_logprobs == Some(true) {
        if capabilities.reasoning {
            notes.losses.add("generationConfig.responseLogprobs", "is not taken by reasoning models");
        } else {
            target.logprobs = Some(true);
            target.top_logprobs = config.logprobs.map(|Count(count)| count.min(MAX_LOGPROBS));
        }
    }
    Ok(())
}

fn candidate_count(config: &GenerationConfig<'_>) -> Result<Option<u64>, ConvertError> {
    const PATH: &str = "generationConfig.candidateCount";
    match config.candidate_count {
        Some(Count(0)) => Err(ConvertError::invalid(PATH, "must be at least 1")),
        Some(Count(count)) if count > MAX_CHOICES => {
            Err(ConvertError::invalid(PATH, format!("must be at most {MAX_CHOICES}")))
        }
        None | Some(Count(1)) => Ok(None),
        Some(Count(count)) => Ok(Some(count)),
    }
}

fn stop<'a>(config: &'a GenerationConfig<'a>, notes: &mut Notes) -> Option<Stop<'a>> {
    let sequences = config.stop_sequences.iter().filter(|sequence| !sequence.is_empty());
    let mut sequences: Vec<_> = sequences.map(Text::by_ref).collect();
    if sequences.len() > MAX_STOP_SEQUENCES {
        notes.losses.add("generationConfig.stopSequences", "at most 4 are taken, the first are sent");
        sequences.truncate(MAX_STOP_SEQUENCES);
    }
    (!sequences.is_empty()).then_some(Stop::Sequences(sequences))
}

/// Images are made in this dialect by compatible vendors; OpenAI's models do not. Voices have nothing in common.
fn modalities<'a>(
    config: &GenerationConfig<'_>,
    capabilities: Capabilities,
) -> Result<Option<Vec<Text<'a>>>, ConvertError> {
    const PATH: &str = "generationConfig.responseModalities";
    let wanted = &config.response_modalities;
    if wanted.iter().all(|modality| *modality == Modality::Text) {
        return Ok(None);
    }
    let modality = |modality: &Modality<'_>| match modality {
        Modality::Text => Ok("text".into()),
        Modality::Image if !capabilities.openai => Ok("image".into()),
        other => Err(ConvertError::unsupported(
            PATH,
            format!("the model does not answer in {} as Gemini does", other.as_str()),
        )),
    };
    wanted.iter().map(modality).collect::<Result<_, _>>().map(Some)
}

/// How much is to be thought, as a word.
fn effort<'a>(
    thinking: &ThinkingConfig<'_>,
    model: &str,
    capabilities: Capabilities,
    notes: &mut Notes,
) -> Option<ReasoningEffort<'a>> {
    const PATH: &str = "generationConfig.thinkingConfig";
    let wanted = match (thinking.thinking_budget, &thinking.thinking_level) {
        (Some(Int(budget)), _) => u64::try_from(budget).ok().map(Effort::from_budget),
        (None, Some(level)) => {
            let effort = Effort::from_word(level.as_str());
            if effort.is_none() {
                notes.losses.add(PATH, "is not a known level");
            }
            effort
        }
        (None, None) => None,
    }?;
    if capabilities.openai && !capabilities.reasoning {
        if wanted != Effort::None {
            notes.losses.add(PATH, "the model does not think");
        }
        return None;
    }
    let nearest = wanted.nearest(efforts(model));
    if nearest != wanted {
        notes.losses.add(PATH, "is not taken by the model, the nearest effort is sent");
    }
    Some(match nearest {
        Effort::None => ReasoningEffort::None,
        Effort::Minimal => ReasoningEffort::Minimal,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
        Effort::Xhigh => ReasoningEffort::Xhigh,
        Effort::Max => ReasoningEffort::Max,
    })
}

/// The words that a model takes (<https://developers.openai.com/api/docs/guides/reasoning>); of others the ones that all know.
fn efforts(model: &str) -> &'static [Effort] {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_first_five =
        name == "gpt-5" || ["gpt-5-20", "gpt-5-mini", "gpt-5-nano"].iter().any(|beginning| name.starts_with(beginning));
    if name.starts_with('o') {
        &[Effort::Low, Effort::Medium, Effort::High]
    } else if is_first_five {
        &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High]
    } else if name.starts_with("gpt-") && !name.starts_with("gpt-5.1") && !name.starts_with("gpt-oss") {
        &[Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh]
    } else {
        &[Effort::None, Effort::Low, Effort::Medium, Effort::High]
    }
}

fn without_counterpart(config: &GenerationConfig<'_>, notes: &mut Notes) {
    let losses = [
        ("speechConfig", config.speech_config.is_some()),
        ("imageConfig", config.image_config.is_some()),
        ("audioTranscriptionConfig", config.audio_transcription_config.is_some()),
        ("enableEnhancedCivicAnswers", config.enable_enhanced_civic_answers == Some(true)),
    ];
    for (member, _) in losses.into_iter().filter(|(_, is_there)| *is_there) {
        notes.losses.add(format!("generationConfig.{member}"), "has no counterpart in Chat Completions");
    }
}
