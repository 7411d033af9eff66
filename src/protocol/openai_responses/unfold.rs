//! Writes a whole answer as the stream that a client with `stream` would have got.

use serde_json::value::RawValue;

use super::stream_writer::{Events, Part, PartKind, place};
use super::wire::content::{Content, OutputText, Part as WirePart};
use super::wire::item::Item;
use crate::protocol::convert::read;
use crate::protocol::json::{JsonError, Object, Splice, elements};
use crate::protocol::openai_chat::frame;

/// Appends the events of the answer `body` to `out`.
///
/// An answer that the vendor still works on in the background gives the events that say so, and no end. Fails, and appends
/// nothing, if `body` is no answer.
pub fn unfold(body: &str, out: &mut Vec<u8>) -> Result<(), JsonError> {
    let response = Object::parse(body.as_bytes())?;
    let output = response.member("output")?.map_or_else(|| Ok(vec![]), elements)?;
    let status = response.string("status")?;
    let status = status.as_deref().unwrap_or("completed");
    let begun = begun(body, &response)?;
    let mut events = Events::default();
    state("response.created", begun.as_bytes(), &mut events, out);
    if status == "queued" {
        state("response.queued", body.as_bytes(), &mut events, out);
        return Ok(());
    }
    state("response.in_progress", begun.as_bytes(), &mut events, out);
    for (index, raw) in output.into_iter().enumerate() {
        item(index, raw, &mut events, out);
    }
    match status {
        "in_progress" => {}
        "incomplete" => state("response.incomplete", body.as_bytes(), &mut events, out),
        "failed" | "cancelled" => state("response.failed", body.as_bytes(), &mut events, out),
        _ => state("response.completed", body.as_bytes(), &mut events, out),
    }
    Ok(())
}

/// The response as it is while nothing of it is there.
fn begun(body: &str, response: &Object<'_>) -> Result<String, JsonError> {
    let members = [
        ("status", "\"in_progress\""),
        ("output", "[]"),
        ("usage", "null"),
        ("error", "null"),
        ("incomplete_details", "null"),
        ("completed_at", "null"),
    ];
    let mut splice = Splice::default();
    for (name, value) in members {
        if let Some(member) = response.member(name)? {
            splice.replace(response.span(member), value);
        }
    }
    Ok(applied(splice, body))
}

fn applied(splice: Splice, text: &str) -> String {
    let applied = splice.apply(&bytes::Bytes::copy_from_slice(text.as_bytes()));
    String::from_utf8_lossy(&applied).into_owned()
}

fn state(kind: &str, response: &[u8], events: &mut Events, out: &mut Vec<u8>) {
    events.begin(kind, out);
    out.extend_from_slice(b",\"response\":");
    line(response, out);
    Events::end(out);
}

/// Appends JSON on one line.
fn line(json: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(json);
    frame::one_line(out.get_mut(start..).unwrap_or_default());
}

/// Appends the events of one item: it is added without what its deltas bring.
fn item(index: usize, raw: &RawValue, events: &mut Events, out: &mut Vec<u8>) {
    let item = read::<Item<'_>>(raw.get()).ok();
    let added = match &item {
        Some(Item::Message(_)) => without(raw, &[("content", "[]")]),
        Some(Item::Reasoning(_)) => without(raw, &[("summary", "[]"), ("content", "[]")]),
        Some(Item::FunctionCall(_)) => without(raw, &[("arguments", "\"\"")]),
        Some(Item::CustomToolCall(_)) => without(raw, &[("input", "\"\"")]),
        _ => without(raw, &[]),
    };
    events.item("added", index, out, |out| line(added.as_bytes(), out));
    match &item {
        Some(Item::Message(message)) => {
            let id = message.id.as_deref().unwrap_or_default();
            if let Content::Structured(parts) = &message.content {
                self::parts(id, index, parts, events, out);
            }
        }
        Some(Item::Reasoning(reasoning)) => {
            let id = reasoning.id.as_deref().unwrap_or_default();
            parts(id, index, &reasoning.summary, events, out);
            parts(id, index, reasoning.content.as_deref().unwrap_or_default(), events, out);
        }
        Some(Item::FunctionCall(call)) => {
            let words =
                ["response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments"];
            text(words, &place(call.id.as_deref().unwrap_or_default(), index), &call.arguments, events, out);
        }
        Some(Item::CustomToolCall(call)) => {
            let words = ["response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input"];
            text(words, &place(call.id.as_deref().unwrap_or_default(), index), &call.input, events, out);
        }
        _ => {}
    }
    events.item("done", index, out, |out| line(raw.get().as_bytes(), out));
}

/// An item that has just begun: with other `members`, and in progress if it tells how far it is.
fn without(raw: &RawValue, members: &[(&'static str, &str)]) -> String {
    let mut splice = Splice::default();
    if let Ok(object) = Object::parse(raw.get().as_bytes()) {
        for (name, value) in members.iter().chain(&[("status", "\"in_progress\"")]) {
            if let Ok(Some(member)) = object.member(name) {
                splice.replace(object.span(member), *value);
            }
        }
    }
    applied(splice, raw.get())
}

fn parts(item_id: &str, output_index: usize, parts: &[WirePart<'_>], events: &mut Events, out: &mut Vec<u8>) {
    for (index, part) in (0..).zip(parts) {
        let (kind, text) = match part {
            WirePart::OutputText(part) => (PartKind::Text, &part.text),
            WirePart::Refusal(part) => (PartKind::Refusal, &part.refusal),
            WirePart::SummaryText(part) => (PartKind::Summary, &part.text),
            WirePart::ReasoningText(part) => (PartKind::Reasoning, &part.text),
            _ => continue,
        };
        let mut open = Part::open(kind, item_id, output_index, index, events, out);
        match part {
            WirePart::OutputText(OutputText { logprobs: Some(logprobs), .. }) if !logprobs.is_empty() => {
                open.delta_with_logprobs(text, logprobs, events, out);
            }
            _ if text.is_empty() => {}
            _ => open.delta(text, events, out),
        }
        if let WirePart::OutputText(part) = part {
            part.annotations.iter().flatten().for_each(|annotation| open.annotation(annotation, events, out));
        }
        open.close(&mut vec![], events, out);
    }
}

/// The events of arguments or of an input; `words` are the kinds of the two events and the member's name.
fn text(words: [&str; 3], place: &[u8], text: &str, events: &mut Events, out: &mut Vec<u8>) {
    let [delta, done, member] = words;
    if !text.is_empty() {
        events.begin(delta, out);
        out.extend_from_slice(place);
        out.extend_from_slice(b",\"delta\":");
        frame::string(out, text);
        Events::end(out);
    }
    events.begin(done, out);
    out.extend_from_slice(place);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member.as_bytes());
    out.extend_from_slice(b"\":");
    frame::string(out, text);
    Events::end(out);
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::protocol::convert::{StreamFault, whole};
    use crate::protocol::dialect::Dialect;
    use crate::protocol::golden;
    use crate::protocol::openai_responses::wire::response::Response;

    fn fold(stream: &[u8]) -> Result<Value, StreamFault<'static>> {
        whole::fold(Dialect::OpenAiResponses, stream).map(|body| serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn what_is_unfolded_folds_to_the_same() {
        for (name, body) in golden::texts("openai_responses/response", "json") {
            let mut stream = vec![];
            unfold(&body, &mut stream).unwrap();
            match fold(&stream) {
                Ok(folded) => assert_eq!(folded, serde_json::from_str::<Value>(&body).unwrap(), "{name}"),
                Err(fault) if name.contains("failed-") => assert_ne!(fault.code, "upstream_cut", "{name}"),
                Err(fault) => assert!(["cancelled", "queued-in-background"].contains(&&*name), "{name}: {fault:?}"),
            }
        }
    }

    #[test]
    fn each_stream_folds_to_an_answer_or_to_its_error() {
        for (name, stream) in golden::texts("openai_responses/stream", "sse") {
            match fold(stream.as_bytes()) {
                Ok(body) => {
                    let text = body.to_string();
                    let read: Response<'_> = serde_json::from_str(&text).unwrap();
                    assert!(!read.output.is_empty() || name == "audio", "{name}: {text}");
                }
                Err(fault) => {
                    assert!(["error", "cut", "failed"].iter().any(|word| name.contains(word)), "{name}: {fault:?}");
                }
            }
        }
    }

    /// B23: a server whose last event has no output.
    #[test]
    fn a_sloppy_server_loses_no_text() {
        let streams = golden::texts("openai_responses/stream", "sse");
        let (_, stream) = streams.iter().find(|(name, _)| name == "b23-sloppy-server").unwrap();
        assert_eq!(fold(stream.as_bytes()).unwrap()["output"][0]["content"][0]["text"], "Hi you");
    }
}
