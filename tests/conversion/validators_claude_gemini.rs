//! The validators of Claude and Gemini themselves: what the vendors send they accept.

use serde_json::Value;
use tollgate::protocol::dialect::Dialect;

use crate::validate;

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Runs a validator over the cases of a corpus and compares what it finds with what is expected: the names of the cases that have
/// faults.
fn check_corpus(folder: &str, validate: &dyn Fn(&str) -> Vec<String>, faulty: &[&str]) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    let mut wrong = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let faults = validate(&std::fs::read_to_string(&path).unwrap());
        match (faulty.contains(&&*name), faults.is_empty()) {
            (true, true) => wrong.push(format!("{name} should have faults")),
            (false, false) => wrong.push(format!("{name}: {}", faults.join("\n    "))),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n  "));
}

#[test]
fn claude_the_vendors_answers_are_accepted() {
    check_corpus(
        "claude/response",
        &|text| validate::response(Dialect::Claude, &value(text)),
        &[
            // Of a compatible vendor, and of tomorrow.
            "thinking-without-signature",
            "unknown-block-and-reason",
        ],
    );
}

#[test]
fn claude_the_vendors_streams_are_accepted() {
    check_corpus(
        "claude/stream",
        &|text| validate::stream(Dialect::Claude, &validate::events(text)),
        &[
            "cut-without-message-stop",
            // Of a compatible vendor, and of tomorrow.
            "thinking-without-signature",
            "unknown-events-blocks-and-deltas",
        ],
    );
}

#[test]
fn claude_valid_requests_are_accepted() {
    check_corpus(
        "claude/request",
        &|text| validate::request(Dialect::Claude, &value(text)),
        &[
            "b05-tool-result-without-use",
            "b05-tool-use-without-result",
            "b13-thinking-empty-signature",
            "b47-empty-text-blocks",
            "b83-temperature-and-top-p",
            // For another endpoint, with a beta flag, for a compatible vendor, and of tomorrow.
            "count-tokens",
            "thinking-interleaved",
            "thinking-without-signature",
            "unknown-kinds",
        ],
    );
}

#[test]
fn gemini_the_vendors_answers_are_accepted() {
    check_corpus(
        "gemini/response",
        &|text| validate::response(Dialect::Gemini, &value(text)),
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
fn gemini_the_vendors_streams_are_accepted() {
    check_corpus(
        "gemini/stream",
        &|text| validate::stream(Dialect::Gemini, &validate::events(text)),
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
fn gemini_valid_requests_are_accepted() {
    check_corpus(
        "gemini/request",
        &|text| validate::request(Dialect::Gemini, &value(text)),
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
