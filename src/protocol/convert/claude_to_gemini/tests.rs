//! Tests of both directions of this folder: requests to Gemini, answers from Claude.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Reply, ServerTools};
use crate::protocol::dialect::Dialect;

fn try_request_for(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
    convert::request(Dialect::Claude, Dialect::Gemini, &body.to_string(), &context)
}

#[track_caller]
fn request_for(model: &str, body: &Value) -> Value {
    serde_json::from_slice(&try_request_for(model, body).unwrap().body).unwrap()
}

/// A request of `messages`, for a current model.
#[track_caller]
fn contents(messages: Value) -> Value {
    request_for("gemini-3-pro", &json!({"model": "m", "max_tokens": 9, "messages": messages}))["contents"].take()
}

fn response(body: &Value) -> Value {
    let converted = convert::response(Dialect::Claude, Dialect::Gemini, &body.to_string(), &Reply::default()).unwrap();
    serde_json::from_slice(&converted.body).unwrap()
}

/// What comes of the events of a stream, as the data of Gemini's events.
fn stream(events: &[Value]) -> Vec<Value> {
    let mut stream = convert::stream(Dialect::Claude, Dialect::Gemini, Rc::new(Reply::default())).unwrap();
    let mut out = Vec::new();
    events.iter().for_each(|event| stream.event(&event.to_string(), &mut out));
    if !stream.is_over() {
        stream.finish(&mut out);
    }
    let text = String::from_utf8(out).unwrap();
    let frames = text.split("\n\n").filter(|frame| !frame.is_empty());
    frames.map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap()).collect()
}

fn calls_and_results() -> Value {
    json!([
        {"role": "user", "content": "Weather in X and Y?"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "get_t", "input": {"c": "X"}},
            {"type": "tool_use", "id": "b", "name": "get_time", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "b", "content": "12:00"},
            {"type": "tool_result", "tool_use_id": "a", "content": "cold", "is_error": true},
            {"type": "text", "text": "and?"}]}
    ])
}

/// B01, B02: only what Gemini's schemas know, at every depth.
#[test]
fn schemas_are_those_of_gemini() {
    let tool = json!({"name": "f", "input_schema": {"$schema": "x", "type": "object", "additionalProperties": false,
        "properties": {"limit": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0, "maximum": 50}, {"type": "null"}]},
            "propertyNames": {"type": ["string", "null"]}}}});
    let body = json!({"model": "m", "max_tokens": 9, "tools": [tool, {"name": "now", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "q"}]});
    let functions = request_for("gemini-3-pro", &body)["tools"][0]["functionDeclarations"].take();
    let parameters = json!({"type": "OBJECT", "properties": {
        "limit": {"type": "INTEGER", "nullable": true, "minimum": 1, "maximum": 50},
        "propertyNames": {"type": "STRING", "nullable": true}}});
    assert_eq!(functions[0]["parameters"], parameters);
    assert_eq!(functions[1], json!({"name": "now"}));
}

/// B04: results of one turn in one content, in the order of the calls, with the names of the functions.
#[test]
fn parallel_results_come_in_one_content_in_the_order_of_the_calls() {
    let contents = contents(calls_and_results());
    assert_eq!(contents.as_array().unwrap().len(), 3);
    assert_eq!(
        contents[2]["parts"],
        json!([
            {"functionResponse": {"id": "a", "name": "get_t", "response": {"error": "cold"}}},
            {"functionResponse": {"id": "b", "name": "get_time", "response": {"output": "12:00"}}},
            {"text": "and?"}
        ])
    );
}

/// B05: orphans are refused by name, whoever is to answer.
#[test]
fn orphans_are_refused() {
    let mut messages = calls_and_results();
    messages[2]["content"].as_array_mut().unwrap().remove(0);
    for (messages, id) in [
        (messages, "\"b\""),
        (
            json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9", "content": "late"}]}]),
            "\"t9\"",
        ),
    ] {
        let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
        let error = try_request_for("gemini-3-pro", &body).unwrap_err();
        assert!(matches!(error, ConvertError::Invalid { .. }) && error.to_string().contains(id), "{error}");
    }
}

/// B10: images of results stand in the response where the model knows that, else beside it; never nowhere.
#[test]
fn images_in_results_are_kept() {
    let messages = json!([
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "s1", "name": "snap", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s1", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}]}
    ]);
    let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let parts = request_for("gemini-3-pro", &body)["contents"][2]["parts"].take();
    assert_eq!(parts[0]["functionResponse"]["parts"], json!([image]));
    let parts = request_for("gemini-2.5-flash", &body)["contents"][2]["parts"].take();
    assert_eq!(parts[0]["functionResponse"]["response"], json!({"output": "The result is attached."}));
    assert!(parts[1]["text"].as_str().unwrap().contains("s1") && parts[2] == image, "{parts}");
}

/// B13: no signature but Gemini's own goes to Gemini, and no thinking becomes text.
#[test]
fn foreign_thinking_is_left_out() {
    let foreign = ["", "EqQBCkYI", "tollgate-openai:abc", "tollgate-claude:abc"];
    for signature in foreign {
        let contents = contents(json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": signature}, {"type": "text", "text": "ok"}]},
            {"role": "user", "content": "next"}
        ]));
        assert_eq!(contents[1]["parts"], json!([{"text": "ok"}]), "{signature}");
    }
}

/// B14: Gemini's signature comes back on the part that it stood on; where nobody has one, the documented value says so, on the first
/// call of each answer since the user last spoke.
#[test]
fn calls_have_signatures() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let contents = contents(json!([
        {"role": "user", "content": "old"},
        {"role": "assistant", "content": [call("c0")]},
        {"role": "user", "content": [result("c0")]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "new"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "tollgate-gemini:c2ln"}, call("c1"), call("c2")]},
        {"role": "user", "content": [result("c1"), result("c2"), {"type": "text", "text": "hurry"}]},
        {"role": "assistant", "content": [call("c3"), call("c4")]},
        {"role": "user", "content": [result("c3"), result("c4")]}
    ]));
    let signature = |content: usize, part: usize| contents[content]["parts"][part]["thoughtSignature"].clone();
    assert_eq!(signature(1, 0), Value::Null);
    assert_eq!((signature(5, 0), signature(5, 1)), (json!("c2ln"), Value::Null));
    assert_eq!((signature(7, 0), signature(7, 1)), (json!("skip_thought_signature_validator"), Value::Null));
}

/// A signature at the end of an answer, and what Gemini's own tools did, go back as they came.
#[test]
fn what_gemini_sealed_goes_back_whole() {
    let kept = r#"tollgate-gemini:{"toolCall":{"id":"tc","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["a"]}},"thoughtSignature":"czE="}"#;
    let contents = contents(json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [
            {"type": "redacted_thinking", "data": kept},
            {"type": "text", "text": "ok"},
            {"type": "thinking", "thinking": "", "signature": "tollgate-gemini:czI="}]},
        {"role": "user", "content": "next"}
    ]));
    let parts = json!([
        {"toolCall": {"id": "tc", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["a"]}}, "thoughtSignature": "czE="},
        {"text": "ok"},
        {"text": "", "thoughtSignature": "czI="}
    ]);
    assert_eq!(contents[1]["parts"], parts);
}

/// B46: nothing is lost or moved; later system messages are notices in place.
#[test]
fn system_messages_stay_in_place() {
    let contents = contents(json!([
        {"role": "user", "content": "c"}, {"role": "system", "content": "file X changed"},
        {"role": "assistant", "content": "d"}, {"role": "user", "content": "e"},
        {"role": "system", "content": "gone", "clear_at": "next_user_message"}, {"role": "user", "content": "f"}
    ]));
    let notice = json!({"text": "System notice: file X changed"});
    assert_eq!(contents[0]["parts"], json!([{"text": "c"}, notice]));
    assert_eq!(contents[2]["parts"], json!([{"text": "e"}, {"text": "f"}]));
}

/// B47: no empty part and no empty content.
#[test]
fn blank_texts_are_left_out() {
    let contents = contents(json!([
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "go"}]},
        {"role": "assistant", "content": ""}, {"role": "user", "content": "on"}
    ]));
    assert_eq!(contents, json!([{"role": "user", "parts": [{"text": "go"}, {"text": "on"}]}]));
    let empty = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": " "}]});
    assert!(matches!(try_request_for("gemini-3-pro", &empty), Err(ConvertError::Invalid { .. })));
}

/// B49: documents arrive, with their titles.
#[test]
fn documents_arrive() {
    let contents = contents(json!([{"role": "user", "content": [
        {"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain"}},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/b.pdf"}}]}]));
    let parts = json!([
        {"text": "Document: a.pdf"},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
        {"text": "plain"},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.com/b.pdf"}}
    ]);
    assert_eq!(contents[0]["parts"], parts);
}

#[test]
fn files_are_fetched_for_models_that_do_not() {
    let source = json!({"type": "url", "url": "https://example.com/cat.jpg"});
    let unnamed = json!({"type": "url", "url": "https://example.com/cat"});
    let body = |source| {
        json!({"model": "m", "max_tokens": 9,
            "messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]})
    };
    for (model, source) in [("gemini-2.0-flash", &source), ("gemini-3-pro", &unnamed)] {
        let wanted = vec![source["url"].as_str().unwrap().to_owned()];
        assert_eq!(try_request_for(model, &body(source)).unwrap_err(), ConvertError::NeedsMedia(wanted));
    }
    assert!(try_request_for("gemini-3-pro", &body(&source)).is_ok());
}

/// B16: budgets, efforts and levels, each in the measure of the model.
#[test]
fn thinking_in_the_measure_of_the_model() {
    let config = |model, thinking: Value, output: Value| {
        let body = json!({"model": "m", "max_tokens": 32000, "thinking": thinking, "output_config": output,
            "messages": [{"role": "user", "content": "q"}]});
        request_for(model, &body)["generationConfig"]["thinkingConfig"].take()
    };
    let (three, flash, two) = ("gemini-3-pro", "gemini-3-flash", "gemini-2.5-pro");
    let enabled = json!({"type": "enabled", "budget_tokens": 31999, "display": "omitted"});
    let adaptive = json!({"type": "adaptive"});
    let disabled = json!({"type": "disabled"});
    let low = json!({"effort": "low"});
    for (model, thinking, output, expected) in [
        (three, &enabled, &Value::Null, json!({"thinkingLevel": "HIGH"})),
        (two, &enabled, &Value::Null, json!({"thinkingBudget": 31999})),
        ("gemini-2.5-flash", &enabled, &Value::Null, json!({"thinkingBudget": 24576})),
        (three, &adaptive, &Value::Null, json!({"includeThoughts": true})),
        (two, &adaptive, &Value::Null, json!({"includeThoughts": true, "thinkingBudget": -1})),
        (two, &adaptive, &low, json!({"includeThoughts": true, "thinkingBudget": 4096})),
        (three, &adaptive, &low, json!({"includeThoughts": true, "thinkingLevel": "LOW"})),
        (flash, &disabled, &Value::Null, json!({"thinkingLevel": "MINIMAL"})),
        (two, &disabled, &Value::Null, json!({"thinkingBudget": 128})),
        ("gemini-2.5-flash-lite", &disabled, &Value::Null, json!({"thinkingBudget": 0})),
        (three, &Value::Null, &Value::Null, Value::Null),
        ("gemini-2.0-flash", &enabled, &Value::Null, Value::Null),
    ] {
        assert_eq!(config(model, thinking.clone(), output.clone()), expected, "{model} {thinking} {output}");
    }
}

/// B82, B83: limits and sampling within what each vendor takes.
#[test]
fn limits_and_sampling() {
    let body = |members: Value| {
        let mut body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}]});
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        body
    };
    let config = |members| request_for("gemini-3-pro", &body(members))["generationConfig"].take();
    assert_eq!(config(json!({"max_tokens": 999_999})), json!({"maxOutputTokens": 65536}));
    assert_eq!(
        config(json!({"temperature": 0.3, "top_p": 0.9, "top_k": 5})),
        json!({"maxOutputTokens": 9, "temperature": 0.3, "topP": 0.9, "topK": 5})
    );
    let invalid = |members| matches!(try_request_for("m", &body(members)), Err(ConvertError::Invalid { .. }));
    assert!(invalid(json!({"temperature": -1.0})) && invalid(json!({"top_p": 1.5})));
}

#[test]
fn tools_of_the_vendors() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}], "tools": [
        {"type": "web_search_20250305", "name": "web_search"}, {"type": "web_fetch_20250910", "name": "web_fetch"},
        {"type": "code_execution_20250825", "name": "code_execution"}, {"name": "f", "input_schema": {"type": "object"}}]});
    let three = request_for("gemini-3-pro", &body);
    assert_eq!(
        three["tools"],
        json!([{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}, {"urlContext": {}}, {"codeExecution": {}}])
    );
    assert_eq!(three["toolConfig"], json!({"includeServerSideToolInvocations": true}));
    // Older models have either their own tools or the client's.
    assert!(matches!(try_request_for("gemini-2.5-pro", &body), Err(ConvertError::Unsupported { .. })));
}

#[test]
fn a_kept_conversation_is_refused_by_its_member() {
    let body = json!({"model": "m", "max_tokens": 9, "thread": {"type": "create"},
        "messages": [{"role": "user", "content": "q"}]});
    let error = try_request_for("gemini-3-pro", &body).unwrap_err();
    assert!(matches!(error, ConvertError::Unsupported { path, .. } if path == "thread"));
}

/// Tools that Claude knows by name are described to the model; a toolset's member comes back as one.
#[test]
fn tools_that_claude_knows_by_name() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}],
        "tools": [{"type": "bash_20250124", "name": "bash"}]});
    let function = request_for("gemini-3-pro", &body)["tools"][0]["functionDeclarations"][0].take();
    assert_eq!(function["parameters"]["properties"]["command"]["type"], "STRING");
}

fn message(content: Value, stop_reason: &str) -> Value {
    json!({"id": "msg_1", "model": "claude", "content": content, "stop_reason": stop_reason,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 50000,
            "output_tokens": 80, "output_tokens_details": {"thinking_tokens": 30}}})
}

/// B37: the prompt includes the cache, thoughts stand beside the candidates.
#[test]
fn usage_as_gemini_counts() {
    let usage = response(&message(json!([]), "end_turn"))["usageMetadata"].take();
    assert_eq!(
        usage,
        json!({"promptTokenCount": 52012, "cachedContentTokenCount": 50000, "candidatesTokenCount": 50,
            "thoughtsTokenCount": 30, "totalTokenCount": 52092})
    );
}

#[test]
fn reasons_why_an_answer_ended() {
    for (reason, expected) in [
        ("end_turn", "STOP"),
        ("tool_use", "STOP"),
        ("stop_sequence", "STOP"),
        ("max_tokens", "MAX_TOKENS"),
        ("model_context_window_exceeded", "MAX_TOKENS"),
        ("refusal", "SAFETY"),
        ("pause_turn", "OTHER"),
        ("something_new", "STOP"),
    ] {
        assert_eq!(response(&message(json!([]), reason))["candidates"][0]["finishReason"], expected, "{reason}");
    }
}

fn thinking_and_call() -> Vec<Value> {
    let start =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude", "content": [],
            "usage": {"input_tokens": 9, "output_tokens": 1}}}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        json!({"type": "ping"}),
        start(1, json!({"type": "tool_use", "id": "t1", "name": "ls", "input": {}})),
        delta(1, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "{\"p\":"})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "1}"})),
        stop(1),
        start(2, json!({"type": "tool_use", "id": "t2", "name": "now", "input": {}})),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

/// B08, B25: calls come whole, with arguments even where there are none, and one reason comes last.
#[test]
fn a_stream_has_whole_calls_and_one_reason() {
    let events = stream(&thinking_and_call());
    let part = |event: usize| events[event]["candidates"][0]["content"]["parts"][0].clone();
    assert_eq!(part(0), json!({"text": "hm", "thought": true}));
    assert_eq!(part(1)["functionCall"], json!({"id": "t1", "name": "ls", "args": {"p": 1}}));
    assert!(part(1)["thoughtSignature"].is_string());
    assert_eq!(part(2)["functionCall"], json!({"id": "t2", "name": "now", "args": {}}));
    let reasons: Vec<_> = events.iter().filter_map(|event| event["candidates"][0]["finishReason"].as_str()).collect();
    assert_eq!(reasons, ["STOP"]);
    assert_eq!(events.last().unwrap()["usageMetadata"]["totalTokenCount"], 16);
}

/// B28: a stream that breaks off is an error, and no reason why it ended is made up.
#[test]
fn a_cut_stream_is_an_error() {
    let whole = thinking_and_call();
    for length in [1, 3, 9, whole.len() - 1] {
        let events = stream(&whole[..length]);
        assert!(events.last().unwrap()["error"]["code"].is_number(), "{length}");
        assert!(events.iter().all(|event| event["candidates"][0]["finishReason"].is_null()), "{length}");
    }
}

#[test]
fn an_error_in_a_stream_is_the_last_event() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let events = stream(&[thinking_and_call()[..3].to_vec(), vec![error, json!({"type": "message_stop"})]].concat());
    assert_eq!((events.len(), &events[1]["error"]["code"]), (2, &json!(503)));
}

/// Claude's thinking survives a client of Gemini that keeps only calls and texts, and comes back as it was.
#[test]
fn thinking_comes_back_to_claude() {
    let answer = response(&message(
        json!([{"type": "redacted_thinking", "data": "ZGF0YQ=="},
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]),
        "tool_use",
    ));
    let mut content = answer["candidates"][0]["content"].clone();
    content["parts"].as_array_mut().unwrap().retain(|part| part["thought"] != true);
    let request = json!({
        "contents": [{"role": "user", "parts": [{"text": "q"}]}, content,
            {"role": "user", "parts": [{"functionResponse": {"id": "t1", "name": "ls", "response": {"output": "a"}}}]}],
        "generationConfig": {"thinkingConfig": {"thinkingBudget": 2048, "includeThoughts": true}}
    });
    let media = Media::new();
    let context =
        Context { model: "claude-sonnet-4-5", stream: false, server_tools: ServerTools::Refuse, media: &media };
    let converted = convert::request(Dialect::Gemini, Dialect::Claude, &request.to_string(), &context).unwrap();
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "redacted_thinking", "data": "ZGF0YQ=="},
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}])
    );
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 2048}));
    assert!(converted.losses.is_empty(), "{}", converted.losses.text());
}

/// A turn of Claude Code, with all that it sends, loses nothing but what Gemini has no place for.
#[test]
fn a_turn_of_claude_code() {
    let text = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let body = json!({
        "model": "alias", "max_tokens": 32000, "stream": true,
        "thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "medium"},
        "metadata": {"user_id": "{\"device_id\":\"d\"}"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "system": [text("x-anthropic-billing-header: cc_version=2.1.332;"), text("You are an agent."), text("Rules.")],
        "tools": [
            {"name": "Bash", "description": "Runs.", "input_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object", "additionalProperties": false, "required": ["command"], "properties": {
                    "command": {"type": "string"}, "timeout": {"type": "number", "exclusiveMinimum": 0, "default": 9}}}},
            {"name": "DeferredToolPlaceholder", "description": "", "defer_loading": true,
                "input_schema": {"type": "object", "properties": {}}}],
        "messages": [
            {"role": "user", "content": [text("<system-reminder>a</system-reminder>"), text("Run ls.")]},
            {"role": "system", "content": "One more tool."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "tollgate-gemini:c2ln"},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": false,
                "content": "a.txt", "cache_control": {"type": "ephemeral"}}]}]
    });
    let converted = try_request_for("gemini-3-pro", &body).unwrap();
    let told: Vec<_> = converted.losses.iter().filter(|loss| loss.matters).map(|loss| loss.path.as_str()).collect();
    assert_eq!(told, ["tools[0].input_schema", "messages[1]", "output_config.effort"]);
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!(body["systemInstruction"]["parts"], json!([{"text": "You are an agent."}, {"text": "Rules."}]));
    assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], "c2ln");
    assert_eq!(
        body["generationConfig"],
        json!({"maxOutputTokens": 32000, "thinkingConfig": {"thinkingLevel": "HIGH"}})
    );
    assert_eq!(body["tools"][0]["functionDeclarations"][1], json!({"name": "DeferredToolPlaceholder"}));
}
