//! A Gemini request for a Chat Completions upstream.

use super::messages::Conversation;
use super::{format, generation, tools};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::convert::{Context, ConvertError, Notes};
use crate::protocol::gemini::wire::request::{GenerateContentRequest, ServiceTier};
use crate::protocol::openai_chat::capabilities;
use crate::protocol::openai_chat::wire::request::{Request as Target, StreamOptions};
use crate::protocol::wire::Text;

/// Converts `request`.
pub fn convert<'a>(
    request: &'a GenerateContentRequest<'a>,
    context: &'a Context<'a>,
    notes: &mut Notes,
) -> Result<Target<'a>, ConvertError> {
    refuse_state(request)?;
    let capabilities = capabilities::of(context.model);
    let messages = Conversation::messages(request, context, notes)?;
    let mut target = Target { model: context.model.into(), messages, ..Target::default() };
    if context.stream {
        target.stream = Some(true);
        target.stream_options = Some(StreamOptions { include_usage: Some(true), include_obfuscation: None });
    }
    tools::tools(request, context, &mut target, notes)?;
    generation::config(request.generation_config.as_ref(), capabilities, &mut target, notes)?;
    if let Some(config) = &request.generation_config {
        format::response_format(config, &mut target, notes);
    }
    target.service_tier = request.service_tier.as_ref().map(service_tier);
    if capabilities.openai {
        target.store = request.store.filter(|store| !store);
    }
    without_counterpart(request, notes);
    Ok(target)
}

/// Refuses what goes on from something that only Google holds.
fn refuse_state(request: &GenerateContentRequest<'_>) -> Result<(), ConvertError> {
    if request.cached_content.is_some() {
        return Err(ConvertError::unsupported(
            "cachedContent",
            "the cached content is held by Google; send it in the request",
        ));
    }
    if request.continuation_token.is_some() {
        return Err(ConvertError::unsupported(
            "continuationToken",
            "the answer that it goes on with is held by Google; ask anew",
        ));
    }
    Ok(())
}

fn service_tier<'a>(tier: &'a ServiceTier<'a>) -> Text<'a> {
    match tier {
        ServiceTier::Standard => "default".into(),
        ServiceTier::Flex => "flex".into(),
        ServiceTier::Priority => "priority".into(),
        ServiceTier::Other(word) => word.by_ref(),
    }
}

/// What Chat Completions has nothing like.
fn without_counterpart(request: &GenerateContentRequest<'_>, notes: &mut Notes) {
    if !request.safety_settings.is_empty() {
        notes.losses.add("safetySettings", NO_COUNTERPART);
    }
    let hints = [("labels", request.labels.is_some()), ("store", request.store == Some(true))];
    hints.into_iter().filter(|(_, given)| *given).for_each(|(path, _)| {
        notes.losses.hint(path, NO_COUNTERPART);
    });
}
