//! Whole answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SCHEMA;
use crate::validate::openai::{self, Faults, list, text};

pub(in super::super) fn response(body: &Value) -> Vec<String> {
    let mut faults = Faults(SCHEMA.check("response", body, "body"));
    self::body(body, &mut faults);
    faults.0
}

/// What the types do not say.
pub(super) fn body(body: &Value, faults: &mut Faults) {
    faults.unless(text(body, "id").starts_with("resp_"), "id", "has to begin with resp_");
    faults.unless(!text(body, "model").is_empty(), "model", "is empty");
    let status = text(body, "status");
    faults.unless(body["error"].is_object() == (status == "failed"), "error", format!("does not go with {status}"));
    let reason = &body["incomplete_details"]["reason"];
    faults.unless(
        reason.is_string() == (status == "incomplete"),
        "incomplete_details",
        format!("does not go with {status}"),
    );
    let has_ended = matches!(status, "completed" | "incomplete");
    faults.unless(!has_ended || body["usage"].is_object(), "usage", "is missing");
    usage(&body["usage"], faults);
    let mut ids = BTreeSet::new();
    for (index, item) in list(&body["output"]).iter().enumerate() {
        let path = format!("output[{index}]");
        faults.unless(ids.insert(text(item, "id")), &path, "its id is there twice");
        self::item(item, &path, faults);
        let is_open = item["status"] == "in_progress";
        faults.unless(!(has_ended && is_open), &path, "is in progress in an answer that has ended");
        let is_cut = status == "completed" && item["status"] == "incomplete";
        faults.unless(!is_cut, &path, "is incomplete in an answer that is complete");
    }
}

/// An item that is whole.
pub(super) fn item(item: &Value, path: &str, faults: &mut Faults) {
    let id = text(item, "id");
    let is_whole = item["status"] == "completed";
    match text(item, "type") {
        "message" => {
            faults.unless(id.starts_with("msg_"), path, format!("{id:?} has to begin with msg_"));
            list(&item["content"]).iter().for_each(|part| annotations(part, path, faults));
            faults.unless(!list(&item["content"]).is_empty() || !is_whole, path, "a whole message has no content");
        }
        "reasoning" => faults.unless(id.starts_with("rs_"), path, format!("{id:?} has to begin with rs_")),
        "function_call" => {
            faults.unless(id.starts_with("fc_"), path, format!("{id:?} has to begin with fc_"));
            faults.unless(!text(item, "call_id").is_empty(), path, "has no call_id");
            faults.unless(!text(item, "name").is_empty(), path, "has no name");
            if is_whole {
                openai::arguments(&item["arguments"], path, faults);
            }
        }
        "custom_tool_call" => {
            faults.unless(id.starts_with("ctc_"), path, format!("{id:?} has to begin with ctc_"));
            faults.unless(!text(item, "call_id").is_empty(), path, "has no call_id");
        }
        _ => {}
    }
}

fn annotations(part: &Value, path: &str, faults: &mut Faults) {
    let length = text(part, "text").chars().count() as u64;
    for annotation in list(&part["annotations"]) {
        let (start, end) = (annotation["start_index"].as_u64(), annotation["end_index"].as_u64());
        let is_within = start <= end && end.is_none_or(|end| end <= length);
        faults.unless(is_within, path, format!("{annotation} is not within the text"));
    }
}

/// Totals include their details.
fn usage(usage: &Value, faults: &mut Faults) {
    if usage.is_null() {
        return;
    }
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let (input, output) = (count("/input_tokens"), count("/output_tokens"));
    faults.unless(count("/total_tokens") == input + output, "usage", "total_tokens is not the sum");
    let of_input = count("/input_tokens_details/cached_tokens") + count("/input_tokens_details/cache_write_tokens");
    faults.unless(of_input <= input, "usage", "the input's details exceed it");
    let reasoning = count("/output_tokens_details/reasoning_tokens");
    faults.unless(reasoning <= output, "usage", "the reasoning exceeds the output");
}
