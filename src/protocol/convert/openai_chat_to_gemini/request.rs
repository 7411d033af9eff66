//! A Chat Completions request for a Gemini upstream.

use super::messages::Conversation;
use super::tools::Tools;
use super::{generation, tools};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::content::Content;
use crate::protocol::gemini::wire::request::{GenerateContentRequest as Target, ServiceTier};
use crate::protocol::openai_chat::wire::request::Request;
use crate::protocol::wire::Text;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a Request<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    let extra = generation::Extra::read(request);
    let Conversation { mut system, contents } = Conversation::convert(request, context, notes)?;
    let Tools { tools, config: tool_config } = tools::tools(request, context, notes)?;
    let has_tools = !tools.is_empty();
    let generation_config = generation::config(request, &extra, has_tools, context, &mut system, &mut notes.losses)?;
    without_counterpart(request, notes);
    Ok(Target {
        system_instruction: (!system.is_empty()).then_some(Content { role: None, parts: system }),
        contents,
        tools,
        tool_config,
        generation_config,
        cached_content: extra.cached_content,
        service_tier: request.service_tier.as_ref().and_then(|tier| service_tier(tier, notes)),
        ..Target::default()
    })
}

fn service_tier<'a>(tier: &Text<'a>, notes: &mut Notes) -> Option<ServiceTier<'a>> {
    match &**tier {
        "default" => Some(ServiceTier::Standard),
        "flex" => Some(ServiceTier::Flex),
        "priority" | "fast" => Some(ServiceTier::Priority),
        "auto" => None,
        _ => {
            notes.losses.hint("service_tier", NO_COUNTERPART);
            None
        }
    }
}

/// What Gemini has nothing like.
fn without_counterpart(request: &Request<'_>, notes: &mut Notes) {
    let hints = [
        ("metadata", request.metadata.is_some()),
        ("user", request.user.is_some()),
        ("safety_identifier", request.safety_identifier.is_some()),
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_options", request.prompt_cache_options.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
        ("prediction", request.prediction.is_some()),
        ("store", request.store == Some(true)),
    ];
    hints.into_iter().filter(|(_, given)| *given).for_each(|(path, _)| {
        notes.losses.hint(path, NO_COUNTERPART);
    });
    let losses = [
        ("logit_bias", request.logit_bias.is_some()),
        ("verbosity", request.verbosity.as_ref().is_some_and(|word| *word != "medium")),
        ("moderation", request.moderation.is_some()),
        ("parallel_tool_calls", request.parallel_tool_calls == Some(false)),
    ];
    losses.into_iter().filter(|(_, given)| *given).for_each(|(path, _)| {
        notes.losses.add(path, NO_COUNTERPART);
    });
}
