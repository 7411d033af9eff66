//! From Responses to Gemini.

pub mod request;
mod calls;
mod items;
mod media;
mod options;
mod outputs;
mod schema;
mod thinking;
mod tools;
pub mod response;
pub mod stream;
mod answer;
mod grounding;
#[cfg(test)]
mod tests;
