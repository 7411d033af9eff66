//! Whole answers from streams, and streams from whole answers, within one dialect.

use serde_json::Value;

use super::{ConvertError, Reply, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::sse::{Event, Parser};
use crate::protocol::wire::Raw;
use crate::protocol::{claude, gemini, json, openai_chat, openai_responses};

/// The answer that a stream of `dialect` amounts to; an error if it reports one or breaks off.
pub fn fold(dialect: Dialect, stream: &[u8]) -> Result<Vec<u8>, StreamFault<'static>> {
    macro_rules! fold {
        ($dialect:ident) => {{
            let mut fold = $dialect::fold::Fold::default();
            each_event(stream, |data| fold.event(data));
            fold.finish()
        }};
    }
    match dialect {
        Dialect::OpenAiChat => fold!(openai_chat),
        Dialect::OpenAiResponses => fold!(openai_responses),
        Dialect::Claude => fold!(claude),
        Dialect::Gemini => fold!(gemini),
    }
}

/// What the event with this data reports, which is an error.
pub fn fault_in(dialect: Dialect, data: &[u8]) -> StreamFault<'static> {
    let event = [b"data: ", data, b"\n\n"].concat();
    let fault = fold(dialect, &event).err().unwrap_or_else(StreamFault::unreadable);
    // Not all who speak a dialect know all of its members.
    if fault.code == "upstream_error" { any_error(data).unwrap_or(fault) } else { fault }
}

fn any_error(data: &[u8]) -> Option<StreamFault<'static>> {
    let event: Value = serde_json::from_slice(data).ok()?;
    let error = event.pointer("/response/error").or_else(|| event.get("error"))?;
    Raw::of(error).ok().map(|error| openai_chat::fault::of_member(&error))
}

fn each_event(stream: &[u8], mut take: impl FnMut(&str)) {
    let mut sink = |event: Event<'_>| take(&json::without_lone_surrogates(&String::from_utf8_lossy(event.data)));
    let mut parser = Parser::default();
    parser.feed(stream, &mut sink);
    parser.finish(&mut sink);
}

/// The stream that a client of `dialect` gets for a whole answer.
pub fn unfold(dialect: Dialect, body: &str, reply: &Reply) -> Result<Vec<u8>, ConvertError> {
    let mut out = Vec::with_capacity(body.len() * 2);
    let unreadable = |error: String| ConvertError::Unreadable(error);
    match dialect {
        Dialect::OpenAiChat => openai_chat::unfold::unfold(body, reply.include_usage, &mut out)
            .map_err(|error| unreadable(error.to_string())),
        Dialect::OpenAiResponses => {
            openai_responses::unfold::unfold(body, &mut out).map_err(|error| unreadable(error.to_string()))
        }
        Dialect::Claude => claude::unfold::unfold(body, &mut out).map_err(|error| unreadable(error.to_string())),
        Dialect::Gemini => {
            gemini::unfold::unfold(body, reply.as_array, &mut out).map_err(|error| unreadable(error.to_string()))
        }
    }?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::response;
    use super::*;

    fn stream(events: &[Value]) -> Vec<u8> {
        let frame = |event: &Value| {
            let name = event["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
            format!("{name}data: {event}\n\n")
        };
        events.iter().map(frame).collect::<String>().into_bytes()
    }

    fn folded(from: Dialect, to: Dialect, events: &[Value]) -> Value {
        let whole = String::from_utf8(fold(from, &stream(events)).unwrap()).unwrap();
        serde_json::from_slice(&response(from, to, &whole, &Reply::default()).unwrap().body).unwrap()
    }

    /// Calls that all have the index 0 are told apart by their ids.
    #[test]
    fn calls_of_one_index_and_different_ids_are_two() {
        let call = |id: &str, arguments: &str| {
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [
                {"index": 0, "id": id, "function": {"name": "f", "arguments": arguments}}]}}]})
        };
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        let events = [call("a", "{\"x\":"), call("", "1}"), call("b", "{}"), end];
        let answer = folded(Dialect::OpenAiChat, Dialect::Claude, &events);
        let calls: Vec<_> = answer["content"].as_array().unwrap().iter().map(|block| &block["input"]).collect();
        assert_eq!(calls, [&json!({"x": 1}), &json!({})]);
    }

    /// B08: what was cut stays cut.
    #[test]
    fn cut_arguments_are_told_as_they_came() {
        let events = [
            json!({"type": "message_start", "message": {"id": "m", "model": "m", "usage": {"input_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": "{\"a\":"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
            json!({"type": "message_stop"}),
        ];
        let chat = folded(Dialect::Claude, Dialect::OpenAiChat, &events);
        let call = &chat["choices"][0]["message"]["tool_calls"][0]["function"];
        assert_eq!((&call["arguments"], &chat["choices"][0]["finish_reason"]), (&json!("{\"a\":"), &json!("length")));
        let responses = folded(Dialect::Claude, Dialect::OpenAiResponses, &events);
        let call = &responses["output"][0];
        assert_eq!((&call["arguments"], &call["status"]), (&json!("{\"a\":"), &json!("incomplete")));
        let gemini = folded(Dialect::Claude, Dialect::Gemini, &events);
        assert_eq!(gemini["candidates"][0]["finishReason"], "MAX_TOKENS");
        assert!(!gemini.to_string().contains("functionCall"), "{gemini}");
        let cut = fold(Dialect::Claude, &stream(events.get(..4).unwrap())).unwrap_err();
        assert_eq!(cut, StreamFault::cut_off());
    }

    #[test]
    fn half_a_surrogate_pair_does_not_end_a_stream() {
        let text = "data: {\"choices\":[{\"delta\":{\"content\":\"a\\ud83d\"},\"finish_reason\":\"stop\"}]}\n\n";
        let body = fold(Dialect::OpenAiChat, text.as_bytes()).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["choices"][0]["message"]["content"], "a\u{fffd}");
    }

    /// Names that Gemini accepts come back as the client has given them.
    #[test]
    fn a_claude_client_sees_its_own_names() {
        let part = json!({"functionCall": {"name": "a.b", "args": {}}});
        let event = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
        assert_eq!(folded(Dialect::Gemini, Dialect::Claude, &[event])["content"][0]["name"], "a.b");
    }
}
