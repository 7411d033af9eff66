//! A Claude Messages request for a Chat Completions upstream.

use super::content::Blocks;
use super::models::Model;
use super::{messages, thinking, tools};
use crate::protocol::claude::wire::request::{MessagesRequest, OutputFormat};
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::from_claude::edits_context;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::to_openai::schema;
use crate::protocol::convert::{Context, ConvertError, Losses, Notes};
use crate::protocol::openai_chat::wire::request::{
    JsonSchema, JsonSchemaFormat, Request as Target, ResponseFormat, Stop, StreamOptions,
};
use crate::protocol::wire::Text;

/// The most stop sequences that OpenAI takes.
const MOST_STOPS: usize = 4;

/// The longest identifier of a user that OpenAI takes, in characters.
const LONGEST_USER: usize = 128;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a MessagesRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    let model = Model::new(context.model);
    refuse(request)?;
    left_out(request, &mut notes.losses);
    let tools = tools::tools(request, model, context, notes)?;
    let (tool_choice, parallel_tool_calls) = tools::choice(request, &tools, notes)?;
    let effort = thinking::effort(request, model, !tools.functions.is_empty(), &mut notes.losses)?;
    let messages = messages::convert(request, context, Blocks::new(model, context.media), notes)?;
    let mut target = Target {
        model: context.model.into(),
        messages,
        stream: context.stream.then_some(true),
        // Without it nothing is known of what a stream took.
        stream_options: context
            .stream
            .then_some(StreamOptions { include_usage: Some(true), ..StreamOptions::default() }),
        tools: (!tools.functions.is_empty()).then_some(tools.functions),
        tool_choice,
        parallel_tool_calls,
        web_search_options: tools.web_search,
        response_format: response_format(request, &mut notes.losses)?,
        reasoning_effort: effort.map(|effort| Text::from(effort.word()).into()),
        stop: stop(request, model, &mut notes.losses),
        service_tier: service_tier(request, model),
        ..Target::default()
    };
    max_tokens(request, model, &mut target, &mut notes.losses)?;
    sampling(request, model, effort, &mut target, &mut notes.losses)?;
    user(request, model, &mut target);
    Ok(target)
}

/// What nothing of this dialect's can stand for.
fn refuse(request: &MessagesRequest<'_>) -> Result<(), ConvertError> {
    if request.thread.is_some() {
        return Err(ConvertError::unsupported(
            "thread",
            "the provider of this model keeps no thread; send the whole conversation, without `thread`",
        ));
    }
    if request.compaction.is_some() {
        return Err(ConvertError::unsupported(
            "compaction",
            "the provider of this model does not compact conversations",
        ));
    }
    Ok(())
}

/// Notes what has no counterpart.
fn left_out(request: &MessagesRequest<'_>, losses: &mut Losses) {
    let task_budget = request.output_config.as_ref().is_some_and(|config| config.task_budget.is_some());
    for (path, is_given) in [
        ("output_config.task_budget", task_budget),
        ("context_management", request.context_management.as_ref().is_some_and(edits_context)),
        ("inference_geo", request.inference_geo.is_some()),
        ("fallbacks", request.fallbacks.is_some()),
    ] {
        if is_given {
            losses.add(path, NO_COUNTERPART);
        }
    }
    let thinking_only = request.context_management.as_ref().is_some_and(|edits| !edits_context(edits));
    for (path, is_given) in [
        ("context_management", thinking_only),
        ("cache_control", request.cache_control.is_some()),
        ("speed", request.speed.is_some()),
        ("diagnostics", request.diagnostics.is_some()),
        ("fallback_credit_token", request.fallback_credit_token.is_some()),
        ("billing_policy", request.billing_policy.is_some()),
    ] {
        if is_given {
            losses.hint(path, NO_COUNTERPART);
        }
    }
}

fn max_tokens(
    request: &MessagesRequest<'_>,
    model: Model<'_>,
    target: &mut Target<'_>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    let Some(asked) = request.max_tokens else { return Ok(()) };
    if asked == 0 {
        return Err(ConvertError::unsupported(
            "max_tokens",
            "has to be at least 1, this provider's cache fills by itself",
        ));
    }
    let most = model.can.max_output.unwrap_or(u64::MAX);
    if asked > most {
        losses.add("max_tokens", "is reduced to what the model can write");
    }
    // Vendors of other models may know the older name only.
    match model.can.openai {
        true => target.max_completion_tokens = Some(asked.min(most)),
        false => target.max_tokens = Some(asked.min(most)),
    }
    Ok(())
}

fn sampling(
    request: &MessagesRequest<'_>,
    model: Model<'_>,
    effort: Option<Effort>,
    target: &mut Target<'_>,
    losses: &mut Losses,
) -> Result<(), ConvertError> {
    let is_taken = model.can.takes_sampling(effort);
    for (path, number) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if number.is_some_and(|number| !(0.0..=1.0).contains(&number)) {
            return Err(ConvertError::invalid(path, "has to be between 0 and 1"));
        }
        if !is_taken && number.is_some_and(|number| number != 1.0) {
            losses.add(path, "is not taken by this model while it thinks");
        }
    }
    if is_taken {
        (target.temperature, target.top_p) = (request.temperature, request.top_p);
    }
    match request.top_k {
        Some(_) if model.can.openai => losses.add("top_k", NO_COUNTERPART),
        top_k => target.top_k = top_k,
    }
    Ok(())
}

fn stop<'a>(request: &'a MessagesRequest<'a>, model: Model<'_>, losses: &mut Losses) -> Option<Stop<'a>> {
    let given = request.stop_sequences.as_ref().filter(|given| !given.is_empty())?;
    if model.can.reasoning {
        losses.add("stop_sequences", "are not taken by this model, which thinks");
        return None;
    }
    if given.len() > MOST_STOPS {
        losses.add("stop_sequences", "are more than four, of which the first four count");
    }
    Some(Stop::Sequences(given.iter().take(MOST_STOPS).map(Text::by_ref).collect()))
}

fn response_format<'a>(
    request: &'a MessagesRequest<'a>,
    losses: &mut Losses,
) -> Result<Option<ResponseFormat<'a>>, ConvertError> {
    let own = request.output_config.as_ref().and_then(|config| config.format.as_ref());
    let (path, format) = match (own, &request.output_format) {
        (Some(format), _) => ("output_config.format", format),
        (None, Some(format)) => ("output_format", format),
        (None, None) => return Ok(None),
    };
    let OutputFormat::JsonSchema(format) = format else {
        return Err(ConvertError::unsupported(path, "is of a kind that is not known"));
    };
    let strict = schema::is_enforceable(&format.schema);
    if !strict {
        losses.add(path, schema::NOT_STRICT);
    }
    Ok(Some(ResponseFormat::JsonSchema(JsonSchemaFormat {
        json_schema: JsonSchema {
            name: "answer".into(),
            description: None,
            schema: Some(format.schema.by_ref()),
            strict: strict.then_some(true),
        },
    })))
}

fn service_tier<'a>(request: &MessagesRequest<'_>, model: Model<'_>) -> Option<Text<'a>> {
    match request.service_tier.as_deref().filter(|_| model.can.openai)? {
        "auto" => Some("auto".into()),
        "standard_only" => Some("default".into()),
        _ => None,
    }
}

/// Whom the request is for. Claude Code's ids are longer than OpenAI takes: a hash stands for those.
fn user<'a>(request: &'a MessagesRequest<'a>, model: Model<'_>, target: &mut Target<'a>) {
    let Some(id) = request.metadata.as_ref().and_then(|metadata| metadata.user_id.as_ref()) else { return };
    let id = match id.chars().count() {
        0 => return,
        1..=LONGEST_USER => id.by_ref(),
        _ => Text::from(blake3::hash(id.as_bytes()).to_hex().to_string()),
    };
    match model.can.openai {
        true => target.safety_identifier = Some(id),
        false => target.user = Some(id),
    }
}
