//! Claude Messages, after <https://platform.claude.com/docs/en/api/messages> and the faults that the API tells.

mod blocks;
mod conversation;
mod request;
mod stream;
mod tools;

use serde_json::Value;

use super::check::{Check, kind, list};

/// What the API would refuse.
pub(super) fn request(body: &Value) -> Vec<String> {
    let mut check = Check::default();
    request::check(&mut check, body);
    check.faults
}

/// What an SDK would not understand.
pub(super) fn response(body: &Value) -> Vec<String> {
    let mut check = Check::default();
    message(&mut check, "", body, true);
    let content = list(&body["content"]);
    for (index, block) in content.iter().enumerate() {
        blocks::answer(&mut check, &format!("content[{index}]"), block);
    }
    let has_calls = content.iter().any(|block| kind(block) == "tool_use");
    stop(&mut check, "stop_reason", &body["stop_reason"], has_calls);
    check.faults
}

/// What an SDK would not understand.
pub(super) fn stream(events: &[(String, String)]) -> Vec<String> {
    stream::check(events)
}

const STOP_REASONS: [&str; 8] = [
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
];

const USAGE: &str = "cache_creation_input_tokens:count? cache_read_input_tokens:count? output_tokens:count! \
    output_tokens_details:obj? server_tool_use:obj? iterations:any? fallback_credit:any?";

/// The members of a message, whole or at its start.
fn message(check: &mut Check, at: &str, message: &Value, is_whole: bool) {
    check.members(
        at,
        message,
        "id:text! type:(message)! role:(assistant)! model:text! content:list! stop_reason:text!? stop_sequence:str!? \
         stop_details:obj? container:obj? diagnostics:obj? usage:obj! context_management:any? input_transformations:any?",
    );
    check.require(
        message["stop_reason"].is_string() == is_whole,
        at,
        "stop_reason is for the end, and has to be there",
    );
    let usage = format!(
        "{USAGE} input_tokens:count! cache_creation:obj? service_tier:(standard|priority|batch)? inference_geo:str? \
         speed:(standard|fast)?"
    );
    check.members(&format!("{at}.usage"), &message["usage"], &usage);
}

/// Whether the reason goes with the content.
fn stop(check: &mut Check, at: &str, reason: &Value, has_calls: bool) {
    check.word(at, reason, &STOP_REASONS);
    match reason.as_str() {
        Some("tool_use") => check.require(has_calls, at, "tool_use without a call"),
        Some("end_turn") => check.require(!has_calls, at, "end_turn though there is a call"),
        _ => {}
    }
}
