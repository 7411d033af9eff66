//! From Chat Completions to Responses.

pub mod request;
pub mod response;
pub mod stream;
