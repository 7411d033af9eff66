//! From Claude Messages to Chat Completions.

pub mod request;
pub mod response;
pub mod stream;
