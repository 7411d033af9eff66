//! What an answer may hold that a Claude client is not told, in the same words for whole answers and for streams.

use crate::protocol::convert::Losses;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::response::{Candidate, FinishReason};

/// Answers beside the first.
pub(super) fn candidates(candidates: &[Candidate<'_>], losses: &mut Losses) {
    if candidates.iter().any(|candidate| candidate.index.is_some_and(|index| index.0 > 0)) || candidates.len() > 1 {
        losses.add("candidates", "only the first answer is shown");
    }
}

/// What stands beside the content.
pub(super) fn members(candidate: &Candidate<'_>, losses: &mut Losses) {
    const PATH: &str = "candidates[0]";
    if matches!(candidate.finish_reason, Some(FinishReason::Other(_))) {
        losses.add(format!("{PATH}.finishReason"), "is not known");
    }
    for (name, is_there) in [
        ("logprobsResult", candidate.logprobs_result.is_some()),
        ("continuationToken", candidate.continuation_token.is_some()),
    ] {
        if is_there {
            losses.add(format!("{PATH}.{name}"), NO_COUNTERPART);
        }
    }
    for (name, is_there) in [
        ("safetyRatings", !candidate.safety_ratings.is_empty()),
        ("urlContextMetadata", candidate.url_context_metadata.is_some()),
        ("avgLogprobs", candidate.avg_logprobs.is_some()),
    ] {
        if is_there {
            losses.hint(format!("{PATH}.{name}"), NO_COUNTERPART);
        }
    }
}

/// A part of the content.
pub(super) fn part(part: &Part<'_>, index: usize, losses: &mut Losses) {
    let path = || format!("candidates[0].content.parts[{index}]");
    if part.inline_data.is_some() {
        losses.add(path(), "an answer of Claude is text");
    }
    if part.file_data.is_some() || part.audio_transcription.is_some() {
        losses.add(path(), NO_COUNTERPART);
    }
    if part.tool_call.is_some() || part.tool_response.is_some() {
        losses.hint(path(), "is kept, sealed, for the next turn");
    }
}
