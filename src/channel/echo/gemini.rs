//! The echo in GenerateContent.

use serde_json::{Value, json};

use super::Reply;

pub(super) fn buffered(reply: &Reply<'_>) -> Value {
    chunk(reply, &reply.text, true)
}

/// The chunks of a stream, as events or as the elements of an array.
pub(super) fn streamed(reply: &Reply<'_>) -> Vec<Value> {
    let mut chunks: Vec<Value> = reply.pieces().map(|piece| chunk(reply, piece, false)).collect();
    chunks.pop();
    let last = reply.pieces().last().unwrap_or_default();
    chunks.push(chunk(reply, last, true));
    chunks
}

fn chunk(reply: &Reply<'_>, text: &str, is_last: bool) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": [{"text": text}]}});
    let mut usage = json!({"promptTokenCount": reply.input_tokens, "totalTokenCount": reply.input_tokens});
    if is_last {
        candidate["finishReason"] = "STOP".into();
        usage["candidatesTokenCount"] = reply.output_tokens.into();
        usage["totalTokenCount"] = (reply.input_tokens + reply.output_tokens).into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": reply.model,
        "responseId": reply.request_id,
    })
}
