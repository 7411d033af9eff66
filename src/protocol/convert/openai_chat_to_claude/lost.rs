//! What an answer may hold that a Claude client is not told, in the same words for whole answers and for streams.

use super::answer;
use crate::protocol::convert::Losses;
use crate::protocol::openai_chat::wire::content::Part;
use crate::protocol::openai_chat::wire::response::FinishReason;

/// Answers beside the first.
pub(super) fn choices(losses: &mut Losses) {
    losses.add("choices", "are several, of which Claude's answer has the first");
}

/// How likely the tokens were.
pub(super) fn logprobs(losses: &mut Losses) {
    losses.add("choices[0].logprobs", "has no counterpart");
}

/// Sound.
pub(super) fn audio(losses: &mut Losses) {
    losses.add("choices[0].message.audio", "is told by its transcript");
}

/// Verdicts.
pub(super) fn moderation(losses: &mut Losses) {
    losses.add("moderation", "has no counterpart");
}

/// Notes on the text that are none about a page.
pub(super) fn annotations(losses: &mut Losses) {
    losses.add("choices[0].message.annotations", "are of a kind that is not known");
}

/// A reason for the end that is not known.
pub(super) fn finish_reason(reason: Option<&FinishReason<'_>>, losses: &mut Losses) {
    if matches!(reason, Some(FinishReason::Other(_))) {
        losses.add("choices[0].finish_reason", "is not known");
    }
}

/// A part of the content, if it is lost.
pub(super) fn part(part: &Part<'_>, index: usize, losses: &mut Losses) {
    let reason = match part {
        Part::Text(_) | Part::Refusal(_) => return,
        Part::Other(raw) if answer::thinking_part(raw).is_some() => return,
        Part::Other(_) => "is of a kind that is not known",
        Part::ImageUrl(_) | Part::InputAudio(_) | Part::File(_) => "has no counterpart in an answer",
    };
    losses.add(format!("choices[0].message.content[{index}]"), reason);
}
