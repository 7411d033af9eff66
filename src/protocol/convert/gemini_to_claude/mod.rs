//! From Gemini to Claude Messages.

pub mod request;
pub mod response;
pub mod stream;

mod computer_use;
mod generation;
mod media;
mod messages;
mod results;
mod thinking;
mod tools;
