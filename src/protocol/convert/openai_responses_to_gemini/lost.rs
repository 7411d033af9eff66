//! What an answer may hold that a Gemini client is not told, in the same words for whole answers and for streams. `index` is the place
//! of an item in the output.

use super::answer;
use crate::protocol::convert::Losses;
use crate::protocol::openai_responses::wire::content::{Annotation, Part};
use crate::protocol::openai_responses::wire::item::{Item, Message};
use crate::protocol::wire::TextOr;

const NO_PART: &str = "Gemini has no such part";

/// What of `item` is not told, but for arguments of calls.
pub(super) fn item(item: &Item<'_>, index: usize, losses: &mut Losses) {
    match item {
        Item::Message(said) => message(said, index, losses),
        Item::ImageGenerationCall(call) if !answer::has_image(call) => {
            losses.add(format!("output[{index}]"), "the image was not made");
        }
        Item::FunctionCall(_)
        | Item::CustomToolCall(_)
        | Item::Reasoning(_)
        | Item::WebSearchCall(_)
        | Item::CodeInterpreterCall(_)
        | Item::ImageGenerationCall(_) => {}
        _ => losses.add(format!("output[{index}]"), NO_PART),
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
                    losses.add(path, "Gemini cites pages only");
                }
            }
            Part::Refusal(_) => {}
            _ => losses.add(format!("output[{index}].content[{place}]"), NO_PART),
        }
    }
}

/// A call whose arguments are no object.
pub(super) fn arguments(index: usize, losses: &mut Losses) {
    losses.add(format!("output[{index}].arguments"), "a call whose arguments are no JSON object is left out");
}
