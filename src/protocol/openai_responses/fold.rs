//! Puts a stream together to the whole answer that a client without `stream` would have got.
//!
//! The last event has it. Only where its output is empty, as at some servers, it is made of the items that were streamed.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tollgate_macros::Read;

use super::fault;
use super::wire::event::ErrorEvent;
use super::wire::response::Response;
use crate::protocol::convert::{StreamFault, read};
use crate::protocol::json::{Object, Splice};
use crate::protocol::wire::Text;

/// What came of a stream so far. Time and memory are linear in its length.
#[derive(Debug, Default)]
pub struct Fold {
    /// The response of the last event.
    response: Option<String>,
    items: Vec<Item>,
    fault: Option<StreamFault<'static>>,
}

/// An item that was streamed.
#[derive(Debug, Default)]
struct Item {
    output_index: Option<u64>,
    id: String,
    added: String,
    /// The whole item, as JSON.
    done: Option<String>,
    /// Its text, arguments or input, until it is whole.
    text: String,
}

/// What is read of an event.
#[derive(Read)]
struct Event<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    output_index: Option<u64>,
    #[serde(borrow)]
    item_id: Option<Text<'a>>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
}

impl Fold {
    /// Takes the data of one event.
    pub fn event(&mut self, data: &str) {
        if self.fault.is_some() || self.response.is_some() || data.trim() == "[DONE]" {
            return;
        }
        let Ok(event) = read::<Event<'_>>(data) else {
            self.fault = Some(StreamFault::unreadable());
            return;
        };
        match &*event.kind {
            "response.completed" | "response.incomplete" => {
                self.response = event.response.map(|response| response.get().to_owned());
            }
            "response.failed" => self.fault = Some(failed(event.response)),
            "error" => {
                let error = read::<ErrorEvent<'_>>(data).unwrap_or_default();
                self.fault = Some(fault::of_event(&error));
            }
            "response.output_item.added" => {
                let item = self.item(&event);
                item.added = event.item.map_or_else(String::new, |item| item.get().to_owned());
            }
            "response.output_item.done" => {
                let item = self.item(&event);
                item.done = event.item.map(|item| item.get().to_owned());
                item.text = String::new();
            }
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.function_call_arguments.delta"
            | "response.custom_tool_call_input.delta" => {
                let delta = event.delta.and_then(|delta| serde_json::from_str::<Text<'_>>(delta.get()).ok());
                self.item(&event).text.push_str(&delta.unwrap_or_default());
            }
            _ => {}
        }
    }

    /// The body of the whole answer; or the error that the stream told, or that it was cut off.
    pub fn finish(self) -> Result<Vec<u8>, StreamFault<'static>> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let response = self.response.ok_or_else(StreamFault::cut_off)?;
        let object = Object::parse(response.as_bytes()).map_err(|_| StreamFault::unreadable())?;
        let output = object.member("output").map_err(|_| StreamFault::unreadable())?;
        let is_empty = output.is_none_or(|output| output.get() == "null" || is_empty_list(output));
        if !is_empty || self.items.is_empty() {
            return Ok(response.into_bytes());
        }
        let mut items = self.items;
        items.sort_by_key(|item| item.output_index.unwrap_or(u64::MAX));
        let items: Vec<String> = items.into_iter().map(Item::whole).collect();
        let mut splice = Splice::default();
        match output {
            Some(output) => splice.replace(object.span(output), format!("[{}]", items.join(","))),
            None => {
                let at = object.first_member_at();
                splice.replace(at..at, format!("\"output\":[{}],", items.join(",")));
            }
        }
        Ok(splice.apply(&bytes::Bytes::from(response.clone())).into())
    }

    /// The item that an event belongs to: by its place or by its id, else the last one.
    fn item(&mut self, event: &Event<'_>) -> &mut Item {
        #[derive(Read)]
        struct Id<'a> {
            #[serde(borrow, default)]
            id: Option<Text<'a>>,
        }
        let id = event.item_id.as_ref().map(Text::by_ref);
        let id = id.or_else(|| serde_json::from_str::<Id<'_>>(event.item?.get()).ok()?.id);
        let id = id.as_deref().unwrap_or_default();
        let is_same = |item: &Item| match (item.output_index, event.output_index) {
            (Some(known), Some(index)) => known == index,
            _ => item.id == id,
        };
        let has_place = event.output_index.is_some() || !id.is_empty();
        let position = match self.items.iter().rposition(is_same) {
            Some(position) => position,
            None if !has_place && event.item.is_none() && !self.items.is_empty() => self.items.len() - 1,
            None => {
                self.items.push(Item { output_index: event.output_index, id: id.to_owned(), ..Item::default() });
                self.items.len() - 1
            }
        };
        // The position was found or made above.
        #[allow(clippy::indexing_slicing)]
        &mut self.items[position]
    }
}

impl Item {
    /// The whole item, or what can be made of its pieces.
    fn whole(self) -> String {
        if let Some(done) = self.done {
            return done;
        }
        let fallback = || json!({"type": "message", "id": self.id, "role": "assistant"});
        let mut item =
            serde_json::from_str::<Value>(&self.added).ok().filter(Value::is_object).unwrap_or_else(fallback);
        let (member, value) = match item.get("type").and_then(Value::as_str) {
            Some("function_call") => ("arguments", json!(self.text)),
            Some("custom_tool_call") => ("input", json!(self.text)),
            Some("reasoning") if self.text.is_empty() => ("summary", json!([])),
            Some("reasoning") => ("summary", json!([{"type": "summary_text", "text": self.text}])),
            Some("message") => {
                ("content", json!([{"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}]))
            }
            _ => return item.to_string(),
        };
        if let Some(members) = item.as_object_mut() {
            members.insert(member.to_owned(), value);
            if member != "summary" {
                members.insert("status".to_owned(), json!("completed"));
            }
        }
        item.to_string()
    }
}

fn is_empty_list(list: &RawValue) -> bool {
    list.get().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(']'))
}

fn failed(response: Option<&RawValue>) -> StreamFault<'static> {
    let response = response.and_then(|response| read::<Response<'_>>(response.get()).ok());
    fault::of_response(&response.unwrap_or_default())
}
