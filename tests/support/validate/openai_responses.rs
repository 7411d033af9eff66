//! OpenAI Responses.

use serde_json::Value;

pub(super) fn request(_body: &Value) -> Vec<String> {
    vec![]
}

pub(super) fn response(_body: &Value) -> Vec<String> {
    vec![]
}

pub(super) fn stream(_events: &[(String, String)]) -> Vec<String> {
    vec![]
}
