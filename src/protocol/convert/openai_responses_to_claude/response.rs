//! A Responses upstream's answer for a Claude Messages client.

use super::answer::Blocks;
use super::ending;
use crate::protocol::claude::wire::request::Role;
use crate::protocol::claude::wire::response::{Message as Target, StopReason};
use crate::protocol::convert::{ConvertError, Losses, Reply};
use crate::protocol::openai_responses::wire::response::{Response, Usage};
use crate::protocol::wire::Text;

/// Converts `response`.
pub fn convert<'a>(
    response: &'a Response<'a>,
    reply: &'a Reply,
    losses: &mut Losses,
) -> Result<Target<'a>, ConvertError> {
    let mut blocks = Blocks::new(reply);
    for (index, item) in response.output.iter().enumerate() {
        blocks.item(item, index, losses);
    }
    let stop_reason = match ending::stop_reason(response) {
        StopReason::EndTurn if blocks.refusal.is_some() => StopReason::Refusal,
        StopReason::EndTurn if blocks.has_calls() => StopReason::ToolUse,
        reason => reason,
    };
    let is_refused = stop_reason == StopReason::Refusal;
    Ok(Target {
        id: format!("msg_{}", reply.id).into(),
        kind: "message".into(),
        role: Role::Assistant,
        model: response.model.as_ref().map_or_else(|| Text::from(&*reply.model), Text::by_ref),
        content: blocks.blocks,
        stop_reason: Some(stop_reason),
        stop_sequence: None,
        stop_details: is_refused.then(|| ending::refusal_details(blocks.refusal)),
        container: None,
        diagnostics: None,
        usage: Some(ending::usage(response.usage.as_ref().unwrap_or(&Usage::default()))),
        context_management: None,
        input_transformations: None,
    })
}
