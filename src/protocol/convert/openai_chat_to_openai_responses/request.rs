//! A Chat Completions request for a Responses upstream.

use super::messages::conversation;
use super::thinking::Thinking;
use super::tools;
use crate::protocol::convert::names::Charset;
use crate::protocol::convert::sampling::{NOT_WHILE_THINKING, note_not_taken, within};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes};
use crate::protocol::openai_chat::capabilities::{self, Capabilities};
use crate::protocol::openai_chat::wire::request::{Request, ResponseFormat};
use crate::protocol::openai_responses::wire::Bare;
use crate::protocol::openai_responses::wire::request::{
    JsonSchema, PromptCacheOptions, Request as Target, StreamOptions, TextFormat, TextOptions,
};
use crate::protocol::wire::{Raw, Text, TextOr};

/// The least bound on the answer that Responses takes.
const LEAST_OUTPUT: u64 = 16;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    let model = capabilities::of(context.model);
    refuse(request)?;
    // OpenAI looks for the word "JSON" in the input only.
    let all_in_input = matches!(request.response_format, Some(ResponseFormat::JsonObject(_)));
    let conversation = conversation(&request.messages, model, all_in_input, notes)?;
    let tools = tools::tools(request, notes);
    let tool_choice = tools::choice(request, tools.is_some(), notes);
    let losses = &mut notes.losses;
    left_out(request, losses);
    let thinking = Thinking::of(request, model, losses);
    let mut target = Target {
        model: Some(context.model.into()),
        input: Some(TextOr::Structured(conversation.items)),
        instructions: conversation.instructions,
        tools,
        tool_choice,
        parallel_tool_calls: parallel_tool_calls(request),
        text: text(request, losses),
        reasoning: thinking.reasoning(),
        max_output_tokens: max_output_tokens(request, model, losses)?,
        stream: context.stream.then_some(true),
        stream_options: stream_options(request, context),
        // A Chat client cannot ask for what is stored; its reasoning has to travel with it.
        store: Some(request.store == Some(true)),
        service_tier: request.service_tier.as_ref().map(Text::by_ref),
        prompt_cache_key: request.prompt_cache_key.as_ref().map(Text::by_ref),
        prompt_cache_options: prompt_cache_options(request, model, losses),
        prompt_cache_retention: request.prompt_cache_retention.as_ref().map(Text::by_ref),
        metadata: request.metadata.as_ref().map(Raw::by_ref),
        safety_identifier: request.safety_identifier.as_ref().map(Text::by_ref),
        user: request.user.as_ref().map(Text::by_ref),
        moderation: request.moderation.as_ref().map(Raw::by_ref),
        ..Target::default()
    };
    sampling(request, model.takes_sampling(thinking.effort), &mut target, losses)?;
    target.include = include(&target, model);
    Ok(target)
}

fn refuse(request: &Request<'_>) -> Result<(), ConvertError> {
    match request.n {
        None | Some(1) => {}
        Some(0) => return Err(ConvertError::invalid("n", "has to be at least 1")),
        Some(_) => {
            return Err(ConvertError::unsupported(
                "n",
                "the provider gives one answer to a request; leave it out, and repeat the request for further answers",
            ));
        }
    }
    if request.modalities.iter().flatten().any(|modality| *modality == "audio") {
        return Err(ConvertError::unsupported(
            "modalities",
            "the provider does not speak in Responses; ask for `text`, or use a model that is reached by Chat Completions",
        ));
    }
    Ok(())
}

/// Notes what has no counterpart.
fn left_out(request: &Request<'_>, losses: &mut Losses) {
    const REASON: &str = "has no counterpart";
    let has_biases = request.logit_bias.as_ref().is_some_and(|biases| biases.get() != "{}");
    let has_penalty = |penalty: Option<f64>| penalty.is_some_and(|penalty| penalty != 0.0);
    let lost = [
        (request.stop.is_some(), "stop"),
        (request.seed.is_some(), "seed"),
        (request.top_k.is_some(), "top_k"),
        (has_biases, "logit_bias"),
        (has_penalty(request.presence_penalty), "presence_penalty"),
        (has_penalty(request.frequency_penalty), "frequency_penalty"),
        (request.extra_body.is_some(), "extra_body"),
    ];
    lost.into_iter().filter(|(is_there, _)| *is_there).for_each(|(_, path)| losses.add(path, REASON));
    if request.prediction.is_some() {
        losses.hint("prediction", "the answer is made without it, more slowly");
    }
}

/// A legacy client takes one call at a time.
fn parallel_tool_calls(request: &Request<'_>) -> Option<bool> {
    let is_legacy = request.functions.is_some() && request.tools.is_none();
    request.parallel_tool_calls.or(is_legacy.then_some(false))
}

fn text<'a>(request: &'a Request<'a>, losses: &mut Losses) -> Option<TextOptions<'a>> {
    let format = match &request.response_format {
        None => None,
        Some(ResponseFormat::Text(_)) => Some(TextFormat::Text(Bare {})),
        Some(ResponseFormat::JsonObject(_)) => Some(TextFormat::JsonObject(Bare {})),
        Some(ResponseFormat::JsonSchema(format)) => {
            let schema = &format.json_schema;
            let empty = || Raw::parse(r#"{"type":"object"}"#).ok();
            schema.schema.as_ref().map(Raw::by_ref).or_else(empty).map(|json| {
                TextFormat::JsonSchema(JsonSchema {
                    name: Text(Charset::OPENAI.fit(&schema.name)),
                    schema: json,
                    description: schema.description.as_ref().map(Text::by_ref),
                    strict: schema.strict,
                })
            })
        }
        Some(ResponseFormat::Other(_)) => {
            losses.add("response_format", "a format of an unknown type, left out");
            None
        }
    };
    let verbosity = request.verbosity.as_ref().map(Text::by_ref);
    (format.is_some() || verbosity.is_some()).then_some(TextOptions { format, verbosity })
}

fn max_output_tokens(
    request: &Request<'_>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<Option<i64>, ConvertError> {
    let (max, path) = match (request.max_completion_tokens, request.max_tokens) {
        (Some(max), _) => (max, "max_completion_tokens"),
        (None, Some(max)) => (max, "max_tokens"),
        (None, None) => return Ok(None),
    };
    if max == 0 {
        return Err(ConvertError::invalid(path, "has to be greater than 0"));
    }
    if max < LEAST_OUTPUT {
        losses.add(path, "the provider allows no less than 16 tokens, which is taken instead");
    }
    let most = model.max_output.unwrap_or(u64::MAX);
    if max > most {
        losses.add(path, "is lowered to what the model can write");
    }
    Ok(Some(i64::try_from(max.clamp(LEAST_OUTPUT, most)).unwrap_or(i64::MAX)))
}

fn stream_options(request: &Request<'_>, context: &Context<'_>) -> Option<StreamOptions> {
    let include_obfuscation = request.stream_options?.include_obfuscation;
    (context.stream && include_obfuscation.is_some()).then_some(StreamOptions { include_obfuscation })
}

fn prompt_cache_options<'a>(
    request: &'a Request<'a>,
    model: Capabilities,
    losses: &mut Losses,
) -> Option<PromptCacheOptions<'a>> {
    let options = request.prompt_cache_options.as_ref()?;
    if model.openai && !model.cache_breakpoints {
        losses.hint("prompt_cache_options", "is not known to the model");
        return None;
    }
    let (mode, ttl) = (options.mode.as_ref().map(Text::by_ref), options.ttl.as_ref().map(Text::by_ref));
    Some(PromptCacheOptions { mode, ttl, ..PromptCacheOptions::default() })
}

/// Temperature and its like, which models refuse while they think.
fn sampling<'a>(
    request: &'a Request<'a>,
    is_taken: bool,
    target: &mut Target<'a>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    let temperature = within("temperature", request.temperature, 0.0..=2.0, losses)?;
    let top_p = within("top_p", request.top_p, 0.0..=1.0, losses)?;
    let top_logprobs = (request.logprobs == Some(true)).then(|| request.top_logprobs.unwrap_or(0));
    if is_taken {
        target.temperature = temperature;
        target.top_p = top_p;
        target.top_logprobs = top_logprobs;
        return Ok(());
    }
    note_not_taken(&[("temperature", temperature), ("top_p", top_p)], NOT_WHILE_THINKING, losses);
    if top_logprobs.is_some() {
        losses.add("logprobs", NOT_WHILE_THINKING);
    }
    Ok(())
}

/// What comes only on request. A model that does not reason refuses to be asked for its reasoning.
fn include(target: &Target<'_>, model: Capabilities) -> Option<Vec<Text<'static>>> {
    let mut include = Vec::new();
    if model.reasoning {
        include.push("reasoning.encrypted_content".into());
    }
    if target.top_logprobs.is_some() {
        include.push("message.output_text.logprobs".into());
    }
    (!include.is_empty()).then_some(include)
}
