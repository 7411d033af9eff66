//! From Claude Messages to Responses.

pub mod request;
pub mod response;
pub mod stream;

mod client_tools;
mod content;
mod messages;
mod schema;
pub(super) mod sealed;
mod settings;
mod tools;
