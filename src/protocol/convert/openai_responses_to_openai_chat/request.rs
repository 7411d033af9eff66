//! A Responses request for a Chat Completions upstream.

use super::input::{Input, input};
use super::thinking;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::names::Charset;
use crate::protocol::convert::sampling::{NOT_WHILE_THINKING, note_not_taken, within};
use crate::protocol::convert::{Context, ConvertError, Losses, Notes};
use crate::protocol::openai_chat::capabilities::{self, Capabilities};
use crate::protocol::openai_chat::wire::request::{
    JsonSchema, JsonSchemaFormat, PromptCacheOptions, Request as Target, ResponseFormat, StreamOptions,
};
use crate::protocol::openai_chat::wire::tools::Bare;
use crate::protocol::openai_responses::wire::request::{Request, TextFormat};
use crate::protocol::wire::{Raw, Text};

/// Asks for the likelihood of tokens.
const LOGPROBS: &str = "message.output_text.logprobs";

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    refuse_what_needs_a_memory(request)?;
    let model = capabilities::of(context.model);
    let Input { messages, mut tools, effort, format } = input(request, model, context, notes)?;
    let tool_choice = tools.choice(request.tool_choice.as_ref(), notes);
    let losses = &mut notes.losses;
    left_out(request, losses);
    let has_tools = !tools.tools.is_empty();
    let text = request.text.as_ref();
    let format = format.or(text.and_then(|text| text.format.as_ref()));
    let (max_completion_tokens, max_tokens) = max_tokens(request, model, losses)?;
    let effort = thinking::effort(request, effort, has_tools, model, losses)?;
    let mut target = Target {
        model: context.model.into(),
        messages,
        stream: context.stream.then_some(true),
        stream_options: stream_options(request, model, context),
        max_completion_tokens,
        max_tokens,
        web_search_options: tools.web_search,
        tools: has_tools.then_some(tools.tools),
        tool_choice,
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools),
        response_format: format.and_then(|format| response_format(format, losses)),
        reasoning_effort: effort.map(|effort| Text::from(effort.word()).into()),
        ..Target::default()
    };
    sampling(request, model.takes_sampling(effort), &mut target, losses)?;
    of_openai(request, model, &mut target, losses);
    Ok(target)
}

/// What stands at OpenAI stands nowhere else.
fn refuse_what_needs_a_memory(request: &Request<'_>) -> Result<(), ConvertError> {
    const CONVERSATION: &str = "the provider does not keep conversations; send the whole conversation in `input`";
    let refused = [
        (request.previous_response_id.is_some(), "previous_response_id", CONVERSATION),
        (request.conversation.is_some(), "conversation", CONVERSATION),
        (
            request.prompt.is_some(),
            "prompt",
            "the provider does not keep prompts; send its text in `instructions` and `input`",
        ),
        (
            request.background == Some(true),
            "background",
            "the provider answers at once only; leave it out, and stream if it takes long",
        ),
    ];
    if let Some((_, path, message)) = refused.into_iter().find(|(is_there, ..)| *is_there) {
        return Err(ConvertError::unsupported(path, message));
    }
    if request.prompt_cache_options.as_ref().is_some_and(|options| options.prewarm == Some(true)) {
        return Err(ConvertError::unsupported(
            "prompt_cache_options.prewarm",
            "the provider cannot fill its cache without an answer; leave it out",
        ));
    }
    Ok(())
}

/// Notes what has no counterpart.
fn left_out(request: &Request<'_>, losses: &mut Losses) {
    if request.truncation.as_deref() == Some("auto") {
        losses.hint("truncation", "the conversation is sent as it is");
    }
    if request.context_management.is_some() {
        losses.add("context_management", "the conversation is sent as it is");
    }
    if request.max_tool_calls.is_some() {
        losses.hint("max_tool_calls", "no tool runs at the provider");
    }
    if request.client_metadata.is_some() {
        losses.hint("client_metadata", NO_COUNTERPART);
    }
    if request.image.is_some() {
        losses.hint("image", NO_COUNTERPART);
    }
    if request.access_programs.is_some() {
        losses.hint("access_programs", NO_COUNTERPART);
    }
    let options = request.prompt_cache_options.as_ref();
    if options.is_some_and(|options| options.comparison_response_id.is_some()) {
        losses.hint("prompt_cache_options.comparison_response_id", NO_COUNTERPART);
    }
    for (index, include) in request.include.iter().flatten().enumerate() {
        if *include != LOGPROBS && *include != "reasoning.encrypted_content" {
            losses.hint(format!("include[{index}]"), "the answer has no such thing at this provider");
        }
    }
    let Some(reasoning) = &request.reasoning else { return };
    if reasoning.summary.is_some() || reasoning.generate_summary.is_some() {
        losses.hint("reasoning.summary", "the provider shows its reasoning or does not, without being asked");
    }
    if reasoning.context.is_some() {
        losses.hint("reasoning.context", NO_COUNTERPART);
    }
    if reasoning.mode.as_deref().is_some_and(|mode| mode != "standard") {
        losses.add("reasoning.mode", NO_COUNTERPART);
    }
}

/// The usage is always asked for: it is counted, and a Responses stream always tells it.
fn stream_options(request: &Request<'_>, model: Capabilities, context: &Context<'_>) -> Option<StreamOptions> {
    let asked = request.stream_options.as_ref().and_then(|options| options.include_obfuscation);
    let include_obfuscation = asked.filter(|_| model.openai);
    context.stream.then_some(StreamOptions { include_usage: Some(true), include_obfuscation })
}

/// OpenAI's models take the newer member, others may know only the older one.
fn max_tokens(
    request: &Request<'_>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<(Option<u64>, Option<u64>), ConvertError> {
    let Some(max) = request.max_output_tokens else { return Ok((None, None)) };
    let max = u64::try_from(max).ok().filter(|max| *max > 0);
    let Some(max) = max else {
        return Err(ConvertError::invalid("max_output_tokens", "has to be greater than 0"));
    };
    let most = model.max_output.unwrap_or(u64::MAX);
    if max > most {
        losses.add("max_output_tokens", "is lowered to what the model can write");
    }
    let max = Some(max.min(most));
    Ok(if model.openai { (max, None) } else { (None, max) })
}

fn response_format<'a>(format: &'a TextFormat<'a>, losses: &mut Losses) -> Option<ResponseFormat<'a>> {
    match format {
        TextFormat::Text(_) => None,
        TextFormat::JsonObject(_) => Some(ResponseFormat::JsonObject(Bare {})),
        TextFormat::JsonSchema(schema) => Some(ResponseFormat::JsonSchema(JsonSchemaFormat {
            json_schema: JsonSchema {
                name: Text(Charset::OPENAI.fit(&schema.name)),
                description: schema.description.as_ref().map(Text::by_ref),
                schema: Some(schema.schema.by_ref()),
                strict: schema.strict,
            },
        })),
        TextFormat::Other(_) => {
            losses.add("text.format", "a format of an unknown type, left out");
            None
        }
    }
}

/// Temperature and its like, which models refuse while they think.
fn sampling<'a>(
    request: &'a Request<'a>,
    is_taken: bool,
    target: &mut Target<'a>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    target.temperature = within("temperature", request.temperature, 0.0..=2.0, losses)?;
    target.top_p = within("top_p", request.top_p, 0.0..=1.0, losses)?;
    let asked = request.include.iter().flatten().any(|include| *include == LOGPROBS);
    let asked = asked || request.top_logprobs.is_some_and(|count| count > 0);
    target.logprobs = asked.then_some(true);
    target.top_logprobs = request.top_logprobs.filter(|_| asked);
    if is_taken {
        return Ok(());
    }
    let given = [("temperature", target.temperature.take()), ("top_p", target.top_p.take())];
    note_not_taken(&given, NOT_WHILE_THINKING, losses);
    if target.logprobs.take().is_some() {
        target.top_logprobs = None;
        losses.add("top_logprobs", NOT_WHILE_THINKING);
    }
    Ok(())
}

/// What OpenAI's models have in both dialects, and others may refuse.
fn of_openai<'a>(request: &'a Request<'a>, model: Capabilities, target: &mut Target<'a>, losses: &mut Losses) {
    let verbosity = request.text.as_ref().and_then(|text| text.verbosity.as_ref());
    target.user = request.user.as_ref().map(Text::by_ref);
    let stored = request.store == Some(true);
    if !model.openai {
        if verbosity.is_some_and(|word| *word != "medium") {
            losses.add("text.verbosity", NO_COUNTERPART);
        }
        if request.moderation.is_some() {
            losses.add("moderation", NO_COUNTERPART);
        }
        if target.user.is_none() {
            target.user = request.safety_identifier.as_ref().map(Text::by_ref);
        }
        let hints = [
            (stored, "store"),
            (request.metadata.is_some(), "metadata"),
            (request.service_tier.is_some(), "service_tier"),
            (request.prompt_cache_key.is_some(), "prompt_cache_key"),
            (request.prompt_cache_options.is_some(), "prompt_cache_options"),
            (request.prompt_cache_retention.is_some(), "prompt_cache_retention"),
        ];
        hints.into_iter().filter(|(is_there, _)| *is_there).for_each(|(_, path)| losses.hint(path, NO_COUNTERPART));
        return;
    }
    target.verbosity = verbosity.map(Text::by_ref);
    target.safety_identifier = request.safety_identifier.as_ref().map(Text::by_ref);
    target.service_tier = request.service_tier.as_ref().map(Text::by_ref);
    target.prompt_cache_key = request.prompt_cache_key.as_ref().map(Text::by_ref);
    target.prompt_cache_retention = request.prompt_cache_retention.as_ref().map(Text::by_ref);
    if let Some(options) = &request.prompt_cache_options {
        if model.cache_breakpoints {
            let mode = options.mode.as_ref().map(Text::by_ref);
            let ttl = options.ttl.as_ref().filter(|ttl| **ttl == "30m").map(Text::by_ref);
            if ttl.is_none() && options.ttl.is_some() {
                losses.hint("prompt_cache_options.ttl", "is \"30m\" in Chat Completions");
            }
            target.prompt_cache_options = Some(PromptCacheOptions { mode, ttl });
        } else {
            losses.hint("prompt_cache_options", "is not known to the model");
        }
    }
    target.moderation = request.moderation.as_ref().map(Raw::by_ref);
    // OpenAI takes metadata only for what is stored.
    target.store = stored.then_some(true);
    target.metadata = request.metadata.as_ref().filter(|_| stored).map(Raw::by_ref);
    if request.metadata.is_some() && !stored {
        losses.hint("metadata", "kept only with what is stored");
    }
}
