//! Tests of both directions of this folder: requests to Claude, answers from Gemini.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Reply, ServerTools};
use crate::protocol::dialect::Dialect;

const BUDGET: &str = "claude-sonnet-4-5";
const ADAPTIVE: &str = "claude-opus-5-5";

fn try_request_for(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
    convert::request(Dialect::Gemini, Dialect::Claude, &body.to_string(), &context)
}

#[track_caller]
fn request_for(model: &str, body: &Value) -> Value {
    serde_json::from_slice(&try_request_for(model, body).unwrap().body).unwrap()
}

#[track_caller]
fn messages(contents: Value) -> Value {
    request_for(BUDGET, &json!({"contents": contents}))["messages"].take()
}

/// A request with this configuration.
fn configured(config: Value) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": config})
}

fn reply() -> Reply {
    Reply { id: "r1".to_owned(), model: "alias".to_owned(), ..Reply::default() }
}

fn try_response(body: &Value) -> Result<Value, ConvertError> {
    let converted = convert::response(Dialect::Gemini, Dialect::Claude, &body.to_string(), &reply())?;
    Ok(serde_json::from_slice(&converted.body).unwrap())
}

#[track_caller]
fn response(body: &Value) -> Value {
    try_response(body).unwrap()
}

fn answer(parts: Value, reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}})
}

/// What comes of the events of a stream, as the data of Claude's events.
fn stream_for(reply: Reply, events: &[Value]) -> Vec<Value> {
    let mut stream = convert::stream(Dialect::Gemini, Dialect::Claude, Rc::new(reply)).unwrap();
    let mut out = Vec::new();
    events.iter().for_each(|event| stream.event(&event.to_string(), &mut out));
    if !stream.is_over() {
        stream.finish(&mut out);
    }
    let text = String::from_utf8(out).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn stream(events: &[Value]) -> Vec<Value> {
    stream_for(reply(), events)
}

/// The types of events, and what they bring.
fn told(events: &[Value]) -> Vec<String> {
    let told = |event: &Value| {
        let kind = event["type"].as_str().unwrap().replace("content_block_", "");
        let members = ["text", "thinking", "signature", "partial_json", "stop_reason"];
        let text = members.iter().find_map(|member| event["delta"][*member].as_str());
        let text = text.or(event["content_block"]["type"].as_str()).unwrap_or_default();
        format!("{kind} {text}").trim_end().to_owned()
    };
    events.iter().map(told).collect()
}

fn call_and_result(id: &str) -> (Value, Value) {
    (
        json!({"functionCall": {"id": id, "name": "ls", "args": {}}}),
        json!({"functionResponse": {"id": id, "name": "ls", "response": {"output": "a"}}}),
    )
}

/// B05: orphans are refused by name, whoever is to answer.
#[test]
fn orphans_are_refused() {
    let (call, result) = call_and_result("t9");
    let user = |part: &Value| json!({"role": "user", "parts": [part]});
    for contents in [
        json!([user(&json!({"text": "q"})), user(&result)]),
        json!([user(&json!({"text": "q"})), {"role": "model", "parts": [call]}, user(&json!({"text": "go on"}))]),
        json!([user(&json!({"text": "q"})), {"role": "model", "parts": [call]}]),
    ] {
        let error = try_request_for(BUDGET, &json!({"contents": contents})).unwrap_err();
        assert!(matches!(error, ConvertError::Invalid { .. }) && error.to_string().contains("t9"), "{error}");
    }
}

/// Results without ids belong to the calls of their functions in order; ids at Claude are always different.
#[test]
fn calls_without_ids_get_some() {
    let call = json!({"functionCall": {"name": "get", "args": {"c": 1}}});
    let result = |text: &str| json!({"functionResponse": {"name": "get", "response": {"result": text}}});
    let messages = messages(json!([
        {"parts": [{"text": "q"}]}, {"role": "model", "parts": [call, call]},
        {"role": "function", "parts": [result("1")]}, {"role": "function", "parts": [result("2")]},
        {"role": "model", "parts": [call]}, {"role": "user", "parts": [result("3")]}
    ]));
    let id = |message: usize, block: usize, member: &str| messages[message]["content"][block][member].clone();
    let ids = [id(1, 0, "id"), id(1, 1, "id"), id(3, 0, "id")];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    assert_eq!([id(2, 0, "tool_use_id"), id(2, 1, "tool_use_id"), id(4, 0, "tool_use_id")], ids);
    assert_eq!([id(2, 0, "content"), id(2, 1, "content")], ["1", "2"]);
}

#[test]
fn ids_and_names_are_such_as_claude_takes() {
    let tool = json!([{"functionDeclarations": [{"name": "shop.order:v2"}]}]);
    let contents = json!([
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "a.b/c", "name": "shop.order:v2"}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "a.b/c", "name": "shop.order:v2", "response": {}}}]}
    ]);
    let converted = try_request_for(BUDGET, &json!({"contents": contents, "tools": tool})).unwrap();
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    let call = &body["messages"][1]["content"][0];
    let fits = |text: &Value| text.as_str().unwrap().chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    assert!(fits(&call["id"]) && fits(&call["name"]) && call["name"] == body["tools"][0]["name"], "{call}");
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], call["id"]);
    // B08.
    assert_eq!(call["input"], json!({}));
    assert_eq!(converted.reply.tools.client_name(call["name"].as_str().unwrap()), "shop.order:v2");
}

/// Results in the shapes in which clients write them.
#[test]
fn results_are_unwrapped() {
    for (response, text, is_error) in [
        (json!({"output": "x"}), "x", Value::Null),
        (json!({"result": "x"}), "x", Value::Null),
        (json!({"content": "x"}), "x", Value::Null),
        (json!({"name": "ls", "content": "x"}), "x", Value::Null),
        (json!({"error": "x"}), "x", json!(true)),
        (json!({"output": {"n": 1}}), r#"{"n":1}"#, Value::Null),
        (json!({"output": "x", "more": 1}), r#"{"output":"x","more":1}"#, Value::Null),
        (json!({}), "{}", Value::Null),
    ] {
        let messages = messages(json!([
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [call_and_result("c").0]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "ls", "response": response}}]}
        ]));
        let result = &messages[2]["content"][0];
        assert_eq!((&result["content"], &result["is_error"]), (&json!(text), &is_error), "{response}");
    }
}

/// B10: images in results, and B49: documents.
#[test]
fn media_arrive() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "-_-_"}});
    let messages = messages(json!([
        {"role": "user", "parts": [{"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0=", "displayName": "a.pdf"}},
            {"inlineData": {"mimeType": "text/csv", "data": "YSxi"}}, {"fileData": {"fileUri": "https://e.com/a.png"}}]},
        {"role": "model", "parts": [call_and_result("c").0]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "ls", "response": {"output": "x"}, "parts": [image]}}]}
    ]));
    assert_eq!(
        messages[0]["content"],
        json!([
            {"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}},
            {"type": "image", "source": {"type": "url", "url": "https://e.com/a.png"}}
        ])
    );
    assert_eq!(
        messages[2]["content"][0]["content"],
        json!([{"type": "text", "text": "x"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "+/+/"}}])
    );
    let audio = json!({"contents": [{"parts": [{"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}]}]});
    assert!(matches!(try_request_for(BUDGET, &audio), Err(ConvertError::Unsupported { .. })));
}

/// B13: nothing but Claude's own thinking goes to Claude. Where it is missing in an answer that goes on, models with a budget do
/// not think.
#[test]
fn foreign_thinking_is_left_out() {
    let (mut call, result) = call_and_result("c");
    call["thoughtSignature"] = "EqQBCqEB".into();
    let mut body = configured(json!({"thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": true}}));
    let contents = body["contents"].as_array_mut().unwrap();
    contents.push(json!({"role": "model", "parts": [{"text": "hm", "thought": true}, call]}));
    contents.push(json!({"role": "user", "parts": [result]}));
    let converted = request_for(BUDGET, &body);
    assert_eq!(converted["messages"][1]["content"].as_array().unwrap().len(), 1);
    assert_eq!(converted["thinking"], Value::Null);
    assert_eq!(request_for(ADAPTIVE, &body)["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    // After a new question it may think again.
    body["contents"].as_array_mut().unwrap().push(json!({"role": "model", "parts": [{"text": "done"}]}));
    body["contents"].as_array_mut().unwrap().push(json!({"role": "user", "parts": [{"text": "more"}]}));
    assert_eq!(request_for(BUDGET, &body)["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
}

/// B16: a budget is at least 1024 and below the limit, or there is no thinking.
#[test]
fn thinking_in_the_measure_of_the_model() {
    let none = Value::Null;
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens, "display": "omitted"});
    let adaptive = json!({"type": "adaptive", "display": "omitted"});
    for (model, limit, thinking, expected, effort) in [
        (BUDGET, 1500, json!({"thinkingLevel": "HIGH"}), budget(1125), &none),
        (BUDGET, 900, json!({"thinkingBudget": 8192}), none.clone(), &none),
        (BUDGET, 16384, json!({"thinkingLevel": "HIGH"}), budget(12288), &none),
        (BUDGET, 16384, json!({"thinkingBudget": 20000}), budget(16383), &none),
        (BUDGET, 16384, json!({"thinkingBudget": 100}), budget(1024), &none),
        (BUDGET, 16384, json!({"thinkingBudget": -1}), budget(8192), &none),
        (BUDGET, 16384, json!({"thinkingBudget": 0}), none.clone(), &none),
        (ADAPTIVE, 900, json!({"thinkingLevel": "MINIMAL"}), adaptive.clone(), &json!("low")),
        (ADAPTIVE, 900, json!({"thinkingBudget": 24576}), adaptive.clone(), &json!("high")),
        (ADAPTIVE, 900, json!({"thinkingBudget": -1}), adaptive.clone(), &none),
        (ADAPTIVE, 900, json!({"thinkingBudget": 0}), none.clone(), &json!("low")),
        ("claude-opus-4-6", 900, json!({"thinkingBudget": 0}), json!({"type": "disabled"}), &none),
        ("claude-3-5-haiku", 900, json!({"thinkingBudget": -1}), none.clone(), &none),
    ] {
        let body = request_for(model, &configured(json!({"maxOutputTokens": limit, "thinkingConfig": thinking})));
        assert_eq!((&body["thinking"], &body["output_config"]["effort"]), (&expected, effort), "{model} {thinking}");
        assert_eq!(body["max_tokens"], limit, "the limit is not raised");
    }
}

/// B83: what the Gemini CLI sends always: thinking wins, and the sampling goes.
#[test]
fn sampling_gives_way_to_thinking() {
    let config = json!({"temperature": 1, "topP": 0.95, "topK": 64,
        "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 8192}});
    let body = request_for(BUDGET, &configured(config));
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
    assert!(body["temperature"].is_null() && body["top_p"].is_null() && body["top_k"].is_null(), "{body}");
    assert!(body["max_tokens"].as_u64() > Some(8192));
    let body = request_for(BUDGET, &configured(json!({"temperature": 1.6, "topP": 0.9, "topK": 4})));
    assert_eq!((&body["temperature"], &body["top_p"], &body["top_k"]), (&json!(1.0), &Value::Null, &json!(4)));
    let negative = try_request_for(BUDGET, &configured(json!({"temperature": -1})));
    assert!(matches!(negative, Err(ConvertError::Invalid { .. })));
}

/// B82: without a limit the model's own, never a small one.
#[test]
fn the_limit_of_an_answer() {
    assert_eq!(request_for(BUDGET, &configured(json!({})))["max_tokens"], 64_000);
    assert_eq!(request_for(BUDGET, &configured(json!({"maxOutputTokens": 999_999})))["max_tokens"], 64_000);
    let zero = try_request_for(BUDGET, &configured(json!({"maxOutputTokens": 0})));
    assert!(matches!(zero, Err(ConvertError::Invalid { .. })));
    let several = try_request_for(BUDGET, &configured(json!({"candidateCount": 2})));
    assert!(matches!(several, Err(ConvertError::Unsupported { .. })));
}

#[test]
fn choices_among_functions() {
    let tools = json!([{"functionDeclarations": [{"name": "f"}, {"name": "g"}, {"name": "h"}]}]);
    for (config, choice, count) in [
        (json!({"mode": "AUTO"}), json!({"type": "auto"}), 3),
        (json!({"mode": "NONE"}), json!({"type": "none"}), 3),
        (json!({"mode": "ANY"}), json!({"type": "any"}), 3),
        (json!({"mode": "ANY", "allowedFunctionNames": ["g"]}), json!({"type": "tool", "name": "g"}), 1),
        (json!({"mode": "ANY", "allowedFunctionNames": ["g", "h"]}), json!({"type": "any"}), 2),
        (json!({"mode": "VALIDATED", "allowedFunctionNames": ["g", "h"]}), json!({"type": "auto"}), 2),
    ] {
        let body = json!({"contents": [{"parts": [{"text": "q"}]}], "tools": tools,
            "toolConfig": {"functionCallingConfig": config}});
        let converted = request_for(BUDGET, &body);
        assert_eq!(
            (&converted["tool_choice"], converted["tools"].as_array().unwrap().len()),
            (&choice, count),
            "{config}"
        );
    }
}

/// B25: calls make `tool_use` of an end that is natural, limits stay. Calls without ids get different ones.
#[test]
fn reasons_why_an_answer_ended() {
    let call = json!({"functionCall": {"name": "ls"}});
    for (parts, reason, expected) in [
        (json!([{"text": "a"}]), "STOP", "end_turn"),
        (json!([call, call]), "STOP", "tool_use"),
        (json!([call]), "MAX_TOKENS", "max_tokens"),
        (json!([]), "SAFETY", "refusal"),
        (json!([]), "RECITATION", "refusal"),
        (json!([]), "OTHER", "refusal"),
        (json!([{"text": "a"}]), "NEW_ONE", "end_turn"),
    ] {
        let body = answer(parts, reason);
        let whole = response(&body);
        assert_eq!(whole["stop_reason"], expected, "{reason}");
        let events = stream(&[body]);
        let delta = &events[events.len() - 2];
        assert_eq!((&delta["type"], &delta["delta"]["stop_reason"]), (&json!("message_delta"), &json!(expected)));
        if reason == "STOP" && expected == "tool_use" {
            assert_ne!(whole["content"][0]["id"], whole["content"][1]["id"]);
            assert_eq!(whole["content"][0]["id"], events[1]["content_block"]["id"], "the same whole and streamed");
        }
    }
}

/// B25: the reason comes in a later event than the call.
#[test]
fn a_reason_after_the_call() {
    let mut first = answer(json!([{"functionCall": {"name": "ls", "args": {}}}]), "STOP");
    first["candidates"][0].as_object_mut().unwrap().remove("finishReason");
    let last = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9,
        "candidatesTokenCount": 4, "totalTokenCount": 13}});
    let events = stream(&[first, last]);
    let expected = ["message_start", "start tool_use", "stop", "message_delta tool_use", "message_stop"];
    assert_eq!(told(&events), expected);
    assert_eq!(events[3]["usage"]["output_tokens"], 4);
}

/// B50: failures that the vendor calls an end are none, and a blocked prompt is a refusal.
#[test]
fn failures_and_blocked_prompts() {
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"] {
        let body = answer(json!([]), reason);
        let error = try_response(&body).unwrap_err();
        let code = reason.to_ascii_lowercase();
        assert!(matches!(&error, ConvertError::Failed(fault) if fault.code == code && fault.message.contains(reason)));
        assert_eq!(told(&stream(&[body])), ["message_start", "error"]);
    }
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}});
    let whole = response(&blocked);
    assert_eq!((&whole["stop_reason"], &whole["content"]), (&json!("refusal"), &json!([])));
    assert_eq!(told(&stream(&[blocked])), ["message_start", "message_delta refusal", "message_stop"]);
    assert!(try_response(&json!({"candidates": []})).is_err());
}

/// B38: thoughts are output, the cache is apart.
#[test]
fn usage_as_claude_counts() {
    let mut body = answer(json!([{"text": "a"}]), "STOP");
    body["usageMetadata"] = json!({"promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 198,
        "thoughtsTokenCount": 405, "toolUsePromptTokenCount": 0, "totalTokenCount": 623});
    let usage = response(&body)["usage"].take();
    assert_eq!(
        usage,
        json!({"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 8, "output_tokens": 603,
            "output_tokens_details": {"thinking_tokens": 405}})
    );
    body["usageMetadata"]["totalTokenCount"] = 218.into();
    assert_eq!(response(&body)["usage"]["output_tokens"], 198, "thoughts within the candidates are not added");
}

/// B22: one start, thinking and text in blocks of their own, signatures before what they belong to.
#[test]
fn thinking_text_and_calls_in_order() {
    let chunk = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}], "modelVersion": "gemini"});
    let events = stream(&[
        chunk(json!([{"text": "a", "thought": true}])),
        chunk(json!([{"text": "b", "thought": true}, {"text": "X"}])),
        chunk(json!([{"text": "Y"}])),
        chunk(json!([{"functionCall": {"id": "c", "name": "ls", "args": {"p": 1}}, "thoughtSignature": "c2ln"}])),
        chunk(json!([{"text": "", "thoughtSignature": "bGFzdA=="}])),
        answer(json!([]), "STOP"),
    ]);
    let expected = [
        "message_start",
        "start thinking",
        "delta a",
        "delta b",
        "stop",
        "start text",
        "delta X",
        "delta Y",
        "stop",
        "start thinking",
        "delta tollgate-gemini:c2ln",
        "stop",
        "start tool_use",
        "delta {\"p\":1}",
        "stop",
        "start thinking",
        "delta tollgate-gemini:bGFzdA==",
        "stop",
        "message_delta tool_use",
        "message_stop",
    ];
    assert_eq!(told(&events), expected);
    let indexes: Vec<_> = events.iter().filter(|event| event["type"] == "content_block_start").collect();
    assert!(indexes.iter().enumerate().all(|(place, event)| event["index"] == place));
}

/// Who asked for no thinking finds the text in the first block; what a call needs is there all the same.
#[test]
fn who_asked_for_no_thinking_sees_none() {
    let reply = || Reply { hides_thinking: true, ..reply() };
    let text = answer(json!([{"text": "Hi", "thoughtSignature": "c2ln"}]), "STOP");
    let expected = ["message_start", "start text", "delta Hi", "stop", "message_delta end_turn", "message_stop"];
    assert_eq!(told(&stream_for(reply(), &[text])), expected);
    let call = answer(json!([{"functionCall": {"name": "ls"}, "thoughtSignature": "c2ln"}]), "STOP");
    assert_eq!(told(&stream_for(reply(), &[call]))[1], "start thinking");
}

/// B28: a stream that breaks off is an error without `message_stop`.
#[test]
fn a_cut_stream_is_an_error() {
    let mut piece = answer(json!([{"text": "Hel"}]), "STOP");
    piece["candidates"][0].as_object_mut().unwrap().remove("finishReason");
    assert_eq!(told(&stream(&[piece.clone()])), ["message_start", "start text", "delta Hel", "error"]);
    assert_eq!(told(&stream(&[])), ["error"]);
    let error = json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}});
    let events = stream(&[piece, error]);
    assert_eq!(events.last().unwrap()["error"]["type"], "rate_limit_error");
}

/// The texts that pages support are blocks of their own, whatever characters stand before them.
#[test]
fn grounding_becomes_citations() {
    let mut body = answer(json!([{"text": "Zoë won. It rained."}]), "STOP");
    body["candidates"][0]["groundingMetadata"] = json!({
        "webSearchQueries": ["race"],
        "groundingChunks": [{"web": {"uri": "https://a.example", "title": "a"}}],
        "groundingSupports": [{"segment": {"startIndex": 10, "endIndex": 20}, "groundingChunkIndices": [0]}]
    });
    let content = response(&body)["content"].take();
    let texts: Vec<_> = content.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(texts, ["Zoë won. ", "It rained."]);
    assert_eq!(content[3]["citations"][0]["url"], "https://a.example");
    assert_eq!(
        (&content[0]["type"], &content[1]["type"]),
        (&json!("server_tool_use"), &json!("web_search_tool_result"))
    );
}
