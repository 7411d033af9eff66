//! From Responses to Claude Messages.

pub mod request;
pub mod response;
pub mod stream;
