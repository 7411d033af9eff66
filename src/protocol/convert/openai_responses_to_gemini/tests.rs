use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::convert::{
    Context, ConvertError, ConvertedRequest, Reply, ServerTools, request, response, stream,
};
use crate::protocol::dialect::Dialect::{Gemini, OpenAiResponses};

fn convert_for(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
    request(OpenAiResponses, Gemini, &body.to_string(), &context)
}

fn body_for(model: &str, body: &Value) -> Value {
    serde_json::from_slice(&convert_for(model, body).unwrap().body).unwrap()
}

fn body(request: &Value) -> Value {
    body_for("gemini-3-flash", request)
}

fn error(body: &Value) -> ConvertError {
    convert_for("gemini-3-flash", body).unwrap_err()
}

fn losses(body: &Value) -> String {
    convert_for("gemini-3-flash", body).unwrap().losses.text()
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "get_t", "arguments": arguments})
}

fn output(id: &str, output: Value) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// B01: only members of Gemini's schema, at every depth; a property named like a keyword survives.
#[test]
fn schemas_are_within_geminis() {
    let parameters = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
        "properties": {
            "rows": {"type": "array", "uniqueItems": true, "items": {"type": "object",
                "properties": {"w": {"type": "number", "multipleOf": 0.5}}, "patternProperties": {"^x_": {"type": "string"}}}},
            "propertyNames": {"type": "string"},
        },
    });
    let tool = json!({"type": "function", "name": "tag_rows", "parameters": parameters});
    let body = body(&json!({"input": "x", "tools": [tool]}));
    let parameters = &body["tools"][0]["functionDeclarations"][0]["parameters"];
    assert_eq!(parameters["properties"]["propertyNames"]["type"], "STRING");
    let text = parameters.to_string();
    for keyword in
        ["\"$schema\"", "\"additionalProperties\"", "\"uniqueItems\"", "\"multipleOf\"", "\"patternProperties\""]
    {
        assert!(!text.contains(keyword), "{keyword} in {text}");
    }
}

/// B02: null is `nullable`, and an exclusive bound becomes an inclusive one.
#[test]
fn null_is_no_type() {
    let parameters = json!({"type": "object", "properties": {
        "limit": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0, "maximum": 50}, {"type": "null"}], "default": null},
        "path": {"type": ["string", "null"]},
    }});
    let tool = json!({"type": "function", "name": "read", "parameters": parameters});
    let body = body(&json!({"input": "x", "tools": [tool]}));
    let properties = &body["tools"][0]["functionDeclarations"][0]["parameters"]["properties"];
    let limit = &properties["limit"];
    assert_eq!((&limit["type"], &limit["nullable"], &limit["maximum"]), (&json!("INTEGER"), &json!(true), &json!(50)));
    assert!(limit["minimum"].is_null() || limit["minimum"] == 1);
    assert_eq!((&properties["path"]["type"], &properties["path"]["nullable"]), (&json!("STRING"), &json!(true)));
}

#[test]
fn a_schema_that_refers_to_itself_goes_as_json_schema() {
    let parameters = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    let tool = json!({"type": "function", "name": "walk", "parameters": parameters});
    let body = body(&json!({"input": "x", "tools": [tool]}));
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"], parameters);
}

/// B04: the results of parallel calls in one content, in the order of the calls, with their names.
#[test]
fn parallel_results_stand_together() {
    let body = body(&json!({"input": [
        user("go"), call("a", "{\"c\":\"X\"}"), call("b", "{\"c\":\"Y\"}"), output("b", json!("12")), output("a", json!("10")),
        user("and?"),
    ]}));
    let response =
        |id: &str, text: &str| json!({"functionResponse": {"id": id, "name": "get_t", "response": {"output": text}}});
    assert_eq!(
        body["contents"][2],
        json!({"role": "user", "parts": [response("a", "10"), response("b", "12"), {"text": "and?"}]})
    );
}

/// Responses lets a message stand between a call and its output; Gemini does not.
#[test]
fn an_output_moves_up_to_its_call() {
    let body = body(&json!({"input": [user("go"), call("a", "{}"), user("hurry"), output("a", json!("10"))]}));
    let parts = body["contents"][2]["parts"].as_array().unwrap();
    assert!(parts[0].get("functionResponse").is_some() && parts[1]["text"] == "hurry" && parts.len() == 2);
}

/// B05: orphans on either side are named.
#[test]
fn orphans_are_refused() {
    for (input, id) in [
        (json!([user("go"), call("t1", "{}"), call("t2", "{}"), output("t1", json!("ok")), user("on")]), "t2"),
        (json!([user("hi"), output("t9", json!("late")), user("?")]), "t9"),
        (json!([user("hi"), output("t1", json!("early")), call("t1", "{}")]), "t1"),
        (json!([user("hi"), call("t1", "{}"), output("t1", json!("a")), output("t1", json!("b"))]), "t1"),
    ] {
        let error = error(&json!({"input": input}));
        assert!(matches!(error, ConvertError::Invalid { .. }) && error.to_string().contains(id), "{error}");
    }
}

/// B08: no arguments are an object; what is no JSON is the request's fault, and the call is named.
#[test]
fn arguments_are_objects() {
    let body = body(&json!({"input": [user("go"), call("c1", ""), output("c1", json!("1"))]}));
    assert_eq!(body["contents"][1]["parts"][0]["functionCall"]["args"], json!({}));
    for arguments in ["{\"c\":", "[1]", "text"] {
        let error = error(&json!({"input": [user("go"), call("c1", arguments), output("c1", json!("1"))]}));
        assert!(error.to_string().contains("c1"), "{error}");
    }
}

/// B10: an image that a tool gave stays in its result, or follows all results for models that do not take it there. B11: texts
/// become one string.
#[test]
fn images_in_results_are_seen() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let texts = json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}, image]);
    let request = json!({"input": [user("go"), call("s1", "{}"), call("s2", "{}"), output("s1", texts), output("s2", json!("c"))]});
    let newer = body(&request);
    let response = &newer["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(response["response"], json!({"output": "a\nb"}));
    assert_eq!(response["parts"][0]["inlineData"]["data"], "AAAA");
    let older = body_for("gemini-2.5-flash", &request);
    let parts = older["contents"][2]["parts"].as_array().unwrap();
    assert!(parts[1].get("functionResponse").is_some() && parts[4]["inlineData"]["data"] == "AAAA", "{parts:?}");
}

#[test]
fn a_file_in_a_result_is_fetched_and_one_in_a_turn_is_not() {
    let image = json!([{"type": "input_image", "image_url": "https://a.example/x.png"}]);
    let turn = json!({"input": [{"role": "user", "content": image}]});
    assert_eq!(body(&turn)["contents"][0]["parts"][0]["fileData"]["mimeType"], "image/png");
    let needed = ConvertError::NeedsMedia(vec!["https://a.example/x.png".to_owned()]);
    assert_eq!(convert_for("gemini-2.0-flash", &turn).unwrap_err(), needed);
    assert_eq!(error(&json!({"input": [user("go"), call("a", "{}"), output("a", image)]})), needed);
    let unclear = json!([{"type": "input_image", "image_url": "https://a.example/x?y=z.png"}]);
    assert!(matches!(error(&json!({"input": [{"role": "user", "content": unclear}]})), ConvertError::NeedsMedia(_)));
}

/// B14: a signature comes back on the part that it belongs to; where it is unknown, the documented value stands for it, within
/// the current turn and on the first call of a step only.
#[test]
fn signatures_come_back() {
    let sealed = |signature: &str| {
        json!({"type": "reasoning", "id": "rs_1", "encrypted_content": seal(Family::Gemini, signature),
        "summary": [{"type": "summary_text", "text": "hm"}]})
    };
    let request = json!({"input": [
        user("one"), call("a", "{}"), output("a", json!("1")), {"role": "assistant", "content": "1"}, user("two"),
        sealed("c2ln"), call("b", "{}"), call("c", "{}"), output("b", json!("2")), output("c", json!("3")),
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gAAAA"},
        call("d", "{}"), output("d", json!("4")),
    ]});
    let contents = body(&request)["contents"].clone();
    assert_eq!(contents[1]["parts"][0].get("thoughtSignature"), None);
    let step = contents[5]["parts"].as_array().unwrap();
    assert_eq!((&step[0]["text"], &step[0]["thought"]), (&json!("hm"), &json!(true)));
    assert_eq!((&step[1]["thoughtSignature"], step[2].get("thoughtSignature")), (&json!("c2ln"), None));
    assert_eq!(contents[7]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
    assert!(!body_for("gemini-2.5-pro", &request).to_string().contains("skip_thought"));
}

/// B13: nothing of another family is replayed, and no thought becomes visible text.
#[test]
fn foreign_reasoning_is_left_out() {
    let reasoning = |content: &str| {
        json!({"type": "reasoning", "id": "rs_1", "encrypted_content": content,
        "summary": [{"type": "summary_text", "text": "secret"}]})
    };
    for content in ["gAAAA", "", &seal(Family::Claude, "sig")] {
        let request =
            json!({"input": [user("a"), reasoning(content), {"role": "assistant", "content": "ok"}, user("b")]});
        let converted = body(&request);
        assert_eq!(converted["contents"][1], json!({"role": "model", "parts": [{"text": "ok"}]}));
        assert!(losses(&request).contains("thinking of another model"));
    }
}

/// B46: system text between the turns keeps its place. B47: what is empty is no part.
#[test]
fn notices_keep_their_place_and_empty_texts_are_gone() {
    let converted = body(&json!({"instructions": "I", "input": [
        {"role": "system", "content": "S0"}, user("a"), {"role": "assistant", "content": ""},
        {"role": "developer", "content": "file X changed"}, user(""), user("e"),
    ]}));
    assert_eq!(converted["systemInstruction"]["parts"], json!([{"text": "I"}, {"text": "S0"}]));
    assert_eq!(
        converted["contents"],
        json!([{"role": "user", "parts": [{"text": "a"}, {"text": "System notice: file X changed"}, {"text": "e"}]}])
    );
}

/// B49: a PDF is never left out.
#[test]
fn files_are_carried() {
    let file = json!({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="});
    let body = body(&json!({"input": [{"role": "user", "content": [file]}]}));
    let blob = json!({"mimeType": "application/pdf", "data": "JVBERi0=", "displayName": "a.pdf"});
    assert_eq!(body["contents"][0]["parts"][0]["inlineData"], blob);
    let unknown = json!({"input": [{"role": "user", "content": [{"type": "input_hologram"}]}]});
    assert!(matches!(error(&unknown), ConvertError::Unsupported { .. }));
}

/// B82 and B83: limits and sampling.
#[test]
fn numbers_are_kept_within_bounds() {
    for (member, value) in
        [("max_output_tokens", json!(0)), ("max_output_tokens", json!(-5)), ("temperature", json!(-1))]
    {
        assert!(matches!(error(&json!({"input": "x", member: value})), ConvertError::Invalid { .. }), "{member}");
    }
    let request = json!({"input": "x", "max_output_tokens": 999_999, "temperature": 2});
    let config = &body(&request)["generationConfig"];
    assert_eq!((&config["maxOutputTokens"], &config["temperature"]), (&json!(65_536), &json!(2)));
    assert!(losses(&request).contains("max_output_tokens"));
}

#[test]
fn what_needs_a_state_is_refused() {
    for (member, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("conv_1")),
        ("prompt", json!({"id": "pmpt_1"})),
        ("background", json!(true)),
    ] {
        let error = error(&json!({"input": "x", member: value}));
        assert!(matches!(&error, ConvertError::Unsupported { path, .. } if path == member), "{error}");
    }
}

#[test]
fn thinking_is_asked_for_in_the_models_measure() {
    let config = |model: &str, effort: &str| {
        let request = json!({"input": "x", "reasoning": {"effort": effort, "summary": "auto"}});
        body_for(model, &request)["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(config("gemini-3-flash", "minimal"), json!({"includeThoughts": true, "thinkingLevel": "MINIMAL"}));
    assert_eq!(config("gemini-3.8-flash", "minimal"), json!({"includeThoughts": true, "thinkingLevel": "LOW"}));
    assert_eq!(config("gemini-2.5-flash", "none"), json!({"includeThoughts": true, "thinkingBudget": 0}));
    assert_eq!(config("gemini-2.5-pro", "none"), json!({"includeThoughts": true, "thinkingBudget": 128}));
    assert_eq!(config("gemini-2.0-flash", "high"), Value::Null);
}

/// All tools of the client are functions, and their calls come back as what they were.
#[test]
fn calls_come_back_as_their_own_items() {
    let request = json!({"input": "x", "tools": [
        {"type": "namespace", "name": "crm", "tools": [{"type": "custom", "name": "note"}, {"type": "function", "name": "find"}]},
        {"type": "local_shell"}, {"type": "shell"}, {"type": "apply_patch"}, {"type": "tool_search", "execution": "client"},
    ]});
    let converted = convert_for("gemini-3-flash", &request).unwrap();
    let calls = json!([
        ["crm__note", {"input": "hi"}], ["crm__find", {}], ["local_shell", {"command": ["ls"]}], ["shell", {"commands": ["ls"]}],
        ["apply_patch", {"type": "delete_file", "path": "a"}], ["tool_search", {"query": "q"}], ["apply_patch", {"path": 1}],
    ]);
    let part = |call: &Value| json!({"functionCall": {"id": "c", "name": call[0], "args": call[1]}});
    let parts: Vec<Value> = calls.as_array().unwrap().iter().map(part).collect();
    let answer = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let reply = Reply { id: "1".to_owned(), ..converted.reply };
    let buffered = response(Gemini, OpenAiResponses, &answer.to_string(), &reply).unwrap();
    let buffered: Value = serde_json::from_slice(&buffered.body).unwrap();
    let output = buffered["output"].as_array().unwrap();
    let kinds: Vec<&str> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
    let expected = [
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "tool_search_call",
        "function_call",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(
        (&output[0]["namespace"], &output[0]["name"], &output[0]["input"]),
        (&json!("crm"), &json!("note"), &json!("hi"))
    );
    assert_eq!(output[2]["action"], json!({"command": ["ls"], "env": {}, "type": "exec"}));
    assert_eq!(output[5]["arguments"], json!({"query": "q"}));

    let mut converter = stream(Gemini, OpenAiResponses, Rc::new(reply)).unwrap();
    let mut out = Vec::new();
    converter.event(&answer.to_string(), &mut out);
    converter.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    let last = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["response"]["output"].as_array().unwrap(), output);
}

#[test]
fn tools_of_the_vendor_are_mapped_or_refused() {
    let search = json!({"input": "x", "tools": [{"type": "web_search"}, {"type": "function", "name": "f"}]});
    let newer = body(&search);
    assert_eq!(newer["toolConfig"]["includeServerSideToolInvocations"], true);
    assert!(matches!(convert_for("gemini-2.5-pro", &search), Err(ConvertError::Unsupported { .. })));
    for kind in ["programmatic_tool_calling", "image_generation", "future_tool"] {
        let error = error(&json!({"input": "x", "tools": [{"type": kind}]}));
        assert!(matches!(&error, ConvertError::Unsupported { path, .. } if path == "tools[0]"), "{error}");
    }
}

#[test]
fn a_choice_finds_its_tool_in_any_namespace() {
    let config = |choice: Value| {
        let tools = json!([
            {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find"}]},
            {"type": "function", "name": "ls"}, {"type": "web_search"}, {"type": "shell"},
        ]);
        body(&json!({"input": "x", "tools": tools, "tool_choice": choice}))["toolConfig"]["functionCallingConfig"]
            .clone()
    };
    let any = |names: Value| json!({"mode": "ANY", "allowedFunctionNames": names});
    assert_eq!(config(json!({"type": "function", "name": "find"})), any(json!(["crm__find"])));
    assert_eq!(config(json!({"type": "shell"})), any(json!(["shell"])));
    assert_eq!(config(json!({"type": "web_search"})), Value::Null);
    let some = json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "ls"}, {"type": "web_search"}]});
    assert_eq!(config(some), json!({"mode": "VALIDATED", "allowedFunctionNames": ["ls"]}));
}

fn answer(body: &Value) -> Value {
    let reply = Reply { id: "1".to_owned(), model: "m".to_owned(), ..Reply::default() };
    serde_json::from_slice(&response(OpenAiResponses, Gemini, &body.to_string(), &reply).unwrap().body).unwrap()
}

/// B38: thoughts stand beside the candidates.
#[test]
fn usage_is_told_geminis_way() {
    let usage = json!({"input_tokens": 20, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 603,
        "output_tokens_details": {"reasoning_tokens": 405}, "total_tokens": 623});
    let converted = answer(&json!({"id": "r", "status": "completed", "output": [], "usage": usage}));
    assert_eq!(
        converted["usageMetadata"],
        json!({"promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 198, "thoughtsTokenCount": 405,
            "totalTokenCount": 623})
    );
}

#[test]
fn endings_are_told() {
    let ending = |status: &str, reason: &str, output: Value| {
        let body = json!({"id": "r", "status": status, "incomplete_details": {"reason": reason}, "output": output});
        answer(&body)["candidates"][0]["finishReason"].clone()
    };
    let refusal = json!([{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}]);
    assert_eq!(ending("completed", "", json!([])), "STOP");
    assert_eq!(ending("completed", "", refusal), "SAFETY");
    assert_eq!(ending("incomplete", "max_output_tokens", json!([])), "MAX_TOKENS");
    assert_eq!(ending("incomplete", "content_filter", json!([])), "SAFETY");
    let cut = json!([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a"}]);
    assert_eq!(ending("completed", "", cut.clone()), "MALFORMED_FUNCTION_CALL");
    assert_eq!(ending("incomplete", "max_output_tokens", cut), "MAX_TOKENS");
}

fn streamed(events: &[Value]) -> Vec<Value> {
    let reply = Reply { id: "1".to_owned(), model: "m".to_owned(), ..Reply::default() };
    let mut converter = stream(OpenAiResponses, Gemini, Rc::new(reply)).unwrap();
    let mut out = Vec::new();
    for event in events {
        converter.event(&event.to_string(), &mut out);
    }
    if !converter.is_over() {
        converter.finish(&mut out);
    }
    let text = String::from_utf8(out).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// Arguments that come in pieces become one call, side by side ones two.
#[test]
fn argument_deltas_become_whole_calls() {
    let added = |index: u64, id: &str| {
        json!({"type": "response.output_item.added", "output_index": index,
        "item": {"type": "function_call", "id": format!("fc_{index}"), "call_id": id, "name": "f", "arguments": ""}})
    };
    let delta = |index: u64, text: &str| {
        json!({"type": "response.function_call_arguments.delta", "output_index": index,
        "item_id": format!("fc_{index}"), "delta": text})
    };
    let done = |index: u64, id: &str, text: &str| {
        json!({"type": "response.output_item.done", "output_index": index,
        "item": {"type": "function_call", "id": format!("fc_{index}"), "call_id": id, "name": "f", "arguments": text}})
    };
    let events = streamed(&[
        added(0, "a"),
        delta(0, "{\"x\""),
        added(1, "b"),
        delta(1, "{}"),
        delta(0, ":1}"),
        done(1, "b", "{}"),
        done(0, "a", "{\"x\":1}"),
        done(2, "c", ""),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}),
    ]);
    let call = |event: &Value| event["candidates"][0]["content"]["parts"][0]["functionCall"].clone();
    let calls: Vec<Value> = events.iter().map(call).filter(|call| !call.is_null()).collect();
    let expected = [("a", json!({"x": 1})), ("b", json!({})), ("c", json!({}))];
    let expected: Vec<Value> =
        expected.into_iter().map(|(id, args)| json!({"id": id, "name": "f", "args": args})).collect();
    assert_eq!(calls, expected);
    assert_eq!(events.last().unwrap()["candidates"][0]["finishReason"], "STOP");
}

/// B28 and B29: a break and an error are no success.
#[test]
fn a_stream_that_fails_says_so() {
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "Hel"});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed",
        "error": {"code": "context_length_exceeded", "message": "too long"}}});
    for (events, code) in
        [(vec![delta.clone()], 502), (vec![], 502), (vec![delta.clone(), failed], 400), (vec![delta, json!(1)], 502)]
    {
        let out = streamed(&events);
        assert_eq!(out.last().unwrap()["error"]["code"], code);
        assert!(out.iter().all(|event| event["candidates"][0].get("finishReason").is_none()));
    }
}
