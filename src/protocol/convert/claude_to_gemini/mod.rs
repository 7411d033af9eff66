//! From Claude Messages to Gemini.

pub mod request;
pub mod response;
pub mod stream;
