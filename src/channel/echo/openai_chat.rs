//! The echo in Chat Completions.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Reply;
use crate::protocol::sse::event;

pub(super) fn buffered(reply: &Reply<'_>) -> Value {
    json!({
        "id": format!("chatcmpl-{}", reply.request_id),
        "object": "chat.completion",
        "created": reply.created,
        "model": reply.model,
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": reply.text, "refusal": null, "annotations": []},
            "logprobs": null,
            "finish_reason": "stop",
        }],
        "usage": usage(reply),
    })
}

pub(super) fn streamed(reply: &Reply<'_>, request: &Value) -> Vec<Bytes> {
    let include_usage = request["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, chunk_usage: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", reply.request_id),
            "object": "chat.completion.chunk",
            "created": reply.created,
            "model": reply.model,
            "choices": choices,
        });
        if include_usage {
            chunk["usage"] = chunk_usage;
        }
        event(None, &chunk)
    };
    let delta = |delta: Value, finish_reason: Value| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
    events.extend(reply.pieces().map(|piece| delta(json!({"content": piece}), Value::Null)));
    events.push(delta(json!({}), "stop".into()));
    if include_usage {
        events.push(chunk(json!([]), usage(reply)));
    }
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}

fn usage(reply: &Reply<'_>) -> Value {
    json!({
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    })
}
