use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::{self, Reply};
use crate::protocol::dialect::Dialect;

fn converted(events: &[Value]) -> Vec<Value> {
    let mut stream = convert::stream(Dialect::OpenAiResponses, Dialect::Claude, Rc::new(Reply::default())).unwrap();
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

fn response(status: &str, members: Value) -> Value {
    let mut response = json!({"id": "resp_1", "model": "gpt", "status": status});
    response.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    response
}

fn created() -> Value {
    json!({"type": "response.created", "response": response("in_progress", json!({}))})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": response("completed", json!({"usage": {"input_tokens": 3, "output_tokens": 2}}))})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn delta(kind: &str, index: u64, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": delta})
}

fn blocks(events: &[Value]) -> Vec<&str> {
    let starts = events.iter().filter(|event| event["type"] == "content_block_start");
    starts.map(|event| event["content_block"]["type"].as_str().unwrap()).collect()
}

/// B22: one start, blocks one after another, each closed before the next, and deltas that fit.
#[test]
fn thinking_and_text_do_not_mix() {
    let reasoning = |text: &str| json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "gA"});
    let message = json!({"type": "message", "role": "assistant", "content": []});
    let events = converted(&[
        created(),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        delta("reasoning_summary_text", 0, "a"),
        delta("reasoning_summary_text", 0, "b"),
        done(0, reasoning("ab")),
        added(1, message.clone()),
        delta("output_text", 1, "X"),
        done(1, message.clone()),
        added(2, json!({"type": "reasoning", "id": "rs_2", "summary": []})),
        done(2, reasoning("c")),
        added(3, message.clone()),
        delta("output_text", 3, "Z"),
        done(3, message),
        completed(),
    ]);
    assert_eq!(blocks(&events), ["thinking", "text", "thinking", "text"]);
    let mut open = None;
    for event in &events {
        let index = event["index"].as_u64();
        match event["type"].as_str().unwrap() {
            "content_block_start" => assert!(open.replace(index).is_none()),
            "content_block_delta" => assert_eq!(open, Some(index)),
            "content_block_stop" => assert_eq!(open.take(), Some(index)),
            _ => assert!(open.is_none()),
        }
    }
    assert_eq!(events.iter().filter(|event| event["type"] == "message_start").count(), 1);
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

/// B08: a call without arguments is one with an empty object, which the block's beginning says.
#[test]
fn a_call_without_arguments() {
    let call = json!({"type": "function_call", "call_id": "c1", "name": "now", "arguments": ""});
    let events = converted(&[created(), added(0, call.clone()), done(0, call), completed()]);
    assert_eq!(events[1]["content_block"], json!({"type": "tool_use", "id": "c1", "name": "now", "input": {}}));
    let end = &events[events.len() - 2];
    assert_eq!((&end["delta"]["stop_reason"], &end["usage"]["output_tokens"]), (&json!("tool_use"), &json!(2)));
}

/// Servers that send no pieces have everything in the item, or in the response alone.
#[test]
fn what_did_not_come_in_pieces_comes_at_the_end() {
    let message = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]});
    let call = json!({"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{\"a\":1}"});
    let whole = response("completed", json!({"output": [message, call]}));
    for events in [
        vec![created(), done(0, message.clone()), done(1, call.clone()), completed()],
        vec![
            added(0, message.clone()),
            done(0, message.clone()),
            added(1, call.clone()),
            done(1, call.clone()),
            completed(),
        ],
        vec![json!({"type": "response.completed", "response": whole})],
    ] {
        let events = converted(&events);
        assert_eq!(blocks(&events), ["text", "tool_use"]);
        let pieces: String = events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
        assert_eq!(pieces, "{\"a\":1}");
        assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    }
}

/// Encrypted reasoning is kept by the client, in a block that may be empty.
#[test]
fn reasoning_is_sealed() {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"});
    let events = converted(&[created(), added(0, item.clone()), done(0, item), completed()]);
    let signature = events.iter().find_map(|event| event["delta"]["signature"].as_str()).unwrap();
    assert_eq!(signature, r#"tollgate-openai:{"id":"rs_1","encrypted_content":"gA"}"#);
}

/// B28 and B29: breaks and failures end with an error, and with no sign of success.
#[test]
fn failures_end_with_an_error() {
    let text = [created(), added(0, json!({"type": "message", "role": "assistant"})), delta("output_text", 0, "Hel")];
    let failed = json!({"type": "response.failed", "response": response("failed", json!({"error": {"code": "rate_limit_exceeded", "message": "slow"}}))});
    let flat = json!({"type": "error", "code": "context_length_exceeded", "message": "Too long."});
    for (end, kind, message) in [
        (None, "api_error", "incomplete"),
        (Some(failed), "rate_limit_error", "slow"),
        (Some(flat), "invalid_request_error", "prompt is too long: Too long."),
        (Some(json!({"type": "response.output_text.delta"})), "api_error", "cannot be read"),
    ] {
        let events: Vec<Value> = text.iter().cloned().chain(end).collect();
        let events = converted(&events);
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["error"]["type"]), (&json!("error"), &json!(kind)));
        assert!(last["error"]["message"].as_str().unwrap().contains(message));
        assert!(events.iter().all(|event| event["type"] != "message_stop" && event["type"] != "message_delta"));
    }
}

#[test]
fn limits_and_filters() {
    for (reason, expected) in [("max_output_tokens", "max_tokens"), ("content_filter", "refusal")] {
        let call = json!({"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"});
        let details = json!({"incomplete_details": {"reason": reason}});
        let end = json!({"type": "response.incomplete", "response": response("incomplete", details)});
        let events = converted(&[created(), added(0, call.clone()), done(0, call), end]);
        assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], expected);
    }
}
