//! The validators themselves: what OpenAI sends they accept, what it would refuse they do not.

use serde_json::{Value, json};
use tollgate::protocol::dialect::Dialect;
use tollgate::protocol::sse::Parser;
use tollgate::protocol::{openai_chat, openai_responses};

use crate::corpus::{Case, cases, none};
use crate::validate;

/// Answers that no answer of OpenAI's are: of compatible vendors, or of a future.
const CHAT_RESPONSES: [&str; 9] = [
    "annotations-openrouter",
    "b08-tool-call-empty-arguments",
    "content-parts-of-mistral",
    "finish-unknown",
    "reasoning-openrouter",
    "tool-call-finish-stop",
    "tool-calls-empty-list",
    "usage-deepseek-cache",
    "usage-details-above-total",
];

/// The same of streams, and what is cut or fails in ways of compatible vendors.
const CHAT_STREAMS: [&str; 20] = [
    "azure-first-chunk-without-choices",
    "b08-tool-call-empty-arguments",
    "b08-tool-call-no-arguments-member",
    "b14-thought-signature",
    "b25-tool-call-then-finish-stop-later",
    "b28-cut-after-text",
    "b34-usage-null-and-zeros",
    "content-parts-of-mistral",
    "error-as-string",
    "error-with-finish-error",
    "finish-unknown",
    "reasoning-content",
    "reasoning-openrouter",
    "role-in-every-delta",
    "thought-signature-alone",
    "tool-call-finish-stop",
    "tool-call-id-and-name-repeated",
    "tool-calls-without-index",
    "usage-growing-in-every-chunk",
    "usage-with-finish",
];

const RESPONSES: [&str; 4] =
    ["b08-empty-arguments", "compatible-server-minimal", "unknown-output-item", "usage-without-details"];

const RESPONSES_STREAMS: [&str; 9] = [
    "b08-empty-arguments",
    "b23-sloppy-server",
    "b28-cut-after-text",
    "custom-tool-call",
    "done-marker-added",
    "error-event-nested",
    "names-missing",
    "type-member-last",
    "unknown-event",
];

/// The names and the data of a stream's events.
fn events(stream: &[u8]) -> Vec<(String, String)> {
    let mut events = Vec::new();
    let mut sink = |event: tollgate::protocol::sse::Event<'_>| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        events.push((text(event.name), text(event.data)));
    };
    let mut parser = Parser::default();
    parser.feed(stream, &mut sink);
    parser.finish(&mut sink);
    events
}

#[test]
fn what_openai_sends_is_accepted() {
    let mut faults = Vec::new();
    for (dialect, responses, streams) in [
        (Dialect::OpenAiChat, &CHAT_RESPONSES[..], &CHAT_STREAMS[..]),
        (Dialect::OpenAiResponses, &RESPONSES[..], &RESPONSES_STREAMS[..]),
    ] {
        for case in cases(dialect, "response") {
            let body: Value = serde_json::from_str(&case.text).unwrap();
            check(&case, responses, &validate::response(dialect, &body), &mut faults);
        }
        for case in cases(dialect, "stream") {
            check(&case, streams, &validate::stream(dialect, &events(case.text.as_bytes())), &mut faults);
        }
    }
    none(&faults);
}

/// What is written as a stream is one that OpenAI could have sent.
#[test]
fn what_is_unfolded_is_accepted() {
    let mut faults = Vec::new();
    for case in cases(Dialect::OpenAiChat, "response") {
        let mut stream = vec![];
        openai_chat::unfold::unfold(&case.text, true, &mut stream).unwrap();
        let found = validate::stream(Dialect::OpenAiChat, &events(&stream));
        // A call without arguments, and its end, are put right.
        let others: Vec<&str> = CHAT_RESPONSES.into_iter().filter(|name| !name.contains("tool-call")).collect();
        check(&case, &others, &found, &mut faults);
    }
    for case in cases(Dialect::OpenAiResponses, "response") {
        if ["queued-in-background", "cancelled"].contains(&case.name()) {
            continue;
        }
        let mut stream = vec![];
        openai_responses::unfold::unfold(&case.text, &mut stream).unwrap();
        check(&case, &RESPONSES, &validate::stream(Dialect::OpenAiResponses, &events(&stream)), &mut faults);
    }
    none(&faults);
}

fn check(case: &Case, others: &[&str], found: &[String], faults: &mut Vec<String>) {
    match (others.contains(&case.name()), found.first()) {
        (true, None) => faults.push(format!("{:?} is accepted", case.path)),
        (false, Some(fault)) => faults.push(format!("{:?}: {fault}", case.path)),
        _ => {}
    }
}

/// Requests that OpenAI refuses: what other vendors take, or what is wrong on purpose.
const CHAT_REQUESTS: [&str; 22] = [
    "b05-call-without-result",
    "b05-result-without-call",
    "b07-long-call-ids",
    "b08-cut-arguments",
    "b08-empty-arguments",
    "b13-thinking-blocks-replayed",
    "b14-thought-signature-kept",
    "b16-effort-above-max-tokens",
    "b16-effort-equal-to-budget",
    "b16-effort-with-tiny-max-tokens",
    "b17-reasoning-content-replayed",
    "cache-control",
    "gemini-extra-body",
    "null-members",
    "reasoning-details-replayed",
    "reasoning-effort-max",
    "reasoning-openrouter-effort",
    "reasoning-openrouter",
    "thinking-blocks-without-signature",
    "thinking-budget",
    "tool-result-named-by-litellm",
    "unknown-part-kept",
];

const RESPONSES_REQUESTS: [&str; 13] = [
    "audio-input",
    "b05-call-without-result",
    "b05-result-without-call",
    "b07-long-call-ids",
    "b08-empty-arguments",
    "b82-max-output-negative",
    "choice-allowed-tools",
    "codex-first-turn",
    "codex-second-turn",
    "null-members",
    "prompt-held-at-vendor",
    "tool-function-without-parameters",
    "unknown-item-and-part",
];

/// The corpora's own requests, with a model that takes all of their parameters.
#[test]
fn what_openai_takes_is_accepted() {
    let mut faults = Vec::new();
    for (dialect, others, model) in [
        (Dialect::OpenAiChat, &CHAT_REQUESTS[..], "gpt-5.2"),
        (Dialect::OpenAiResponses, &RESPONSES_REQUESTS[..], "gpt-6-sol"),
    ] {
        for case in cases(dialect, "request") {
            let body: Value = serde_json::from_str(&case.text.replace("gpt-6.2-sol", model)).unwrap();
            check(&case, others, &validate::request(dialect, &body), &mut faults);
        }
    }
    none(&faults);
}

/// Changes of a good request, each with what has to be said about it.
#[test]
fn what_openai_would_refuse_is_a_fault() {
    let tool =
        json!({"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": false});
    let chat_tool = json!({"type": "function", "function": {"name": "f"}});
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let chat = json!({"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}], "tools": [chat_tool]});
    let responses = json!({"model": "gpt-6-sol", "input": [{"role": "user", "content": "Hi"}], "tools": [tool]});
    for (dialect, good, place, value, fault) in [
        (Dialect::OpenAiChat, &chat, "/messages/0/role", json!("robot"), "nothing that is known"),
        (Dialect::OpenAiChat, &chat, "/messages/0/content", json!([]), "empty list"),
        (Dialect::OpenAiChat, &chat, "/messages/0/name", json!(7), "type string"),
        (
            Dialect::OpenAiChat,
            &chat,
            "/messages/1",
            json!({"role": "assistant", "content": null}),
            "neither content nor",
        ),
        (
            Dialect::OpenAiChat,
            &chat,
            "/messages/1",
            json!({"role": "assistant", "tool_calls": [call("a")]}),
            "not answered",
        ),
        (
            Dialect::OpenAiChat,
            &chat,
            "/messages/1",
            json!({"role": "tool", "tool_call_id": "a", "content": "b"}),
            "answers no call",
        ),
        (Dialect::OpenAiChat, &chat, "/tools/0/function/name", json!("a.b"), "is no name"),
        (Dialect::OpenAiChat, &chat, "/tools/0/function/strictly", json!(true), "is not known"),
        (Dialect::OpenAiChat, &chat, "/tools", json!([]), "1 to 128"),
        (
            Dialect::OpenAiChat,
            &chat,
            "/tool_choice",
            json!({"type": "function", "function": {"name": "g"}}),
            "no tool of",
        ),
        (Dialect::OpenAiChat, &chat, "/stop", json!(["a", "b", "c", "d", "e"]), "1 to 4"),
        (Dialect::OpenAiChat, &chat, "/max_tokens", json!(5), "does not take it"),
        (Dialect::OpenAiChat, &chat, "/frequency_penalty", json!(0.5), "does not take it"),
        (Dialect::OpenAiChat, &chat, "/model", json!("gpt-6.2-sol"), "only without reasoning"),
        (Dialect::OpenAiChat, &chat, "/reasoning_effort", json!("max"), "does not take max"),
        (Dialect::OpenAiChat, &chat, "/response_format", json!({"type": "json_object"}), "the word json"),
        (Dialect::OpenAiChat, &chat, "/stream_options", json!({"include_usage": true}), "only allowed with stream"),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/0/content",
            json!([{"type": "output_text", "text": "a"}]),
            "known here",
        ),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/1",
            json!({"role": "assistant", "content": [{"type": "input_text", "text": "a"}]}),
            "no part of",
        ),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/1",
            json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}),
            "no tool output",
        ),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/1",
            json!({"type": "function_call_output", "call_id": "a", "output": "b"}),
            "no tool call",
        ),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/0",
            json!({"type": "function_call", "id": "call_1", "call_id": "a", "name": "f", "arguments": "{}"}),
            "begin with fc",
        ),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/1",
            json!({"type": "reasoning", "id": "rs_1", "summary": []}),
            "following item",
        ),
        (
            Dialect::OpenAiResponses,
            &responses,
            "/input/0/content",
            json!([{"type": "input_image", "image_url": "a.png", "detail": "auto"}]),
            "no address",
        ),
        (Dialect::OpenAiResponses, &responses, "/tools/0/strict", json!(true), "additionalProperties"),
        (Dialect::OpenAiResponses, &responses, "/tools/0/parameters/type", json!("string"), "type object"),
        (Dialect::OpenAiResponses, &responses, "/tools/0/parameters/properties/a", json!({"type": "array"}), "items"),
        (Dialect::OpenAiResponses, &responses, "/temperature", json!(0.5), "does not take it"),
        (Dialect::OpenAiResponses, &responses, "/max_output_tokens", json!(5), "not within 16"),
        (Dialect::OpenAiResponses, &responses, "/include", json!(["everything"]), "none of"),
        (Dialect::OpenAiResponses, &responses, "/stop", json!("a"), "is not known"),
        (Dialect::OpenAiResponses, &responses, "/model", json!("gpt-4.1"), ""),
    ] {
        assert_eq!(validate::request(dialect, good), Vec::<String>::new());
        let mut bad = good.clone();
        set(&mut bad, place, value);
        let found = validate::request(dialect, &bad);
        let is_found = found.iter().any(|found| found.contains(fault)) || fault.is_empty();
        assert!(is_found, "{place} of {bad} should have {fault:?}, has {found:?}");
    }
}

/// Sets what a pointer means; the last part may be new.
fn set(value: &mut Value, place: &str, new: Value) {
    let (parent, name) = place.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(list) if name.parse() == Ok(list.len()) => list.push(new),
        Value::Array(list) => list[name.parse::<usize>().unwrap()] = new,
        parent => parent[name] = new,
    }
}

/// No event of a Responses stream may be missing or be there twice, even if the numbers are right.
#[test]
fn each_event_of_a_responses_stream_is_missed() {
    for case in cases(Dialect::OpenAiResponses, "stream") {
        if !["text", "text-two-parts", "refusal", "tool-call-after-reasoning", "tool-call-parallel"]
            .contains(&case.name())
        {
            continue;
        }
        let whole = events(case.text.as_bytes());
        for index in 0..whole.len() {
            let (mut without, mut twice) = (whole.clone(), whole.clone());
            without.remove(index);
            twice.insert(index, whole[index].clone());
            for events in [without, twice] {
                let found = validate::stream(Dialect::OpenAiResponses, &numbered(events));
                assert!(!found.is_empty(), "event {index} of {}: {:?}", case.name(), whole[index]);
            }
        }
    }
}

fn numbered(events: Vec<(String, String)>) -> Vec<(String, String)> {
    let number = |(index, (name, data)): (usize, (String, String))| {
        let mut data: Value = serde_json::from_str(&data).unwrap();
        data["sequence_number"] = index.into();
        (name, data.to_string())
    };
    events.into_iter().enumerate().map(number).collect()
}
