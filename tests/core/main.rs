//! The core within this process, with a fake of each port: what is sent to the database and in which order, and what
//! becomes of a request when something fails at the worst moment.

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

mod attempts;
mod batches;
mod commits;
mod continuations;
mod conversions;
mod credentials;
mod damaged_rows;
mod endings;
mod failover;
mod health;
mod keys;
mod leases;
mod loads;
mod publication;
mod readiness;
mod refresh;
mod reloads;
mod settlements;
mod ticks;
