//! What an answer may hold that a Gemini client is not told, in the same words for whole answers and for streams. `index` is the place of
//! the answer among the answers.

use super::answer;
use crate::protocol::convert::Losses;
use crate::protocol::openai_chat::wire::content::Part;
use crate::protocol::openai_chat::wire::message::ReasoningDetail;
use crate::protocol::openai_chat::wire::response::FinishReason;

/// Verdicts.
pub(super) fn moderation(losses: &mut Losses) {
    losses.hint("moderation", "has no counterpart at Gemini");
}

/// A reason for the end that is not known.
pub(super) fn finish_reason(reason: Option<&FinishReason<'_>>, index: usize, losses: &mut Losses) {
    if let Some(FinishReason::Other(_)) = reason {
        losses.add(format!("choices[{index}].finish_reason"), "is not known to Gemini");
    }
}

/// Sound.
pub(super) fn audio(index: usize, losses: &mut Losses) {
    losses.add(format!("choices[{index}].message.audio"), "is told in words, since its format is not known");
}

/// What seals the reasoning.
pub(super) fn seals(details: Option<&[ReasoningDetail<'_>]>, index: usize, losses: &mut Losses) {
    let has_secrets = |detail: &ReasoningDetail<'_>| match detail {
        ReasoningDetail::Text(detail) => detail.signature.is_some(),
        ReasoningDetail::Encrypted(_) => true,
        _ => false,
    };
    if details.unwrap_or_default().iter().any(has_secrets) {
        let path = format!("choices[{index}].message.reasoning_details");
        losses.hint(path, "signatures of this vendor's thinking are not handed on");
    }
}

/// A part of the content at `place`, if it is lost.
pub(super) fn part(part: &Part<'_>, place: usize, index: usize, losses: &mut Losses) {
    match part {
        Part::Text(_) | Part::Refusal(_) => {}
        Part::Other(raw) if answer::thoughts_of_part(raw).is_some() => {}
        _ => losses
            .add(format!("choices[{index}].message.content[{place}]"), "is of a kind that is not known in answers"),
    }
}

/// A call at `place`, or the legacy form of one, whose arguments cannot be read.
pub(super) fn arguments(place: Option<usize>, index: usize, losses: &mut Losses) {
    let path = match place {
        Some(place) => format!("choices[{index}].message.tool_calls[{place}]"),
        None => format!("choices[{index}].message.function_call"),
    };
    losses.add(path, "has arguments that are no JSON object, which Gemini cannot say");
}
