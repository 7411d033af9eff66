//! How an answer is generated: its length, its form, how it is sampled.

use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::claude::wire::request::{JsonSchemaFormat, OutputFormat};
use crate::protocol::convert::{ConvertError, Notes};
use crate::protocol::gemini::json_schema;
use crate::protocol::gemini::wire::request::{GenerationConfig, Modality};
use crate::protocol::wire::Text;

use super::answer_schema::answer_schema;

/// B82: the limit of the answer; without one as much as the model can write.
pub(super) fn max_tokens(
    config: Option<&GenerationConfig<'_>>,
    model: &Capabilities,
    notes: &mut Notes,
) -> Result<u64, ConvertError> {
    const PATH: &str = "generationConfig.maxOutputTokens";
    match config.and_then(|config| config.max_output_tokens) {
        None => Ok(model.max_output),
        Some(count) if count.0 == 0 => Err(ConvertError::invalid(PATH, "has to be at least 1")),
        Some(count) => {
            if count.0 > model.max_output {
                notes.losses.add(PATH, "is lowered to what the model can write");
            }
            Ok(count.0.min(model.max_output))
        }
    }
}

/// How the answer is sampled.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) top_k: Option<u64>,
}

/// B83: what Claude takes of the sampling. With thinking nothing goes out: there it takes only its defaults.
pub(super) fn sampling(
    config: Option<&GenerationConfig<'_>>,
    model: &Capabilities,
    thinks: bool,
    notes: &mut Notes,
) -> Result<Sampling, ConvertError> {
    let Some(config) = config else { return Ok(Sampling::default()) };
    let temperature = in_range("temperature", config.temperature.map(|number| number.0), 2.0)?;
    let top_p = in_range("topP", config.top_p.map(|number| number.0), 1.0)?;
    let top_k = in_range("topK", config.top_k.map(|number| number.0), f64::from(u32::MAX))?;
    let losses = &mut notes.losses;
    if thinks || !model.sampling {
        let reason = if thinks { "cannot be set while the model thinks" } else { "cannot be set for this model" };
        // 1 is Claude's default.
        let sampled = [
            ("temperature", temperature.is_some_and(|value| value != 1.0)),
            ("topP", top_p.is_some()),
            ("topK", top_k.is_some()),
        ];
        for (name, _) in sampled.iter().filter(|(_, is_set)| *is_set) {
            losses.add(format!("generationConfig.{name}"), reason);
        }
        return Ok(Sampling::default());
    }
    if temperature.is_some_and(|value| value > 1.0) {
        losses.add("generationConfig.temperature", "is lowered to 1, the greatest that there is");
    }
    let is_second = temperature.is_some() && top_p.is_some() && !model.both_samplings;
    if is_second {
        losses.add("generationConfig.topP", "cannot stand beside a temperature");
    }
    Ok(Sampling {
        temperature: temperature.map(|value| value.min(1.0)),
        top_p: top_p.filter(|_| !is_second),
        top_k: top_k.map(|value| value as u64).filter(|value| *value > 0),
    })
}

fn in_range(name: &str, value: Option<f64>, max: f64) -> Result<Option<f64>, ConvertError> {
    match value {
        Some(value) if !(0.0..=max).contains(&value) => {
            Err(ConvertError::invalid(format!("generationConfig.{name}"), format!("has to be from 0 to {max}")))
        }
        value => Ok(value),
    }
}

/// Texts that end the answer. Claude refuses blank ones.
pub(super) fn stop_sequences<'a>(config: Option<&'a GenerationConfig<'a>>, notes: &mut Notes) -> Option<Vec<Text<'a>>> {
    let sequences = &config?.stop_sequences;
    let kept: Vec<_> = sequences.iter().filter(|text| !text.trim().is_empty()).map(Text::by_ref).collect();
    if kept.len() < sequences.len() {
        notes.losses.add("generationConfig.stopSequences", "blank ones cannot end the answer");
    }
    (!kept.is_empty()).then_some(kept)
}

/// The form of the answer. Where the model cannot be bound to it, an instruction is added to `system`. What else the
/// configuration asks for and Claude does not have is noted or refused.
pub(super) fn answer_format<'a>(
    config: Option<&'a GenerationConfig<'a>>,
    model: &Capabilities,
    system: &mut Vec<Text<'a>>,
    notes: &mut Notes,
) -> Result<Option<OutputFormat<'a>>, ConvertError> {
    let Some(config) = config else { return Ok(None) };
    refuse_other_answers(config)?;
    note_what_has_no_counterpart(config, notes);
    const PATH: &str = "generationConfig.responseMimeType";
    match config.response_mime_type.as_deref() {
        None | Some("text/plain") => Ok(None),
        Some("application/json") => json_answer(config, model, system, notes),
        Some("text/x.enum") => {
            let words = config.response_schema.iter().flat_map(|schema| &schema.r#enum);
            let words = words.map(|word| &**word).collect::<Vec<_>>().join("\n");
            notes.losses.add(PATH, "the model is only told of the words");
            system.push(format!("Answer with exactly one of these and nothing else:\n{words}").into());
            Ok(None)
        }
        Some(_) => Err(ConvertError::unsupported(PATH, "this model answers with text or JSON only")),
    }
}

fn json_answer<'a>(
    config: &'a GenerationConfig<'a>,
    model: &Capabilities,
    system: &mut Vec<Text<'a>>,
    notes: &mut Notes,
) -> Result<Option<OutputFormat<'a>>, ConvertError> {
    let losses = &mut notes.losses;
    let schema = match (&config.response_json_schema, &config.response_schema) {
        (Some(schema), _) => Some(answer_schema(schema, "generationConfig.responseJsonSchema", losses)?),
        (None, Some(schema)) => {
            Some(answer_schema(&json_schema::standard(schema), "generationConfig.responseSchema", losses)?)
        }
        (None, None) => None,
    };
    match schema {
        Some(schema) if model.structured_output => Ok(Some(OutputFormat::JsonSchema(JsonSchemaFormat { schema }))),
        Some(schema) => {
            notes.losses.add("generationConfig.responseMimeType", "the model is only told of the schema");
            let schema = schema.get();
            system.push(format!("Answer with nothing but JSON that matches this JSON Schema:\n{schema}").into());
            Ok(None)
        }
        None => {
            notes.losses.add("generationConfig.responseMimeType", "the model is only told to answer with JSON");
            system.push("Answer with nothing but JSON, without a code block around it.".into());
            Ok(None)
        }
    }
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

fn note_what_has_no_counterpart(config: &GenerationConfig<'_>, notes: &mut Notes) {
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
            notes.losses.add(format!("generationConfig.{name}"), "has no counterpart");
        }
    }
}
