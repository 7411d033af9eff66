use serde_json::{Value, json};

use super::*;
use crate::protocol::convert::names::{Charset, ToolNames};

fn writer(include_usage: bool) -> StreamWriter {
    let mut tools = ToolNames::default();
    tools.upstream(Charset::OPENAI, None, "apply_patch", ToolKind::Custom);
    let (id, model) = ("1".to_owned(), "m".to_owned());
    StreamWriter::new(Rc::new(Reply { id, model, created: 7, include_usage, tools, ..Reply::default() }))
}

fn data(out: &[u8]) -> Vec<Value> {
    let events = std::str::from_utf8(out).unwrap().split_terminator("\n\n");
    events
        .map(|event| event.strip_prefix("data: ").unwrap())
        .map(|data| match data {
            DONE => json!(DONE),
            data => serde_json::from_str(data).unwrap(),
        })
        .collect()
}

fn choices(out: &[u8]) -> Vec<Value> {
    data(out).iter().filter_map(|chunk| chunk.pointer("/choices/0").cloned()).collect()
}

#[test]
fn a_stream_of_text_with_its_usage() {
    let (mut writer, mut out) = (writer(true), vec![]);
    writer.start(Some("gpt"), &mut out);
    writer.text(0, "H\"é\n", &mut out);
    writer.text(0, "", &mut out);
    writer.finish_reason(0, FinishReason::Length, &mut out);
    writer.usage(CompletionUsage { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, ..Default::default() });
    writer.finish(&mut out);
    writer.finish(&mut out);
    writer.text(0, "late", &mut out);
    let head = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "gpt"});
    let with = |members: Value| {
        let mut chunk = head.clone();
        chunk.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        chunk
    };
    let choice = |delta: Value, reason: Value| {
        with(json!({"usage": null, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    let expected = [
        choice(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null),
        choice(json!({"content": "H\"é\n"}), Value::Null),
        choice(json!({}), json!("length")),
        with(json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}})),
        json!(DONE),
    ];
    assert_eq!(data(&out), expected);
}

/// B08, B25: a call without arguments gets `{}`, and calls make the reason `tool_calls`.
#[test]
fn calls_may_be_interleaved_and_empty() {
    let (mut writer, mut out) = (writer(false), vec![]);
    let one = writer.tool_call(0, "a", "ls", None, &mut out);
    let two = writer.tool_call(0, "b", "now", Some(&Raw::parse(r#"{"google":1}"#).unwrap()), &mut out);
    writer.arguments(0, one, "{\"x\":", &mut out);
    writer.finish_reason(0, FinishReason::Stop, &mut out);
    writer.arguments(0, one, "1}", &mut out);
    writer.close_call(0, one, &mut out);
    writer.arguments(0, one, "late", &mut out);
    writer.usage(CompletionUsage::default());
    writer.finish(&mut out);
    assert_eq!((one, two), (0, 1));
    let calls: Vec<Value> =
        choices(&out).iter().filter_map(|choice| choice.pointer("/delta/tool_calls/0").cloned()).collect();
    let expected = [
        json!({"index": 0, "id": "a", "type": "function", "function": {"name": "ls", "arguments": ""}}),
        json!({"index": 1, "id": "b", "type": "function", "function": {"name": "now", "arguments": ""},
            "extra_content": {"google": 1}}),
        json!({"index": 0, "function": {"arguments": "{\"x\":"}}),
        json!({"index": 0, "function": {"arguments": "1}"}}),
        json!({"index": 1, "function": {"arguments": "{}"}}),
    ];
    assert_eq!(calls, expected);
    assert_eq!(choices(&out).last().unwrap()["finish_reason"], "tool_calls");
    assert!(!String::from_utf8(out).unwrap().contains("usage"));
}

#[test]
fn a_custom_tool_gets_its_text_back() {
    let (mut writer, mut out) = (writer(false), vec![]);
    let call = writer.tool_call(0, "a", "apply_patch", None, &mut out);
    for piece in ["{\"in", "put\":\"a\\", "nb", "\"}"] {
        writer.arguments(0, call, piece, &mut out);
    }
    writer.finish(&mut out);
    let calls: Vec<Value> =
        choices(&out).iter().filter_map(|choice| choice.pointer("/delta/tool_calls/0").cloned()).collect();
    let expected = [
        json!({"index": 0, "id": "a", "type": "custom", "custom": {"name": "apply_patch", "input": ""}}),
        json!({"index": 0, "custom": {"input": "a"}}),
        json!({"index": 0, "custom": {"input": "\nb"}}),
    ];
    assert_eq!(calls, expected);
}

/// B28: after an error there is neither a reason for the end nor `[DONE]`.
#[test]
fn an_error_is_the_last_word() {
    let (mut writer, mut out) = (writer(true), vec![]);
    writer.text(0, "Hel", &mut out);
    writer.fault(&StreamFault::cut_off(), &mut out);
    writer.finish(&mut out);
    let data = data(&out);
    assert_eq!((data.len(), &data[2]["error"]["code"]), (3, &json!("upstream_cut")));
    assert!(choices(&out).iter().all(|choice| choice["finish_reason"].is_null()) && writer.is_over());
}

#[test]
fn each_choice_has_its_role_and_its_reason() {
    let (mut writer, mut out) = (writer(false), vec![]);
    writer.text(1, "b", &mut out);
    writer.text(0, "a", &mut out);
    writer.finish_reason(1, FinishReason::ContentFilter, &mut out);
    writer.finish(&mut out);
    let choices = choices(&out);
    let of = |index: u64| choices.iter().filter(move |choice| choice["index"] == index);
    for (index, reason) in [(0, "stop"), (1, "content_filter")] {
        assert_eq!(of(index).filter(|choice| choice["delta"]["role"] == "assistant").count(), 1);
        assert_eq!(of(index).filter(|choice| choice["finish_reason"] == reason).count(), 1);
    }
}
