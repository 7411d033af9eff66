//! What the three pairs towards Gemini have in common.

pub mod answer_format;
pub mod media;
pub mod thinking;
pub mod tools;
