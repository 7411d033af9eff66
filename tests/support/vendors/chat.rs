//! Chat Completions as the vendor writes it.

use super::data;

pub const DONE: &str = "data: [DONE]\n\n";

/// A request; what the gateway has no business with is spelt as no serializer would.
pub fn request(model: &str, stream: bool) -> String {
    let stream = if stream { r#","stream":true"# } else { "" };
    format!(
        r#"{{ "model" : "{model}", "temperature":1.0, "seed":12345678901234567890, "x_unknown":{{"a":1e2,"b":[ ]}}{stream},"messages":[{{"role":"user","content":"Say h\u00e9llo"}}]}}"#
    )
}

/// A buffered answer.
pub fn answer(text: &str, prompt: u64, completion: u64) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"vendor-model","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{} ,"x_cost":0.10}}"#,
        usage_object(prompt, completion)
    )
}

/// A streamed answer with its usage chunk, as the vendor writes it when asked.
pub fn events(pieces: &[&str], prompt: u64, completion: u64) -> Vec<String> {
    let mut events = vec![role()];
    events.extend(pieces.iter().map(|piece| delta(piece)));
    events.extend([finish("stop"), usage(prompt, completion), DONE.to_owned()]);
    events
}

pub fn role() -> String {
    chunk(r#"{"role":"assistant","content":""}"#, "null")
}

pub fn delta(text: &str) -> String {
    chunk(&format!(r#"{{"content":"{text}"}}"#), "null")
}

pub fn finish(reason: &str) -> String {
    chunk("{}", &format!("\"{reason}\""))
}

/// The chunk that exists only with `include_usage`.
pub fn usage(prompt: u64, completion: u64) -> String {
    data(&format!(r#"{{"id":"chatcmpl-1","choices":[],"usage":{}}}"#, usage_object(prompt, completion)))
}

pub fn usage_object(prompt: u64, completion: u64) -> String {
    format!(r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{}}}"#, prompt + completion)
}

fn chunk(delta: &str, finish_reason: &str) -> String {
    data(&format!(
        r#"{{"id":"chatcmpl-1","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish_reason}}}],"usage":null}}"#
    ))
}

pub fn error_type(status: u16) -> &'static str {
    match status {
        402 => "insufficient_quota",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}
