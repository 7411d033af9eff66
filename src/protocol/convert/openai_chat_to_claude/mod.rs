//! From Chat Completions to Claude Messages.

pub mod request;
pub mod response;
pub mod stream;

pub mod answer;
pub mod cache;
pub mod calls;
pub mod citations;
mod lost;
pub mod content;
pub mod messages;
pub mod thinking;
pub mod tools;

#[cfg(test)]
mod tests;
