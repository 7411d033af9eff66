//! What the three pairs towards Claude have in common.

pub mod answer_format;
pub mod content;
pub mod conversation;
pub mod sampling;
pub mod schema;
pub mod thinking;
pub mod tools;
