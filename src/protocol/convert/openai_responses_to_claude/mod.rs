//! From Responses to Claude Messages.

pub mod request;
pub mod response;
pub mod stream;

mod answer;
mod choice;
mod client_tools;
mod content;
mod ending;
mod hosted;
mod lost;
mod items;
mod settings;
mod thinking;
mod tools;

#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod stream_tests;
