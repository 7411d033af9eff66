//! The beginning of an answer: whether it has brought anything yet that a client would miss, or reports an error instead.
//!
//! As long as there is nothing but a beginning, somebody else can be asked without anybody's noticing. What is not known counts as
//! content, so that nothing new is ever held back.

use bytes::Bytes;
use memchr::memmem;
use serde_json::Value;

use super::convert::StreamFault;
use super::convert::arguments::ObjectEnd;
use super::convert::whole::fault_in;
use super::dialect::Dialect;
use super::glance::{has_object, is_error, type_of};
use super::sse::{Event, Parser};

/// Longest beginning that is looked at. What Responses repeats of a request can be long.
pub const MAX_OPENING_BYTES: usize = 1024 * 1024;

/// What a beginning amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Waiting,
    /// There is content, or the proper end of an answer that has none.
    Begun,
    /// It reports an error.
    Failed(StreamFault<'static>),
}

/// Watches the beginning of a stream.
pub struct Opening {
    dialect: Dialect,
    framing: Framing,
    verdict: Verdict,
    bytes: usize,
}

enum Framing {
    Events(Parser),
    /// Gemini's array: what came of an element, and whether that is all of it.
    Array {
        text: Vec<u8>,
        end: ObjectEnd,
    },
}

impl Opening {
    /// For a stream in `dialect`, sent as events or, by Gemini, as one array.
    pub fn new(dialect: Dialect, events: bool) -> Self {
        let framing = if events {
            Framing::Events(Parser::default())
        } else {
            Framing::Array { text: Vec::new(), end: ObjectEnd::default() }
        };
        Self { dialect, framing, verdict: Verdict::Waiting, bytes: 0 }
    }

    /// Sees the next piece; `true` when there is nothing more to wait for.
    pub fn piece(&mut self, piece: &Bytes) -> bool {
        self.bytes += piece.len();
        let Self { dialect, framing, verdict, .. } = self;
        match framing {
            Framing::Events(parser) => parser.feed(piece, &mut |event| take(*dialect, event, verdict)),
            Framing::Array { text, end } => take_elements(piece, text, end, verdict),
        }
        self.verdict != Verdict::Waiting || self.bytes > MAX_OPENING_BYTES
    }

    /// What it amounts to so far.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What it amounts to when nothing more comes.
    pub fn finish(&mut self) -> &Verdict {
        let Self { dialect, framing, verdict, .. } = self;
        if let Framing::Events(parser) = framing {
            parser.finish(&mut |event| take(*dialect, event, verdict));
        }
        verdict
    }
}

/// Longest whole answer in which an error is looked for; errors are short.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// What a whole answer amounts to that says that all is well: an error all the same, nothing, or no JSON. `Waiting` stands for what is no
/// answer.
pub fn of_whole(dialect: Dialect, answer: &[u8]) -> Verdict {
    let start = answer.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    if !matches!(start, Some(b'{' | b'[')) {
        return Verdict::Waiting;
    }
    // An answer of Responses tells by itself that it failed, and its clients read that.
    let may_be_error = dialect != Dialect::OpenAiResponses || memmem::find(answer, b"\"response\"").is_none();
    let is_short = answer.len() <= MAX_ERROR_BYTES;
    if is_short && may_be_error && memmem::find(answer, b"\"error\"").is_some() && is_error(answer) {
        return failed(dialect, answer);
    }
    Verdict::Begun
}

fn take(dialect: Dialect, event: Event<'_>, verdict: &mut Verdict) {
    if *verdict != Verdict::Waiting {
        return;
    }
    let name = || if event.name.is_empty() { type_of(event.data) } else { event.name };
    *verdict = match dialect {
        Dialect::OpenAiChat => chat(event.data),
        Dialect::OpenAiResponses => responses(name(), event.data),
        Dialect::Claude => claude(name(), event.data),
        Dialect::Gemini => gemini(event.data),
    };
}

fn failed(dialect: Dialect, data: &[u8]) -> Verdict {
    Verdict::Failed(fault_in(dialect, data))
}

fn begun(has_begun: bool) -> Verdict {
    if has_begun { Verdict::Begun } else { Verdict::Waiting }
}

fn chat(data: &[u8]) -> Verdict {
    if data.starts_with(b"[DONE]") {
        return Verdict::Begun;
    }
    if has_object(data, b"\"error\"") && is_error(data) {
        return failed(Dialect::OpenAiChat, data);
    }
    let Ok(chunk) = serde_json::from_slice::<Value>(data) else { return Verdict::Begun };
    if chunk.get("error").is_some_and(says_something) {
        return failed(Dialect::OpenAiChat, data);
    }
    begun(list(&chunk, "choices").iter().any(|choice| {
        choice.get("finish_reason").is_some_and(says_something)
            || choice.get("delta").and_then(Value::as_object).is_some_and(|delta| {
                delta.iter().any(|(name, value)| !matches!(&**name, "role" | "id" | "name") && says_something(value))
            })
    }))
}

fn responses(name: &[u8], data: &[u8]) -> Verdict {
    match name {
        b"response.failed" | b"error" => failed(Dialect::OpenAiResponses, data),
        b"response.created" | b"response.queued" | b"response.in_progress" | b"keepalive" => Verdict::Waiting,
        b"response.content_part.added" | b"response.reasoning_summary_part.added" => Verdict::Waiting,
        b"response.output_item.added" => {
            let item = serde_json::from_slice::<Value>(data).ok();
            let kind = item.as_ref().and_then(|event| event.pointer("/item/type")?.as_str());
            begun(!matches!(kind, Some("message" | "reasoning")))
        }
        _ => Verdict::Begun,
    }
}

fn claude(name: &[u8], data: &[u8]) -> Verdict {
    match name {
        b"error" => failed(Dialect::Claude, data),
        b"message_start" | b"ping" => Verdict::Waiting,
        b"content_block_start" => {
            let Ok(event) = serde_json::from_slice::<Value>(data) else { return Verdict::Begun };
            let Some(block) = event.get("content_block") else { return Verdict::Waiting };
            let is_text = matches!(block.get("type").and_then(Value::as_str), Some("text" | "thinking"));
            begun(!is_text || ["text", "thinking"].iter().filter_map(|name| block.get(name)).any(says_something))
        }
        _ => Verdict::Begun,
    }
}

fn gemini(data: &[u8]) -> Verdict {
    serde_json::from_slice::<Value>(data).map_or(Verdict::Begun, |event| gemini_event(&event))
}

fn gemini_event(event: &Value) -> Verdict {
    if event.get("error").is_some_and(says_something) {
        return failed(Dialect::Gemini, event.to_string().as_bytes());
    }
    let is_content = |part: &Value| {
        let Some(members) = part.as_object() else { return true };
        members.iter().any(|(name, value)| !matches!(&**name, "thought" | "thoughtSignature") && says_something(value))
    };
    let is_blocked = event.pointer("/promptFeedback/blockReason").is_some_and(says_something);
    begun(
        is_blocked
            || list(event, "candidates").iter().any(|candidate| {
                candidate.get("finishReason").is_some_and(says_something)
                    || candidate.get("content").is_some_and(|content| list(content, "parts").iter().any(is_content))
            }),
    )
}

/// An element is read once, when it is complete: it may come in many pieces.
fn take_elements(piece: &[u8], text: &mut Vec<u8>, end: &mut ObjectEnd, verdict: &mut Verdict) {
    for byte in piece {
        if *verdict != Verdict::Waiting {
            return;
        }
        match byte {
            b'[' | b',' | b']' if text.is_empty() => continue,
            byte if text.is_empty() && byte.is_ascii_whitespace() => continue,
            b'{' => {}
            _ if text.is_empty() => {
                *verdict = Verdict::Begun;
                return;
            }
            _ => {}
        }
        text.push(*byte);
        end.feed([*byte]);
        if end.is_complete() {
            *verdict = gemini(text);
            text.clear();
            *end = ObjectEnd::default();
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a value is more than a place that was left free.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judge(dialect: Dialect, events: bool, pieces: &[&[u8]]) -> (bool, Verdict) {
        let mut opening = Opening::new(dialect, events);
        let enough = pieces.iter().fold(false, |_, piece| opening.piece(&Bytes::copy_from_slice(piece)));
        (enough, opening.finish().clone())
    }

    /// What an event amounts to, whole or in two pieces.
    fn event(dialect: Dialect, text: &str) -> Verdict {
        let (enough, verdict) = judge(dialect, true, &[text.as_bytes()]);
        assert_eq!(enough, verdict != Verdict::Waiting, "{text}");
        for cut in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            assert_eq!(judge(dialect, true, &[head, tail]), (enough, verdict.clone()), "{text} cut at {cut}");
        }
        verdict
    }

    #[test]
    fn beginnings_and_contents() {
        let data = |data: &str| format!("data: {data}\n\n");
        let named = |name: &str, rest: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n");
        let chat = |delta: &str| data(&format!(r#"{{"choices":[{{"delta":{delta},"finish_reason":null}}]}}"#));
        let block = |block: &str| named("content_block_start", &format!(r#","content_block":{block}"#));
        let item = |kind: &str| named("response.output_item.added", &format!(r#","item":{{"type":"{kind}"}}"#));
        let gemini = |part: &str| data(&format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#));
        use Dialect::{Claude, Gemini, OpenAiChat, OpenAiResponses};
        for (dialect, text, has_begun) in [
            (OpenAiChat, ": keep-alive\n\n".to_owned(), false),
            (OpenAiChat, data(r#"{"choices":[],"prompt_filter_results":[]}"#), false),
            (OpenAiChat, chat(r#"{"role":"assistant","content":"","reasoning_content":null,"tool_calls":[]}"#), false),
            (OpenAiChat, chat(r#"{"content":"a"}"#), true),
            (OpenAiChat, chat(r#"{"reasoning_content":"a"}"#), true),
            (OpenAiChat, chat(r#"{"tool_calls":[{"index":0}]}"#), true),
            (OpenAiChat, data(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#), true),
            (OpenAiChat, data("[DONE]"), true),
            (OpenAiChat, data("{nonsense"), true),
            (OpenAiResponses, named("response.created", r#","response":{"error":null}"#), false),
            (OpenAiResponses, named("response.in_progress", ""), false),
            (OpenAiResponses, item("message"), false),
            (OpenAiResponses, item("function_call"), true),
            (OpenAiResponses, named("response.output_text.delta", r#","delta":"a""#), true),
            (OpenAiResponses, data(r#"{"type":"response.completed"}"#), true),
            (Claude, named("message_start", ""), false),
            (Claude, named("ping", ""), false),
            (Claude, block(r#"{"type":"text","text":""}"#), false),
            (Claude, block(r#"{"type":"thinking","thinking":""}"#), false),
            (Claude, block(r#"{"type":"text","text":"a"}"#), true),
            (Claude, block(r#"{"type":"tool_use","id":"a"}"#), true),
            (Claude, named("content_block_delta", ""), true),
            (Claude, named("message_delta", ""), true),
            (Gemini, data(r#"{"usageMetadata":{"promptTokenCount":4}}"#), false),
            (Gemini, gemini(r#"{"text":""}"#), false),
            (Gemini, gemini(r#"{"text":"a","thought":true}"#), true),
            (Gemini, gemini(r#"{"functionCall":{"name":"f"}}"#), true),
            (Gemini, data(r#"{"candidates":[{"finishReason":"STOP"}]}"#), true),
            (Gemini, data(r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#), true),
        ] {
            assert_eq!(event(dialect, &text), begun(has_begun), "{dialect}: {text}");
        }
    }

    #[test]
    fn an_error_is_told_with_its_status() {
        for (dialect, text, status, code) in [
            (
                Dialect::OpenAiChat,
                r#"data: {"error":{"message":"no","type":"server_error"}}"#.to_owned(),
                500,
                "server_error",
            ),
            (Dialect::OpenAiChat, r#"data: {"error":"overloaded"}"#.to_owned(), 502, "upstream_error"),
            (
                Dialect::OpenAiResponses,
                "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"no\"}}}".to_owned(),
                429,
                "rate_limit_exceeded",
            ),
            (
                Dialect::OpenAiResponses,
                "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"no\"}".to_owned(),
                500,
                "server_error",
            ),
            (
                Dialect::Claude,
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}".to_owned(),
                529,
                "overloaded_error",
            ),
            (
                Dialect::Gemini,
                r#"data: {"error":{"code":503,"status":"UNAVAILABLE","message":"no"}}"#.to_owned(),
                503,
                "UNAVAILABLE",
            ),
        ] {
            match event(dialect, &format!("{text}\n\n")) {
                Verdict::Failed(fault) => assert_eq!((fault.status, &*fault.code), (status, code), "{text}"),
                verdict => panic!("{text}: {verdict:?}"),
            }
        }
    }

    #[test]
    fn an_array_is_read_element_by_element() {
        let opening = br#"[{"usageMetadata":{}}"#;
        let content = br#",{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#;
        assert_eq!(judge(Dialect::Gemini, false, &[opening]), (false, Verdict::Waiting));
        assert_eq!(judge(Dialect::Gemini, false, &[opening, content]), (true, Verdict::Begun));
        assert_eq!(judge(Dialect::Gemini, false, &[opening, b"]"]), (false, Verdict::Waiting));
        assert_eq!(judge(Dialect::Gemini, false, &[b"<html>"]), (true, Verdict::Begun));
        let whole = [&opening[..], content].concat();
        assert_eq!(judge(Dialect::Gemini, false, &whole.chunks(1).collect::<Vec<_>>()), (true, Verdict::Begun));
        let error = br#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"no"}}]"#;
        assert!(matches!(judge(Dialect::Gemini, false, &[error]).1, Verdict::Failed(fault) if fault.status == 429));
    }

    /// It is read when its last piece comes, which is neither sooner nor later.
    #[test]
    fn a_long_element_is_read_once() {
        let image =
            format!(r#"[{{"candidates":[{{"content":{{"parts":[{{"text":"{}"}}]}}}}]}}"#, "}{\\\"".repeat(250_000));
        let mut opening = Opening::new(Dialect::Gemini, false);
        let pieces: Vec<&[u8]> = image.as_bytes().chunks(1400).collect();
        let (last, before) = pieces.split_last().unwrap();
        for piece in before {
            assert!(!opening.piece(&Bytes::copy_from_slice(piece)));
            assert_eq!(opening.verdict(), &Verdict::Waiting);
        }
        opening.piece(&Bytes::copy_from_slice(last));
        assert_eq!(opening.verdict(), &Verdict::Begun);
    }

    #[test]
    fn a_long_beginning_is_not_waited_for() {
        let mut opening = Opening::new(Dialect::Claude, true);
        let comment = Bytes::from(vec![b':'; MAX_OPENING_BYTES / 4]);
        let enough: Vec<bool> = (0..5).map(|_| opening.piece(&comment)).collect();
        assert_eq!(enough, [false, false, false, false, true]);
        assert_eq!(opening.verdict(), &Verdict::Waiting);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), events: bool) {
            for dialect in Dialect::ALL {
                judge(dialect, events, &[&bytes]);
            }
        }
    }
}
