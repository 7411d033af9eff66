//! From Claude Messages to Responses.

pub mod request;
pub mod response;
pub mod stream;

mod citations;
mod content;
mod ending;
mod functions;
mod hosted;
mod lost;
mod messages;
pub(super) mod sealed;
mod settings;
mod tools;
mod usage;

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod stream_tests;
