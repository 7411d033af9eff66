//! From Chat Completions to Gemini.

pub mod request;
pub mod response;
pub mod stream;
