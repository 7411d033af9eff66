//! From Responses to Gemini.

pub mod request;
pub mod response;
pub mod stream;

mod answer;
mod calls;
mod grounding;
mod items;
mod lost;
mod media;
mod options;
mod outputs;
mod thinking;
mod tools;

#[cfg(test)]
mod tests;
