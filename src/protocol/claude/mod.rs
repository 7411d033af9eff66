//! Claude Messages (<https://platform.claude.com/docs/en/api/messages>).

pub mod capabilities;
pub mod error;
pub mod fold;
pub mod models;
pub mod stream_writer;
pub mod turns;
pub mod unfold;
pub mod usage;
pub mod wire;
