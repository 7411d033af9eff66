//! Puts a stream together to the whole answer that a client without `stream` would have got.
//!
//! Members that are not known are put together as OpenAI's SDK does it: texts are appended, everything else is replaced.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::fault::of_member;
use super::wire::stream::DONE;
use crate::protocol::convert::{StreamFault, read};
use crate::protocol::wire::Raw;

type Object = Map<String, Value>;

/// What came of a stream so far. Time and memory are linear in its length.
#[derive(Debug, Default)]
pub struct Fold {
    /// Members of the answer beside the choices.
    answer: Object,
    choices: Vec<Choice>,
    is_done: bool,
    fault: Option<StreamFault<'static>>,
}

#[derive(Debug)]
struct Choice {
    index: u64,
    message: Object,
    logprobs: Value,
    finish_reason: Value,
}

impl Fold {
    /// Takes the data of one event.
    pub fn event(&mut self, data: &str) {
        if self.fault.is_some() || self.is_done {
            return;
        }
        if data.trim() == DONE {
            self.is_done = true;
            return;
        }
        match read(data) {
            Ok(Value::Object(chunk)) => self.chunk(chunk),
            _ => self.fault = Some(StreamFault::unreadable()),
        }
    }

    /// The body of the whole answer; or the error that the stream told, or that it was cut off.
    pub fn finish(self) -> Result<Vec<u8>, StreamFault<'static>> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let has_ended = |choice: &Choice| !choice.finish_reason.is_null();
        let all_ended = !self.choices.is_empty() && self.choices.iter().all(has_ended);
        let says_done = self.is_done && !self.answer.is_empty();
        if !all_ended && !says_done {
            return Err(StreamFault::cut_off());
        }
        let mut choices = self.choices;
        choices.sort_by_key(|choice| choice.index);
        let mut answer = self.answer;
        answer.insert("object".to_owned(), "chat.completion".into());
        answer.insert("choices".to_owned(), choices.into_iter().map(Choice::whole).collect());
        serde_json::to_vec(&answer).map_err(|_| StreamFault::unreadable())
    }

    fn chunk(&mut self, chunk: Object) {
        for (name, value) in chunk {
            match (name.as_str(), value) {
                (_, Value::Null) | ("obfuscation", _) => {}
                ("error", error) => {
                    let fault = Raw::of(&error).map_or_else(|_| StreamFault::unreadable(), |error| of_member(&error));
                    self.fault = Some(fault);
                }
                ("choices", Value::Array(choices)) => choices.into_iter().for_each(|choice| self.choice(choice)),
                ("usage", usage) => {
                    self.answer.insert(name, usage);
                }
                (_, value) => {
                    self.answer.entry(name).or_insert(value);
                }
            }
        }
    }

    fn choice(&mut self, choice: Value) {
        let Value::Object(choice) = choice else { return };
        let index = choice.get("index").and_then(Value::as_u64).unwrap_or(0);
        let known = self.choices.iter_mut().position(|known| known.index == index);
        let position = known.unwrap_or_else(|| {
            let message = Map::from_iter([
                ("role".to_owned(), Value::from("assistant")),
                ("content".to_owned(), Value::Null),
                ("refusal".to_owned(), Value::Null),
            ]);
            self.choices.push(Choice { index, message, logprobs: Value::Null, finish_reason: Value::Null });
            self.choices.len() - 1
        });
        let Some(known) = self.choices.get_mut(position) else { return };
        for (name, value) in choice {
            match (name.as_str(), value) {
                (_, Value::Null) => {}
                ("delta", Value::Object(delta)) => known.delta(delta),
                ("logprobs", logprobs) => append(&mut known.logprobs, logprobs),
                ("finish_reason", reason) => known.finish_reason = reason,
                (_, _) => {}
            }
        }
    }
}

impl Choice {
    fn delta(&mut self, delta: Object) {
        for (name, value) in delta {
            if value.is_null() {
                continue;
            }
            let list = |value| if let Value::Array(list) = value { list } else { vec![] };
            let known = self.message.entry(name.as_str()).or_insert(Value::Null);
            match name.as_str() {
                "role" | "extra_content" => *known = value,
                "content" => content(known, value),
                "tool_calls" => list(value).into_iter().for_each(|call| tool_call(known, call)),
                "function_call" => named(known, value),
                "audio" => audio(known, value),
                "reasoning_details" => list(value).into_iter().for_each(|detail| reasoning_detail(known, detail)),
                "thinking_blocks" => list(value).into_iter().for_each(|block| thinking_block(known, block)),
                _ => append(known, value),
            }
        }
    }

    fn whole(self) -> Value {
        let mut message = self.message;
        if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
            calls.iter_mut().filter_map(Value::as_object_mut).for_each(|call| {
                call.remove("index");
            });
        }
        // The first chunk has an empty text whatever follows; a whole answer has null beside what stands in its place.
        let in_place = ["tool_calls", "function_call", "audio", "refusal"].into_iter();
        let has_other = in_place.filter_map(|name| message.get(name)).any(|value| !value.is_null() && value != "");
        if let Some(content) = message.get_mut("content").filter(|content| has_other && *content == "") {
            *content = Value::Null;
        }
        if let Some(refusal) = message.get_mut("refusal").filter(|refusal| *refusal == "") {
            *refusal = Value::Null;
        }
        let reason = if self.finish_reason.is_null() { Value::from("stop") } else { self.finish_reason };
        serde_json::json!({
            "index": self.index,
            "message": message,
            "logprobs": self.logprobs,
            "finish_reason": reason,
        })
    }
}

/// Appends a text to a text, a list to a list, the members of an object to those of an object; anything else is replaced.
fn append(known: &mut Value, value: Value) {
    match (known, value) {
        (_, Value::Null) => {}
        (Value::String(known), Value::String(value)) => known.push_str(&value),
        (Value::Array(known), Value::Array(value)) => known.extend(value),
        (Value::Object(known), Value::Object(value)) => {
            value.into_iter().for_each(|(name, value)| append(known.entry(name).or_insert(Value::Null), value));
        }
        (known, value) => *known = value,
    }
}

/// A text, or parts at vendors that have such.
fn content(known: &mut Value, value: Value) {
    match (known, value) {
        (Value::Array(parts), Value::String(text)) => text_part(parts, &text),
        (known, Value::Array(new)) => {
            if !known.is_array() {
                let mut parts = vec![];
                text_part(&mut parts, known.as_str().unwrap_or_default());
                *known = Value::Array(parts);
            }
            let Value::Array(parts) = known else { return };
            for part in new {
                match part.get("text").and_then(Value::as_str) {
                    Some(text) if part.get("type").is_some_and(|kind| kind == "text") => text_part(parts, text),
                    _ => parts.push(part),
                }
            }
        }
        (known, value) => append(known, value),
    }
}

fn text_part(parts: &mut Vec<Value>, text: &str) {
    if text.is_empty() {
        return;
    }
    let last = parts.last_mut().filter(|part| part.get("type").is_some_and(|kind| kind == "text"));
    match last.and_then(|part| part.get_mut("text")) {
        Some(Value::String(known)) => known.push_str(text),
        _ => parts.push(serde_json::json!({"type": "text", "text": text})),
    }
}

/// A fragment of a call belongs to the last call of its index, unless it has another id: some vendors give each call the index 0.
/// Without an index, it is a new call if it has an id, else the last.
fn tool_call(known: &mut Value, call: Value) {
    let Value::Array(calls) = list(known) else { return };
    let index = call.get("index").and_then(Value::as_u64);
    let id_of = |call: &Value| call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
    let id = id_of(&call);
    let is_other = |known: &Value| id.is_some() && id_of(known).is_some_and(|known| Some(known) != id);
    let position = match index {
        Some(index) => calls
            .iter()
            .rposition(|known| known.get("index").and_then(Value::as_u64) == Some(index))
            .filter(|position| !calls.get(*position).is_some_and(is_other)),
        None if id.is_some() => None,
        None => calls.len().checked_sub(1),
    };
    match position.and_then(|position| calls.get_mut(position)) {
        Some(known) => named(known, call),
        None => calls.push(call),
    }
}

/// Appends to what has names: those come once, though some vendors repeat them.
fn named(known: &mut Value, value: Value) {
    let (Value::Object(known), Value::Object(value)) = (object(known), value) else { return };
    for (name, value) in value {
        match (name.as_str(), known.entry(name.as_str())) {
            (_, Entry::Vacant(entry)) => {
                entry.insert(value);
            }
            ("function" | "custom", Entry::Occupied(mut entry)) => named(entry.get_mut(), value),
            ("arguments" | "input", Entry::Occupied(mut entry)) => append(entry.get_mut(), value),
            (_, Entry::Occupied(mut entry)) => {
                let is_empty = entry.get().is_null() || entry.get() == "";
                if is_empty || name == "extra_content" {
                    entry.insert(value);
                }
            }
        }
    }
}

/// Each fragment of the sound is base64 of its own.
fn audio(known: &mut Value, value: Value) {
    let (Value::Object(known), Value::Object(value)) = (object(known), value) else { return };
    for (name, value) in value {
        let known = known.entry(name.as_str()).or_insert(Value::Null);
        match (name.as_str(), &mut *known, value) {
            (_, _, Value::Null) => {}
            ("transcript", known, value) => append(known, value),
            ("data", Value::String(known), Value::String(value)) => append_base64(known, &value),
            (_, known, value) => *known = value,
        }
    }
}

/// Appends the bytes that `piece` stands for, whatever the padding between them.
fn append_base64(known: &mut String, piece: &str) {
    if known.ends_with('=') {
        let tail = known.split_off(known.len().saturating_sub(4));
        let bytes = [&tail, piece].into_iter().flat_map(|text| STANDARD.decode(text).unwrap_or_default());
        known.push_str(&STANDARD.encode(bytes.collect::<Vec<u8>>()));
    } else {
        known.push_str(piece);
    }
}

/// Fragments of the same place and kind belong together.
fn reasoning_detail(known: &mut Value, detail: Value) {
    let Value::Array(details) = list(known) else { return };
    let same = |known: &Value| known.get("index") == detail.get("index") && known.get("type") == detail.get("type");
    match (details.last_mut().filter(|known| same(known)), detail) {
        (Some(Value::Object(known)), Value::Object(detail)) => {
            for (name, value) in detail {
                let known = known.entry(name.as_str()).or_insert(Value::Null);
                match (name.as_str(), value) {
                    (_, Value::Null) => {}
                    ("text" | "summary" | "data", value) => append(known, value),
                    (_, value) => *known = value,
                }
            }
        }
        (_, detail) => details.push(detail),
    }
}

/// A block ends with its signature.
fn thinking_block(known: &mut Value, block: Value) {
    let Value::Array(blocks) = list(known) else { return };
    let is_thinking = |block: &Value| block.get("type").is_some_and(|kind| kind == "thinking");
    let has_text = |block: &Value, name| block.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let open =
        blocks.last_mut().filter(|known| is_thinking(known) && !has_text(known, "signature") && is_thinking(&block));
    match (open, block) {
        (Some(Value::Object(known)), Value::Object(block)) => {
            for (name, value) in block.into_iter().filter(|(name, value)| name != "type" && !value.is_null()) {
                append(known.entry(name).or_insert(Value::Null), value);
            }
        }
        (_, block) => blocks.push(block),
    }
}

fn list(known: &mut Value) -> &mut Value {
    if !known.is_array() {
        *known = Value::Array(vec![]);
    }
    known
}

fn object(known: &mut Value) -> &mut Value {
    if !known.is_object() {
        *known = Value::Object(Map::new());
    }
    known
}
