//! From Claude Messages to Chat Completions.

pub mod request;
pub mod response;
pub mod stream;

pub mod answer;
pub mod content;
mod lost;
pub mod messages;
pub mod models;
pub mod results;
pub mod thinking;
pub mod tools;

#[cfg(test)]
mod tests;
