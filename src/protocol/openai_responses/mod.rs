//! OpenAI Responses (<https://developers.openai.com/api/reference/resources/responses>).

pub mod echo;
pub mod error;
pub mod fault;
pub mod fold;
pub mod ids;
pub mod local_tools;
pub mod stream_writer;
pub mod unfold;
pub mod usage;
pub mod wire;
