//! What an answer may hold that a Chat client is not told, in the same words for whole answers and for streams.

use super::answer;
use crate::protocol::convert::Losses;
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::gemini::wire::response::{Candidate, FinishReason};

/// What stands beside the content of the answer at `place`.
pub(super) fn members(candidate: &Candidate<'_>, place: u64, losses: &mut Losses) {
    let path = |member: &str| format!("candidates[{place}].{member}");
    if matches!(candidate.finish_reason, Some(FinishReason::Unspecific | FinishReason::Other(_))) {
        losses.add(path("finishReason"), NO_COUNTERPART);
    }
    if candidate.url_context_metadata.is_some() {
        losses.hint(path("urlContextMetadata"), NO_COUNTERPART);
    }
    if candidate.continuation_token.is_some() {
        losses.hint(path("continuationToken"), NO_COUNTERPART);
    }
    if candidate.grounding_metadata.is_some() {
        losses.hint(path("groundingMetadata"), "only its sources are told, as annotations");
    }
}

/// A part of the content of the answer at `place`, if there is no place for it.
pub(super) fn part(part: &Part<'_>, index: u64, place: u64, losses: &mut Losses) {
    let reason = if part.function_call.is_some() || part.text.is_some() {
        return;
    } else if part.executable_code.is_some() || part.code_execution_result.is_some() {
        "code that the vendor has run has no place in Chat Completions"
    } else if part.tool_call.is_some() || part.tool_response.is_some() {
        "calls that the vendor has carried out have no place in Chat Completions"
    } else if answer::is_image(part) {
        return;
    } else if part.inline_data.is_some() || part.file_data.is_some() {
        "media in answers have no place in Chat Completions"
    } else if part.thought_signature.as_ref().is_some_and(|signature| !signature.is_empty()) || *part == Part::default()
    {
        return;
    } else {
        NO_COUNTERPART
    };
    losses.add(format!("candidates[{place}].content.parts[{index}]"), reason);
}
