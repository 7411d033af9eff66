use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::names::{Charset, ToolKind};
use crate::protocol::convert::{self, Reply};
use crate::protocol::dialect::Dialect;

/// The data of the events that `events` become; `done` is whether the source ends as it should.
fn converted(reply: Reply, events: &[Value]) -> Vec<Value> {
    let mut stream = convert::stream(Dialect::Claude, Dialect::OpenAiResponses, Rc::new(reply)).unwrap();
    let mut out = Vec::new();
    events.iter().for_each(|event| stream.event(&event.to_string(), &mut out));
    stream.finish(&mut out);
    assert!(stream.is_over());
    let text = String::from_utf8(out).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap().trim_start_matches("response.")).collect()
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude", "content": [], "usage": {"input_tokens": 3}}})
}

fn block(index: u64, block: Value, deltas: &[Value]) -> Vec<Value> {
    let mut events = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    events.extend(deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ]
}

fn call(input: &[&str]) -> Vec<Value> {
    let deltas: Vec<_> = input.iter().map(|json| json!({"type": "input_json_delta", "partial_json": json})).collect();
    block(0, json!({"type": "tool_use", "id": "toolu_1", "name": "git__patch", "input": {}}), &deltas)
}

/// B23: every event that clients wait for, numbered, and the whole output in the end.
#[test]
fn a_text_has_all_its_events() {
    let deltas = ["Hi", " you"].map(|text| json!({"type": "text_delta", "text": text}));
    let events = [vec![start()], block(0, json!({"type": "text", "text": ""}), &deltas), end("end_turn").to_vec()];
    let events = converted(Reply::default(), &events.concat());
    assert_eq!(
        kinds(&events),
        [
            "created",
            "in_progress",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ]
    );
    assert!(events.iter().enumerate().all(|(index, event)| event["sequence_number"] == index));
    let response = &events.last().unwrap()["response"];
    assert_eq!(response["output"][0]["content"][0]["text"], "Hi you");
    assert_eq!((&response["model"], &response["usage"]["total_tokens"]), (&json!("claude"), &json!(5)));
}

/// B08: a call without arguments has empty ones.
#[test]
fn a_call_without_arguments() {
    let events = converted(Reply::default(), &[vec![start()], call(&[""]), end("tool_use").to_vec()].concat());
    assert_eq!(events.last().unwrap()["response"]["output"][0]["arguments"], "{}");
}

/// A custom tool of the client, which is a function at Claude, is called as what it is.
#[test]
fn a_custom_tool_is_called_with_text() {
    let mut reply = Reply::default();
    reply.tools.upstream(Charset::CLAUDE, Some("git"), "patch", ToolKind::Custom);
    let pieces = ["{\"inp", "ut\":\"*** Begin\\n", "+a\"}"];
    let events = converted(reply, &[vec![start()], call(&pieces), end("tool_use").to_vec()].concat());
    let item = &events.last().unwrap()["response"]["output"][0];
    assert_eq!(item["type"], "custom_tool_call");
    assert_eq!(
        (&item["name"], &item["namespace"], &item["input"]),
        (&json!("patch"), &json!("git"), &json!("*** Begin\n+a"))
    );
}

/// The tools that Codex carries out come as their own items.
#[test]
fn a_local_tool_is_called_by_its_own_item() {
    for (kind, name, input, expected) in [
        (ToolKind::Shell, "shell", json!({"commands": ["ls"]}), "shell_call"),
        (ToolKind::ApplyPatch, "apply_patch", json!({"type": "delete_file", "path": "a"}), "apply_patch_call"),
        (ToolKind::ToolSearch, "tool_search", json!({"query": "a"}), "tool_search_call"),
        (ToolKind::Computer, "computer", json!({"type": "screenshot"}), "computer_call"),
    ] {
        let mut reply = Reply::default();
        reply.tools.upstream(Charset::CLAUDE, None, name, kind);
        let deltas = [json!({"type": "input_json_delta", "partial_json": input.to_string()})];
        let call = block(0, json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}), &deltas);
        let events = converted(reply, &[vec![start()], call, end("tool_use").to_vec()].concat());
        let item = &events.last().unwrap()["response"]["output"][0];
        assert_eq!((&item["type"], &item["call_id"]), (&json!(expected), &json!("toolu_1")));
    }
}

/// Thinking that is not shown is kept all the same, with its signature.
#[test]
fn thinking_that_is_not_shown_is_sealed() {
    let deltas = [json!({"type": "signature_delta", "signature": "c2ln"})];
    let thinking = block(0, json!({"type": "thinking", "thinking": "", "signature": ""}), &deltas);
    let redacted = block(1, json!({"type": "redacted_thinking", "data": "ZA=="}), &[]);
    let events = converted(Reply::default(), &[vec![start()], thinking, redacted, end("end_turn").to_vec()].concat());
    let output = &events.last().unwrap()["response"]["output"];
    assert_eq!((&output[0]["summary"], &output[0]["encrypted_content"]), (&json!([]), &json!("tollgate-claude:c2ln")));
    assert_eq!(output[1]["encrypted_content"], "tollgate-claude-redacted:ZA==");
}

/// B28: what breaks off does not look complete, wherever it breaks off.
#[test]
fn a_stream_that_breaks_off_fails() {
    let text = block(0, json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": "Hel"})]);
    let whole = [vec![start()], text, end("end_turn").to_vec()].concat();
    for cut in 0..whole.len() - 1 {
        let events = converted(Reply::default(), &whole[..cut]);
        let last = events.last().unwrap();
        assert_eq!(
            (&last["type"], &last["response"]["error"]["code"]),
            (&json!("response.failed"), &json!("upstream_cut"))
        );
    }
}

/// B29: an error has the response's id, the next number and the reason; nothing follows.
#[test]
fn an_error_fails_the_response() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let events =
        converted(Reply { id: "r".to_owned(), ..Reply::default() }, &[vec![start(), error], call(&[])].concat());
    assert_eq!(kinds(&events), ["created", "in_progress", "failed"]);
    let last = events.last().unwrap();
    assert_eq!((&last["sequence_number"], &last["response"]["id"]), (&json!(2), &json!("resp_r")));
    assert_eq!(last["response"]["error"], json!({"code": "server_is_overloaded", "message": "Overloaded"}));
}

#[test]
fn limits_stay_limits_even_with_a_call() {
    let events = converted(Reply::default(), &[vec![start()], call(&["{\"a\":"]), end("max_tokens").to_vec()].concat());
    let response = &events.last().unwrap()["response"];
    assert_eq!(response["incomplete_details"], json!({"reason": "max_output_tokens"}));
    assert_eq!(response["output"][0]["status"], "incomplete");
}
