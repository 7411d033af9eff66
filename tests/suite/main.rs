//! The black-box suite: it speaks HTTP to a gateway and plays the vendors behind it.
//!
//! The same cases run on both hosts: `TOLLGATE_SUITE_HOST=worker` takes the one in the Workers runtime. What only a
//! process has is in [`native`]; on the other host those cases fail with a hint unless they are left out in the open, by
//! `--skip native::`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs,
    unreachable_pub
)]

#[path = "../support/mod.rs"]
mod support;

// The validators name each other by this path, since other test crates have them at their root.
use support::validate;

mod check;

mod authentication;
mod conversion;
mod disconnect;
mod export;
mod failover;
mod gemini_path;
mod headers;
mod health;
mod heartbeat;
mod import;
mod models;
mod native;
mod passthrough;
mod probe;
mod readiness;
mod recovery;
mod refresh;
mod request_error;
mod rewrite;
mod round_trips;
mod routing;
mod scale;
mod stream;
mod upstream_error;
mod usage;
