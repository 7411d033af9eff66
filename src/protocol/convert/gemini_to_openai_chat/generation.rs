//! How the answer is generated: lengths, sampling, thinking.

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::gemini::wire::proto::{Count, Int, Number};
use crate::protocol::gemini::wire::request::{GenerationConfig, Modality, ThinkingConfig};
use crate::protocol::openai_chat::capabilities::{Capabilities, ChatTools};
use crate::protocol::openai_chat::wire::request::{ReasoningEffort, Request as Target, Stop};
use crate::protocol::wire::Text;

/// Most sequences that end an answer.
const MAX_STOP_SEQUENCES: usize = 4;
/// Most answers to one request.
const MAX_CHOICES: u64 = 128;
/// Most alternatives to a token.
const MAX_LOGPROBS: u64 = 20;

/// Adds the configuration to `target`, whose tools are there.
pub(super) fn config<'a>(
    config: Option<&'a GenerationConfig<'a>>,
    capabilities: Capabilities,
    target: &mut Target<'a>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    let thinking = config.and_then(|config| config.thinking_config.as_ref());
    let effort = effort(thinking, capabilities, target.tools.is_some(), notes)?;
    target.reasoning_effort = effort.map(reasoning_effort);
    let Some(config) = config else { return Ok(()) };
    length(config, capabilities, target, notes)?;
    sampling(config, capabilities, effort, target, notes)?;
    target.n = candidate_count(config)?;
    target.seed = config.seed.map(|Int(seed)| seed);
    target.stop = stop(config, notes);
    target.modalities = modalities(config, capabilities)?;
    without_counterpart(config, notes);
    Ok(())
}

/// B82: reasoning models refuse `max_tokens`, and what is old knows nothing else.
fn length(
    config: &GenerationConfig<'_>,
    capabilities: Capabilities,
    target: &mut Target<'_>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    const PATH: &str = "generationConfig.maxOutputTokens";
    let Some(Count(wanted)) = config.max_output_tokens else { return Ok(()) };
    if wanted == 0 {
        return Err(ConvertError::invalid(PATH, "must be at least 1"));
    }
    let tokens = capabilities.max_output.map_or(wanted, |limit| wanted.min(limit));
    if tokens < wanted {
        notes.losses.add(PATH, "is above the model's limit, which is sent instead");
    }
    if capabilities.openai {
        target.max_completion_tokens = Some(tokens);
    } else {
        target.max_tokens = Some(tokens);
    }
    Ok(())
}

/// B83: models that think refuse sampling parameters.
fn sampling(
    config: &GenerationConfig<'_>,
    capabilities: Capabilities,
    effort: Option<Effort>,
    target: &mut Target<'_>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    const REFUSED: &str = "is not taken by a model that thinks";
    let is_taken = capabilities.takes_sampling(effort);
    let mut within = |name: &'static str, value: Option<Number>, min: f64, max: f64, is_taken: bool| {
        let Some(Number(value)) = value else { return Ok(None) };
        let path = format!("generationConfig.{name}");
        if value < min || !value.is_finite() {
            return Err(ConvertError::invalid(path, format!("must be from {min} to {max}")));
        }
        if !is_taken {
            notes.losses.add(path, REFUSED);
            return Ok(None);
        }
        if value > max {
            notes.losses.add(path, "is above what OpenAI takes and was brought to its border");
        }
        Ok(Some(value.min(max)))
    };
    target.temperature = within("temperature", config.temperature, 0.0, 2.0, is_taken)?;
    target.top_p = within("topP", config.top_p, 0.0, 1.0, is_taken)?;
    let takes_penalties = !capabilities.reasoning;
    target.presence_penalty = within("presencePenalty", config.presence_penalty, -2.0, 2.0, takes_penalties)?;
    target.frequency_penalty = within("frequencyPenalty", config.frequency_penalty, -2.0, 2.0, takes_penalties)?;
    match config.top_k {
        Some(_) if capabilities.openai => notes.losses.add("generationConfig.topK", "is not taken by OpenAI"),
        Some(Number(top_k)) if top_k >= 0.0 => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let top_k = top_k as u64;
            target.top_k = Some(top_k);
        }
        _ => {}
    }
    match config.response_logprobs {
        Some(true) if is_taken => {
            target.logprobs = Some(true);
            target.top_logprobs = config.logprobs.map(|Count(count)| count.min(MAX_LOGPROBS));
        }
        Some(true) => notes.losses.add("generationConfig.responseLogprobs", REFUSED),
        _ => {}
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

/// How much is to be thought; `None` leaves it to the model.
///
/// In this dialect OpenAI's newer models take tools only if they do not think, and the newest not at all
/// (<https://developers.openai.com/api/docs/guides/latest-model>).
fn effort(
    thinking: Option<&ThinkingConfig<'_>>,
    capabilities: Capabilities,
    has_tools: bool,
    notes: &mut Notes,
) -> Result<Option<Effort>, ConvertError> {
    const PATH: &str = "generationConfig.thinkingConfig";
    let wanted = thinking.and_then(|thinking| wanted(thinking, notes));
    if has_tools && capabilities.chat_tools == ChatTools::Never {
        return Err(ConvertError::unsupported(
            "tools",
            "this model takes tools in the Responses dialect only; choose another model or dialect for its provider",
        ));
    }
    if has_tools && capabilities.chat_tools == ChatTools::WithoutReasoning {
        match wanted {
            Some(Effort::None) => {}
            None if capabilities.default_effort == Effort::None => {}
            Some(_) => notes.losses.add(PATH, "beside tools this model does not think in Chat Completions"),
            None => notes.losses.hint(PATH, "beside tools this model does not think in Chat Completions"),
        }
        return Ok(Some(Effort::None));
    }
    let Some(wanted) = wanted else { return Ok(None) };
    if capabilities.efforts.is_empty() {
        if wanted != Effort::None {
            notes.losses.add(PATH, "the model does not think");
        }
        return Ok(None);
    }
    let nearest = wanted.nearest(capabilities.efforts);
    if nearest != wanted {
        notes.losses.add(PATH, "is not taken by the model, the nearest effort is sent");
    }
    Ok(Some(nearest))
}

/// What the client asks for: a budget or a level.
fn wanted(thinking: &ThinkingConfig<'_>, notes: &mut Notes) -> Option<Effort> {
    match (thinking.thinking_budget, &thinking.thinking_level) {
        (Some(Int(budget)), _) => u64::try_from(budget).ok().map(Effort::from_budget),
        (None, Some(level)) => {
            let effort = Effort::from_word(level.as_str());
            if effort.is_none() {
                notes.losses.add("generationConfig.thinkingConfig.thinkingLevel", "is not a known level");
            }
            effort
        }
        (None, None) => None,
    }
}

fn reasoning_effort<'a>(effort: Effort) -> ReasoningEffort<'a> {
    match effort {
        Effort::None => ReasoningEffort::None,
        Effort::Minimal => ReasoningEffort::Minimal,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
        Effort::Xhigh => ReasoningEffort::Xhigh,
        Effort::Max => ReasoningEffort::Max,
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
