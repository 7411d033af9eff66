use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{
    Context, ConvertError, ConvertedRequest, Reply, ServerTools, request, response, stream,
};
use crate::protocol::dialect::Dialect::{Gemini, OpenAiResponses};

fn convert_for(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
    request(Gemini, OpenAiResponses, &body.to_string(), &context)
}

fn body_for(model: &str, body: &Value) -> Value {
    serde_json::from_slice(&convert_for(model, body).unwrap().body).unwrap()
}

fn body(request: &Value) -> Value {
    body_for("gpt-6", request)
}

fn error(body: &Value) -> ConvertError {
    convert_for("gpt-6", body).unwrap_err()
}

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

/// B05: orphans on either side are named. Results without ids belong to calls by name and order.
#[test]
fn calls_and_results_meet() {
    let call = |id: &str| json!({"functionCall": {"id": id, "name": "ls", "args": {}}});
    let result = |id: &str| json!({"functionResponse": {"id": id, "name": "ls", "response": {"output": "ok"}}});
    for (contents, id) in [
        (
            json!([model(json!([call("t1"), call("t2")])), user(json!([result("t1")])), user(json!([{"text": "on"}]))]),
            "t2",
        ),
        (json!([user(json!([{"text": "hi"}])), user(json!([result("t9")]))]), "t9"),
    ] {
        let error = error(&json!({"contents": contents}));
        assert!(matches!(error, ConvertError::Invalid { .. }) && error.to_string().contains(id), "{error}");
    }
    let call = |c: &str| json!({"functionCall": {"name": "t", "args": {"c": c}}});
    let result = |text: &str| json!({"functionResponse": {"name": "t", "response": {"output": text}}});
    let contents = json!([
        user(json!([{"text": "go"}])),
        model(json!([call("X"), call("Y")])),
        user(json!([result("10"), result("12")]))
    ]);
    let input = body(&json!({"contents": contents}))["input"].clone();
    assert_eq!(input[1]["call_id"], input[3]["call_id"]);
    assert_eq!(input[2]["call_id"], input[4]["call_id"]);
    assert_ne!(input[1]["call_id"], input[2]["call_id"]);
    assert_eq!((&input[3]["output"], &input[4]["output"]), (&json!("10"), &json!("12")));
}

/// B07: long ids stay apart, and within what OpenAI takes.
#[test]
fn long_ids_fit() {
    let ids = ["1", "2"].map(|end| format!("toolu_{}_{end}", "k".repeat(66)));
    let calls: Vec<Value> = ids.iter().map(|id| json!({"functionCall": {"id": id, "name": "f"}})).collect();
    let results: Vec<Value> = ids.iter().map(|id| json!({"functionResponse": {"id": id, "name": "f"}})).collect();
    let input = body(&json!({"contents": [model(json!(calls)), user(json!(results))]}))["input"].clone();
    assert!(input[0]["call_id"].as_str().unwrap().len() <= 64);
    assert_eq!((&input[0]["call_id"], &input[1]["call_id"]), (&input[2]["call_id"], &input[3]["call_id"]));
    assert_ne!(input[0]["call_id"], input[1]["call_id"]);
    // B08.
    assert_eq!(input[0]["arguments"], "{}");
}

/// Each client wraps results in its own way. B11: an error stays visible.
#[test]
fn results_are_unwrapped() {
    let output = |response: Value| {
        let contents = json!([
            model(json!([{"functionCall": {"id": "a", "name": "f"}}])),
            user(json!([{"functionResponse": {"id": "a", "name": "f", "response": response}}])),
        ]);
        body(&json!({"contents": contents}))["input"][1]["output"].clone()
    };
    for (response, expected) in [
        (json!({"output": "x"}), "x"),
        (json!({"result": {"a": 1}}), "{\"a\":1}"),
        (json!({"name": "f", "content": "x"}), "x"),
        (json!({"content": "x"}), "x"),
        (json!({"error": "denied"}), "error: denied"),
        (json!({"a": 1, "b": 2}), "{\"a\":1,\"b\":2}"),
        (json!({"name": "only"}), "{\"name\":\"only\"}"),
        (json!({}), "{}"),
        (Value::Null, ""),
    ] {
        assert_eq!(output(response.clone()), expected, "{response}");
    }
}

/// B10 and B49: images in results, files and base64 of the other alphabet.
#[test]
fn media_are_carried() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "-_-_"}});
    let contents = json!([
        user(json!([image, {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}])),
        model(json!([{"functionCall": {"id": "s", "name": "snap"}}])),
        user(
            json!([{"functionResponse": {"id": "s", "name": "snap", "response": {"output": "taken"}, "parts": [image]}}])
        ),
    ]);
    let input = body(&json!({"contents": contents}))["input"].clone();
    let expected = json!({"type": "input_image", "image_url": "data:image/png;base64,+/+/", "detail": "auto"});
    assert_eq!(input[0]["content"][0], expected);
    assert_eq!(input[0]["content"][1]["filename"], "file.pdf");
    assert_eq!(input[2]["output"], json!([{"type": "input_text", "text": "taken"}, expected]));
    for media_type in ["video/mp4", "audio/wav"] {
        let part = json!([{"inlineData": {"mimeType": media_type, "data": "AAAA"}}]);
        assert!(matches!(error(&json!({"contents": [user(part)]})), ConvertError::Unsupported { .. }));
    }
}

/// B13: a signature of Gemini is not OpenAI's; what OpenAI sealed goes back to it whole.
#[test]
fn reasoning_goes_back_to_its_own() {
    let answer = json!({"id": "resp_1", "status": "completed", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAAA=="},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "ls", "arguments": "{}"},
    ]});
    let converted = response(OpenAiResponses, Gemini, &answer.to_string(), &Reply::default()).unwrap();
    let converted: Value = serde_json::from_slice(&converted.body).unwrap();
    let mut parts = converted["candidates"][0]["content"]["parts"].clone();
    // As the Python SDK writes bytes.
    let signature = parts[1]["thoughtSignature"].as_str().unwrap().replace('+', "-").replace('/', "_");
    parts[1]["thoughtSignature"] = json!(signature);
    let result = json!([{"functionResponse": {"id": "c", "name": "ls", "response": {"output": "a"}}}]);
    let input = body(&json!({"contents": [model(parts), user(result.clone())]}))["input"].clone();
    assert_eq!(input[0], answer["output"][0]);
    assert_eq!((&input[1]["call_id"], input.as_array().unwrap().len()), (&json!("c"), 3));

    let parts = json!([{"text": "secret", "thought": true}, {"functionCall": {"id": "c", "name": "ls"}, "thoughtSignature": "c2ln"}]);
    let converted = body(&json!({"contents": [model(parts), user(result)]}));
    assert!(converted["input"][0]["type"] == "function_call" && !converted.to_string().contains("secret"));
}

/// B82 and B83.
#[test]
fn numbers_are_kept_within_bounds() {
    let config = |config: Value| json!({"contents": [user(json!([{"text": "x"}]))], "generationConfig": config});
    assert!(matches!(error(&config(json!({"maxOutputTokens": 0}))), ConvertError::Invalid { .. }));
    assert!(matches!(error(&config(json!({"temperature": -1}))), ConvertError::Invalid { .. }));
    assert!(matches!(error(&config(json!({"candidateCount": 2}))), ConvertError::Unsupported { .. }));
    let sampling = config(json!({"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 3}));
    let reasoning = body(&sampling);
    assert_eq!((reasoning.get("temperature"), &reasoning["max_output_tokens"]), (None, &json!(16)));
    let plain = body_for("gpt-4.1", &sampling);
    assert_eq!((&plain["temperature"], &plain["top_p"], plain.get("include")), (&json!(0.5), &json!(0.9), None));
}

#[test]
fn thinking_is_asked_for_in_the_models_words() {
    let effort = |model: &str, thinking: Value| {
        let request =
            json!({"contents": [user(json!([{"text": "x"}]))], "generationConfig": {"thinkingConfig": thinking}});
        body_for(model, &request)["reasoning"].clone()
    };
    assert_eq!(
        effort("gpt-6", json!({"thinkingBudget": 8192, "includeThoughts": true})),
        json!({"effort": "medium", "summary": "auto"})
    );
    assert_eq!(effort("gpt-6", json!({"thinkingBudget": 0})), json!({"effort": "none"}));
    assert_eq!(effort("gpt-5-mini", json!({"thinkingBudget": 0})), json!({"effort": "minimal"}));
    assert_eq!(effort("gpt-6", json!({"thinkingBudget": -1})), Value::Null);
    assert_eq!(effort("gpt-4.1", json!({"thinkingLevel": "HIGH"})), Value::Null);
}

fn answered(body: &Value) -> Value {
    let reply = Reply { id: "1".to_owned(), model: "m".to_owned(), ..Reply::default() };
    serde_json::from_slice(&response(Gemini, OpenAiResponses, &body.to_string(), &reply).unwrap().body).unwrap()
}

fn streamed(events: &[Value]) -> Vec<Value> {
    let reply = Reply { id: "1".to_owned(), model: "m".to_owned(), ..Reply::default() };
    let mut converter = stream(Gemini, OpenAiResponses, Rc::new(reply)).unwrap();
    let mut out = Vec::new();
    for event in events {
        converter.event(&event.to_string(), &mut out);
    }
    converter.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn event(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

/// B38: thoughts are output, and those that are counted among the candidates are not counted twice.
#[test]
fn usage_is_told_openais_way() {
    let usage = |usage: Value| {
        answered(&json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}))["usage"].clone()
    };
    let counted = usage(json!({"promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 198,
        "thoughtsTokenCount": 405, "totalTokenCount": 623}));
    assert_eq!(
        (&counted["input_tokens"], &counted["output_tokens"], &counted["total_tokens"]),
        (&json!(20), &json!(603), &json!(623))
    );
    assert_eq!(counted["input_tokens_details"]["cached_tokens"], 8);
    assert_eq!(counted["output_tokens_details"]["reasoning_tokens"], 405);
    let inside = usage(
        json!({"promptTokenCount": 20, "candidatesTokenCount": 150, "thoughtsTokenCount": 50, "totalTokenCount": 170}),
    );
    assert_eq!(inside["output_tokens"], 150);
}

/// B50: a candidate without content tells why, buffered and streamed.
#[test]
fn endings_without_content_are_told() {
    for (reason, status, details) in [
        ("PROHIBITED_CONTENT", "incomplete", json!("content_filter")),
        ("SAFETY", "incomplete", json!("content_filter")),
        ("SPII", "incomplete", json!("content_filter")),
        ("BLOCKLIST", "incomplete", json!("content_filter")),
        ("RECITATION", "incomplete", json!("content_filter")),
        ("MAX_TOKENS", "incomplete", json!("max_output_tokens")),
        ("MALFORMED_FUNCTION_CALL", "failed", Value::Null),
        ("BRAND_NEW", "completed", Value::Null),
    ] {
        let buffered = answered(&end(reason));
        let events = streamed(&[end(reason)]);
        for response in [&buffered, &events.last().unwrap()["response"]] {
            assert_eq!(
                (&response["status"], &response["incomplete_details"]["reason"]),
                (&json!(status), &details),
                "{reason}"
            );
            assert_eq!(response["output"], json!([]));
        }
    }
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    assert_eq!(answered(&blocked)["incomplete_details"]["reason"], "content_filter");
}

/// B23: the whole sequence. B25: a call is a call, though the reason is `STOP`, and the limit stays one.
#[test]
fn streams_are_whole() {
    let events = streamed(&[event(json!([{"text": "H"}])), event(json!([{"text": "i"}])), end("STOP")]);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds, expected);
    let call = json!([{"functionCall": {"name": "ls"}}]);
    for (reason, status) in [("STOP", "completed"), ("MAX_TOKENS", "incomplete")] {
        let events = streamed(&[
            event(call.clone()),
            event(call.clone()),
            end(reason),
            json!({"usageMetadata": {"promptTokenCount": 7}}),
        ]);
        let response = &events.last().unwrap()["response"];
        let output = response["output"].as_array().unwrap();
        assert_eq!((output.len(), &response["status"], &output[0]["arguments"]), (2, &json!(status), &json!("{}")));
        assert_ne!(output[0]["call_id"], output[1]["call_id"]);
        assert_eq!(response["usage"]["input_tokens"], 7);
    }
}

/// B28 and B29: a break and an error are no success.
#[test]
fn a_stream_that_fails_says_so() {
    let text = event(json!([{"text": "Hel"}]));
    let overloaded = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    for (events, code) in [
        (vec![text.clone()], "upstream_cut"),
        (vec![], "upstream_cut"),
        (vec![text.clone(), overloaded], "server_error"),
        (vec![text, json!("text")], "upstream_error"),
    ] {
        let out = streamed(&events);
        let last = out.last().unwrap();
        assert_eq!((&last["type"], &last["response"]["error"]["code"]), (&json!("response.failed"), &json!(code)));
    }
}

/// B14: what the client keeps of an answer brings back each part with its signature, tools of the vendor included.
#[test]
fn an_answer_comes_back_as_it_was() {
    let parts = json!([
        {"toolCall": {"id": "tc", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}, "thoughtSignature": "c2lnMA=="},
        {"toolResponse": {"id": "tc", "toolType": "GOOGLE_SEARCH_WEB", "response": {"results": [1.50]}}},
        {"text": "plan", "thought": true},
        {"text": "I look.", "thoughtSignature": "c2lnMQ=="},
        {"functionCall": {"id": "a", "name": "ls", "args": {"p": 1}}, "thoughtSignature": "c2lnMg=="},
        {"functionCall": {"id": "b", "name": "ls", "args": {}}},
    ]);
    let answer = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let buffered = answered(&answer)["output"].clone();
    let streamed = streamed(&[event(parts.clone()), end("STOP")]).last().unwrap()["response"]["output"].clone();
    for output in [buffered, streamed] {
        let mut input = vec![json!({"role": "user", "content": "go"})];
        input.extend(output.as_array().unwrap().iter().cloned());
        for id in ["a", "b"] {
            input.push(json!({"type": "function_call_output", "call_id": id, "output": "ok"}));
        }
        let media = Media::new();
        let context =
            Context { model: "gemini-3-flash", stream: false, server_tools: ServerTools::Refuse, media: &media };
        let back = request(OpenAiResponses, Gemini, &json!({"input": input}).to_string(), &context).unwrap();
        let back: Value = serde_json::from_slice(&back.body).unwrap();
        assert_eq!(back["contents"][1]["parts"], parts);
    }
}

#[test]
fn sources_are_cited_by_characters() {
    let grounding = json!({"webSearchQueries": ["q"], "groundingChunks": [{"web": {"uri": "https://a.example", "title": "a"}}],
        "groundingSupports": [{"segment": {"startIndex": 5, "endIndex": 10, "text": "won b"}, "groundingChunkIndices": [0, 7]},
            {"segment": {"endIndex": 3}, "groundingChunkIndices": [0]}]});
    let text = json!({"role": "model", "parts": [{"text": "Zoë won by 2."}]});
    let answer = json!({"candidates": [{"content": text, "finishReason": "STOP", "groundingMetadata": grounding}]});
    let converted = answered(&answer);
    let annotations = converted["output"][1]["content"][0]["annotations"].as_array().unwrap();
    // The second one ends within a character and is left out.
    assert_eq!(annotations.len(), 1);
    assert_eq!((&annotations[0]["start_index"], &annotations[0]["end_index"]), (&json!(4), &json!(9)));
    assert_eq!(converted["output"][0]["action"]["queries"], json!(["q"]));
}
