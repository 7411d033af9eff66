//! From Chat Completions to Responses.

mod content;
mod messages;
pub mod request;
pub mod response;
pub mod stream;
mod tools;
