//! From Gemini to Chat Completions.

pub mod request;
pub mod response;
pub mod stream;

mod answer;
mod calls;
mod format;
mod generation;
mod grounding;
mod lost;
mod media;
mod messages;
mod thinking;
mod tools;

#[cfg(test)]
mod tests;
