//! The echo in Responses.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Reply;
use crate::protocol::sse::event;

pub(super) fn buffered(reply: &Reply<'_>) -> Value {
    response(reply, "completed", json!([item(reply, "completed", json!([part(&reply.text)]))]), usage(reply))
}

pub(super) fn streamed(reply: &Reply<'_>) -> Vec<Bytes> {
    let mut events = Events::default();
    let item_id = item_id(reply);
    let started = || response(reply, "in_progress", json!([]), Value::Null);
    events.push("response.created", json!({"response": started()}));
    events.push("response.in_progress", json!({"response": started()}));
    events
        .push("response.output_item.added", json!({"output_index": 0, "item": item(reply, "in_progress", json!([]))}));
    let in_part = |member: &str, value: Value| {
        let mut data = json!({"item_id": item_id, "output_index": 0, "content_index": 0});
        data[member] = value;
        data
    };
    events.push("response.content_part.added", in_part("part", part("")));
    for piece in reply.pieces() {
        let mut delta = in_part("delta", piece.into());
        delta["logprobs"] = json!([]);
        events.push("response.output_text.delta", delta);
    }
    let mut done = in_part("text", reply.text.as_str().into());
    done["logprobs"] = json!([]);
    events.push("response.output_text.done", done);
    events.push("response.content_part.done", in_part("part", part(&reply.text)));
    let finished = buffered(reply);
    events.push("response.output_item.done", json!({"output_index": 0, "item": finished["output"][0]}));
    events.push("response.completed", json!({"response": finished}));
    events.0
}

#[derive(Default)]
struct Events(Vec<Bytes>);

impl Events {
    fn push(&mut self, name: &str, mut data: Value) {
        data["type"] = name.into();
        data["sequence_number"] = self.0.len().into();
        self.0.push(event(Some(name), &data));
    }
}

fn response(reply: &Reply<'_>, status: &str, output: Value, usage: Value) -> Value {
    json!({
        "id": format!("resp_{}", reply.request_id),
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": true,
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "store": false,
        "usage": usage,
    })
}

fn item_id(reply: &Reply<'_>) -> String {
    format!("msg_{}", reply.request_id)
}

fn item(reply: &Reply<'_>, status: &str, content: Value) -> Value {
    json!({"id": item_id(reply), "type": "message", "status": status, "role": "assistant", "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn usage(reply: &Reply<'_>) -> Value {
    json!({
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    })
}
