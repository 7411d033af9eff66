//! Streams.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::SCHEMA;
use super::response::body;
use crate::validate::openai::{Faults, list, text};

/// An item so far.
struct Item {
    id: String,
    /// What its deltas brought: by the list and the place in it of a part, or by the member of a call.
    texts: BTreeMap<(String, u64), Text>,
    done: Option<Value>,
}

/// A text so far.
#[derive(Default)]
struct Text {
    so_far: String,
    is_done: bool,
    /// A part has its own end behind that of its text.
    part_is_done: bool,
    annotations: Vec<Value>,
    logprobs: Vec<Value>,
}

/// What the parts and the arguments of items are called in events.
const TEXTS: [(&str, &str, &str); 6] = [
    ("response.output_text", "content", "text"),
    ("response.refusal", "content", "refusal"),
    ("response.reasoning_text", "content", "text"),
    ("response.reasoning_summary_text", "summary", "text"),
    ("response.function_call_arguments", "arguments", "arguments"),
    ("response.custom_tool_call_input", "input", "input"),
];

const ENDS: [&str; 4] = ["response.completed", "response.incomplete", "response.failed", "error"];

pub(in super::super) fn stream(events: &[(String, String)]) -> Vec<String> {
    let mut faults = Faults::default();
    let mut items: Vec<Item> = vec![];
    let mut id = Value::Null;
    for (index, (name, data)) in events.iter().enumerate() {
        let path = format!("event {index}");
        let mut event: Value = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(error) => return vec![format!("{path} is no JSON: {error}")],
        };
        // Padding of deltas, which the SDK's types do not have.
        event.as_object_mut().and_then(|members| members.remove("obfuscation"));
        faults.0.extend(SCHEMA.check("event", &event, &path));
        let kind = text(&event, "type");
        let path = format!("event {index}, {kind}");
        faults.unless(name == kind, &path, format!("is named {name:?}"));
        faults.unless(event["sequence_number"] == index, &path, "is not numbered from 0 on by one");
        let wanted = match index {
            0 => kind == "response.created",
            1 => matches!(kind, "response.in_progress" | "response.queued" | "response.failed"),
            2 => kind != "response.created",
            _ => !matches!(kind, "response.created" | "response.queued" | "response.in_progress"),
        };
        faults.unless(wanted, &path, "is not how a stream begins");
        let previous = index.checked_sub(1).and_then(|previous| events.get(previous));
        let repeats = previous.is_some_and(|(previous, _)| previous == "response.in_progress" && previous == name);
        faults.unless(!repeats, &path, "is there twice");
        let is_last = index + 1 == events.len();
        faults.unless(ENDS.contains(&kind) == is_last, &path, "is not how a stream ends, or not at its end");
        if event["response"].is_object() {
            faults.unless(id.is_null() || event["response"]["id"] == id, &path, "the response has another id");
            id = event["response"]["id"].clone();
            response(kind, &event["response"], &items, &path, &mut faults);
        } else if kind != "error" && !kind.starts_with("response.audio.") {
            of_item(kind, &event, &mut items, &path, &mut faults);
        }
    }
    faults.unless(!events.is_empty(), "the stream", "is empty");
    faults.0
}

/// The response as a whole: without output before its end, with all that was streamed at its end.
fn response(kind: &str, response: &Value, items: &[Item], path: &str, faults: &mut Faults) {
    let status = match kind {
        "response.created" => &["in_progress", "queued"][..],
        _ => &[kind.trim_start_matches("response.")][..],
    };
    faults.unless(status.contains(&text(response, "status")), path, format!("the status is {}", response["status"]));
    body(response, faults);
    let output = list(&response["output"]);
    if !ENDS.contains(&kind) {
        return faults.unless(output.is_empty() && response["usage"].is_null(), path, "has output or usage");
    }
    let done: Vec<&Value> = items.iter().filter_map(|item| item.done.as_ref()).collect();
    if kind == "response.failed" {
        // The vendor itself leaves them out.
        let is_same = output.is_empty() || output.iter().collect::<Vec<_>>() == done;
        return faults.unless(is_same, path, "the output is not what was streamed");
    }
    faults.unless(done.len() == items.len(), path, "an item is not done");
    faults.unless(output.iter().collect::<Vec<_>>() == done, path, "the output is not what was streamed");
}

/// An event within an item.
fn of_item(kind: &str, event: &Value, items: &mut Vec<Item>, path: &str, faults: &mut Faults) {
    let index = event["output_index"].as_u64().unwrap_or(u64::MAX) as usize;
    if kind == "response.output_item.added" {
        faults.unless(index == items.len(), path, "the item is not the next one");
        let item = &event["item"];
        let has_deltas = matches!(text(item, "type"), "message" | "function_call" | "custom_tool_call");
        let is_open = item["status"].is_null() || item["status"] == "in_progress";
        faults.unless(!has_deltas || is_open, path, format!("the item is {}", item["status"]));
        for member in ["content", "summary"] {
            faults.unless(list(&item[member]).is_empty(), path, format!("the item has {member} before its parts"));
        }
        for member in ["arguments", "input"] {
            let is_empty = !has_deltas || !item[member].is_string() || item[member] == "";
            faults.unless(is_empty, path, format!("the item has {member} before their deltas"));
        }
        items.push(Item { id: text(item, "id").to_owned(), texts: BTreeMap::new(), done: None });
        return;
    }
    let Some(item) = items.get_mut(index) else { return faults.add(path, "there is no such item") };
    faults.unless(item.done.is_none(), path, "the item is done");
    if kind == "response.output_item.done" {
        let done = &event["item"];
        faults.unless(text(done, "id") == item.id, path, "the item has another id");
        item.compare(done, path, faults);
        item.done = Some(done.clone());
        return;
    }
    let is_same = event.get("item_id").is_none_or(|id| *id == item.id);
    faults.unless(is_same, path, format!("the item's id is {:?}", item.id));
    item.add(kind, event, path, faults);
}

impl Item {
    fn add(&mut self, kind: &str, event: &Value, path: &str, faults: &mut Faults) {
        let place = |list: &str| event[format!("{list}_index")].as_u64().unwrap_or(0);
        let part_list = if kind.contains("summary") { "summary" } else { "content" };
        match kind {
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                let count = self.texts.keys().filter(|(list, _)| list == part_list).count() as u64;
                faults.unless(place(part_list) == count, path, "the part is not the next one");
                let is_closed = |(key, text): (&(String, u64), &Text)| key.0 != part_list || text.part_is_done;
                faults.unless(self.texts.iter().all(is_closed), path, "another part is open");
                self.texts.insert((part_list.to_owned(), place(part_list)), Text::default());
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                let Some(text) = self.texts.get_mut(&(part_list.to_owned(), place(part_list))) else {
                    return faults.add(path, "there is no such part");
                };
                faults.unless(text.is_done && !text.part_is_done, path, "its text is not done, or the part is");
                text.part_is_done = true;
                text.compare(&event["part"], path, faults);
            }
            "response.output_text.annotation.added" => {
                let Some(text) = self.texts.get_mut(&("content".to_owned(), place("content"))) else {
                    return faults.add(path, "there is no such part");
                };
                faults.unless(
                    event["annotation_index"] == text.annotations.len(),
                    path,
                    "the annotation is not the next one",
                );
                text.annotations.push(event["annotation"].clone());
            }
            _ => {
                let of_text = TEXTS.iter().find(|(prefix, ..)| {
                    kind.strip_prefix(prefix).is_some_and(|end| matches!(end, ".delta" | ".done"))
                });
                if let Some((_, list, member)) = of_text {
                    self.text(kind.ends_with(".done"), (list, place(list)), &event[*member], event, path, faults);
                }
            }
        }
    }

    fn text(
        &mut self,
        is_end: bool,
        (list, index): (&str, u64),
        whole: &Value,
        event: &Value,
        path: &str,
        faults: &mut Faults,
    ) {
        let key = (list.to_owned(), index);
        let is_part = matches!(list, "content" | "summary");
        if is_part && !self.texts.contains_key(&key) {
            return faults.add(path, "there is no such part");
        }
        let text = self.texts.entry(key).or_default();
        faults.unless(!text.is_done, path, "the text is done");
        if is_end {
            faults.unless(*whole == text.so_far, path, format!("is {whole}, and the deltas were {:?}", text.so_far));
            text.is_done = true;
        } else {
            let delta = self::text(event, "delta");
            text.so_far.push_str(delta);
            text.logprobs.extend(crate::validate::openai::list(&event["logprobs"]).iter().cloned());
            faults.unless(!delta.is_empty(), path, "the delta is empty");
        }
    }

    /// The item when it is done has what its events brought.
    fn compare(&self, done: &Value, path: &str, faults: &mut Faults) {
        for member in ["arguments", "input"] {
            let streamed = self.texts.get(&(member.to_owned(), 0));
            let is_call = matches!(text(done, "type"), "function_call" | "custom_tool_call");
            if is_call && done[member].is_string() {
                faults.unless(streamed.is_some_and(|text| text.is_done), path, format!("{member} are not done"));
                faults.unless(
                    streamed.is_some_and(|text| done[member] == text.so_far),
                    path,
                    format!("{member} are others"),
                );
            }
        }
        if !matches!(text(done, "type"), "message" | "reasoning") {
            return;
        }
        for member in ["content", "summary"] {
            let parts = list(&done[member]);
            let streamed: Vec<&Text> =
                self.texts.iter().filter(|(key, _)| key.0 == member).map(|(_, text)| text).collect();
            faults.unless(parts.len() == streamed.len(), path, format!("{member} has another count of parts"));
            for (part, text) in parts.iter().zip(streamed) {
                faults.unless(text.part_is_done, path, format!("a part of {member} is not done"));
                text.compare(part, path, faults);
            }
        }
    }
}

impl Text {
    fn compare(&self, part: &Value, path: &str, faults: &mut Faults) {
        let whole = if part["type"] == "refusal" { &part["refusal"] } else { &part["text"] };
        faults.unless(*whole == self.so_far, path, format!("is {whole}, and the deltas were {:?}", self.so_far));
        let same = |member: &str, streamed: &Vec<Value>| list(&part[member]).len() == streamed.len();
        faults.unless(same("annotations", &self.annotations), path, "its annotations are not those that were added");
        faults.unless(same("logprobs", &self.logprobs), path, "its logprobs are not those of the deltas");
        let annotations = json!(list(&part["annotations"]));
        faults.unless(annotations == json!(self.annotations), path, "its annotations are others");
    }
}
