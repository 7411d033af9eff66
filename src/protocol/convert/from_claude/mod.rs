//! What the three pairs from Claude have in common.

pub mod built_in_tools;

use serde::Deserialize;

use crate::protocol::wire::{Raw, Text};

/// Begins a system block that Claude Code writes for the bill of Claude's vendor alone, and that differs from request to request.
pub const BILLING_HEADER: &str = "x-anthropic-billing-header:";

/// What is said of such a block.
pub const FOR_THE_BILL: &str = "is for the bill of Claude's vendor, and left out";

/// Whether `context_management` edits anything but thinking, which other vendors drop by themselves.
pub fn edits_context(edits: &Raw<'_>) -> bool {
    #[derive(Deserialize)]
    struct Edits<'a> {
        #[serde(borrow, default)]
        edits: Vec<Edit<'a>>,
    }
    #[derive(Deserialize)]
    struct Edit<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
    }
    !edits
        .read::<Edits<'_>>()
        .is_ok_and(|edits| edits.edits.iter().all(|edit| edit.kind.starts_with("clear_thinking_")))
}
