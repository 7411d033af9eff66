//! From Gemini to Responses.

pub mod request;
mod contents;
mod media;
mod options;
mod results;
pub(super) mod thinking;
mod tools;
pub mod response;
pub mod stream;
mod calls;
mod ending;
mod grounding;
mod hosted;
mod lost;
#[cfg(test)]
mod tests;
