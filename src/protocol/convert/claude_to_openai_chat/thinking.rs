//! How much the model thinks, and the secrets of Gemini's thinking.

use serde_json::json;

use super::models::Model;
use crate::protocol::claude::wire::request::{MessagesRequest, Thinking};
use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::openai_chat::wire::request::ReasoningEffort;
use crate::protocol::wire::{Raw, Text};

/// The effort that stands for what the client asks for.
pub fn effort<'a>(request: &MessagesRequest<'_>, model: Model<'_>, losses: &mut Losses) -> Option<ReasoningEffort<'a>> {
    let (path, wanted) = wanted(request)?;
    if model.can.openai && !model.can.reasoning {
        if wanted != Effort::None {
            losses.add(path, "has no counterpart, this model does not think");
        }
        return None;
    }
    if wanted == Effort::None && !model.can.openai {
        losses.add(path, "has no counterpart, the model thinks as it does by default");
        return None;
    }
    let allowed = model.efforts();
    let nearest = wanted.nearest(allowed);
    if nearest != wanted {
        losses.add(path, "is not an effort of this model, the nearest one stands for it");
    }
    Some(Text::from(nearest.word()).into())
}

/// An explicit budget wins over an effort, since older models think by it alone.
fn wanted(request: &MessagesRequest<'_>) -> Option<(&'static str, Effort)> {
    let effort = request.output_config.as_ref().and_then(|config| config.effort.as_ref());
    let effort = effort.and_then(|effort| Effort::from_word(effort.as_str()));
    match &request.thinking {
        Some(Thinking::Disabled(_) | Thinking::BetweenTools(_)) => Some(("thinking", Effort::None)),
        Some(Thinking::Enabled(enabled)) if effort.is_none() => {
            Some(("thinking.budget_tokens", Effort::from_budget(enabled.budget_tokens)))
        }
        _ => effort.map(|effort| ("output_config.effort", effort)),
    }
}

/// Gemini's signature as its Chat endpoint takes it, if `signature` is one that was sealed.
pub fn gemini_signature(signature: &str) -> Option<Raw<'static>> {
    match unseal(signature) {
        Some((Family::Gemini, payload)) => Raw::of(&json!({"google": {"thought_signature": payload}})).ok(),
        _ => None,
    }
}
