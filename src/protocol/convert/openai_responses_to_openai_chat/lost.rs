//! What an answer may hold that a Chat client is not told, in the same words for whole answers and for streams. `index` is the place of
//! an item in the output.

use crate::protocol::convert::Losses;
use crate::protocol::openai_responses::wire::content::{Annotation, Part};
use crate::protocol::openai_responses::wire::item::{Item, Message};
use crate::protocol::wire::TextOr;

/// Verdicts.
pub(super) fn moderation(losses: &mut Losses) {
    losses.add("moderation", "the verdicts have another form, left out");
}

/// Calls beside the first, for a client that knows one.
pub(super) fn calls(losses: &mut Losses) {
    losses.add("output", "has several calls, of which the first has a place");
}

/// What of `item` is not told.
pub(super) fn item(item: &Item<'_>, index: usize, losses: &mut Losses) {
    match item {
        Item::Message(said) => message(said, index, losses),
        Item::Reasoning(_) | Item::FunctionCall(_) | Item::CustomToolCall(_) => {}
        _ => losses.add_once(format_args!("output[{index}]"), "items of the provider's own tools, left out"),
    }
}

fn message(message: &Message<'_>, index: usize, losses: &mut Losses) {
    let TextOr::Structured(parts) = &message.content else { return };
    for (place, part) in parts.iter().enumerate() {
        match part {
            Part::OutputText(text) => {
                let is_page = |annotation: &Annotation<'_>| matches!(annotation, Annotation::UrlCitation(_));
                if !text.annotations.iter().flatten().all(is_page) {
                    let path = format!("output[{index}].content[{place}].annotations");
                    losses.add(path, "only citations of web pages can be told");
                }
            }
            Part::Refusal(_) | Part::ReasoningText(_) | Part::SummaryText(_) => {}
            _ => losses.add(format!("output[{index}].content[{place}]"), "a part of an unknown type, left out"),
        }
    }
}
