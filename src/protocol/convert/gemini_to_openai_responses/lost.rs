//! What an answer may hold that a Responses client is not told, in the same words for whole answers and for streams.

use crate::protocol::convert::Losses;
use crate::protocol::gemini::wire::response::{Candidate, FinishReason};

/// Answers beside the first.
pub(super) fn candidates(losses: &mut Losses) {
    losses.add("candidates", "Responses has one answer; the others are left out");
}

/// A reason for the end that is not known.
pub(super) fn finish_reason(candidate: &Candidate<'_>, losses: &mut Losses) {
    if matches!(candidate.finish_reason, Some(FinishReason::Other(_))) {
        losses.add("candidates[0].finishReason", "is not known");
    }
}

/// A part of the content for which there is no item.
pub(super) fn part(index: usize, losses: &mut Losses) {
    losses.add(path(index), "Responses has no such item");
}

/// What the vendor carried out, which is kept for it and not shown.
pub(super) fn kept(index: usize, losses: &mut Losses) {
    losses.hint(path(index), "Responses has no item that shows it");
}

fn path(index: usize) -> String {
    format!("candidates[0].content.parts[{index}]")
}
