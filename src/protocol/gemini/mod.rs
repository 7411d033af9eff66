//! Gemini GenerateContent (<https://ai.google.dev/api/generate-content>).

pub mod capabilities;
pub mod error;
pub mod fold;
pub mod json_schema;
pub mod models;
pub mod path;
pub mod stream_writer;
pub mod turns;
pub mod unfold;
pub mod usage;
pub mod wire;

/// Stands for the signature of a function call that Gemini did not make, so that it does not ask for one
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
pub const SKIP_SIGNATURE: &str = "skip_thought_signature_validator";
