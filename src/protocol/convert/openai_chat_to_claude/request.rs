//! A Chat Completions request for a Claude Messages upstream.

use super::cache::Marks;
use super::content::Parts;
use super::{messages, tools};
use crate::protocol::claude::capabilities::{self, Capabilities};
use crate::protocol::claude::wire::content::TextBlock;
use crate::protocol::claude::wire::document::BasicBlock;
use crate::protocol::claude::wire::request::{MessagesRequest as Target, Metadata, OutputConfig};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::sampling::max_tokens;
use crate::protocol::convert::to_claude::answer_format::{self, AnswerFormat};
use crate::protocol::convert::to_claude::content::text_block;
use crate::protocol::convert::to_claude::conversation::end_with_the_user;
use crate::protocol::convert::to_claude::sampling::{self, stop_sequences};
use crate::protocol::convert::to_claude::thinking;
use crate::protocol::convert::to_claude::tools::possible_choice;
use crate::protocol::convert::{Context, ConvertError, Losses, Notes, from_openai_chat};
use crate::protocol::openai_chat::wire::request::{Request, ResponseFormat, Stop};
use crate::protocol::wire::{Text, TextOr};

/// The longest id of a user that Claude takes, in characters.
const LONGEST_USER_ID: usize = 256;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    let (name, model) = (context.model, capabilities::of(context.model));
    refuse(request)?;
    left_out(request, &mut notes.losses);
    let mut marks = Marks::default();
    let tools = tools::tools(request, model, &mut marks, notes)?;
    let choice = tools::choice(request, &tools, notes)?;
    let choice = possible_choice(choice, "tool_choice", name, &mut notes.losses);
    let conversation = messages::convert(&request.messages, Parts::new(context.media, marks), notes)?;
    let (mut system, mut turns) = (conversation.system, conversation.turns);
    let losses = &mut notes.losses;
    let max_tokens = bound(request, model, losses)?;
    let (path, amount) = from_openai_chat::amount(request, losses).unzip();
    let path = path.unwrap_or("reasoning_effort");
    let is_hidden = request.reasoning.as_ref().and_then(|reasoning| reasoning.exclude) == Some(true);
    let mut thinking = thinking::asked(amount, !is_hidden, path, name, max_tokens, losses);
    thinking::give_way_to_choice(choice.as_ref(), &mut thinking, "tool_choice", name, losses);
    // What Claude is held to, it has to begin itself.
    let takes_prefill = model.prefill && !matches!(request.response_format, Some(ResponseFormat::JsonSchema(_)));
    if end_with_the_user(&mut turns, takes_prefill, "messages", losses) {
        thinking::give_way_to_prefill(&mut thinking, path, losses);
    }
    thinking::give_way_to_history(&turns, &mut thinking, "messages", losses);
    let answer = response_format(request, model, losses)?;
    system.extend(answer.told.map(|told| BasicBlock::Text(text_block(told.into()))));
    let sampling = sampling::sampling(
        ("temperature", request.temperature),
        ("top_p", request.top_p),
        ("top_k", request.top_k),
        model,
        thinking.is_on(),
        losses,
    )?;
    let output_config = OutputConfig { effort: thinking.effort, format: answer.format, task_budget: None };
    Ok(Target {
        model: context.model.into(),
        max_tokens: Some(max_tokens),
        messages: turns.finish(),
        system: system_prompt(system),
        stream: context.stream.then_some(true),
        stop_sequences: stop(request, losses),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        tools: (!tools.is_empty()).then_some(tools),
        tool_choice: choice,
        thinking: thinking.thinking,
        output_config: (output_config != OutputConfig::default()).then_some(output_config),
        metadata: user_id(request, losses).map(|user_id| Metadata { user_id: Some(user_id) }),
        service_tier: service_tier(request, losses),
        ..Target::default()
    })
}

/// What nothing of Claude's can stand for.
fn refuse(request: &Request<'_>) -> Result<(), ConvertError> {
    match request.n {
        None | Some(1) => {}
        Some(0) => return Err(ConvertError::invalid("n", "has to be at least 1")),
        Some(_) => return Err(ConvertError::unsupported("n", "Claude gives one answer; ask for one at a time")),
    }
    if request.modalities.iter().flatten().any(|modality| *modality == "audio") {
        return Err(ConvertError::unsupported("modalities", "Claude does not speak; ask for text"));
    }
    Ok(())
}

/// Notes what has no counterpart.
fn left_out(request: &Request<'_>, losses: &mut Losses) {
    for (path, penalty) in
        [("presence_penalty", request.presence_penalty), ("frequency_penalty", request.frequency_penalty)]
    {
        if penalty.is_some_and(|penalty| penalty != 0.0) {
            losses.add(path, NO_COUNTERPART);
        }
    }
    let is_biased = request.logit_bias.as_ref().is_some_and(|bias| !matches!(bias.get(), "{}" | "null"));
    for (path, is_given) in [
        ("seed", request.seed.is_some()),
        ("logit_bias", is_biased),
        ("logprobs", request.logprobs == Some(true)),
        ("verbosity", request.verbosity.as_ref().is_some_and(|verbosity| *verbosity != "medium")),
        ("moderation", request.moderation.is_some()),
        ("extra_body", request.extra_body.is_some()),
    ] {
        if is_given {
            losses.add(path, NO_COUNTERPART);
        }
    }
    for (path, is_given) in [
        ("prediction", request.prediction.is_some()),
        ("audio", request.audio.is_some()),
        ("store", request.store == Some(true)),
        ("metadata", request.metadata.is_some()),
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_options", request.prompt_cache_options.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
    ] {
        if is_given {
            losses.hint(path, NO_COUNTERPART);
        }
    }
}

/// The most tokens of the answer. Claude wants a bound: where the client sets none, it is the model's own.
fn bound(request: &Request<'_>, model: Capabilities, losses: &mut Losses) -> Result<u64, ConvertError> {
    match (request.max_completion_tokens, request.max_tokens) {
        (Some(tokens), _) => max_tokens("max_completion_tokens", tokens, model.max_output, losses),
        (None, Some(tokens)) => max_tokens("max_tokens", tokens, model.max_output, losses),
        (None, None) => Ok(model.max_output),
    }
}

/// What the answer has to look like.
fn response_format<'a>(
    request: &'a Request<'a>,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<AnswerFormat<'a>, ConvertError> {
    const PATH: &str = "response_format";
    let schema = match &request.response_format {
        None | Some(ResponseFormat::Text(_)) => return Ok(AnswerFormat::default()),
        Some(ResponseFormat::JsonSchema(format)) => format.json_schema.schema.as_ref(),
        Some(ResponseFormat::JsonObject(_)) => None,
        Some(ResponseFormat::Other(_)) => {
            return Err(ConvertError::unsupported(PATH, "has to be text, json_object or json_schema"));
        }
    };
    let schema = schema.map(|schema| ("response_format.json_schema.schema", schema.by_ref()));
    answer_format::json(PATH, schema, model, losses)
}

/// One text without marks stays a text.
fn system_prompt(mut blocks: Vec<BasicBlock<'_>>) -> Option<TextOr<'_, Vec<BasicBlock<'_>>>> {
    match blocks.as_mut_slice() {
        [] => None,
        [BasicBlock::Text(TextBlock { text, cache_control: None, .. })] => Some(TextOr::Text(std::mem::take(text))),
        _ => Some(TextOr::Structured(blocks)),
    }
}

fn stop<'a>(request: &'a Request<'a>, losses: &mut Losses) -> Option<Vec<Text<'a>>> {
    let given = match request.stop.as_ref()? {
        Stop::Text(text) => std::slice::from_ref(text),
        Stop::Sequences(sequences) => sequences,
    };
    stop_sequences(given, "stop", losses)
}

fn user_id<'a>(request: &'a Request<'a>, losses: &mut Losses) -> Option<Text<'a>> {
    let (path, id) = match (&request.safety_identifier, &request.user) {
        (Some(id), _) => ("safety_identifier", id),
        (None, Some(id)) => ("user", id),
        (None, None) => return None,
    };
    if id.is_empty() || id.chars().count() > LONGEST_USER_ID {
        losses.hint(path, "is longer than Claude takes");
        return None;
    }
    Some(id.by_ref())
}

/// Claude either uses what capacity there is, or the standard one alone.
fn service_tier<'a>(request: &Request<'_>, losses: &mut Losses) -> Option<Text<'a>> {
    match request.service_tier.as_deref()? {
        "auto" | "priority" | "fast" => Some("auto".into()),
        "default" => Some("standard_only".into()),
        _ => {
            losses.hint("service_tier", NO_COUNTERPART);
            None
        }
    }
}
