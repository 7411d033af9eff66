//! The events of a stream.

use serde_json::Value;

use super::super::check::{Check, kind};
use super::{USAGE, blocks, message, stop};

/// Where a stream is.
#[derive(Default)]
struct State {
    check: Check,
    has_started: bool,
    has_ended: bool,
    is_over: bool,
    next: u64,
    open: Option<Open>,
    has_calls: bool,
    /// Calls whose arguments are no JSON.
    broken: usize,
}

/// The block that is open.
struct Open {
    kind: String,
    json: String,
    text: String,
    is_signed: bool,
}

/// Checks the events, given as names and data.
pub(super) fn check(events: &[(String, String)]) -> Vec<String> {
    let mut state = State::default();
    for (place, (name, data)) in events.iter().enumerate() {
        let at = format!("event {place} ({name})");
        if state.is_over {
            state.check.fault(&at, "after the end");
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) => {
                state.check.require(kind(&value) == name, &at, "the data's type is not the event's name");
                state.event(&at, name, &value);
            }
            Err(error) => state.check.fault(&at, error),
        }
    }
    state.check.require(state.is_over, "the end", "neither message_stop nor error came");
    state.check.faults
}

impl State {
    fn event(&mut self, at: &str, name: &str, value: &Value) {
        match name {
            "ping" => self.check.members(at, value, "type:str!"),
            "error" => {
                self.is_over = true;
                self.check.members(at, value, "type:str! error:obj! request_id:str?");
                self.check.members(at, &value["error"], "type:text! message:str! details:obj?");
            }
            "message_start" => {
                self.check.require(!self.has_started, at, "twice");
                self.has_started = true;
                self.check.members(at, value, "type:str! message:obj!");
                message(&mut self.check, at, &value["message"], false);
                self.check.require(
                    value["message"]["content"] == serde_json::json!([]),
                    at,
                    "content is empty at the start",
                );
            }
            _ => {
                self.check.require(self.has_started, at, "before message_start");
                self.later(at, name, value);
            }
        }
    }

    fn later(&mut self, at: &str, name: &str, value: &Value) {
        match name {
            "content_block_start" => self.start(at, value),
            "content_block_delta" => self.delta(at, value),
            "content_block_stop" => {
                self.check.members(at, value, "type:str! index:count!");
                self.stop_block(at, value);
            }
            "message_delta" => {
                self.check.require(self.open.is_none(), at, "while a block is open");
                self.check.members(
                    at,
                    value,
                    "type:str! delta:obj! usage:obj! context_management:any input_transformations:any",
                );
                let spec = "stop_reason:text!? stop_sequence:str!? stop_details:obj? container:obj?";
                self.check.members(at, &value["delta"], spec);
                self.check.members(at, &value["usage"], &format!("{USAGE} input_tokens:count?"));
                let reason = &value["delta"]["stop_reason"];
                self.has_ended |= reason.is_string();
                stop(&mut self.check, at, reason, self.has_calls);
                let may_break =
                    ["max_tokens", "refusal", "model_context_window_exceeded"].iter().any(|word| reason == word);
                self.check.require(self.broken == 0 || may_break, at, "arguments are no JSON object");
            }
            "message_stop" => {
                self.check.members(at, value, "type:str!");
                self.check.require(self.has_ended, at, "without a stop_reason");
                self.is_over = true;
            }
            other => self.check.fault(at, format!("unknown event {other:?}")),
        }
    }

    fn start(&mut self, at: &str, value: &Value) {
        self.check.members(at, value, "type:str! index:count! content_block:obj!");
        self.check.require(self.open.is_none(), at, "while another block is open");
        self.check.require(!self.has_ended, at, "after the stop_reason");
        self.check.require(
            value["index"].as_u64() == Some(self.next),
            at,
            format!("the index should be {}", self.next),
        );
        let block = &value["content_block"];
        blocks::answer(&mut self.check, at, block);
        for member in ["text", "thinking"] {
            self.check.require(block[member].as_str().is_none_or(str::is_empty), at, "has text at its start");
        }
        self.has_calls |= kind(block) == "tool_use";
        let kind = kind(block).to_owned();
        self.open = Some(Open { kind, json: String::new(), text: String::new(), is_signed: false });
    }

    fn delta(&mut self, at: &str, value: &Value) {
        self.check.members(at, value, "type:str! index:count! delta:obj!");
        self.check.require(value["index"].as_u64() == Some(self.next), at, "of another block");
        let Some(open) = &mut self.open else { return self.check.fault(at, "without an open block") };
        let delta = &value["delta"];
        let (spec, fits) = match kind(delta) {
            "text_delta" => {
                open.text.push_str(delta["text"].as_str().unwrap_or_default());
                ("text:str!", open.kind == "text")
            }
            "input_json_delta" => {
                open.json.push_str(delta["partial_json"].as_str().unwrap_or_default());
                ("partial_json:str!", open.kind.ends_with("tool_use"))
            }
            "thinking_delta" => ("thinking:str! estimated_tokens:count?", open.kind == "thinking" && !open.is_signed),
            "signature_delta" => {
                open.is_signed = true;
                ("signature:str!", open.kind == "thinking")
            }
            "citations_delta" => {
                blocks::citation(&mut self.check, at, &delta["citation"]);
                ("citation:obj!", open.kind == "text")
            }
            "compaction_delta" => ("content:str? encrypted_content:str?", open.kind == "compaction"),
            other => return self.check.fault(at, format!("unknown delta {other:?}")),
        };
        self.check.require(fits, at, format!("does not fit a block of kind {:?}", open.kind));
        self.check.members(at, delta, &format!("type:str! {spec}"));
    }

    fn stop_block(&mut self, at: &str, value: &Value) {
        self.check.require(value["index"].as_u64() == Some(self.next), at, "of another block");
        match self.open.take() {
            Some(open) => {
                let is_object = serde_json::from_str::<Value>(&open.json).is_ok_and(|arguments| arguments.is_object());
                self.broken += usize::from(!open.json.is_empty() && !is_object);
                self.check.require(open.kind != "text" || !open.text.is_empty(), at, "a text block without text");
            }
            None => self.check.fault(at, "without an open block"),
        }
        self.next += 1;
    }
}
