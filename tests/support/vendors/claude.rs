//! Messages as the vendor writes it.

use super::event;

pub const PING: &str = "event: ping\ndata: {\"type\": \"ping\"}\n\n";

/// A request; what the gateway has no business with is spelt as no serializer would.
pub fn request(model: &str, stream: bool) -> String {
    let stream = if stream { r#","stream":true"# } else { "" };
    format!(
        r#"{{"max_tokens":128000,"model":"{model}","thinking":{{"type":"adaptive","display":"omitted"}},"metadata":{{"user_id":"{{\"device_id\":\"d\"}}"}},"x_budget":1.0E5{stream},"messages":[{{"role":"user","content":"Hi"}}]}}"#
    )
}

/// A buffered answer.
pub fn answer(text: &str, input: u64, output: u64) -> String {
    format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"vendor-model","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":{input},"output_tokens":{output}}},"x_new":1.0}}"#
    )
}

/// A streamed answer.
pub fn events(pieces: &[&str], input: u64, output: u64) -> Vec<String> {
    let mut events = vec![message_start(input, 1), block_start()];
    events.extend(pieces.iter().map(|piece| delta(piece)));
    events.extend([event("content_block_stop", r#""index":0"#), message_delta(output), message_stop()]);
    events
}

pub fn message_start(input: u64, output: u64) -> String {
    let usage = format!(r#"{{"input_tokens":{input},"output_tokens":{output}}}"#);
    event("message_start", &format!(r#""message":{{"id":"msg_1","type":"message","content":[],"usage":{usage}}}"#))
}

pub fn block_start() -> String {
    event("content_block_start", r#""index":0,"content_block":{"type":"text","text":""}"#)
}

pub fn delta(text: &str) -> String {
    event("content_block_delta", &format!(r#""index":0,"delta":{{"type":"text_delta","text":"{text}"}}"#))
}

pub fn message_delta(output: u64) -> String {
    event("message_delta", &format!(r#""delta":{{"stop_reason":"end_turn"}},"usage":{{"output_tokens":{output}}}"#))
}

pub fn message_stop() -> String {
    event("message_stop", "")
}

pub fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 | 405 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
