//! From Responses to Chat Completions.

mod content;
mod input;
pub mod request;
pub mod response;
pub mod stream;
mod tools;
mod turns;
