//! The faults that other gateways had, and what this pair makes of the same inputs.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::{Media, MediaFile};
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Reply, ServerTools};
use crate::protocol::dialect::Dialect::{Gemini, OpenAiChat};

const MODEL: &str = "gemini-3-flash";

fn try_request(model: &str, body: &Value, media: &Media) -> Result<ConvertedRequest, ConvertError> {
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media };
    convert::request(OpenAiChat, Gemini, &body.to_string(), &context)
}

/// A request with these messages and further members.
fn body(messages: Value, members: Value) -> Value {
    let mut body = json!({"model": "m", "messages": messages});
    let further = members.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(further);
    body
}

fn request_for(model: &str, messages: Value, members: Value) -> Value {
    let converted = try_request(model, &body(messages, members), &Media::new()).unwrap();
    serde_json::from_slice(&converted.body).unwrap()
}

fn request(messages: Value, members: Value) -> Value {
    request_for(MODEL, messages, members)
}

fn fault(messages: Value, members: Value) -> String {
    match try_request(MODEL, &body(messages, members), &Media::new()) {
        Err(error @ ConvertError::Invalid { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn hi() -> Value {
    json!([{"role": "user", "content": "hi"}])
}

fn response(message: Value, finish_reason: &str) -> Value {
    let body =
        json!({"id": "c", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]});
    let converted = convert::response(OpenAiChat, Gemini, &body.to_string(), &Reply::default()).unwrap();
    serde_json::from_slice::<Value>(&converted.body).unwrap()["candidates"][0].clone()
}

fn stream(chunks: &[Value], is_done: bool) -> Vec<Value> {
    let mut stream = convert::stream(OpenAiChat, Gemini, Rc::new(Reply::default())).unwrap();
    let mut out = Vec::new();
    chunks.iter().for_each(|chunk| stream.event(&chunk.to_string(), &mut out));
    if is_done {
        stream.event("[DONE]", &mut out);
    }
    if !stream.is_over() {
        stream.finish(&mut out);
    }
    let text = String::from_utf8(out).unwrap();
    text.split("\n\n").filter_map(|event| serde_json::from_str(event.strip_prefix("data: ")?).ok()).collect()
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn tool(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

fn calling(calls: Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

/// B01: only what Gemini's schemas know goes out, at every depth; a member that is named like a keyword stays.
#[test]
fn b01_unknown_keywords_of_schemas_go() {
    let parameters = json!({"$schema": "x", "type": "object", "additionalProperties": false, "properties": {
        "rows": {"type": "array", "uniqueItems": true, "items": {"type": "object", "properties": {"w": {"type": "number",
            "multipleOf": 0.5}}, "patternProperties": {"^x_": {"type": "string"}}}},
        "propertyNames": {"type": "string"}}});
    let tools = json!([{"type": "function", "function": {"name": "tag", "parameters": parameters}}]);
    let converted = request(hi(), json!({"tools": tools}));
    let schema = &converted["tools"][0]["functionDeclarations"][0]["parameters"];
    assert_eq!(schema["properties"]["propertyNames"], json!({"type": "STRING"}));
    let text = schema.to_string();
    for keyword in ["$schema", "additionalProperties", "uniqueItems", "multipleOf", "patternProperties"] {
        assert!(!text.contains(&format!("\"{keyword}\":")), "{text}");
    }
}

/// B02: one type and `nullable`, never a list of types; a recursion goes as JSON Schema.
#[test]
fn b02_null_is_no_type() {
    let parameters = json!({"type": "object", "properties": {"limit": {"anyOf": [
        {"type": "integer", "exclusiveMinimum": 0, "maximum": 50}, {"type": "null"}]}, "path": {"type": ["string", "null"]}}});
    let tools = json!([{"type": "function", "function": {"name": "read", "parameters": parameters}}]);
    let converted = request(hi(), json!({"tools": tools}));
    let schema = &converted["tools"][0]["functionDeclarations"][0]["parameters"]["properties"];
    assert_eq!(schema["limit"], json!({"type": "INTEGER", "nullable": true, "minimum": 1, "maximum": 50}));
    assert_eq!(schema["path"], json!({"type": "STRING", "nullable": true}));
}

/// B04: results are one content, in the order of the calls, with the names of their functions.
#[test]
fn b04_parallel_results_are_one_content() {
    let converted = request(
        json!([{"role": "user", "content": "?"}, calling(json!([call("a", "get_x", "{}"), call("b", "get_y", "{}")])),
            tool("b", json!("12")), tool("a", json!("10")), {"role": "user", "content": "and?"}]),
        json!({}),
    );
    let contents = converted["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 3);
    let expected = json!([
        {"functionResponse": {"id": "a", "name": "get_x", "response": {"output": "10"}}},
        {"functionResponse": {"id": "b", "name": "get_y", "response": {"output": "12"}}},
        {"text": "and?"},
    ]);
    assert_eq!(contents[2], json!({"role": "user", "parts": expected}));
}

/// B05: orphans are named.
#[test]
fn b05_orphans_are_refused() {
    let calls = json!([call("t1", "ls", "{}"), call("t2", "ls", "{}")]);
    let unanswered = json!([{"role": "user", "content": "?"}, calling(calls), tool("t1", json!("ok")), {"role": "user", "content": "go"}]);
    assert!(fault(unanswered, json!({})).contains("t2"));
    assert!(fault(json!([{"role": "user", "content": "hi"}, tool("t9", json!("late"))]), json!({})).contains("t9"));
}

/// B08: arguments that are not there are an empty object; what is no JSON is refused.
#[test]
fn b08_arguments_are_objects() {
    for arguments in ["", " ", "{}", "null"] {
        let messages = json!([{"role": "user", "content": "?"}, calling(json!([call("c1", "now", arguments)])),
            tool("c1", json!("12:00"))]);
        let converted = request(messages, json!({}));
        assert_eq!(converted["contents"][1]["parts"][0]["functionCall"]["args"], json!({}));
    }
    let cut = json!([{"role": "user", "content": "?"}, calling(json!([call("c1", "now", "{\"a\":")])), tool("c1", json!(""))]);
    assert!(fault(cut, json!({})).contains("c1"));
    let candidate = response(json!({"tool_calls": [call("c1", "now", "{\"a\":")]}), "tool_calls");
    assert_eq!(candidate["finishReason"], "MALFORMED_FUNCTION_CALL");
    assert!(candidate["finishMessage"].as_str().unwrap().contains("{\"a\":"));
}

/// B10: images in results go with the result to Gemini 3, and after it to older models.
#[test]
fn b10_images_of_results_stay() {
    let content = json!([{"type": "text", "text": "taken"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]);
    let messages =
        json!([{"role": "user", "content": "?"}, calling(json!([call("s1", "snap", "{}")])), tool("s1", content)]);
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let parts = &request(messages.clone(), json!({}))["contents"][2]["parts"];
    assert_eq!(parts[0]["functionResponse"]["response"], json!({"output": "taken"}));
    assert_eq!(parts[0]["functionResponse"]["parts"], json!([image]));
    let parts = &request_for("gemini-2.5-pro", messages, json!({}))["contents"][2]["parts"];
    assert!(parts[1]["text"].as_str().unwrap().contains("s1") && parts[2] == image, "{parts}");
}

/// B11: texts of a result are joined.
#[test]
fn b11_texts_of_results_are_one() {
    let content = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let messages =
        json!([{"role": "user", "content": "?"}, calling(json!([call("c", "ls", "{}")])), tool("c", content)]);
    let converted = request(messages, json!({}));
    assert_eq!(converted["contents"][2]["parts"][0]["functionResponse"]["response"], json!({"output": "a\nb"}));
}

/// B14: a signature that the client kept goes back; one that is lost is replaced by what Google documents, in the current
/// turn and for the first call of each step.
#[test]
fn b14_calls_have_their_signatures() {
    let mut kept = call("a", "ls", "{}");
    kept["extra_content"] = json!({"google": {"thought_signature": "c2ln"}});
    let messages = |first: Value| {
        json!([{"role": "user", "content": "?"}, calling(json!([first, call("b", "ls", "{}")])), tool("a", json!("1")),
            tool("b", json!("2"))])
    };
    let signatures = |converted: &Value| {
        let parts = &converted["contents"][1]["parts"];
        [parts[0]["thoughtSignature"].clone(), parts[1]["thoughtSignature"].clone()]
    };
    assert_eq!(signatures(&request(messages(kept.clone()), json!({}))), [json!("c2ln"), Value::Null]);
    let skipped = json!("skip_thought_signature_validator");
    let lost = || call("a", "ls", "{}");
    assert_eq!(signatures(&request(messages(lost()), json!({}))), [skipped.clone(), Value::Null]);
    assert_eq!(signatures(&request_for("gemini-2.5-pro", messages(lost()), json!({}))), [Value::Null, Value::Null]);
    // What another vendor has made is no signature.
    kept["extra_content"]["google"]["thought_signature"] = json!("tollgate-claude:c2ln");
    assert_eq!(signatures(&request(messages(kept), json!({}))), [skipped, Value::Null]);
}

/// B16: a budget fits the model.
#[test]
fn b16_efforts_become_budgets_or_levels() {
    let thinking = |model: &str, effort: &str| {
        let converted = request_for(model, hi(), json!({"reasoning_effort": effort}));
        converted["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(thinking(MODEL, "minimal"), json!({"includeThoughts": true, "thinkingLevel": "MINIMAL"}));
    assert_eq!(thinking("gemini-3-pro", "medium"), json!({"includeThoughts": true, "thinkingLevel": "HIGH"}));
    assert_eq!(thinking("gemini-2.5-flash", "none"), json!({"thinkingBudget": 0}));
    assert_eq!(thinking("gemini-2.5-flash", "max"), json!({"includeThoughts": true, "thinkingBudget": 24_576}));
    assert_eq!(thinking("gemini-2.0-flash", "high"), Value::Null);
    let both = json!({"reasoning_effort": "low", "thinking": {"type": "enabled", "budget_tokens": 3000}});
    let converted = request_for("gemini-2.5-pro", hi(), both);
    assert_eq!(converted["generationConfig"]["thinkingConfig"]["thinkingBudget"], 3000);
}

/// B17: reasoning of a vendor is thought, and never text.
#[test]
fn b17_reasoning_is_thought() {
    let candidate = response(json!({"content": "Four.", "reasoning_content": "Two and two."}), "stop");
    assert_eq!(candidate["content"]["parts"], json!([{"text": "Two and two.", "thought": true}, {"text": "Four."}]));
    let replayed = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": "a", "reasoning_content": "hm"},
        {"role": "user", "content": "b"}]);
    assert_eq!(request(replayed, json!({}))["contents"][1]["parts"], json!([{"text": "a"}]));
}

/// B22, B26: reasoning and text in one chunk; the last fragment beside the reason for the end.
#[test]
fn b22_b26_chunks_say_several_things() {
    let events = stream(
        &[
            delta(json!({"reasoning_content": "b", "content": "X"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "get", "arguments": "{\"p\":"}}]}),
            ),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
                "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}}),
        ],
        true,
    );
    let part = |event: &Value| event["candidates"][0]["content"]["parts"][0].clone();
    let expected = [
        json!({"text": "b", "thought": true}),
        json!({"text": "X"}),
        json!({"functionCall": {"id": "c", "name": "get", "args": {"p": 1}}}),
    ];
    assert_eq!(events.iter().take(3).map(part).collect::<Vec<_>>(), expected);
    assert_eq!(events[3]["candidates"][0]["finishReason"], "STOP");
    assert_eq!(events[3]["usageMetadata"]["totalTokenCount"], 13);
}

/// B28: a stream that breaks off ends with an error, and what has a reason is complete without `[DONE]`.
#[test]
fn b28_a_cut_stream_is_an_error() {
    let cut = stream(&[delta(json!({"content": "Hel"}))], false);
    assert_eq!(cut.last().unwrap()["error"]["code"], 502);
    assert!(!serde_json::to_string(&cut).unwrap().contains("finishReason"));
    assert_eq!(stream(&[], true).last().unwrap()["error"]["status"], "UNAVAILABLE");
    let complete = stream(&[delta(json!({"content": "Hi"})), finish("stop")], false);
    assert_eq!(complete.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    let cut_call = [
        delta(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}]})),
        finish("tool_calls"),
    ];
    assert_eq!(stream(&cut_call, true).last().unwrap()["candidates"][0]["finishReason"], "MALFORMED_FUNCTION_CALL");
}

/// B34, B38: the last usage that says something counts, and thoughts stand beside the answer.
#[test]
fn b34_b38_usage() {
    let with = |usage: Value| json!({"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": usage});
    let events = stream(
        &[
            with(Value::Null),
            with(json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})),
            json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 603, "total_tokens": 623,
                "prompt_tokens_details": {"cached_tokens": 8}, "completion_tokens_details": {"reasoning_tokens": 405}}}),
            finish("stop"),
            with(json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})),
        ],
        true,
    );
    let expected = json!({"promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 198,
        "thoughtsTokenCount": 405, "totalTokenCount": 623});
    assert_eq!(events.last().unwrap()["usageMetadata"], expected);
}

/// B46: nothing is lost, and the order is kept.
#[test]
fn b46_later_system_messages_stay_in_place() {
    let messages = json!([{"role": "system", "content": "S0"}, {"role": "developer", "content": "S1"},
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "system", "content": "X"},
        {"role": "user", "content": "c"}]);
    let converted = request(messages, json!({}));
    assert_eq!(converted["systemInstruction"]["parts"], json!([{"text": "S0"}, {"text": "S1"}]));
    assert_eq!(converted["contents"][2]["parts"], json!([{"text": "System notice: X"}, {"text": "c"}]));
    let only_system = request(json!([{"role": "system", "content": "S0"}]), json!({}));
    assert_eq!(only_system["contents"], json!([{"role": "user", "parts": [{"text": "S0"}]}]));
}

/// B47: no part with an empty text, no content without parts.
#[test]
fn b47_empty_texts_go() {
    let messages = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "on"}]}]);
    let contents = request(messages, json!({}))["contents"].clone();
    assert_eq!(contents, json!([{"role": "user", "parts": [{"text": "go"}, {"text": "on"}]}]));
    assert!(fault(json!([{"role": "user", "content": ""}]), json!({})).contains("messages"));
}

/// B49: PDF and images by whatever way they come.
#[test]
fn b49_media_arrive() {
    let parts = json!([
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
        {"type": "file", "file": {"file_data": "JVBERi0="}},
        {"type": "image_url", "image_url": {"url": "https://a.example/b.png?x=1"}},
        {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
    ]);
    let body = body(json!([{"role": "user", "content": parts}]), json!({}));
    let needed = try_request(MODEL, &body, &Media::new()).unwrap_err();
    assert_eq!(needed, ConvertError::NeedsMedia(vec!["https://a.example/b".to_owned()]));
    let file = MediaFile { media_type: "image/webp".to_owned(), data: "QUE=".to_owned() };
    let media = Media::from([("https://a.example/b".to_owned(), file)]);
    let converted: Value = serde_json::from_slice(&try_request(MODEL, &body, &media).unwrap().body).unwrap();
    let expected = json!([
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0=", "displayName": "a.pdf"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/b.png?x=1"}},
        {"inlineData": {"mimeType": "image/webp", "data": "QUE="}},
    ]);
    assert_eq!(converted["contents"][0]["parts"], expected);
}

/// B82: the more precise bound wins, none is invented, what no answer keeps is refused.
#[test]
fn b82_bounds_of_length() {
    let bound = |members: Value| request(hi(), members)["generationConfig"]["maxOutputTokens"].clone();
    assert_eq!(bound(json!({})), Value::Null);
    assert_eq!(bound(json!({"max_tokens": 100, "max_completion_tokens": 200})), 200);
    assert_eq!(bound(json!({"max_completion_tokens": 999_999})), 65_536);
    for members in [json!({"max_tokens": 0}), json!({"max_tokens": -5}), json!({"max_completion_tokens": -1})] {
        assert!(fault(hi(), members).contains("at least 1"));
    }
}

/// B83: what Gemini takes passes, what is too much is brought to its border, what is absurd is refused.
#[test]
fn b83_sampling() {
    let members = json!({"temperature": 1.6, "top_p": 0.9, "seed": 1, "presence_penalty": 0.5, "n": 2, "top_k": 7});
    let expected =
        json!({"temperature": 1.6, "topP": 0.9, "topK": 7, "candidateCount": 2, "presencePenalty": 0.5, "seed": 1});
    assert_eq!(request(hi(), members)["generationConfig"], expected);
    assert!(fault(hi(), json!({"temperature": 2.5})).contains("temperature"));
    assert!(fault(hi(), json!({"temperature": -1})).contains("temperature"));
    let nine = try_request(MODEL, &body(hi(), json!({"n": 9})), &Media::new());
    assert!(matches!(nine, Err(ConvertError::Unsupported { .. })));
}

#[test]
fn tools_that_only_another_vendor_runs_are_refused_and_common_ones_are_mapped() {
    let tools = |kind: &str| body(hi(), json!({"tools": [{"type": kind}]}));
    let refused = try_request(MODEL, &tools("image_generation"), &Media::new());
    assert!(matches!(refused, Err(ConvertError::Unsupported { .. })));
    let converted = try_request(MODEL, &tools("web_search"), &Media::new()).unwrap();
    let converted: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!(converted["tools"], json!([{"googleSearch": {}}]));
    let demanded = body(hi(), json!({"tools": [{"type": "web_search"}], "tool_choice": "required"}));
    assert!(try_request(MODEL, &demanded, &Media::new()).unwrap().losses.text().contains("tool_choice"));
}

/// Claude's thinking through a compatible vendor: its secrets are sealed, and come back to it alone.
#[test]
fn secrets_of_thinking_are_sealed() {
    let blocks = json!([{"type": "thinking", "thinking": "hm", "signature": "s"}]);
    let candidate = response(json!({"content": "a", "reasoning_content": "hm", "thinking_blocks": blocks}), "stop");
    let parts = candidate["content"]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 2);
    let turn = json!({"contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": parts},
        {"role": "user", "parts": [{"text": "!"}]}]});
    let media = Media::new();
    for (model, thinks) in [("claude-opus-5-5", true), ("deepseek-v4", false)] {
        let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
        let back = convert::request(Gemini, OpenAiChat, &turn.to_string(), &context).unwrap();
        let back: Value = serde_json::from_slice(&back.body).unwrap();
        assert_eq!(back["messages"][1]["thinking_blocks"] == blocks, thinks);
        assert_eq!(back["messages"][1]["reasoning_content"], "hm");
    }
}

#[test]
fn images_of_answers_are_handed_on() {
    let image = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]);
    let part = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let candidate = response(json!({"content": "Here.", "images": image}), "stop");
    assert_eq!(candidate["content"]["parts"], json!([{"text": "Here."}, part]));
    let events = stream(&[delta(json!({"images": image})), finish("stop")], true);
    assert_eq!(events[0]["candidates"][0]["content"]["parts"], json!([part]));
}
