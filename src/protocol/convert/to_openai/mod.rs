//! What the pairs towards OpenAI's two dialects have in common.

pub mod effort;
pub mod schema;
