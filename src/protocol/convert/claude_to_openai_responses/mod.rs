//! From Claude Messages to Responses.

pub mod request;
pub mod response;
pub mod stream;

mod citations;
mod client_tools;
mod content;
mod ending;
mod hosted;
mod messages;
mod schema;
pub(super) mod sealed;
mod settings;
mod tools;
mod usage;

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod stream_tests;
