//! Gemini GenerateContent, after <https://ai.google.dev/api/generate-content> and the faults that the API tells.

mod answer;
mod content;
mod request;
mod schema;
mod tools;

use serde_json::Value;

use super::check::Check;
#[cfg(test)]
use super::check::check_corpus;

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

#[test]
fn the_vendors_answers_are_accepted() {
    check_corpus(
        "gemini/response",
        &|text| response(&serde_json::from_str(text).unwrap()),
        &[
            // Cut down to what matters, and of tomorrow.
            "b38-usage-thoughts-and-cache",
            "b50-prohibited-content",
            "text-without-index-and-details",
            "finish-reason-unknown",
        ],
    );
}

#[test]
fn the_vendors_streams_are_accepted() {
    check_corpus(
        "gemini/stream",
        &|text| stream(&super::events(text)),
        &[
            "b28-cut-without-finish",
            "finish-reason-unknown",
            // Their last events are made up, with names of their own.
            "image-generated",
            "usage-after-finish",
        ],
    );
}

#[test]
fn valid_requests_are_accepted() {
    check_corpus(
        "gemini/request",
        &|text| request(&serde_json::from_str(text).unwrap()),
        &[
            "b05-call-without-result",
            "b05-result-without-call",
            "b47-empty-text-parts",
            // The API takes these from clients, but nothing that is written here should need it.
            "null-members",
            "tool-result-without-ids",
            "tool-schema-complete",
        ],
    );
}
