//! The vendors' wire formats. Pure: no I/O, no async, no platform.
//!
//! Four dialects are spoken on both sides of the gateway. Where client and upstream speak the same one, a request is only
//! [read shallowly](request) and its bytes go on; what is metered is [read on the side](meter).

pub mod claude;
pub mod continuation;
pub mod convert;
pub mod dialect;
pub mod error;
pub mod few;
pub mod foreign;
pub mod gemini;
mod glance;
#[cfg(test)]
#[path = "../../tests/support/golden.rs"]
mod golden;
pub mod hash;
pub mod headers;
pub mod json;
mod members;
pub mod meter;
pub mod models;
pub mod openai_chat;
pub mod openai_responses;
pub mod opening;
pub mod operation;
pub mod rate_limits;
pub mod request;
pub mod session;
pub mod sse;
pub mod time;
pub mod usage;
pub mod wire;
