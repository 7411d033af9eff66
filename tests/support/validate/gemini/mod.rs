//! Gemini GenerateContent, after <https://ai.google.dev/api/generate-content> and the faults that the API tells.

mod answer;
mod content;
mod request;
mod schema;
mod tools;

use serde_json::Value;

use super::check::Check;

/// What the API would refuse.
pub(super) fn request(body: &Value) -> Vec<String> {
    let mut check = Check::default();
    request::check(&mut check, body);
    check.faults
}

/// What an SDK would not understand.
pub(super) fn response(body: &Value) -> Vec<String> {
    let mut check = Check::default();
    answer::whole(&mut check, body);
    check.faults
}

/// What an SDK would not understand.
pub(super) fn stream(events: &[(String, String)]) -> Vec<String> {
    answer::stream(events)
}
