//! Requests of Claude Messages for Chat Completions.

use serde_json::{Value, json};

use crate::protocol::convert::media::{Media, MediaFile};
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, ServerTools};
use crate::protocol::dialect::Dialect;

fn convert_with(model: &str, request: &Value, media: &Media) -> Result<ConvertedRequest, ConvertError> {
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media };
    convert::request(Dialect::Claude, Dialect::OpenAiChat, &request.to_string(), &context)
}

fn convert_for(model: &str, request: &Value) -> Result<ConvertedRequest, ConvertError> {
    convert_with(model, request, &Media::new())
}

fn converted(model: &str, request: &Value) -> Value {
    serde_json::from_slice(&convert_for(model, request).unwrap().body).unwrap()
}

fn messages(model: &str, messages: Value) -> Value {
    converted(model, &json!({"model": "m", "max_tokens": 100, "messages": messages}))["messages"].clone()
}

fn refusal(request: &Value) -> String {
    match convert_for("gpt-4.1", request) {
        Err(error @ (ConvertError::Invalid { .. } | ConvertError::Unsupported { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn history(result: Value) -> Value {
    json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "s1", "name": "snap", "input": {}}]},
        {"role": "user", "content": [result, {"type": "text", "text": "and?"}]},
    ])
}

/// B05: a call without a result and a result without a call are refused by their ids.
#[test]
fn orphans_are_refused() {
    let request = |messages: Value| json!({"model": "m", "max_tokens": 1, "messages": messages});
    let orphan = json!({"type": "tool_result", "tool_use_id": "t9", "content": "late"});
    assert!(refusal(&request(history(orphan))).contains("t9"));
    assert!(refusal(&request(history(json!({"type": "text", "text": "go on"})))).contains("s1"));
}

/// B07: ids that are too long for OpenAI are fitted, alike on call and result, and stay apart.
#[test]
fn long_ids_meet_again_and_stay_apart() {
    let ids = ["1", "2"].map(|end| format!("toolu_{}_{end}", "k".repeat(66)));
    let call = |id: &String| json!({"type": "tool_use", "id": id, "name": "now", "input": {}});
    let result = |id: &String| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let messages = messages(
        "gpt-4.1",
        json!([
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": ids.each_ref().map(call)},
            {"role": "user", "content": ids.each_ref().map(result)},
        ]),
    );
    let fitted: Vec<&str> = (0..2).filter_map(|index| messages[1]["tool_calls"][index]["id"].as_str()).collect();
    assert!(fitted[0] != fitted[1] && fitted.iter().all(|id| id.len() <= 64), "{fitted:?}");
    assert_eq!(fitted, [&messages[2]["tool_call_id"], &messages[3]["tool_call_id"]]);
}

/// B10: images of a result follow in a user's message after all results, labelled with the call.
#[test]
fn images_of_results_are_shown_by_the_user() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let result =
        json!({"type": "tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "taken"}, image]});
    let messages = messages("gpt-4.1", history(result));
    assert_eq!(messages[2], json!({"role": "tool", "content": "taken", "tool_call_id": "s1"}));
    let wanted = json!({"role": "user", "content": [
        {"type": "text", "text": "Result of the tool call s1:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "and?"},
    ]});
    assert_eq!(messages[3], wanted);
    let alone = json!({"type": "tool_result", "tool_use_id": "s1", "content": [image]});
    let pointer = self::messages("gpt-4.1", history(alone))[2]["content"].clone();
    assert!(pointer.as_str().is_some_and(|text| !text.is_empty()));
}

/// B11: a result of texts is one string, and an error stays visible.
#[test]
fn texts_of_results_are_one_string() {
    let result = json!({"type": "tool_result", "tool_use_id": "s1", "is_error": true,
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    assert_eq!(messages("gpt-4.1", history(result))[2]["content"], "error: a\nb");
}

/// B17: thinking goes back as `reasoning_content` to those who want it, and never as text.
#[test]
fn thinking_goes_back_where_it_is_wanted() {
    let turns = json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "step 1", "signature": "x"},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    ]);
    let deepseek = messages("deepseek-v4", turns.clone());
    assert!(deepseek[1]["reasoning_content"] == "step 1" && deepseek[1]["content"] == "", "{deepseek}");
    assert!(!messages("gpt-4.1", turns).to_string().contains("step 1"));
}

/// B14: Gemini's signature is Gemini's again on the call after it, and nobody else's.
#[test]
fn a_signature_of_gemini_comes_back() {
    let turns = json!([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": "tollgate-gemini:c2ln"},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    ]);
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    assert_eq!(messages("gemini-3-pro", turns.clone())[1]["tool_calls"][0]["extra_content"], extra);
    assert!(!messages("deepseek-v4", turns).to_string().contains("c2ln"));
}

/// B46: instructions between turns stay where they are.
#[test]
fn later_instructions_stay_in_their_place() {
    let messages = messages(
        "gpt-4.1",
        json!([
            {"role": "user", "content": "c"},
            {"role": "system", "content": "file X changed"},
            {"role": "assistant", "content": "d"},
            {"role": "user", "content": "e"},
        ]),
    );
    assert_eq!(messages[1], json!({"role": "system", "content": "file X changed"}));
}

/// B49: a PDF becomes a file; one at an address is fetched first.
#[test]
fn documents_are_files() {
    let document = |source: Value| json!([{"role": "user", "content": [{"type": "document", "source": source, "title": "a.pdf"}]}]);
    let file =
        json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}});
    let inline = document(json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}));
    assert_eq!(messages("gpt-4.1", inline)[0]["content"][0], file);
    let url = "https://a.test/a.pdf";
    let request = json!({"model": "m", "max_tokens": 1, "messages": document(json!({"type": "url", "url": url}))});
    let missing = convert_for("gpt-4.1", &request).map(|converted| converted.body);
    assert_eq!(missing, Err(ConvertError::NeedsMedia(vec![url.to_owned()])));
    let fetched = MediaFile { media_type: "application/pdf".to_owned(), data: "JVBERi0=".to_owned() };
    let converted = convert_with("gpt-4.1", &request, &Media::from([(url.to_owned(), fetched)])).unwrap();
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!(body["messages"][0]["content"][0], file);
}

/// B82: models that think take the newer name of the bound, other vendors may know the older one only.
#[test]
fn the_bound_has_the_name_that_the_model_knows() {
    let request = json!({"model": "m", "max_tokens": 300, "messages": [{"role": "user", "content": "a"}]});
    let names = ["max_completion_tokens", "max_tokens"];
    for (model, wanted) in [("gpt-6", [Some(300), None]), ("deepseek-v4", [None, Some(300)])] {
        let body = converted(model, &request);
        assert_eq!(names.map(|name| body[name].as_u64()), wanted, "{model}");
    }
}

/// B83: models that think take no sampling parameters, others do.
#[test]
fn sampling_goes_where_it_is_taken() {
    let request = json!({"model": "m", "max_tokens": 300, "temperature": 0.3, "top_p": 0.9, "top_k": 5,
        "messages": [{"role": "user", "content": "a"}]});
    let names = ["temperature", "top_p", "top_k"];
    let given = |model| {
        let body = converted(model, &request);
        names.map(|name| body.get(name).is_some())
    };
    assert_eq!(given("o3"), [false; 3]);
    assert_eq!(given("gpt-4.1"), [true, true, false]);
    assert_eq!(given("deepseek-v4"), [true; 3]);
}

/// A thread is refused in words that name it, by which the vendor's SDK knows to go on without.
#[test]
fn a_thread_is_refused_by_its_name() {
    let request = json!({"model": "m", "max_tokens": 1, "thread": {"type": "create"},
        "messages": [{"role": "user", "content": "a"}]});
    assert!(
        matches!(convert_for("gpt-4.1", &request), Err(ConvertError::Unsupported { path, .. }) if path == "thread")
    );
    assert!(refusal(&request).contains("thread"));
}

#[test]
fn tools_of_the_vendor_are_refused_or_left_out() {
    let request = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}],
        "tools": [{"type": "code_execution_20250825", "name": "code_execution"}]});
    assert!(refusal(&request).contains("code_execution"));
    let context = Context { model: "gpt-4.1", stream: false, server_tools: ServerTools::Drop, media: &Media::new() };
    let converted = convert::request(Dialect::Claude, Dialect::OpenAiChat, &request.to_string(), &context).unwrap();
    assert!(converted.losses.matters() && !String::from_utf8(converted.body).unwrap().contains("tools"));
}

#[test]
fn the_web_is_searched_by_models_that_can() {
    let request = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}],
        "tools": [{"type": "web_search_20250305", "name": "web_search",
            "user_location": {"type": "approximate", "city": "Lyon", "country": "FR"}}]});
    let body = converted("gpt-5-search-api", &request);
    let location = json!({"type": "approximate", "approximate": {"city": "Lyon", "country": "FR"}});
    assert_eq!(body["web_search_options"], json!({"user_location": location}));
    assert!(refusal(&request).contains("web_search"));
}

#[test]
fn newer_models_take_tools_only_without_thinking() {
    let request = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}],
        "output_config": {"effort": "high"}, "tools": [{"name": "ls", "input_schema": {"type": "object"}}]});
    assert_eq!(converted("gpt-6", &request)["reasoning_effort"], "none");
    assert_eq!(converted("gpt-5.2", &request)["reasoning_effort"], "high");
    assert!(matches!(convert_for("gpt-6.2-sol", &request), Err(ConvertError::Unsupported { .. })));
}

#[test]
fn a_compaction_stands_for_what_was_before_it() {
    let messages = messages(
        "gpt-4.1",
        json!([
            {"role": "user", "content": "long ago"},
            {"role": "assistant", "content": [{"type": "compaction", "content": "They talked."}, {"type": "text", "text": "b"}]},
            {"role": "user", "content": "c"},
        ]),
    );
    let wanted = json!([
        {"role": "user", "content": "Summary of the conversation so far:\nThey talked."},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]);
    assert_eq!(messages, wanted);
}

#[test]
fn schemas_have_the_properties_that_openai_wants() {
    let request = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}],
        "tools": [{"name": "ls", "input_schema": {"type": "object"}}]});
    let parameters = &converted("gpt-4.1", &request)["tools"][0]["function"]["parameters"];
    assert_eq!(*parameters, json!({"type": "object", "properties": {}}));
}
