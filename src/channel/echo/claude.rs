//! The echo in Messages.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Reply;
use crate::protocol::sse::event;

pub(super) fn buffered(reply: &Reply<'_>) -> Value {
    message(reply, json!([{"type": "text", "text": reply.text}]), "end_turn".into(), reply.output_tokens)
}

pub(super) fn streamed(reply: &Reply<'_>) -> Vec<Bytes> {
    let typed = |name: &str, mut data: Value| {
        data["type"] = name.into();
        event(Some(name), &data)
    };
    let mut events = vec![
        typed("message_start", json!({"message": message(reply, json!([]), Value::Null, 1)})),
        typed("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
        typed("ping", json!({})),
    ];
    events.extend(reply.pieces().map(|piece| {
        typed("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": piece}}))
    }));
    events.push(typed("content_block_stop", json!({"index": 0})));
    events.push(typed(
        "message_delta",
        json!({
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": reply.output_tokens},
        }),
    ));
    events.push(typed("message_stop", json!({})));
    events
}

fn message(reply: &Reply<'_>, content: Value, stop_reason: Value, output_tokens: u64) -> Value {
    json!({
        "id": format!("msg_{}", reply.request_id),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": {
            "input_tokens": reply.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output_tokens,
        },
    })
}
