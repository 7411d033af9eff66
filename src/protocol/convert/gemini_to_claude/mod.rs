//! From Gemini to Claude Messages.

pub mod request;
pub mod response;
pub mod stream;

mod citations;
mod computer_use;
mod ending;
mod generation;
mod lost;
mod media;
mod messages;
mod pieces;
mod results;
#[cfg(test)]
mod tests;
mod tools;
