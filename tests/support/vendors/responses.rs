//! Responses as the vendor writes it.

use serde_json::{Value, json};

/// A request; what the gateway has no business with is spelt as no serializer would.
pub fn request(model: &str, stream: bool) -> String {
    let stream = if stream { r#","stream":true"# } else { "" };
    format!(
        r#"{{"model":"{model}" ,"store":false,"client_metadata":{{"n":1.50e+03}}{stream},"input":[{{"type":"message","role":"user","content":[{{"type":"input_text","text":"Hi \ud83c\udf0d"}}]}}]}}"#
    )
}

/// A buffered answer.
pub fn answer(text: &str, input: u64, output: u64) -> String {
    format!(
        r#"{{"id":"resp_1","object":"response","status":"completed","output":[{{"type":"message","id":"msg_1","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}],"usage":{},"x_new":[1.0]}}"#,
        usage_object(input, output)
    )
}

/// A streamed answer; it closes without a mark of its own.
pub fn events(pieces: &[&str], input: u64, output: u64) -> Vec<String> {
    let mut events = vec![created()];
    events.extend(pieces.iter().enumerate().map(|(number, piece)| delta(number + 1, piece)));
    events.push(completed(pieces.len() + 1, input, output));
    events
}

pub fn created() -> String {
    super::event("response.created", r#""sequence_number":0,"response":{"id":"resp_1","usage":null}"#)
}

pub fn delta(sequence: usize, text: &str) -> String {
    let rest = format!(r#""sequence_number":{sequence},"item_id":"msg_1","delta":"{text}""#);
    super::event("response.output_text.delta", &rest)
}

pub fn completed(sequence: usize, input: u64, output: u64) -> String {
    let usage = usage_object(input, output);
    let rest =
        format!(r#""sequence_number":{sequence},"response":{{"id":"resp_1","status":"completed","usage":{usage}}}"#);
    super::event("response.completed", &rest)
}

pub fn usage_object(input: u64, output: u64) -> String {
    format!(
        r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":0,"cache_write_tokens":0}},"output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{}}}"#,
        input + output
    )
}

/// The data of an error event, which is not nested.
pub fn error(code: &str, message: &str) -> Value {
    json!({"type": "error", "code": code, "message": message, "param": null, "sequence_number": 0})
}
