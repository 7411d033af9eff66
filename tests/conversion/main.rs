//! The conversions against the corpora of `tests/golden/`.
//!
//! Beside each case stands its snapshot for each other dialect, in a folder `to_DIALECT`. To write them anew after a change, and
//! then to read what changed: `TOLLGATE_UPDATE_GOLDEN=claude_to_gemini cargo test --test conversion`, or `=all`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs,
    unreachable_pub
)]

mod corpus;
mod losses;
mod requests;
mod responses;
mod round_trips;
mod streams;
mod validators_claude_gemini;
mod validators_openai;
#[path = "../support/validate/mod.rs"]
mod validate;
mod writers;
