//! What the application says in the course of a conversation, for vendors that know such words at its beginning only.
//!
//! It stays in its place, so that what comes before it is the same from turn to turn and is found in the prompt cache. There the user
//! says it, marked so that the model knows whose words they are.

/// What is said of words that are told like this.
pub const TOLD: &str = "is told as a notice in a user turn";

/// `text` as a notice.
pub fn notice(text: &str) -> String {
    format!("System notice: {text}")
}
