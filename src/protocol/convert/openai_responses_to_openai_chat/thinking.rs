//! How much the model thinks.

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::capabilities::{Capabilities, ChatTools};
use crate::protocol::openai_responses::wire::request::{Effort as Source, Request};

const PATH: &str = "reasoning.effort";

/// The effort that stands for what the client asks for; `last` is what the input says about it.
pub(super) fn effort(
    request: &Request<'_>,
    last: Option<&Source<'_>>,
    has_tools: bool,
    model: Capabilities,
    losses: &mut Losses,
) -> Result<Option<Effort>, ConvertError> {
    let asked = last.or_else(|| request.reasoning.as_ref()?.effort.as_ref());
    let wanted = asked.and_then(|effort| Effort::from_word(effort.as_str()));
    if asked.is_some() && wanted.is_none() {
        losses.add(PATH, "is not known, the model thinks as it does by default");
    }
    match model.chat_tools {
        ChatTools::WithoutReasoning if has_tools => {
            if wanted.unwrap_or(model.default_effort) != Effort::None {
                losses.add(PATH, "is none, this model takes tools in this dialect only if it does not think");
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
    let Some(wanted) = wanted else { return Ok(None) };
    if model.efforts.is_empty() {
        if wanted != Effort::None {
            losses.add(PATH, "has no counterpart, this model does not think");
        }
        return Ok(None);
    }
    if wanted == Effort::None && !model.openai {
        losses.add(PATH, "has no counterpart, the model thinks as it does by default");
        return Ok(None);
    }
    let nearest = wanted.nearest(model.efforts);
    if nearest != wanted {
        losses.add(PATH, "is not an effort of this model, the nearest one stands for it");
    }
    Ok(Some(nearest))
}
