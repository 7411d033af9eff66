//! How an answer is generated: its length, its form, how it is sampled.

use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::claude::wire::request::OutputFormat;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::to_claude::answer_format;
use crate::protocol::convert::to_claude::sampling::Sampling;
use crate::protocol::convert::{ConvertError, Losses, sampling, to_claude};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::proto::Number;
use crate::protocol::gemini::wire::request::{GenerationConfig, Modality};
use crate::protocol::wire::Text;

/// B82: the limit of the answer; without one as much as the model can write.
pub(super) fn max_tokens(
    config: Option<&GenerationConfig<'_>>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<u64, ConvertError> {
    match config.and_then(|config| config.max_output_tokens) {
        None => Ok(model.max_output),
        Some(count) => sampling::max_tokens("generationConfig.maxOutputTokens", count.0, model.max_output, losses),
    }
}

/// How the answer is sampled.
pub(super) fn sampling(
    config: Option<&GenerationConfig<'_>>,
    model: Capabilities,
    thinks: bool,
    losses: &mut Losses,
) -> Result<Sampling, ConvertError> {
    let Some(config) = config else { return Ok(Sampling::default()) };
    let number = |number: Option<Number>| number.map(|number| number.0);
    let top_k = sampling::within("generationConfig.topK", number(config.top_k), 0.0..=f64::INFINITY, losses)?;
    to_claude::sampling::sampling(
        ("generationConfig.temperature", number(config.temperature)),
        ("generationConfig.topP", number(config.top_p)),
        ("generationConfig.topK", top_k.map(|count| count as u64)),
        model,
        thinks,
        losses,
    )
}

/// The form of the answer. Where the model cannot be bound to it, an instruction is added to `system`. What else the
/// configuration asks for and Claude does not have is noted or refused.
pub(super) fn answer_format<'a>(
    config: Option<&'a GenerationConfig<'a>>,
    model: Capabilities,
    system: &mut Vec<Text<'a>>,
    losses: &mut Losses,
) -> Result<Option<OutputFormat<'a>>, ConvertError> {
    let Some(config) = config else { return Ok(None) };
    refuse_other_answers(config)?;
    note_what_has_no_counterpart(config, losses);
    const PATH: &str = "generationConfig.responseMimeType";
    match config.response_mime_type.as_deref() {
        None | Some("text/plain") => Ok(None),
        Some("application/json") => json_answer(config, model, system, losses),
        Some("text/x.enum") => {
            let words = config.response_schema.iter().flat_map(|schema| &schema.r#enum);
            let words = words.map(|word| &**word).collect::<Vec<_>>().join("\n");
            losses.add(PATH, "is told in the system prompt, the model cannot be held to it");
            system.push(format!("Answer with exactly one of these and nothing else:\n{words}").into());
            Ok(None)
        }
        Some(_) => Err(ConvertError::unsupported(PATH, "this model answers with text or JSON only")),
    }
}

fn json_answer<'a>(
    config: &'a GenerationConfig<'a>,
    model: Capabilities,
    system: &mut Vec<Text<'a>>,
    losses: &mut Losses,
) -> Result<Option<OutputFormat<'a>>, ConvertError> {
    let schema = match (&config.response_json_schema, &config.response_schema) {
        (Some(schema), _) => Some(("generationConfig.responseJsonSchema", schema.by_ref())),
        (None, Some(schema)) => Some(("generationConfig.responseSchema", json_schema::standard(schema))),
        (None, None) => None,
    };
    let answer = answer_format::json("generationConfig.responseMimeType", schema, model, losses)?;
    system.extend(answer.told.map(Text::from));
    Ok(answer.format)
}

/// Answers that Claude cannot give: several, pictures, speech.
fn refuse_other_answers(config: &GenerationConfig<'_>) -> Result<(), ConvertError> {
    if config.candidate_count.is_some_and(|count| count.0 > 1) {
        return Err(ConvertError::unsupported(
            "generationConfig.candidateCount",
            "this model gives one answer; ask several times",
        ));
    }
    if config.response_modalities.iter().any(|modality| *modality != Modality::Text) {
        return Err(ConvertError::unsupported(
            "generationConfig.responseModalities",
            "this model answers with text only",
        ));
    }
    Ok(())
}

fn note_what_has_no_counterpart(config: &GenerationConfig<'_>, losses: &mut Losses) {
    for (name, is_set) in [
        ("presencePenalty", config.presence_penalty.is_some_and(|value| value.0 != 0.0)),
        ("frequencyPenalty", config.frequency_penalty.is_some_and(|value| value.0 != 0.0)),
        ("seed", config.seed.is_some()),
        ("responseLogprobs", config.response_logprobs == Some(true)),
        ("logprobs", config.logprobs.is_some()),
        ("mediaResolution", config.media_resolution.is_some()),
        ("speechConfig", config.speech_config.is_some()),
        ("imageConfig", config.image_config.is_some()),
        ("audioTranscriptionConfig", config.audio_transcription_config.is_some()),
        ("enableEnhancedCivicAnswers", config.enable_enhanced_civic_answers == Some(true)),
    ] {
        if is_set {
            losses.add(format!("generationConfig.{name}"), NO_COUNTERPART);
        }
    }
}
