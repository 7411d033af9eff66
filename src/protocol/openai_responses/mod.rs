//! OpenAI Responses (<https://developers.openai.com/api/reference/resources/responses>).

pub mod echo;
pub mod error;
pub mod local_tools;
pub mod usage;
pub mod wire;
