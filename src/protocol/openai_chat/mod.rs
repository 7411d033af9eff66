//! OpenAI Chat Completions (<https://developers.openai.com/api/reference/resources/chat>), and what OpenAI's two dialects
//! share.

pub mod capabilities;
pub mod chunks;
pub mod error;
pub mod fault;
pub mod fold;
pub mod frame;
pub mod models;
pub mod stream;
pub mod stream_writer;
pub mod unfold;
pub mod usage;
pub mod wire;
