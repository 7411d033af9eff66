//! How much a model thinks: budget, adaptive thinking and effort of Claude, as budget or level of Gemini.

use crate::protocol::claude::wire::request::{Display, Effort as Word, MessagesRequest, Thinking};
use crate::protocol::convert::effort::{Amount, Effort};
use crate::protocol::convert::to_gemini::thinking::config;
use crate::protocol::convert::{Losses, Notes};
use crate::protocol::gemini::wire::request::ThinkingConfig;

/// The thinking that `request` asks for, in the measure of the model `name`; `None` leaves it to the model.
pub(super) fn thinking_config<'a>(
    request: &MessagesRequest<'_>,
    name: &str,
    notes: &mut Notes,
) -> Option<ThinkingConfig<'a>> {
    let (amount, is_shown) = asked(request, &mut notes.losses);
    let path = if amount != Some(Amount::NOTHING) && matches!(amount, Some(Amount::Effort(_))) {
        "output_config.effort"
    } else {
        "thinking"
    };
    config(amount, is_shown.then_some(true), path, name, &mut notes.losses)
}

/// How much is asked for, and whether the client wants to see it.
fn asked(request: &MessagesRequest<'_>, losses: &mut Losses) -> (Option<Amount>, bool) {
    let effort = effort(request);
    let shown = |display: &Option<Display<'_>>| !matches!(display, Some(Display::Omitted));
    match &request.thinking {
        Some(Thinking::Enabled(thinking)) => (Some(Amount::Tokens(thinking.budget_tokens)), shown(&thinking.display)),
        Some(Thinking::Adaptive(thinking)) => {
            (Some(effort.map_or(Amount::Free, Amount::Effort)), shown(&thinking.display))
        }
        Some(Thinking::Disabled(_)) => (Some(Amount::NOTHING), false),
        Some(Thinking::BetweenTools(_)) => {
            losses.add("thinking", "progress between tools is not told");
            (Some(Amount::NOTHING), false)
        }
        Some(Thinking::Other(_)) => {
            losses.add("thinking", "is not known");
            (None, false)
        }
        None => (effort.map(Amount::Effort), false),
    }
}

/// The effort that holds for the answer: that of the last system message that sets one, else that of the request.
fn effort(request: &MessagesRequest<'_>) -> Option<Effort> {
    let later = request.messages.iter().rev().find_map(|message| message.output_config.as_ref()?.effort.as_ref());
    let first = || request.output_config.as_ref()?.effort.as_ref();
    later.or_else(first).map(Word::as_str).and_then(Effort::from_word)
}
