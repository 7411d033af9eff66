//! Requests of Chat Completions for Claude.

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, ServerTools};
use crate::protocol::dialect::Dialect;

fn convert_for(model: &str, request: &Value) -> Result<ConvertedRequest, ConvertError> {
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &Media::new() };
    convert::request(Dialect::OpenAiChat, Dialect::Claude, &request.to_string(), &context)
}

fn converted(request: &Value) -> Value {
    serde_json::from_slice(&convert_for("claude-sonnet-4-5", request).unwrap().body).unwrap()
}

fn messages(messages: Value) -> Value {
    converted(&json!({"model": "m", "messages": messages}))["messages"].clone()
}

fn refusal(request: Value) -> String {
    match convert_for("claude-sonnet-4-5", &request) {
        Err(error @ (ConvertError::Invalid { .. } | ConvertError::Unsupported { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": arguments}})
}

/// B05: a call without a result and a result without a call are refused by their ids.
#[test]
fn orphans_are_refused() {
    let calls = json!({"role": "assistant", "tool_calls": [call("t1", "{}"), call("t2", "{}")]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "ok"});
    let user = json!({"role": "user", "content": "go on"});
    for (history, id) in [
        (json!([user, calls, result("t1"), user]), "t2"),
        (json!([user, result("t9"), user]), "t9"),
        (json!([user, calls, result("t1")]), "t2"),
    ] {
        assert!(refusal(json!({"model": "m", "messages": history})).contains(id));
    }
}

/// B07: an id that Claude would refuse is fitted, alike on call and result, and others are left alone.
#[test]
fn ids_meet_again() {
    let history = |id: &str| {
        json!([
            {"role": "user", "content": "a"},
            {"role": "assistant", "tool_calls": [call(id, "{}")]},
            {"role": "tool", "tool_call_id": id, "content": "ok"},
        ])
    };
    for (id, is_kept) in [("call_1", true), ("functions.ls:0", false)] {
        let messages = messages(history(id));
        let (call, result) = (&messages[1]["content"][0]["id"], &messages[2]["content"][0]["tool_use_id"]);
        assert!(call == result && (call == id) == is_kept, "{messages}");
    }
}

/// B08: no arguments are an empty object; what is cut is refused by the call's id.
#[test]
fn arguments_are_objects() {
    let history = |arguments: &str| {
        json!([
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": null, "tool_calls": [call("c1", arguments)]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ])
    };
    assert_eq!(messages(history(""))[1]["content"][0]["input"], json!({}));
    for cut in ["{\"p\":", "[]", "1"] {
        assert!(refusal(json!({"model": "m", "messages": history(cut)})).contains("c1"));
    }
}

/// B17: reasoning of another family is neither thinking of Claude's nor text.
#[test]
fn foreign_reasoning_is_left_out() {
    let messages = messages(json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "reasoning_content": "hm"},
        {"role": "user", "content": "c"},
    ]));
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "b"}]));
}

/// B46: leading instructions are the system prompt, later ones stay in their place as notices of the user's turn.
#[test]
fn later_instructions_stay_in_their_place() {
    let body = converted(&json!({"model": "m", "messages": [
        {"role": "system", "content": "S0"},
        {"role": "developer", "content": "S1"},
        {"role": "user", "content": "c"},
        {"role": "system", "content": "file X changed"},
        {"role": "assistant", "content": "d"},
        {"role": "user", "content": "e"},
    ]}));
    assert_eq!(body["system"], json!([{"type": "text", "text": "S0"}, {"type": "text", "text": "S1"}]));
    let texts: Vec<&str> = (0..2).filter_map(|index| body["messages"][0]["content"][index]["text"].as_str()).collect();
    assert_eq!(texts, ["c", "System notice: file X changed"]);
}

/// B47: blank texts are left out, and a result may be empty.
#[test]
fn blank_texts_are_left_out() {
    let messages = messages(json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "", "tool_calls": [call("c1", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": " "}, {"type": "text", "text": "go"}]},
    ]));
    assert_eq!(messages[1]["content"].as_array().unwrap().len(), 1);
    let wanted = json!([{"type": "tool_result", "tool_use_id": "c1"}, {"type": "text", "text": "go"}]);
    assert_eq!(messages[2]["content"], wanted);
    let blank = json!({"model": "m", "messages": [{"role": "user", "content": "  "}]});
    assert!(refusal(blank).contains("messages[0]"));
}

/// B49: a PDF becomes a document, and what Claude does not take is refused, never skipped.
#[test]
fn files_are_converted_or_refused() {
    let part = |part: Value| json!([{"role": "user", "content": [part, {"type": "text", "text": "?"}]}]);
    let file = |data: &str| json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}});
    let document = |source: Value| json!({"type": "document", "source": source, "title": "a.pdf"});
    let pdf = document(json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}));
    assert_eq!(messages(part(file("data:application/pdf;base64,JVBERi0=")))[0]["content"][0], pdf);
    assert_eq!(messages(part(file("JVBERi0=")))[0]["content"][0], pdf);
    let text = document(json!({"type": "text", "media_type": "text/plain", "data": "hi"}));
    assert_eq!(messages(part(file("data:text/markdown;base64,aGk=")))[0]["content"][0], text);
    for other in [
        file("data:application/zip;base64,aGk="),
        json!({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}),
        json!({"type": "video_url", "video_url": {"url": "https://a.test/v.mp4"}}),
        json!({"type": "image_url", "image_url": {"url": "data:image/tiff;base64,aGk="}}),
        json!({"type": "file", "file": {"file_id": "file-1"}}),
    ] {
        assert!(refusal(json!({"model": "m", "messages": part(other)})).contains("messages[0].content[0]"));
    }
}

#[test]
fn images_at_plain_addresses_are_fetched() {
    let request = json!({"model": "m", "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://a.test/i.png"}}]},
    ]});
    let result = convert_for("claude-sonnet-4-5", &request).map(|converted| converted.body);
    assert_eq!(result, Err(ConvertError::NeedsMedia(vec!["http://a.test/i.png".to_owned()])));
}

/// B83: one answer for `n` above 1 would be a lie.
#[test]
fn several_answers_are_refused() {
    let request = json!({"model": "m", "n": 2, "messages": [{"role": "user", "content": "a"}]});
    assert!(refusal(request).contains('n'));
}

/// B13: thinking is off where the last call's thinking is gone.
#[test]
fn calls_without_their_thinking_turn_thinking_off() {
    let request = json!({"model": "m", "reasoning_effort": "high", "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call("c1", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]});
    let converted = convert_for("claude-sonnet-4-5", &request).unwrap();
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    assert!(body.get("thinking").is_none() && converted.losses.matters(), "{body}");
    let adaptive = convert_for("claude-opus-5-5", &request).unwrap();
    let body: Value = serde_json::from_slice(&adaptive.body).unwrap();
    assert_eq!(body["thinking"]["type"], "adaptive");
}

#[test]
fn a_conversation_begins_and_ends_with_the_user_where_it_has_to() {
    let request = json!({"model": "m", "messages": [
        {"role": "assistant", "content": "Hello, I am here to help."},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b  "},
    ]});
    let roles = |model| {
        let converted = convert_for(model, &request).unwrap();
        assert!(converted.losses.matters());
        let body: Value = serde_json::from_slice(&converted.body).unwrap();
        let roles = body["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap());
        (roles.map(str::to_owned).collect::<Vec<_>>(), body)
    };
    let (older, body) = roles("claude-sonnet-4-5");
    assert_eq!(older, ["user", "assistant", "user", "assistant"]);
    assert_eq!(body["messages"][3]["content"][0]["text"], "b");
    assert_eq!(roles("claude-opus-5-5").0, ["user", "assistant", "user", "assistant", "user"]);
}

#[test]
fn a_tool_that_has_to_be_called_excludes_thinking() {
    let request = json!({"model": "m", "reasoning_effort": "high", "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "ls"}}], "messages": [{"role": "user", "content": "a"}]});
    let body = |model| -> Value { serde_json::from_slice(&convert_for(model, &request).unwrap().body).unwrap() };
    let older = body("claude-sonnet-4-5");
    assert!(older["tool_choice"]["type"] == "any" && older.get("thinking").is_none(), "{older}");
    assert_eq!(body("claude-opus-5")["thinking"]["type"], "disabled");
    let newest = body("claude-opus-5-5");
    assert!(newest["tool_choice"]["type"] == "auto" && newest["thinking"]["type"] == "adaptive", "{newest}");
}
