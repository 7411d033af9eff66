//! How much the model thinks, and the secrets of Gemini's thinking.

use serde_json::json;

use super::models::Model;
use crate::protocol::claude::wire::request::{MessagesRequest, Thinking};
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::capabilities::ChatTools;
use crate::protocol::wire::Raw;

/// The effort that stands for what the client asks for.
pub fn effort(
    request: &MessagesRequest<'_>,
    model: Model<'_>,
    has_tools: bool,
    losses: &mut Losses,
) -> Result<Option<Effort>, ConvertError> {
    let wanted = wanted(request);
    if has_tools {
        match model.can.chat_tools {
            ChatTools::Freely => {}
            ChatTools::WithoutReasoning => {
                if let Some((path, _)) = wanted.filter(|(_, effort)| *effort != Effort::None) {
                    losses.add(path, "is none, this model takes tools in this dialect only if it does not think");
                }
                return Ok(Some(Effort::None));
            }
            ChatTools::Never => {
                return Err(ConvertError::unsupported(
                    "tools",
                    "this model takes no tools in Chat Completions; reach it by a provider of Responses",
                ));
            }
        }
    }
    let Some((path, wanted)) = wanted else { return Ok(None) };
    if model.can.efforts.is_empty() {
        if wanted != Effort::None {
            losses.add(path, "has no counterpart, this model does not think");
        }
        return Ok(None);
    }
    if wanted == Effort::None && !model.can.openai {
        losses.add(path, "has no counterpart, the model thinks as it does by default");
        return Ok(None);
    }
    let nearest = wanted.nearest(model.can.efforts);
    if nearest != wanted {
        losses.add(path, "is not an effort of this model, the nearest one stands for it");
    }
    Ok(Some(nearest))
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
