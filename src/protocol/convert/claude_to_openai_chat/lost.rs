//! What an answer may hold that a Chat client is not told, in the same words for whole answers and for streams.

use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::convert::Losses;

/// The container that code ran in.
pub(super) fn container(losses: &mut Losses) {
    losses.hint("container", "has no counterpart");
}

/// A reason for the end that the client has no word for.
pub(super) fn stop_reason(reason: Option<&StopReason<'_>>, losses: &mut Losses) {
    match reason {
        Some(StopReason::PauseTurn | StopReason::Compaction) => {
            losses.add("stop_reason", "cannot be gone on with in this dialect");
        }
        Some(StopReason::Other(_)) => losses.add("stop_reason", "is not known"),
        _ => {}
    }
}

/// A block of the content for which there is no place.
pub(super) fn block(block: &ContentBlock<'_>, index: u64, losses: &mut Losses) {
    let path = format!("content[{index}]");
    match block {
        ContentBlock::Fallback(_) => losses.hint(path, "has no counterpart"),
        _ => losses.add(path, "has no counterpart in this dialect"),
    }
}

/// A citation of what is no page.
pub(super) fn citation(index: u64, losses: &mut Losses) {
    losses.add_once(format_args!("content[{index}].citations"), "cite what is no page of the web");
}

/// Calls beside the first, for a client that knows one.
pub(super) fn calls(losses: &mut Losses) {
    losses.add("content", "has several calls, of which the first has a place");
}
