//! From Claude Messages to Gemini.

pub mod request;
pub mod response;
pub mod stream;

mod built_in_tools;
mod kept;
mod media;
mod messages;
mod results;
mod thinking;
mod tools;
