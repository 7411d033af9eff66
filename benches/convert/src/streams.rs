//! Streams of about a hundred events, as each vendor writes them.

use serde_json::{Value, json};
use tollgate::protocol::dialect::Dialect;

/// How many pieces a stream has.
const PIECES: usize = 96;

fn data(name: Option<&str>, value: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {value}\n\n")
}

fn typed(value: Value) -> String {
    let name = value["type"].as_str().expect("a type").to_owned();
    data(Some(&name), &value)
}

/// A text, word by word.
pub fn text(dialect: Dialect) -> Vec<u8> {
    let words = (0..PIECES).map(|index| format!(" word{index}"));
    match dialect {
        Dialect::OpenAiChat => {
            let mut events = vec![chat(json!({"role": "assistant", "content": ""}), Value::Null)];
            events.extend(words.map(|word| chat(json!({"content": word}), Value::Null)));
            chat_end(events, "stop")
        }
        Dialect::OpenAiResponses => {
            let item = |status: &str, content: Value| json!({"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content});
            let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
            let mut events = responses_start();
            events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([]))}));
            events.push(json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part("")}));
            let all: String = words.clone().collect();
            events.extend(words.map(|word| json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word, "logprobs": [], "obfuscation": "Vh2x0c"})));
            events.push(json!({"type": "response.output_text.done", "item_id": "msg_1", "output_index": 0, "content_index": 0, "text": all, "logprobs": []}));
            events.push(json!({"type": "response.content_part.done", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part(&all)}));
            let done = item("completed", json!([part(&all)]));
            events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
            responses_end(events, done)
        }
        Dialect::Claude => {
            let delta = |word| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}});
            claude(json!({"type": "text", "text": ""}), words.map(delta).collect(), "end_turn")
        }
        Dialect::Gemini => {
            let mut events: Vec<String> = words.map(|word| gemini(json!([{"text": word}]), None)).collect();
            events.push(gemini(json!([{"text": ""}]), Some("STOP")));
            events.concat().into_bytes()
        }
    }
}

/// One call, its arguments in pieces where the vendor has pieces; Gemini has as many whole calls.
pub fn tools(dialect: Dialect) -> Vec<u8> {
    let first = "{\"items\":[0".to_owned();
    let middle = (1..PIECES).map(|index| format!(",{index}"));
    let pieces: Vec<String> = std::iter::once(first).chain(middle).chain(std::iter::once("]}".to_owned())).collect();
    match dialect {
        Dialect::OpenAiChat => {
            let call = json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": "write", "arguments": ""}}]);
            let mut events = vec![chat(json!({"role": "assistant", "content": null, "tool_calls": call}), Value::Null)];
            let delta = |piece: &String| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]});
            events.extend(pieces.iter().map(|piece| chat(delta(piece), Value::Null)));
            chat_end(events, "tool_calls")
        }
        Dialect::OpenAiResponses => {
            let all = pieces.concat();
            let item = |status: &str, arguments: &str| json!({"id": "fc_1", "type": "function_call", "status": status, "call_id": "call_1", "name": "write", "arguments": arguments});
            let mut events = responses_start();
            events.push(
                json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", "")}),
            );
            events.extend(pieces.iter().map(|piece| json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": piece, "obfuscation": "Vh2x0c"})));
            events.push(json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 0, "arguments": all}));
            let done = item("completed", &all);
            events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
            responses_end(events, done)
        }
        Dialect::Claude => {
            let delta = |piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}});
            let block = json!({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}});
            claude(block, pieces.into_iter().map(delta).collect(), "tool_use")
        }
        Dialect::Gemini => {
            let call = |index| {
                gemini(
                    json!([{"functionCall": {"id": format!("c{index}"), "name": "write", "args": {"item": index}}}]),
                    None,
                )
            };
            let mut events: Vec<String> = (0..PIECES).map(call).collect();
            events.push(gemini(json!([{"text": ""}]), Some("STOP")));
            events.concat().into_bytes()
        }
    }
}

fn chat(delta: Value, finish_reason: Value) -> String {
    data(
        None,
        &json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_796_000_000, "model": "gpt-6",
        "service_tier": "default", "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}], "usage": null, "obfuscation": "Vh2x0c"}),
    )
}

fn chat_end(mut events: Vec<String>, reason: &str) -> Vec<u8> {
    events.push(chat(json!({}), reason.into()));
    events.push(data(
        None,
        &json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_796_000_000, "model": "gpt-6",
        "choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 96, "total_tokens": 116}}),
    ));
    events.push("data: [DONE]\n\n".to_owned());
    events.concat().into_bytes()
}

fn response(status: &str, output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1_796_000_000, "status": status, "model": "gpt-6", "output": output,
        "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "error": null, "incomplete_details": null,
        "usage": if status == "completed" { json!({"input_tokens": 20, "output_tokens": 96, "total_tokens": 116}) } else { Value::Null }})
}

fn responses_start() -> Vec<Value> {
    let of = |kind: &str| json!({"type": kind, "response": response("in_progress", json!([]))});
    vec![of("response.created"), of("response.in_progress")]
}

fn responses_end(mut events: Vec<Value>, item: Value) -> Vec<u8> {
    events.push(json!({"type": "response.completed", "response": response("completed", json!([item]))}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = number.into();
        typed(event)
    });
    numbered.collect::<String>().into_bytes()
}

fn claude(block: Value, deltas: Vec<Value>, reason: &str) -> Vec<u8> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 20, "output_tokens": 1}});
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    events.push(json!({"type": "ping"}));
    events.extend(deltas);
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 96}}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(typed).collect::<String>().into_bytes()
}

fn gemini(parts: Value, reason: Option<&str>) -> String {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = reason.into();
    }
    data(
        None,
        &json!({"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 96, "totalTokenCount": 200, "thoughtsTokenCount": 84,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 20}]}}),
    )
    .replace('\n', "\r\n")
}
