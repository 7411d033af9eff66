//! What an answer may hold that a Gemini client is not told, in the same words for whole answers and for streams.

use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::convert::Losses;
use crate::protocol::convert::loss::NO_COUNTERPART;

/// A reason for the end that is not known.
pub(super) fn stop_reason(reason: Option<&StopReason<'_>>, losses: &mut Losses) {
    if matches!(reason, Some(StopReason::Other(_))) {
        losses.add("stop_reason", "is not known");
    }
}

/// The container that code ran in.
pub(super) fn container(losses: &mut Losses) {
    losses.hint("container", NO_COUNTERPART);
}

/// A block of the content of which nothing is shown.
pub(super) fn block(block: &ContentBlock<'_>, index: usize, losses: &mut Losses) {
    let path = format!("content[{index}]");
    match block {
        ContentBlock::Fallback(_) | ContentBlock::McpToolListing(_) => losses.hint(path, NO_COUNTERPART),
        _ => losses.add(path, NO_COUNTERPART),
    }
}

/// A call that the vendor carried out and of which nothing is shown.
pub(super) fn call(index: usize, losses: &mut Losses) {
    losses.add(format!("content[{index}]"), NO_COUNTERPART);
}
