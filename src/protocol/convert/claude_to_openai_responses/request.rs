//! A Claude Messages request for a Responses upstream.

use super::messages::{Conversation, Features};
use super::{settings, tools};
use crate::protocol::claude::wire::request::MessagesRequest as Request;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::openai_chat::capabilities;
use crate::protocol::openai_responses::wire::request::{PromptCacheOptions, Request as Target};
use crate::protocol::wire::TextOr;

/// Converts `request`.
///
/// Nothing is kept at the vendor. So that reasoning survives, it is asked for in its sealed form, which the client keeps.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    settings::refuse_state(request)?;
    let model = context.model;
    let mut tools = tools::convert(request, context, notes)?;
    let (tool_choice, parallel_tool_calls) = tools::choice(request.tool_choice.as_ref(), &tools.tools, notes);
    let mut conversation = Conversation::new(features(model));
    for (index, message) in request.messages.iter().enumerate() {
        conversation.message(message, &format!("messages[{index}]"), notes)?;
    }
    let items = conversation.finish(notes)?;

    let losses = &mut notes.losses;
    let reasoning = settings::reasoning(request, model, losses);
    let sampling = settings::sampling(request, model, reasoning.as_ref(), losses)?;
    if capabilities::of(model).reasoning {
        tools.include.insert(0, "reasoning.encrypted_content".into());
    }
    let only_fills_cache = request.max_tokens == Some(0);
    if only_fills_cache && !capabilities::of(model).cache_breakpoints {
        return Err(ConvertError::unsupported("max_tokens", "this model's cache cannot be filled without an answer"));
    }
    settings::note_what_is_left(request, losses);
    Ok(Target {
        model: Some(model.into()),
        input: Some(TextOr::Structured(items)),
        instructions: settings::instructions(request, losses),
        tools: (!tools.tools.is_empty()).then_some(tools.tools),
        tool_choice,
        parallel_tool_calls,
        max_tool_calls: tools.max_tool_calls,
        text: settings::text(request, losses),
        reasoning,
        max_output_tokens: settings::max_output_tokens(request, model, losses),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        include: (!tools.include.is_empty()).then_some(tools.include),
        stream: context.stream.then_some(true),
        store: Some(false),
        service_tier: settings::service_tier(request),
        prompt_cache_key: settings::user(request),
        prompt_cache_options: only_fills_cache
            .then(|| PromptCacheOptions { prewarm: Some(true), ..PromptCacheOptions::default() }),
        safety_identifier: settings::user(request),
        ..Target::default()
    })
}

/// What the model takes beside the plain items. Phases it has since GPT-5.3-Codex.
fn features(model: &str) -> Features {
    let marks = capabilities::of(model).cache_breakpoints;
    let is_first_with_phases = ["gpt-5.3-codex", "gpt-5.4", "gpt-5.5"].iter().any(|name| model.contains(name));
    Features { marks, phases: marks || is_first_with_phases }
}
