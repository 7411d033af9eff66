//! What an answer may hold that a Responses client is not told, in the same words for whole answers and for streams.

use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::convert::Losses;

/// The text that ended the answer.
pub(super) fn stop_sequence(losses: &mut Losses) {
    losses.hint_once("stop_sequence", "which text ended the answer is not told");
}

/// A reason for the end that is not known.
pub(super) fn stop_reason(reason: Option<&StopReason<'_>>, losses: &mut Losses) {
    if matches!(reason, Some(StopReason::Other(_))) {
        losses.add("stop_reason", "is not known");
    }
}

/// A block of the content.
pub(super) fn block(index: u64, losses: &mut Losses) {
    losses.add_once(format_args!("content[{index}]"), "a block of this type is not known to the client");
}

/// A citation of what is no page.
pub(super) fn citation(index: u64, losses: &mut Losses) {
    losses.hint_once(format_args!("content[{index}].citations"), "places in documents of the request are not told");
}
