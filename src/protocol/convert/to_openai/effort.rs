//! How hard a model is to think: whatever was asked for, in the efforts that OpenAI's and others' models take.

use crate::protocol::convert::effort::{Amount, DOES_NOT_THINK, Effort};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::capabilities::{Capabilities, ChatTools};

/// The effort in Responses; `None` leaves it to the model. `path` is where the amount stands.
pub fn responses(amount: Option<Amount>, path: &str, model: Capabilities, losses: &mut Losses) -> Option<Effort> {
    let amount = amount?;
    if model.efforts.is_empty() {
        if !amount.is_nothing() {
            losses.add(path, DOES_NOT_THINK);
        }
        return None;
    }
    match amount {
        Amount::Free => None,
        Amount::Tokens(tokens) => Some(Effort::from_budget(tokens).nearest(model.efforts)),
        Amount::Effort(effort) => Some(effort.fitted(model.efforts, path, losses)),
    }
}

/// The effort in Chat Completions, where some of OpenAI's models take tools only if they do not think, and the newest not at all
/// (<https://developers.openai.com/api/docs/guides/latest-model>). `path` is where the amount stands, or would.
pub fn chat(
    amount: Option<Amount>,
    path: &str,
    has_tools: bool,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<Option<Effort>, ConvertError> {
    match model.chat_tools {
        ChatTools::WithoutReasoning if has_tools => {
            const REASON: &str = "is none, this model takes tools in this dialect only if it does not think";
            match amount {
                Some(amount) if amount.is_nothing() => {}
                Some(_) => losses.add(path, REASON),
                // Nobody asked for it: what the model would do by itself is no loss to the client.
                None if model.default_effort != Effort::None => losses.hint(path, REASON),
                None => {}
            }
            return Ok(Some(Effort::None));
        }
        ChatTools::Never if has_tools => {
            return Err(ConvertError::unsupported(
                "tools",
                "this model takes no tools in Chat Completions; reach it by a provider of Responses",
            ));
        }
        ChatTools::Freely | ChatTools::WithoutReasoning | ChatTools::Never => {}
    }
    // What turns thinking off at other vendors is not known.
    if !model.openai && amount.is_some_and(Amount::is_nothing) {
        losses.add(path, "has no counterpart, the model thinks as it does by default");
        return Ok(None);
    }
    Ok(responses(amount, path, model, losses))
}
