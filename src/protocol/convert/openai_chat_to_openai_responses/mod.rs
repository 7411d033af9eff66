//! From Chat Completions to Responses.

mod calls;
mod content;
mod end;
mod messages;
mod lost;
mod notes;
pub mod request;
pub mod response;
pub mod stream;
#[cfg(test)]
mod tests;
mod thinking;
mod thoughts;
mod tools;
