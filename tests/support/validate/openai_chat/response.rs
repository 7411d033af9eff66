//! Whole answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SCHEMA;
use crate::validate::openai::{self, Faults, list, text};

pub(in super::super) fn response(body: &Value) -> Vec<String> {
    let mut faults = Faults(SCHEMA.check("response", body, "body"));
    faults.unless(!text(body, "id").is_empty(), "id", "is empty");
    faults.unless(!text(body, "model").is_empty(), "model", "is empty");
    for (index, choice) in list(&body["choices"]).iter().enumerate() {
        faults.unless(choice["index"] == index, &format!("choices[{index}]"), "is not at its place");
        self::choice(choice, &format!("choices[{index}]"), &mut faults);
    }
    usage(&body["usage"], &mut faults);
    faults.0
}

/// A choice, as a whole or put together from a stream.
pub(super) fn choice(choice: &Value, path: &str, faults: &mut Faults) {
    let message = &choice["message"];
    let calls = list(&message["tool_calls"]);
    let reason = text(choice, "finish_reason");
    let is_cut = matches!(reason, "length" | "content_filter");
    match reason {
        "tool_calls" => faults.unless(!calls.is_empty(), path, "ends with tool_calls, and has none"),
        "function_call" => faults.unless(message["function_call"].is_object(), path, "has no function_call"),
        "stop" => faults.unless(calls.is_empty(), path, "has calls, and ends with stop"),
        _ => {}
    }
    let has = |member: &str| message.get(member).is_some_and(|value| !value.is_null());
    let says = is_cut || ["content", "tool_calls", "function_call", "refusal", "audio"].into_iter().any(has);
    faults.unless(says, path, "says nothing, not even an empty text");
    let empty = message["tool_calls"].as_array().is_some_and(Vec::is_empty);
    faults.unless(!empty, path, "tool_calls is an empty list");
    let mut ids = BTreeSet::new();
    for (index, call) in calls.iter().enumerate() {
        let path = format!("{path}.tool_calls[{index}]");
        faults.unless(
            !text(call, "id").is_empty() && ids.insert(text(call, "id")),
            &path,
            "its id is empty or there twice",
        );
        let kind = text(call, "type");
        faults.unless(!text(&call[kind], "name").is_empty(), &path, "has no name");
        if kind == "function" && !(is_cut && index + 1 == calls.len()) {
            openai::arguments(&call["function"]["arguments"], &path, faults);
        }
    }
    let length = text(message, "content").chars().count() as u64;
    for annotation in list(&message["annotations"]) {
        let citation = &annotation["url_citation"];
        let (start, end) = (citation["start_index"].as_u64(), citation["end_index"].as_u64());
        faults.unless(start <= end && end <= Some(length), path, format!("{citation} is not within the text"));
    }
}

/// Totals include their details.
pub(super) fn usage(usage: &Value, faults: &mut Faults) {
    if usage.is_null() {
        return;
    }
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let (prompt, completion) = (count("/prompt_tokens"), count("/completion_tokens"));
    faults.unless(count("/total_tokens") == prompt + completion, "usage", "total_tokens is not the sum");
    let of_prompt = count("/prompt_tokens_details/cached_tokens") + count("/prompt_tokens_details/cache_write_tokens");
    faults.unless(of_prompt <= prompt, "usage", "the prompt's details exceed it");
    let reasoning = count("/completion_tokens_details/reasoning_tokens");
    faults.unless(reasoning <= completion, "usage", "the reasoning exceeds the completion");
}
