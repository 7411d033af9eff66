//! GenerateContent as the vendor writes it.

use super::data;

/// A request; what the gateway has no business with is spelt as no serializer would.
pub fn request() -> String {
    r#"{"contents":[{"parts":[{"text":"Hi"}]}], "generationConfig":{ },"x_weight":1.00,"systemInstruction":{"parts":[{"text":"Be brief"}]}}"#
        .to_owned()
}

/// A buffered answer.
pub fn answer(text: &str, prompt: u64, candidates: u64) -> String {
    chunk(text, r#","finishReason":"STOP""#, &usage_object(prompt, candidates))
}

/// The chunks of a streamed answer; the figures are running totals.
pub fn chunks(pieces: &[&str], prompt: u64, candidates: u64) -> Vec<String> {
    let mut chunks = vec![chunk("", "", &usage_object(prompt, 0))];
    chunks.extend(pieces.iter().map(|piece| chunk(piece, "", &usage_object(prompt, 1))));
    chunks.push(chunk("", r#","finishReason":"STOP""#, &usage_object(prompt, candidates)));
    chunks
}

/// A streamed answer; it closes without a mark of its own.
pub fn events(pieces: &[&str], prompt: u64, candidates: u64) -> Vec<String> {
    chunks(pieces, prompt, candidates).iter().map(|chunk| data(chunk)).collect()
}

pub fn chunk(text: &str, rest: &str, usage: &str) -> String {
    format!(
        r#"{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{{"text":"{text}"}}]}}{rest}}}],"usageMetadata":{usage},"modelVersion":"vendor-model","x_score":-0.50}}"#
    )
}

/// Members that are zero are left out.
pub fn usage_object(prompt: u64, candidates: u64) -> String {
    let visible = if candidates == 0 { String::new() } else { format!(r#""candidatesTokenCount":{candidates},"#) };
    format!(r#"{{"promptTokenCount":{prompt},{visible}"totalTokenCount":{}}}"#, prompt + candidates)
}

pub fn status_name(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        402 | 429 => "RESOURCE_EXHAUSTED",
        403 => "PERMISSION_DENIED",
        404 | 405 => "NOT_FOUND",
        409 => "ABORTED",
        502 | 503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
