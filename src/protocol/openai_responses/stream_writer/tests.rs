use serde_json::{Value, json};

use super::*;
use crate::protocol::convert::names::{Charset, ToolNames};

fn writer() -> StreamWriter {
    let mut tools = ToolNames::default();
    tools.upstream(Charset::CLAUDE, None, "apply_patch", ToolKind::Custom);
    tools.upstream(Charset::CLAUDE, Some("git"), "log", ToolKind::Function);
    let (id, model) = ("1".to_owned(), "m".to_owned());
    StreamWriter::new(Rc::new(Reply { id, model, created: 7, tools, ..Reply::default() }))
}

/// The data of all events; their names and numbers are checked.
fn data(out: &[u8]) -> Vec<Value> {
    let events = std::str::from_utf8(out).unwrap().split_terminator("\n\n");
    let read = |(number, event): (usize, &str)| {
        let (name, data) = event.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(number)));
        data
    };
    events.enumerate().map(read).collect()
}

fn kinds(data: &[Value]) -> Vec<&str> {
    data.iter().map(|event| event["type"].as_str().unwrap().trim_start_matches("response.")).collect()
}

fn last_output(data: &[Value]) -> &Value {
    &data.last().unwrap()["response"]["output"]
}

/// B23: the whole sequence, and the output in the end.
#[test]
fn text_has_all_its_events() {
    let (mut writer, mut out) = (writer(), vec![]);
    writer.start(Some("gpt"), &mut out);
    writer.text("H\"", &mut out);
    writer.text("i", &mut out);
    writer.usage(Usage { input_tokens: 1, output_tokens: 2, total_tokens: 3, ..Usage::default() });
    writer.finish(None, &mut out);
    writer.text("late", &mut out);
    let data = data(&out);
    assert_eq!(
        kinds(&data),
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
            "completed"
        ]
    );
    let text = json!({"type": "output_text", "text": "H\"i", "annotations": [], "logprobs": []});
    let item =
        json!({"id": "msg_1_0", "type": "message", "status": "completed", "role": "assistant", "content": [text]});
    assert_eq!(
        data[4],
        json!({"type": "response.output_text.delta", "sequence_number": 4, "item_id": "msg_1_0", "output_index": 0,
            "content_index": 0, "delta": "H\"", "logprobs": []})
    );
    assert_eq!(data[6]["text"], "H\"i");
    assert_eq!(data[7]["part"], text);
    assert_eq!(data[8]["item"], item);
    let response = &data[9]["response"];
    assert_eq!(response["output"], json!([item]));
    assert_eq!(
        (&response["id"], &response["status"], &response["model"]),
        (&json!("resp_1"), &json!("completed"), &json!("gpt"))
    );
    assert_eq!(response["usage"]["input_tokens_details"], json!({"cached_tokens": 0, "cache_write_tokens": 0}));
    assert_eq!(response["tools"], json!([]));
    assert_eq!(data[0]["response"]["usage"], Value::Null);
}

/// B08: no arguments are `{}`. Calls that are open at once end each with its own arguments.
#[test]
fn calls_may_be_interleaved_and_empty() {
    let (mut writer, mut out) = (writer(), vec![]);
    let one = writer.tool_call("a", "git__log", &mut out);
    let two = writer.tool_call("b", "now", &mut out);
    writer.arguments(one, "{\"x\":", &mut out);
    writer.arguments(one, "1}", &mut out);
    writer.text("then", &mut out);
    writer.close_call(one);
    writer.close_call(two);
    writer.finish(None, &mut out);
    let data = data(&out);
    let output = last_output(&data);
    assert_eq!(
        output[0],
        json!({"id": "fc_1_0", "type": "function_call", "call_id": "a", "name": "log", "namespace": "git",
            "status": "completed", "arguments": "{\"x\":1}"})
    );
    assert_eq!(output[1]["arguments"], "{}");
    assert_eq!(output[2]["content"][0]["text"], "then");
    let done: Vec<&Value> = data.iter().filter(|event| event["type"] == "response.output_item.done").collect();
    assert_eq!(done.len(), 3);
    assert!(done.iter().all(|event| event["item"] == output[event["output_index"].as_u64().unwrap() as usize]));
}

#[test]
fn a_custom_tool_gets_its_text_back() {
    let (mut writer, mut out) = (writer(), vec![]);
    let call = writer.tool_call("a", "apply_patch", &mut out);
    for piece in ["{\"in", "put\":\"*** \\u00", "e9\\", "nb", "\"}"] {
        writer.arguments(call, piece, &mut out);
    }
    writer.finish(None, &mut out);
    let data = data(&out);
    let deltas: String = data.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(deltas, "*** é\nb");
    assert_eq!(
        last_output(&data)[0],
        json!({"id": "ctc_1_0", "type": "custom_tool_call", "call_id": "a", "name": "apply_patch", "status": "completed",
            "input": "*** é\nb"})
    );
}

#[test]
fn reasoning_has_sections_and_a_seal() {
    let (mut writer, mut out) = (writer(), vec![]);
    writer.reasoning("a", &mut out);
    writer.end_part(&mut out);
    writer.reasoning("b", &mut out);
    writer.seal_reasoning("sealed", &mut out);
    writer.reasoning("c", &mut out);
    writer.seal_reasoning("too", &mut out);
    writer.seal_reasoning("alone", &mut out);
    writer.refusal("no", &mut out);
    writer.finish(None, &mut out);
    let data = data(&out);
    let section = |text: &str| json!({"type": "summary_text", "text": text});
    assert_eq!(
        *last_output(&data),
        json!([
            {"id": "rs_1_0", "type": "reasoning", "summary": [section("a"), section("b")], "encrypted_content": "sealed"},
            {"id": "rs_1_1", "type": "reasoning", "summary": [section("c")], "encrypted_content": "too"},
            {"id": "rs_1_2", "type": "reasoning", "summary": [], "encrypted_content": "alone"},
            {"id": "msg_1_3", "type": "message", "status": "completed", "role": "assistant",
                "content": [{"type": "refusal", "refusal": "no"}]},
        ])
    );
    let indexes: Vec<&Value> = data.iter().filter_map(|event| event.get("summary_index")).collect();
    assert_eq!(indexes, [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
}

/// B29: the provider's code in the dialect's own event, with the next number and the response's id.
#[test]
fn an_error_is_the_last_word() {
    let (mut writer, mut out) = (writer(), vec![]);
    writer.start(None, &mut out);
    let fault = StreamFault { status: 400, code: "context_length_exceeded".into(), message: "too long".into() };
    writer.fault(&fault, &mut out);
    writer.finish(None, &mut out);
    let data = data(&out);
    assert_eq!(kinds(&data), ["created", "in_progress", "failed"]);
    assert_eq!(data[2]["response"]["id"], "resp_1");
    assert_eq!(data[2]["response"]["error"], json!({"code": "context_length_exceeded", "message": "too long"}));
    assert!(writer.is_over());
}

#[test]
fn what_is_cut_is_incomplete() {
    let (mut writer, mut out) = (writer(), vec![]);
    writer.text("a", &mut out);
    let call = writer.tool_call("a", "ls", &mut out);
    writer.arguments(call, "{\"x", &mut out);
    writer.close_call(call);
    writer.finish(Some(IncompleteReason::MaxOutputTokens), &mut out);
    let data = data(&out);
    let response = &data.last().unwrap()["response"];
    assert_eq!(response["incomplete_details"], json!({"reason": "max_output_tokens"}));
    assert_eq!(response["output"][0]["status"], "completed");
    assert_eq!(response["output"][1]["status"], "incomplete");
    assert_eq!(response["output"][1]["arguments"], "{\"x");
}
