//! From Chat Completions to Gemini.

pub mod request;
pub mod response;
pub mod stream;

mod answer;
mod calls;
mod choice;
mod generation;
mod lost;
mod media;
mod messages;
mod thinking;
mod tools;

#[cfg(test)]
mod tests;
