//! How the answer is generated: lengths, sampling, thinking.

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::from_gemini::thinking;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::sampling::NOT_WHILE_THINKING;
use crate::protocol::convert::{ConvertError, Losses, Notes, to_openai};
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

/// Adds the configuration to `target`, whose tools are there.
pub(super) fn config<'a>(
    config: Option<&'a GenerationConfig<'a>>,
    capabilities: Capabilities,
    target: &mut Target<'a>,
    notes: &mut Notes,
) -> Result<(), ConvertError> {
    let asked = config.and_then(|config| config.thinking_config.as_ref());
    let effort = effort(asked, capabilities, target.tools.is_some(), &mut notes.losses)?;
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
        notes.losses.add(PATH, "is lowered to what the model can write");
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
    let is_taken = capabilities.takes_sampling(effort);
    let mut within = |name: &'static str, value: Option<Number>, min: f64, max: f64, is_taken: bool| {
        let Some(Number(value)) = value else { return Ok(None) };
        let path = format!("generationConfig.{name}");
        if value < min || !value.is_finite() {
            return Err(ConvertError::invalid(path, format!("must be from {min} to {max}")));
        }
        if !is_taken {
            // 1 is what happens anyway, for penalties it is 0.
            let default = if min < 0.0 { 0.0 } else { 1.0 };
            if value != default {
                notes.losses.add(path, NOT_WHILE_THINKING);
            }
            return Ok(None);
        }
        if value > max {
            notes.losses.add(path, "is lowered to the greatest that is allowed");
        }
        Ok(Some(value.min(max)))
    };
    target.temperature = within("temperature", config.temperature, 0.0, 2.0, is_taken)?;
    target.top_p = within("topP", config.top_p, 0.0, 1.0, is_taken)?;
    let takes_penalties = !capabilities.reasoning;
    target.presence_penalty = within("presencePenalty", config.presence_penalty, -2.0, 2.0, takes_penalties)?;
    target.frequency_penalty = within("frequencyPenalty", config.frequency_penalty, -2.0, 2.0, takes_penalties)?;
    match config.top_k {
        Some(_) if capabilities.openai => notes.losses.add("generationConfig.topK", NO_COUNTERPART),
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
        Some(true) => notes.losses.add("generationConfig.responseLogprobs", NOT_WHILE_THINKING),
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
fn effort(
    thinking: Option<&ThinkingConfig<'_>>,
    model: Capabilities,
    has_tools: bool,
    losses: &mut Losses,
) -> Result<Option<Effort>, ConvertError> {
    let amount = match thinking {
        Some(thinking) => thinking::amount(thinking, losses)?,
        None => None,
    };
    to_openai::effort::chat(amount, thinking::PATH, has_tools, model, losses)
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
        notes.losses.add(format!("generationConfig.{member}"), NO_COUNTERPART);
    }
}
