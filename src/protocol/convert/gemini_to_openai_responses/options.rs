//! What a request says beside its conversation and its tools.

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::sampling::{NOT_WHILE_THINKING, note_not_taken, within};
use crate::protocol::convert::to_openai::schema::{NOT_STRICT, is_enforceable};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::json_schema::standard;
use crate::protocol::gemini::wire::proto::{Count, Members, Number};
use crate::protocol::gemini::wire::request::{GenerateContentRequest, GenerationConfig, Modality, ServiceTier};
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_responses::wire::Bare;
use crate::protocol::openai_responses::wire::request::{JsonSchema, Request, TextFormat, TextOptions};
use crate::protocol::wire::{Raw, Text};

/// The least bound that OpenAI takes.
const LEAST_OUTPUT_TOKENS: u64 = 16;

/// Refuses what OpenAI cannot give.
pub(super) fn refuse(request: &GenerateContentRequest<'_>) -> Result<(), ConvertError> {
    let refuse = |path: &str, message: &'static str| Err(ConvertError::unsupported(path, message));
    if request.cached_content.is_some() {
        return refuse("cachedContent", "OpenAI does not have what Google cached; send the content itself");
    }
    if request.continuation_token.is_some() {
        return refuse("continuationToken", "OpenAI cannot resume an answer of Google's");
    }
    let Some(config) = &request.generation_config else { return Ok(()) };
    if config.candidate_count.is_some_and(|count| count.0 > 1) {
        return refuse("generationConfig.candidateCount", "Responses gives one answer; ask once for each");
    }
    if config.response_modalities.iter().any(|modality| !matches!(modality, Modality::Text | Modality::Image)) {
        return refuse("generationConfig.responseModalities", "Responses gives text and images only");
    }
    Ok(())
}

/// Notes what has no counterpart.
pub(super) fn note_losses(request: &GenerateContentRequest<'_>, losses: &mut Losses) {
    if !request.safety_settings.is_empty() {
        losses.add("safetySettings", NO_COUNTERPART);
    }
    if request.store == Some(true) {
        losses.hint("store", "OpenAI is asked to keep nothing");
    }
    if request.labels.is_some() {
        losses.hint("labels", NO_COUNTERPART);
    }
    let Some(config) = &request.generation_config else { return };
    let matters = [
        ("topK", config.top_k.is_some()),
        ("stopSequences", !config.stop_sequences.is_empty()),
        ("presencePenalty", is_set(config.presence_penalty)),
        ("frequencyPenalty", is_set(config.frequency_penalty)),
        ("seed", config.seed.is_some()),
        ("speechConfig", config.speech_config.is_some()),
        ("imageConfig", config.image_config.is_some()),
        ("enableEnhancedCivicAnswers", config.enable_enhanced_civic_answers == Some(true)),
        ("audioTranscriptionConfig", config.audio_transcription_config.is_some()),
    ];
    for (name, is_there) in matters {
        if is_there {
            losses.add(format!("generationConfig.{name}"), NO_COUNTERPART);
        }
    }
}

/// Zero is what is meant without it.
fn is_set(penalty: Option<Number>) -> bool {
    penalty.is_some_and(|penalty| penalty.0 != 0.0)
}

/// The member `service_tier`.
pub(super) fn service_tier<'a>(tier: &ServiceTier<'_>, losses: &mut Losses) -> Option<Text<'a>> {
    Some(match tier {
        ServiceTier::Standard => "default".into(),
        ServiceTier::Flex => "flex".into(),
        ServiceTier::Priority => "priority".into(),
        ServiceTier::Other(_) => {
            losses.hint("serviceTier", NO_COUNTERPART);
            return None;
        }
    })
}

/// Sampling and limits (B82, B83).
pub(super) fn sampling(
    config: &GenerationConfig<'_>,
    capabilities: Capabilities,
    target: &mut Request<'_>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    target.max_output_tokens = match config.max_output_tokens {
        Some(tokens) => Some(limit(tokens, losses)?),
        None => None,
    };
    let effort = target.reasoning.as_ref().and_then(|reasoning| reasoning.effort.as_ref());
    let effort = effort.and_then(|effort| Effort::from_word(effort.as_str()));
    let takes_sampling = capabilities.takes_sampling(effort);
    const TEMPERATURE: &str = "generationConfig.temperature";
    const TOP_P: &str = "generationConfig.topP";
    let temperature = within(TEMPERATURE, config.temperature.map(|number| number.0), 0.0..=2.0, losses)?;
    let top_p = within(TOP_P, config.top_p.map(|number| number.0), 0.0..=1.0, losses)?;
    if takes_sampling {
        (target.temperature, target.top_p) = (temperature, top_p);
    } else {
        note_not_taken(&[(TEMPERATURE, temperature), (TOP_P, top_p)], NOT_WHILE_THINKING, losses);
    }
    if config.response_logprobs == Some(true) {
        if !takes_sampling {
            losses.add("generationConfig.responseLogprobs", NOT_WHILE_THINKING);
        } else {
            target.include.get_or_insert_default().push("message.output_text.logprobs".into());
            target.top_logprobs = config.logprobs.map(|count| count.0);
        }
    }
    Ok(())
}

fn limit(tokens: Count, losses: &mut Losses) -> Result<i64, ConvertError> {
    const PATH: &str = "generationConfig.maxOutputTokens";
    if tokens.0 == 0 {
        return Err(ConvertError::invalid(PATH, "this has to be greater than 0"));
    }
    if tokens.0 < LEAST_OUTPUT_TOKENS {
        losses.add(PATH, "raised to the least that OpenAI takes");
    }
    i64::try_from(tokens.0.max(LEAST_OUTPUT_TOKENS)).map_err(|_| ConvertError::invalid(PATH, "this is too much"))
}

/// The form of the answer, and what the instructions have to say for it.
pub(super) fn format<'a>(
    config: &'a GenerationConfig<'a>,
    losses: &mut Losses,
) -> Result<(Option<TextOptions<'a>>, Option<String>), ConvertError> {
    const PATH: &str = "generationConfig.responseMimeType";
    let schema = match (&config.response_json_schema, &config.response_schema) {
        (Some(schema), _) => Some(schema.by_ref()),
        (None, Some(schema)) => Some(standard(schema)),
        (None, None) => None,
    };
    let options = |format| Some(TextOptions { format: Some(format), verbosity: None });
    match (config.response_mime_type.as_deref(), schema) {
        (None | Some("" | "text/plain"), _) => Ok((None, None)),
        (Some("application/json"), Some(schema)) if is_of_object(&schema) => {
            Ok((options(TextFormat::JsonSchema(json_schema(schema, losses))), None))
        }
        (Some("application/json"), Some(schema)) => {
            // OpenAI takes schemas of objects only.
            losses.add(PATH, "the schema is told to the model and not enforced, since it is not one of an object");
            let schema = schema.get();
            Ok((None, Some(format!("Answer with JSON that follows this JSON Schema, and nothing else:\n{schema}"))))
        }
        (Some("application/json"), None) => {
            // OpenAI refuses this form where nobody has spoken of JSON.
            let instruction = "Answer with a JSON object.".to_owned();
            Ok((options(TextFormat::JsonObject(Bare {})), Some(instruction)))
        }
        (Some("text/x.enum"), _) => {
            losses.add(PATH, "the values are told to the model and not enforced");
            let values = config.response_schema.iter().flat_map(|schema| &schema.r#enum);
            let values: Vec<_> = values.map(|value| format!("{:?}", &**value)).collect();
            Ok((
                None,
                Some(format!("Answer with exactly one of these values and nothing else: {}.", values.join(", "))),
            ))
        }
        (Some(_), _) => Err(ConvertError::unsupported(PATH, "OpenAI does not give answers of this type")),
    }
}

fn is_of_object(schema: &Raw<'_>) -> bool {
    schema
        .read::<Members<'_, Raw<'_>>>()
        .is_ok_and(|members| members.0.iter().any(|(name, value)| **name == *"type" && value.get() == "\"object\""))
}

fn json_schema<'a>(schema: Raw<'a>, losses: &mut Losses) -> JsonSchema<'a> {
    let is_strict = is_enforceable(&schema);
    if !is_strict {
        losses.add("generationConfig.responseSchema", NOT_STRICT);
    }
    JsonSchema { name: "answer".into(), schema, description: None, strict: is_strict.then_some(true) }
}
