//! How much the model thinks, and the secrets of Gemini's thinking.

use serde_json::json;

use super::models::Model;
use crate::protocol::claude::wire::request::{MessagesRequest, Thinking};
use crate::protocol::convert::effort::{Amount, Effort};
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::{ConvertError, Losses, to_openai};
use crate::protocol::wire::Raw;

/// The effort that stands for what the client asks for. An explicit effort says more here than a budget.
pub fn effort(
    request: &MessagesRequest<'_>,
    model: Model<'_>,
    has_tools: bool,
    losses: &mut Losses,
) -> Result<Option<Effort>, ConvertError> {
    let effort = request.output_config.as_ref().and_then(|config| config.effort.as_ref());
    let effort = effort.and_then(|effort| Effort::from_word(effort.as_str())).map(Amount::Effort);
    let (path, amount) = match (&request.thinking, effort) {
        (Some(Thinking::Disabled(_) | Thinking::BetweenTools(_)), _) => ("thinking", Some(Amount::NOTHING)),
        (Some(Thinking::Enabled(enabled)), None) => {
            ("thinking.budget_tokens", Some(Amount::Tokens(enabled.budget_tokens)))
        }
        (_, effort) => ("output_config.effort", effort),
    };
    to_openai::effort::chat(amount, path, has_tools, model.can, losses)
}

/// Gemini's signature as its Chat endpoint takes it, if `signature` is one that was sealed.
pub fn gemini_signature(signature: &str) -> Option<Raw<'static>> {
    match unseal(signature) {
        Some((Family::Gemini, payload)) => Raw::of(&json!({"google": {"thought_signature": payload}})).ok(),
        _ => None,
    }
}
