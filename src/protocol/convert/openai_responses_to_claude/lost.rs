//! What an answer may hold that a Claude client is not told, in the same words for whole answers and for streams. `index` is the place
//! of an item in the output.

use crate::protocol::convert::Losses;
use crate::protocol::openai_responses::wire::content::{Annotation, OutputText, Part};
use crate::protocol::openai_responses::wire::item::Message;
use crate::protocol::wire::TextOr;

/// An item that is not known.
pub(super) fn item(index: usize, losses: &mut Losses) {
    losses.add_once(format_args!("output[{index}]"), "an item of this type is not known to the client");
}

/// The text of a call's arguments, which a block of a whole answer cannot have as it is.
pub(super) fn arguments(index: usize, losses: &mut Losses) {
    let path = format!("output[{index}].arguments");
    losses.add(path, "the arguments are no JSON object, they are wrapped in one");
}

/// Parts of a message, and notes on its texts.
pub(super) fn message(message: &Message<'_>, index: usize, losses: &mut Losses) {
    let TextOr::Structured(parts) = &message.content else { return };
    for (place, part) in parts.iter().enumerate() {
        match part {
            Part::OutputText(part) => text(part, index, place, losses),
            Part::InputText(_) | Part::Refusal(_) => {}
            _ => losses
                .add(format!("output[{index}].content[{place}]"), "a part of this type is not known to the client"),
        }
    }
}

fn text(part: &OutputText<'_>, index: usize, place: usize, losses: &mut Losses) {
    if part.logprobs.as_ref().is_some_and(|logprobs| !logprobs.is_empty()) {
        let path = format_args!("output[{index}].content[{place}].logprobs");
        losses.hint_once(path, "the client knows no probabilities");
    }
    let is_foreign = |annotation: &Annotation<'_>| !matches!(annotation, Annotation::UrlCitation(_));
    if part.annotations.iter().flatten().any(is_foreign) {
        let path = format_args!("output[{index}].content[{place}].annotations");
        losses.hint_once(path, "files are cited in no way that the client knows");
    }
}
