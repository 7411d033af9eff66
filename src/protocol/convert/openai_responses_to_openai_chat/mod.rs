//! From Responses to Chat Completions.

mod content;
mod end;
mod input;
mod lost;
mod notes;
pub mod request;
pub mod response;
pub mod stream;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;
mod turns;
