//! From Gemini to Claude Messages.

pub mod request;
pub mod response;
pub mod stream;
