//! Streams.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::SCHEMA;
use super::response::{choice, usage};
use crate::validate::openai::{Faults, list, text};

/// What came of a choice so far.
#[derive(Default)]
struct Choice {
    message: Value,
    finish_reason: Value,
    has_audio: bool,
}

pub(in super::super) fn stream(events: &[(String, String)]) -> Vec<String> {
    let mut faults = Faults::default();
    let mut choices: BTreeMap<u64, Choice> = BTreeMap::new();
    let mut head = Value::Null;
    let mut has_usage = false;
    for (index, (name, data)) in events.iter().enumerate() {
        let path = format!("event {index}");
        faults.unless(name.is_empty(), &path, "has a name");
        let is_last = index + 1 == events.len();
        if data == "[DONE]" {
            faults.unless(is_last, &path, "[DONE] is not the last event");
            break;
        }
        let chunk: Value = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(error) => return vec![format!("{path} is no JSON: {error}")],
        };
        if !chunk["error"].is_null() {
            let rest = events.get(index + 1..).unwrap_or_default();
            return failed(&chunk, rest, &choices, &path, faults);
        }
        faults.0.extend(SCHEMA.check("chunk", &chunk, &path));
        let members = json!([chunk["id"], chunk["created"], chunk["model"]]);
        faults.unless(head.is_null() || head == members, &path, "id, created and model have to stay the same");
        head = members;
        faults.unless(!has_usage, &path, "comes after the usage");
        if !chunk["usage"].is_null() {
            has_usage = true;
            faults.unless(list(&chunk["choices"]).is_empty(), &path, "the usage has to come alone");
            usage(&chunk["usage"], &mut faults);
        } else if list(&chunk["choices"]).is_empty() && chunk["moderation"].is_null() {
            faults.add(&path, "says nothing");
        }
        for one in list(&chunk["choices"]) {
            let known = choices.entry(one["index"].as_u64().unwrap_or(u64::MAX)).or_default();
            known.add(one, &path, &mut faults);
        }
    }
    faults.unless(events.last().is_some_and(|(_, data)| data == "[DONE]"), "the end", "there is no [DONE]");
    faults.unless(!choices.is_empty(), "the end", "there are no choices");
    for (index, one) in choices {
        let path = format!("choice {index}");
        faults.unless(!one.finish_reason.is_null(), &path, "has no finish_reason");
        choice(&json!({"message": one.message, "finish_reason": one.finish_reason}), &path, &mut faults);
    }
    faults.0
}

/// A stream that reports an error ends with it, and has no reason for a good end.
fn failed(
    chunk: &Value,
    rest: &[(String, String)],
    choices: &BTreeMap<u64, Choice>,
    path: &str,
    mut faults: Faults,
) -> Vec<String> {
    let error = &chunk["error"];
    faults.unless(error["message"].is_string() && error["type"].is_string(), path, "an error has a message and a type");
    faults.unless(error["code"].is_string() || error["code"].is_null(), path, "an error's code is a string or null");
    let is_last = rest.iter().all(|(_, data)| data == "[DONE]") && rest.len() < 2;
    faults.unless(is_last, path, "something comes after the error");
    let ended = choices.values().any(|choice| !choice.finish_reason.is_null());
    faults.unless(!ended, path, "an error comes after a finish_reason");
    faults.0
}

impl Choice {
    fn add(&mut self, chunk: &Value, path: &str, faults: &mut Faults) {
        let delta = &chunk["delta"];
        let is_first = self.message.is_null();
        if is_first {
            self.message = json!({"content": null});
            faults.unless(delta["role"] == "assistant", path, "the first delta has no role");
        } else {
            faults.unless(delta["role"].is_null(), path, "the role is there twice");
        }
        self.has_audio |= !delta["audio"].is_null();
        faults.unless(self.finish_reason.is_null() || self.has_audio, path, "comes after the finish_reason");
        if !chunk["finish_reason"].is_null() {
            self.finish_reason = chunk["finish_reason"].clone();
        }
        for (name, value) in delta.as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("tool_calls", Value::Array(calls)) => calls.iter().for_each(|call| self.call(call, path, faults)),
                (_, Value::String(text)) => append(&mut self.message[name], text),
                (_, Value::Null) => {}
                (_, value) => self.message[name] = value.clone(),
            }
        }
    }

    fn call(&mut self, fragment: &Value, path: &str, faults: &mut Faults) {
        if !self.message["tool_calls"].is_array() {
            self.message["tool_calls"] = json!([]);
        }
        let Some(calls) = self.message["tool_calls"].as_array_mut() else { return };
        let index = fragment["index"].as_u64().unwrap_or(u64::MAX) as usize;
        faults.unless(index <= calls.len(), path, format!("a call {index} comes before its turn"));
        if index >= calls.len() {
            let kind = text(fragment, "type");
            let begins = !text(fragment, "id").is_empty() && !text(&fragment[kind], "name").is_empty();
            faults.unless(begins, path, "a call begins without id, type or name");
            calls.push(fragment.clone());
            return;
        }
        let known = &mut calls[index];
        let kind = text(known, "type").to_owned();
        // The SDKs put repeated texts together.
        let repeats = ["id", "type"].iter().any(|member| fragment.get(*member).is_some_and(|value| !value.is_null()));
        faults.unless(!repeats && fragment[&kind]["name"].is_null(), path, "a call's id, type or name is there twice");
        let member = if kind == "custom" { "input" } else { "arguments" };
        faults.unless(fragment[&kind][member].is_string(), path, format!("a fragment of a call has no {member}"));
        append(&mut known[&kind][member], text(&fragment[&kind], member));
    }
}

fn append(known: &mut Value, text: &str) {
    match known {
        Value::String(known) => known.push_str(text),
        known => *known = text.into(),
    }
}
