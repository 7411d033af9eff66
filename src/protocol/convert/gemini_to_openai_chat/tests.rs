//! The faults that other gateways had, and what this pair makes of the same inputs.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::names::{Charset, ToolKind, ToolNames};
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Reply, ServerTools};
use crate::protocol::dialect::Dialect::{Gemini, OpenAiChat};

/// A vendor's model that takes everything.
const MODEL: &str = "qwen4-max";

fn try_request(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: true, server_tools: ServerTools::Refuse, media: &media };
    convert::request(Gemini, OpenAiChat, &body.to_string(), &context)
}

fn request_for(model: &str, body: Value) -> Value {
    serde_json::from_slice(&try_request(model, &body).unwrap().body).unwrap()
}

fn request(contents: Value) -> Value {
    request_for(MODEL, json!({"contents": contents}))
}

fn configured(model: &str, config: Value) -> Value {
    request_for(model, json!({"contents": hi(), "generationConfig": config}))
}

fn fault(body: Value) -> String {
    match try_request(MODEL, &body) {
        Err(error @ ConvertError::Invalid { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn hi() -> Value {
    json!([user(json!([{"text": "hi"}]))])
}

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(id: Option<&str>, name: &str) -> Value {
    let mut call = json!({"name": name, "args": {"c": 1}});
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    json!({ "functionCall": call })
}

fn result(id: Option<&str>, name: &str, response: Value) -> Value {
    let mut result = json!({"name": name, "response": response});
    if let Some(id) = id {
        result["id"] = json!(id);
    }
    json!({ "functionResponse": result })
}

fn reply() -> Reply {
    Reply { id: "r1".to_owned(), model: "m".to_owned(), created: 7, include_usage: true, ..Reply::default() }
}

fn try_response(body: &Value, reply: &Reply) -> Result<Value, ConvertError> {
    let converted = convert::response(Gemini, OpenAiChat, &body.to_string(), reply)?;
    Ok(serde_json::from_slice(&converted.body).unwrap())
}

fn response(body: Value) -> Value {
    try_response(&body, &reply()).unwrap()
}

fn candidate(parts: Value, reason: &str) -> Value {
    json!({"candidates": [{"content": model(parts), "finishReason": reason}]})
}

/// The data of the events of a stream, `[DONE]` as a string.
fn stream_for(reply: Reply, pieces: &[Value]) -> Vec<Value> {
    let mut stream = convert::stream(Gemini, OpenAiChat, Rc::new(reply)).unwrap();
    let mut out = Vec::new();
    pieces.iter().for_each(|piece| stream.event(&piece.to_string(), &mut out));
    if !stream.is_over() {
        stream.finish(&mut out);
    }
    let text = String::from_utf8(out).unwrap();
    let data = text.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))).collect()
}

fn stream(pieces: &[Value]) -> Vec<Value> {
    stream_for(reply(), pieces)
}

fn piece(parts: Value) -> Value {
    json!({"candidates": [{"content": model(parts)}]})
}

fn reasons(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["choices"][0]["finish_reason"].as_str()).collect()
}

/// B49: what is not known is refused, in a turn and in a result, and a tool that is not known is a server's.
#[test]
fn what_is_not_known_is_refused() {
    let strange = json!({"functionResponse": {"name": "get", "id": "a", "parts": [{"zork": {}}]}});
    for contents in [
        json!([user(json!([{"zork": {}}]))]),
        json!([user(json!([{"text": "?"}])), model(json!([{"zork": {}}])), user(json!([{"text": "?"}]))]),
        json!([user(json!([{"text": "?"}])), model(json!([call(Some("a"), "get")])), user(json!([strange]))]),
    ] {
        let refused = try_request(MODEL, &json!({"contents": contents}));
        assert!(matches!(refused, Err(ConvertError::Unsupported { .. })), "{contents}");
    }
    let refused = try_request(MODEL, &json!({"contents": hi(), "tools": [{"zork": {}}]})).unwrap_err();
    assert!(matches!(refused, ConvertError::Unsupported { path, .. } if path == "tools[0]"));
}

/// B04: one `tool` message for each result, in the order of the calls, before anything else.
#[test]
fn b04_parallel_results() {
    let contents = json!([
        user(json!([{"text": "?"}])),
        model(json!([call(Some("a"), "get"), call(Some("b"), "get")])),
        user(json!([{"text": "and?"}, result(Some("b"), "get", json!({"output": "12"})),
            result(Some("a"), "get", json!({"output": "10"}))]))
    ]);
    let converted = request(contents);
    let messages = converted["messages"].as_array().unwrap();
    let said: Vec<_> = messages.iter().map(|message| (message["role"].as_str(), message["content"].as_str())).collect();
    let expected =
        [("user", Some("?")), ("assistant", None), ("tool", Some("10")), ("tool", Some("12")), ("user", Some("and?"))];
    assert_eq!(said, expected.map(|(role, content)| (Some(role), content)));
    assert_eq!((&messages[2]["tool_call_id"], &messages[3]["tool_call_id"]), (&json!("a"), &json!("b")));
}

/// B05: orphans are named; a result never goes to another call.
#[test]
fn b05_orphans_are_refused() {
    let turn = |results: Value| {
        json!({"contents": [user(json!([{"text": "?"}])), model(json!([call(Some("t1"), "ls"),
        call(Some("t2"), "ls")])), user(results), user(json!([{"text": "go on"}]))]})
    };
    assert!(fault(turn(json!([result(Some("t1"), "ls", json!({}))]))).contains("t2"));
    assert!(fault(turn(json!([result(Some("t9"), "ls", json!({}))]))).contains("t9"));
    let late = json!([user(json!([{"text": "hi"}])), user(json!([result(Some("t9"), "ls", json!({}))]))]);
    assert!(fault(json!({ "contents": late })).contains("t9"));
}

/// B07: long ids stay apart, are the same on call and result, and the same in the next turn.
#[test]
fn b07_long_ids() {
    let ids = [format!("toolu_{}_1", "k".repeat(66)), format!("toolu_{}_2", "k".repeat(66))];
    let contents = json!([
        user(json!([{"text": "?"}])),
        model(json!([call(Some(&ids[0]), "f"), call(Some(&ids[1]), "f")])),
        user(json!([
            result(Some(&ids[0]), "f", json!({"output": "1"})),
            result(Some(&ids[1]), "f", json!({"output": "2"}))
        ]))
    ]);
    let messages = request(contents.clone())["messages"].clone();
    let calls = &messages[1]["tool_calls"];
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    for index in 0..2 {
        let id = calls[index]["id"].as_str().unwrap();
        assert!(id.len() <= 64);
        assert_eq!(messages[2 + index]["tool_call_id"], id);
    }
    assert_eq!(request(contents)["messages"], messages);
}

/// B08: a call without arguments has `{}`.
#[test]
fn b08_arguments_are_json() {
    let answer = response(candidate(json!([{"functionCall": {"name": "now"}}]), "STOP"));
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{}");
    let events = stream(&[piece(json!([{"functionCall": {"name": "now"}}])), candidate(json!([]), "STOP")]);
    assert_eq!(events[2]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"], "{}");
    let contents = json!([
        user(json!([{"text": "?"}])),
        model(json!([{"functionCall": {"name": "now"}}])),
        user(json!([result(None, "now", json!({"output": "12:00"}))]))
    ]);
    assert_eq!(request(contents)["messages"][1]["tool_calls"][0]["function"]["arguments"], "{}");
}

/// B10: images of results come after all results, and tell whose they are.
#[test]
fn b10_images_of_results_stay() {
    let mut snap = result(Some("s1"), "snap", json!({}));
    snap["functionResponse"]["parts"] = json!([{"inlineData": {"mimeType": "image/png", "data": "_-8"}}]);
    let contents = json!([
        user(json!([{"text": "?"}])),
        model(json!([call(Some("s1"), "snap"), call(Some("s2"), "ls")])),
        user(json!([snap, result(Some("s2"), "ls", json!({"output": "a"}))]))
    ]);
    let messages = request(contents)["messages"].clone();
    assert!(messages[2]["content"].as_str().unwrap().contains("next user message"));
    assert_eq!((&messages[3]["role"], &messages[4]["role"]), (&json!("tool"), &json!("user")));
    assert!(messages[4]["content"][0]["text"].as_str().unwrap().contains("s1"));
    assert_eq!(messages[4]["content"][1]["image_url"]["url"], "data:image/png;base64,/+8=");
}

/// B11: results are one string, however clients wrap them; errors stay visible.
#[test]
fn b11_results_are_strings() {
    for (given, text) in [
        (json!({"output": "a"}), "a"),
        (json!({"result": {"x": 1}}), "{\"x\":1}"),
        (json!({"name": "f", "content": "c"}), "c"),
        (json!({"error": "no"}), "error: no"),
        (json!({"x": 1, "y": "z"}), "{\"x\":1,\"y\":\"z\"}"),
        (json!({}), ""),
    ] {
        let contents = json!([
            user(json!([{"text": "?"}])),
            model(json!([call(None, "f")])),
            user(json!([result(None, "f", given)]))
        ]);
        assert_eq!(request(contents)["messages"][2]["content"], text);
    }
}

/// B14: a signature reaches the client where Google puts it, and Gemini again, but no other model.
#[test]
fn b14_signatures() {
    let mut signed = call(Some("a"), "ls");
    signed["thoughtSignature"] = json!("c2ln");
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let answer = response(candidate(json!([signed, call(Some("b"), "ls")]), "STOP"));
    let calls = &answer["choices"][0]["message"]["tool_calls"];
    assert_eq!((&calls[0]["extra_content"], &calls[1]["extra_content"]), (&extra, &Value::Null));
    let alone =
        stream(&[piece(json!([{"text": "Hi"}])), candidate(json!([{"text": "", "thoughtSignature": "c2ln"}]), "STOP")]);
    assert_eq!(alone[2]["choices"][0]["delta"]["extra_content"], extra);
    let contents = json!([
        user(json!([{"text": "?"}])),
        model(json!([signed])),
        user(json!([result(Some("a"), "ls", json!({}))]))
    ]);
    for (model, kept) in [("google/gemini-3-pro", extra), ("deepseek-v4", Value::Null)] {
        let converted = request_for(model, json!({"contents": contents}));
        assert_eq!(converted["messages"][1]["tool_calls"][0]["extra_content"], kept);
    }
}

/// B17: thoughts go back as reasoning where vendors take it, and never as text.
#[test]
fn b17_thoughts_are_reasoning() {
    let contents = json!([
        user(json!([{"text": "?"}])),
        model(json!([{"text": "hm", "thought": true}, {"text": "a"}])),
        user(json!([{"text": "b"}]))
    ]);
    let told = request_for("deepseek-v4", json!({"contents": contents}));
    assert_eq!(
        (&told["messages"][1]["reasoning_content"], &told["messages"][1]["content"]),
        (&json!("hm"), &json!("a"))
    );
    let kept = request_for("gpt-6", json!({"contents": contents}));
    assert_eq!(kept["messages"][1], json!({"role": "assistant", "content": "a"}));
}

/// B25: a call and a later `STOP` end with `tool_calls`, once; a limit stays a limit; calls without ids are told apart.
#[test]
fn b25_reasons_for_the_end() {
    let usage = json!({"promptTokenCount": 2, "totalTokenCount": 2});
    let end = |reason: &str| json!({"candidates": [{"finishReason": reason}], "usageMetadata": usage});
    let calls = piece(json!([call(None, "ls"), call(None, "ls")]));
    let events = stream(&[calls.clone(), end("STOP")]);
    assert_eq!(reasons(&events), ["tool_calls"]);
    let ids: Vec<_> =
        events.iter().filter_map(|event| event["choices"][0]["delta"]["tool_calls"][0]["id"].as_str()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1]);
    assert_eq!(reasons(&stream(&[calls, end("MAX_TOKENS")])), ["length"]);
}

/// B28: a cut stream and an error end with an error, and without a reason or `[DONE]`.
#[test]
fn b28_failures_are_no_success() {
    let error = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    for pieces in [
        vec![piece(json!([{"text": "Hel"}]))],
        vec![],
        vec![piece(json!([{"text": "Hel"}])), error.clone()],
        vec![error],
    ] {
        let events = stream(&pieces);
        assert!(events.last().unwrap()["error"]["message"].is_string() && reasons(&events).is_empty(), "{events:?}");
    }
    let mut unreadable = convert::stream(Gemini, OpenAiChat, Rc::new(reply())).unwrap();
    let mut out = Vec::new();
    unreadable.event("{", &mut out);
    assert!(unreadable.is_over() && String::from_utf8(out).unwrap().contains("\"error\""));
}

/// B35: the usage is told only to those who asked.
#[test]
fn b35_usage_when_asked() {
    let pieces = [json!({"candidates": [{"content": model(json!([{"text": "a"}])), "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 2, "candidatesTokenCount": 1, "totalTokenCount": 3}})];
    let has_usage = |include_usage| {
        let events = stream_for(Reply { include_usage, ..reply() }, &pieces);
        events.iter().any(|event| event["usage"].is_object())
    };
    assert!(has_usage(true) && !has_usage(false));
    assert_eq!(request(hi())["stream_options"], json!({"include_usage": true}));
}

/// B38: thoughts are part of the answer, once.
#[test]
fn b38_usage() {
    let mut answer = candidate(json!([{"text": "a"}]), "STOP");
    answer["usageMetadata"] = json!({"promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 198,
        "thoughtsTokenCount": 405, "toolUsePromptTokenCount": 0, "totalTokenCount": 623});
    let usage = response(answer.clone())["usage"].clone();
    assert_eq!(
        (&usage["prompt_tokens"], &usage["completion_tokens"], &usage["total_tokens"]),
        (&json!(20), &json!(603), &json!(623))
    );
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 8);
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 405);
    answer["usageMetadata"] =
        json!({"promptTokenCount": 20, "candidatesTokenCount": 150, "thoughtsTokenCount": 50, "totalTokenCount": 170});
    assert_eq!(response(answer)["usage"]["completion_tokens"], 150);
}

/// B46, B47: the system instruction leads, the order stays, empty texts go.
#[test]
fn b46_b47_texts() {
    let body = json!({"systemInstruction": {"parts": [{"text": "S0"}]}, "contents": [user(json!([{"text": ""}, {"text": "a"}])),
        model(json!([{"text": ""}])), user(json!([{"text": "b"}]))]});
    let messages = request_for(MODEL, body)["messages"].clone();
    let expected = json!([{"role": "system", "content": "S0"}, {"role": "user", "content": "a"}, {"role": "user", "content": "b"}]);
    assert_eq!(messages, expected);
    assert!(fault(json!({"contents": [user(json!([{"text": ""}]))]})).contains("contents"));
}

/// B49: a PDF arrives, with a name.
#[test]
fn b49_pdf() {
    let contents =
        json!([user(json!([{"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}, {"text": "?"}]))]);
    let expected =
        json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "file.pdf"}});
    assert_eq!(request(contents)["messages"][0]["content"][0], expected);
    let video = json!({"contents": [user(json!([{"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}]))]});
    assert!(matches!(try_request(MODEL, &video), Err(ConvertError::Unsupported { .. })));
}

/// B50: what has no content has a reason, and what failed is no answer.
#[test]
fn b50_reasons_without_content() {
    for (reason, expected) in [
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SAFETY", "content_filter"),
        ("SPII", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("RECITATION", "content_filter"),
        ("MAX_TOKENS", "length"),
        ("NEW", "stop"),
    ] {
        let answer = json!({"candidates": [{"index": 0, "finishReason": reason}]});
        let choices = response(answer.clone())["choices"].clone();
        let content = if expected == "stop" { json!("") } else { Value::Null };
        assert_eq!((&choices[0]["finish_reason"], &choices[0]["message"]["content"]), (&json!(expected), &content));
        assert_eq!(reasons(&stream(&[answer])), [expected]);
    }
    let failed = json!({"candidates": [{"index": 0, "finishReason": "MALFORMED_FUNCTION_CALL"}]});
    let whole = try_response(&failed, &reply()).unwrap_err();
    assert!(
        matches!(whole, ConvertError::Failed(fault) if fault.status == 502 && fault.code == "malformed_function_call")
    );
    let events = stream(&[failed]);
    assert!(events.len() == 1 && events[0]["error"]["code"] == "malformed_function_call");
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    assert_eq!(response(blocked.clone())["choices"][0]["finish_reason"], "content_filter");
    assert_eq!(reasons(&stream(&[blocked])), ["content_filter"]);
}

/// B82: the bound goes under the name that the model takes.
#[test]
fn b82_bounds_of_length() {
    let config = json!({"maxOutputTokens": 300});
    assert_eq!(configured("gpt-6", config.clone())["max_completion_tokens"], 300);
    assert_eq!(configured("deepseek-v4", config)["max_tokens"], 300);
    assert_eq!(configured("gpt-4.1", json!({"maxOutputTokens": 200_000}))["max_completion_tokens"], 32_768);
    assert!(fault(json!({"contents": hi(), "generationConfig": {"maxOutputTokens": 0}})).contains("at least 1"));
}

/// B83: Gemini CLI's sampling reaches only models that take it; what is absurd is refused.
#[test]
fn b83_sampling() {
    let cli = json!({"temperature": 1, "topP": 0.95, "topK": 64, "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 8192}});
    let thinking = configured("gpt-6", cli.clone());
    assert_eq!(
        (&thinking["temperature"], &thinking["top_p"], &thinking["top_k"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(thinking["reasoning_effort"], "medium");
    let free = configured("deepseek-v4", cli);
    assert_eq!((&free["temperature"], &free["top_p"], &free["top_k"]), (&json!(1.0), &json!(0.95), &json!(64)));
    assert!(fault(json!({"contents": hi(), "generationConfig": {"temperature": -1}})).contains("temperature"));
}

#[test]
fn tools_exclude_thinking_where_the_model_wants_it_so() {
    let tools = json!([{"functionDeclarations": [{"name": "ls"}]}]);
    let body =
        json!({"contents": hi(), "tools": tools, "generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}}});
    assert_eq!(request_for("gpt-6", body.clone())["reasoning_effort"], "none");
    assert_eq!(request_for("gpt-5.2", body.clone())["reasoning_effort"], "high");
    assert!(matches!(try_request("gpt-6.2-sol", &body), Err(ConvertError::Unsupported { .. })));
}

#[test]
fn names_and_custom_tools_are_the_clients_again() {
    let mut tools = ToolNames::default();
    let long = "t".repeat(200);
    let name = tools.upstream(Charset::GEMINI, None, &long, ToolKind::Function).into_owned();
    tools.upstream(Charset::GEMINI, None, "patch", ToolKind::Custom);
    let calls = json!([{"functionCall": {"name": name, "args": {}}}, {"functionCall": {"name": "patch", "args": {"input": "a\n"}}}]);
    let answer = try_response(&candidate(calls.clone(), "STOP"), &Reply { tools: tools.clone(), ..reply() }).unwrap();
    let said = &answer["choices"][0]["message"]["tool_calls"];
    assert_eq!(said[0]["function"]["name"], long);
    assert_eq!((&said[1]["type"], &said[1]["custom"]), (&json!("custom"), &json!({"name": "patch", "input": "a\n"})));
    let events = stream_for(Reply { tools, ..reply() }, &[candidate(calls, "STOP")]);
    let custom: Vec<_> =
        events.iter().map(|event| &event["choices"][0]["delta"]["tool_calls"][0]["custom"]["input"]).collect();
    assert!(custom.contains(&&json!("a\n")), "{events:?}");
}

/// What both dialects can say comes back as it was.
#[test]
fn there_and_back_again() {
    let chat = json!({"model": "gemini-3-flash", "messages": [
        {"role": "system", "content": "S0"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
        {"role": "assistant", "content": "b", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1.50}"},
                "extra_content": {"google": {"thought_signature": "c2ln"}}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "{\"y\":2}"},
        {"role": "assistant", "content": "d"},
        {"role": "user", "content": "e"}],
        "temperature": 0.5, "max_tokens": 100, "stop": ["x"], "n": 2, "seed": 3, "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object",
            "properties": {"x": {"type": "number"}}, "required": ["x"]}}}],
        "response_format": {"type": "json_object"}});
    let media = Media::new();
    let context = Context { model: "gemini-3-flash", stream: false, server_tools: ServerTools::Refuse, media: &media };
    let there = convert::request(OpenAiChat, Gemini, &chat.to_string(), &context).unwrap();
    assert!(there.losses.is_empty(), "{:?}", there.losses);
    let back = convert::request(Gemini, OpenAiChat, std::str::from_utf8(&there.body).unwrap(), &context).unwrap();
    assert!(back.losses.is_empty(), "{:?}", back.losses);
    let mut back: Value = serde_json::from_slice(&back.body).unwrap();
    // OpenAI wants the word JSON somewhere in the messages.
    back["messages"].as_array_mut().unwrap().remove(1);
    assert_eq!(back, chat);
}
