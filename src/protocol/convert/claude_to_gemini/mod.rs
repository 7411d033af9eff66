//! From Claude Messages to Gemini.

pub mod request;
pub mod response;
pub mod stream;

mod ending;
mod grounding;
mod kept;
mod lost;
mod media;
mod messages;
mod results;
mod server_tools;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;
