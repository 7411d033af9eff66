//! Gemini GenerateContent (<https://ai.google.dev/api/generate-content>).

pub mod capabilities;
pub mod error;
pub mod json_schema;
pub mod models;
pub mod path;
pub mod stream_writer;
pub mod turns;
pub mod usage;
pub mod wire;
