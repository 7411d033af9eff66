//! From Responses to Chat Completions.

mod content;
mod end;
mod input;
mod notes;
pub mod request;
pub mod response;
pub mod stream;
#[cfg(test)]
mod tests;
mod tools;
mod turns;
