use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, ServerTools};
use crate::protocol::dialect::Dialect;

fn converted(model: &str, request: &Value) -> Result<ConvertedRequest, ConvertError> {
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &Media::new() };
    convert::request(Dialect::Claude, Dialect::OpenAiResponses, &request.to_string(), &context)
}

fn body(model: &str, request: &Value) -> Value {
    serde_json::from_slice(&converted(model, request).unwrap().body).unwrap()
}

fn request(messages: &Value) -> Value {
    json!({"model": "m", "max_tokens": 1000, "messages": messages})
}

fn with(members: &Value) -> Value {
    let mut request = request(&json!([{"role": "user", "content": "hi"}]));
    request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    request
}

/// B05: an orphan is named, and nothing is sent.
#[test]
fn orphans_are_refused_by_name() {
    let uses = json!([{"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
        {"type": "tool_use", "id": "t2", "name": "ls", "input": {}}]);
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    for (messages, id) in [
        (
            json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": uses},
            {"role": "user", "content": [result("t1"), {"type": "text", "text": "go on"}]}]),
            "t2",
        ),
        (json!([{"role": "user", "content": "go"}, {"role": "user", "content": [result("t9")]}]), "t9"),
    ] {
        let error = converted("gpt-6", &request(&messages)).unwrap_err();
        assert!(matches!(error, ConvertError::Invalid { .. }) && error.to_string().contains(id), "{error}");
    }
    // Results may come in several messages: neighbours of the same role are one turn.
    let apart = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": uses},
        {"role": "user", "content": [result("t1")]}, {"role": "user", "content": [result("t2")]}]);
    assert_eq!(body("gpt-6", &request(&apart))["input"].as_array().unwrap().len(), 5);
}

/// B07: ids within 64 characters, apart from each other, and the same on call and output.
#[test]
fn long_ids_fit() {
    let ids = ["1", "2"].map(|end| format!("toolu_{}_{end}", "k".repeat(66)));
    let uses = ids.each_ref().map(|id| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}}));
    let results = ids.each_ref().map(|id| json!({"type": "tool_result", "tool_use_id": id}));
    let messages = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": uses},
        {"role": "user", "content": results}]);
    let body = body("gpt-6", &request(&messages));
    let id = |index: usize| body["input"][index]["call_id"].as_str().unwrap().to_owned();
    assert!(id(1).len() <= 64 && id(1) != id(2));
    assert_eq!((id(1), id(2)), (id(3), id(4)));
}

/// B10 and B11: text alone is a string; an image stays in the output; an error can be seen.
#[test]
fn results_of_all_kinds() {
    let output = |content: Value, is_error: bool| {
        let messages = json!([{"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "snap", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": is_error}]}]);
        body("gpt-6", &request(&messages))["input"][2]["output"].clone()
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    assert_eq!(output(json!([text("a"), text("b")]), false), "a\nb");
    assert_eq!(output(json!([]), false), "");
    assert_eq!(output(json!("no"), true), "Error: no");
    let shown = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"});
    assert_eq!(output(json!([text("taken"), image]), false), json!([{"type": "input_text", "text": "taken"}, shown]));
    assert_eq!(output(json!([image]), true), json!([{"type": "input_text", "text": "Error:"}, shown]));
}

/// B13 and B17: reasoning of OpenAI comes back as its item, before its call; that of others is left out.
#[test]
fn thinking_comes_back_to_its_family() {
    let input = |signature: &str| {
        let messages = json!([{"role": "user", "content": "list"}, {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "step 1", "signature": signature},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}]}]);
        body("gpt-6", &request(&messages))["input"].clone()
    };
    let genuine = input(r#"tollgate-openai:{"id":"rs_1","encrypted_content":"gA"}"#);
    let summary = json!([{"type": "summary_text", "text": "step 1"}]);
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gA"});
    assert_eq!((&genuine[1], &genuine[2]["type"]), (&item, &json!("function_call")));
    for foreign in ["", "EqQBCkYIBhgC", "tollgate-gemini:c2ln"] {
        let input = input(foreign);
        assert_eq!((input.as_array().unwrap().len(), &input[1]["type"]), (3, &json!("function_call")));
        assert!(!input.to_string().contains("step 1"));
    }
}

/// B46: a system message in the course of the conversation stays in its place.
#[test]
fn system_messages_stay_where_they_are() {
    let mut request = request(&json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"}, {"role": "system", "content": "file X changed"}]));
    request["system"] = json!([{"type": "text", "text": "x-anthropic-billing-header: cc_version=2;"},
        {"type": "text", "text": "S0", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "S1"}]);
    let body = body("gpt-6", &request);
    assert_eq!(body["instructions"], "S0\n\nS1");
    let roles: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|item| item["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "developer"]);
}

/// B47: empty texts are left out, and turns that are empty as a whole.
#[test]
fn empty_texts_are_left_out() {
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "go"}]},
        {"role": "assistant", "content": ""}, {"role": "user", "content": " "}]);
    assert_eq!(body("gpt-6", &request(&messages))["input"].as_array().unwrap().len(), 1);
}

/// B49: a PDF is a file with a name.
#[test]
fn documents_are_files() {
    let document = |title: Value| {
        let source = json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="});
        let messages = json!([{"role": "user", "content": [{"type": "document", "source": source, "title": title}]}]);
        body("gpt-6", &request(&messages))["input"][0]["content"][0].clone()
    };
    for (title, name) in [(json!("a.pdf"), "a.pdf"), (json!("Report"), "Report.pdf"), (json!(null), "document.pdf")] {
        let data = "data:application/pdf;base64,JVBERi0=";
        assert_eq!(document(title), json!({"type": "input_file", "file_data": data, "filename": name}));
    }
}

#[test]
fn thinking_becomes_an_effort() {
    let reasoning = |model: &str, members: Value| body(model, &with(&members))["reasoning"].clone();
    let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens, "display": "omitted"}});
    assert_eq!(reasoning("gpt-6", budget(31_999)), json!({"effort": "max"}));
    assert_eq!(reasoning("o3", budget(31_999)), json!({"effort": "high"}));
    let adaptive =
        json!({"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}});
    assert_eq!(reasoning("gpt-6", adaptive), json!({"effort": "low", "summary": "auto"}));
    assert_eq!(reasoning("gpt-5", json!({"thinking": {"type": "disabled"}})), json!({"effort": "minimal"}));
    assert_eq!(reasoning("gpt-4.1", budget(2000)), json!(null));
    assert_eq!(reasoning("gpt-6", json!({})), json!(null));
}

/// B82 and B83 for a model that reasons.
#[test]
fn bounds_and_sampling() {
    let body = body("gpt-6", &with(&json!({"max_tokens": 300, "temperature": 0.3, "top_k": 4})));
    assert_eq!(body["max_output_tokens"], 300);
    assert!(body.get("temperature").is_none());
    let plain = self::body("gpt-4.1", &with(&json!({"temperature": 0.3})));
    assert_eq!(plain["temperature"], 0.3);
    assert!(plain.get("include").is_none(), "a model that does not reason refuses to seal its reasoning");
    let error = converted("gpt-4.1", &with(&json!({"temperature": -1}))).unwrap_err();
    assert!(matches!(error, ConvertError::Invalid { .. }));
}

#[test]
fn threads_are_refused() {
    let error = converted("gpt-6", &with(&json!({"thread": {"type": "create"}}))).unwrap_err();
    assert!(matches!(error, ConvertError::Unsupported { path, .. } if path == "thread"));
}

#[test]
fn tools_come_and_go() {
    let mut request = request(&json!([{"role": "user", "content": "a"}, {"role": "system", "content": [
        {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "ls"}},
        {"type": "tool_addition", "tool": {"type": "tool_definition", "definition":
            {"name": "now", "input_schema": {"type": "object"}}}}]}]));
    request["tools"] =
        json!([{"name": "ls", "input_schema": {"type": "object"}}, {"type": "bash_20250124", "name": "bash"}]);
    let body = body("gpt-6", &request);
    let names: Vec<&str> =
        body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bash", "now"]);
}
