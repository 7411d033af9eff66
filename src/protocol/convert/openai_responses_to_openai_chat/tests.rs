//! What a Responses client's request becomes for Chat Completions, and what comes back to a Chat client.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Reply, ServerTools};
use crate::protocol::dialect::Dialect::{OpenAiChat, OpenAiResponses};

const OPEN_MODEL: &str = "deepseek-v4";

fn request(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
    convert::request(OpenAiResponses, OpenAiChat, &body.to_string(), &context)
}

/// The body for `model`, and what was lost.
fn converted(model: &str, body: &Value) -> (Value, String) {
    let converted = request(model, body).unwrap();
    (serde_json::from_slice(&converted.body).unwrap(), converted.losses.text())
}

/// The messages for `model`.
fn messages(model: &str, input: &Value) -> Value {
    converted(model, &json!({"model": "m", "input": input})).0["messages"].clone()
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

fn output(id: &str, output: impl Into<Value>) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output.into()})
}

fn response(output: &Value) -> Value {
    let body = json!({"id": "resp_1", "status": "completed", "model": "gpt-6", "output": output}).to_string();
    let reply = Reply { id: "1".to_owned(), ..Reply::default() };
    serde_json::from_slice(&convert::response(OpenAiResponses, OpenAiChat, &body, &reply).unwrap().body).unwrap()
}

fn stream(events: &[Value], end: bool) -> String {
    let reply = Reply { id: "1".to_owned(), model: "m".to_owned(), include_usage: true, ..Reply::default() };
    let mut stream = convert::stream(OpenAiResponses, OpenAiChat, Rc::new(reply)).unwrap();
    let mut out = vec![];
    events.iter().for_each(|event| stream.event(&event.to_string(), &mut out));
    if end && !stream.is_over() {
        stream.finish(&mut out);
    }
    String::from_utf8(out).unwrap()
}

/// B05: an orphan on either side is a fault of the request, and named.
#[test]
fn orphans_are_refused_by_name() {
    for input in [
        json!([{"role": "user", "content": "a"}, call("t1", "ls", "{}"), call("t2", "ls", "{}"), output("t1", "ok"),
            {"role": "user", "content": "go on"}]),
        json!([{"role": "user", "content": "a"}, output("t2", "late")]),
    ] {
        let error = request("gpt-6", &json!({"input": input})).unwrap_err();
        assert!(matches!(&error, ConvertError::Invalid { .. }) && error.to_string().contains("\"t2\""), "{error}");
    }
}

/// What is said while a call runs waits for its result, since nothing may stand between in Chat Completions.
#[test]
fn what_is_said_during_a_call_follows_its_result() {
    let input = json!([call("t1", "ls", "{}"), {"role": "user", "content": "hurry"}, output("t1", "ok")]);
    let expected = json!([
        {"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "t1", "content": "ok"},
        {"role": "user", "content": "hurry"},
    ]);
    assert_eq!(messages("gpt-6", &input), expected);
}

#[test]
fn items_of_a_turn_are_one_message() {
    let input = json!([
        {"role": "assistant", "content": [{"type": "output_text", "text": "One."}, {"type": "output_text", "text": "Two."}]},
        call("a", "ls", "{}"), {"role": "assistant", "content": "Three."}, call("b", "ls", "{}"),
        output("b", "2"), output("a", "1"), call("c", "ls", "{}"), output("c", "3"),
    ]);
    let messages = messages("gpt-6", &input);
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["assistant", "tool", "tool", "assistant", "tool"]);
    assert_eq!(messages[0]["content"], "One.\n\nTwo.\n\nThree.");
    assert_eq!(messages[0]["tool_calls"].as_array().unwrap().len(), 2);
}

/// B07: ids within the limit stay, longer ones are shortened in the same way wherever they stand.
#[test]
fn long_ids_still_meet() {
    let id = "k".repeat(70);
    let messages = messages(
        "gpt-6",
        &json!([
            call(&id, "ls", "{}"),
            output(&id, "ok"),
            call("functions.ls:1", "ls", "{}"),
            output("functions.ls:1", "ok")
        ]),
    );
    let long = messages[0]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(long.len() <= 64 && messages[1]["tool_call_id"] == long);
    assert_eq!(messages[3]["tool_call_id"], "functions.ls:1");
}

/// B08: arguments are JSON, whatever the model left out; what was cut is not repaired.
#[test]
fn empty_arguments_are_an_empty_object() {
    let input = json!([call("a", "now", ""), output("a", "")]);
    let calls = messages("gpt-6", &input)[0]["tool_calls"].clone();
    assert_eq!(calls[0]["function"]["arguments"], "{}");
    let cut = request("gpt-6", &json!({"input": [call("b", "now", "{\"cut"), output("b", "")]})).unwrap_err();
    assert!(matches!(&cut, ConvertError::Invalid { .. }) && cut.to_string().contains("\"b\""), "{cut}");
    let answer = response(&json!([call("a", "now", "")]));
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{}");
}

/// B10: images of results follow after all results of the turn, in one message that names the calls.
#[test]
fn images_of_results_follow_the_results() {
    let image = |url: &str| json!({"type": "input_image", "image_url": url, "detail": "low"});
    let input = json!([
        call("s1", "snap", "{}"),
        call("s2", "snap", "{}"),
        output("s1", json!([{"type": "input_text", "text": "taken"}, image("data:image/png;base64,AAAA")])),
        output("s2", json!([image("https://a.example/b.png")]))
    ]);
    let messages = messages("gpt-6", &input);
    assert_eq!((&messages[1]["content"], &messages[1]["tool_call_id"]), (&json!("taken"), &json!("s1")));
    assert!(messages[2]["content"].as_str().unwrap().contains("next message"));
    let expected = json!([
        {"type": "text", "text": "The result of the tool call s1:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "text", "text": "The result of the tool call s2:"},
        {"type": "image_url", "image_url": {"url": "https://a.example/b.png", "detail": "low"}},
    ]);
    assert_eq!((&messages[3]["role"], &messages[3]["content"]), (&json!("user"), &expected));
}

/// B11: the texts of a result are one string; so are those of messages where the vendor is not OpenAI.
#[test]
fn texts_are_one_string() {
    let parts = json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]);
    let input = json!([{"role": "user", "content": parts}, call("c", "ls", "{}"), output("c", parts)]);
    assert_eq!(messages("gpt-6", &input)[2]["content"], "a\nb");
    assert_eq!(messages(OPEN_MODEL, &input)[0]["content"], "a\n\nb");
    assert_eq!(messages("gpt-6", &input)[0]["content"][1]["text"], "b");
}

/// B17: those who show their reasoning want it back; OpenAI does not take it. It is never said aloud.
#[test]
fn reasoning_goes_back_to_those_who_want_it() {
    let input = json!([{"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "step 1"}]},
        {"type": "reasoning", "id": "rs_2", "summary": [], "content": [{"type": "reasoning_text", "text": "step 2"}]},
        call("t1", "ls", "{}"), output("t1", "ok")]);
    let open = messages(OPEN_MODEL, &input);
    assert_eq!((&open[1]["reasoning_content"], &open[1]["content"]), (&json!("step 1\n\nstep 2"), &Value::Null));
    let (body, losses) = converted("gpt-6", &json!({"input": input}));
    assert!(!body.to_string().contains("step") && losses.contains("input[1]: earlier reasoning"), "{losses}");
}

/// B14: a signature of Gemini's goes back onto the call that it came with.
#[test]
fn sealed_reasoning_goes_to_its_own_family() {
    let reasoning = |sealed: &str| json!({"type": "reasoning", "summary": [], "encrypted_content": sealed});
    let input = json!([
        reasoning("tollgate-gemini:c2ln"),
        call("a", "ls", "{}"),
        reasoning("tollgate-claude:c2ln"),
        reasoning("gAAAA"),
        call("b", "ls", "{}"),
        output("a", ""),
        output("b", "")
    ]);
    let message = messages("gemini-3-pro", &input)[0].clone();
    assert_eq!(message["tool_calls"][0]["extra_content"], json!({"google": {"thought_signature": "c2ln"}}));
    assert_eq!(message["tool_calls"][1].get("extra_content"), None);
    assert_eq!(message.get("thinking_blocks"), None);
    let message = messages("claude-opus-5", &input)[0].clone();
    assert_eq!(message["tool_calls"][0].get("extra_content"), None);
    assert_eq!(message["thinking_blocks"], json!([{"type": "thinking", "thinking": "", "signature": "c2ln"}]));
}

/// B46: the system's words stay where they are, under a name that the vendor knows.
#[test]
fn the_system_speaks_in_its_place() {
    let body = json!({"instructions": "S0", "input": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "developer", "content": "file X changed"}, {"role": "user", "content": "c"}]});
    for (model, role) in [("gpt-6", "developer"), (OPEN_MODEL, "system")] {
        let messages = converted(model, &body).0["messages"].clone();
        let roles: Vec<_> =
            messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, [role, "user", "assistant", role, "user"]);
    }
}

/// B49: files travel; one that has to be fetched is asked for first, and what is not sent is refused.
#[test]
fn files_are_not_lost() {
    let file = |members: Value| json!([{"role": "user", "content": [members]}]);
    let pdf = json!({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="});
    let expected =
        json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}});
    assert_eq!(messages("gpt-6", &file(pdf))[0]["content"], json!([expected]));
    let url = json!({"type": "input_file", "file_url": "https://a.example/x/b.pdf?c=d"});
    let needed = request("gpt-6", &json!({"input": file(url)})).unwrap_err();
    assert_eq!(needed, ConvertError::NeedsMedia(vec!["https://a.example/x/b.pdf?c=d".to_owned()]));
    for part in
        [json!({"type": "input_file", "file_id": "file-1"}), json!({"type": "input_image", "file_id": "file-1"})]
    {
        let refused = request(OPEN_MODEL, &json!({"input": file(part)})).unwrap_err();
        assert!(matches!(refused, ConvertError::Unsupported { .. }), "{refused}");
    }
}

/// B82: the bound has the name that the model knows; none is made up, and none below 1 is passed on.
#[test]
fn the_bound_on_tokens_has_the_name_that_the_model_knows() {
    for (model, member) in
        [("gpt-6", "max_completion_tokens"), ("gpt-4.1", "max_completion_tokens"), (OPEN_MODEL, "max_tokens")]
    {
        assert_eq!(converted(model, &json!({"input": "a", "max_output_tokens": 300})).0[member], 300, "{model}");
    }
    let body = converted("gpt-6", &json!({"input": "a"})).0;
    assert_eq!((body.get("max_tokens"), body.get("max_completion_tokens")), (None, None));
    for max in [0, -5] {
        let error = request("gpt-6", &json!({"input": "a", "max_output_tokens": max})).unwrap_err();
        assert!(matches!(error, ConvertError::Invalid { .. }));
    }
}

/// B83: what is out of range is clamped or refused, and reasoning models are not asked for what they refuse.
#[test]
fn sampling_stays_within_what_the_model_takes() {
    let (body, losses) = converted("gpt-4.1", &json!({"input": "a", "temperature": 1.6, "top_p": 0.5}));
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(1.6), &json!(0.5)));
    assert_eq!(losses, "");
    let (body, losses) = converted("gpt-6", &json!({"input": "a", "temperature": 0.6, "top_p": 0.5}));
    assert!(body.get("temperature").is_none() && body.get("top_p").is_none());
    assert!(losses.contains("temperature") && losses.contains("top_p"), "{losses}");
    assert!(matches!(request("gpt-4.1", &json!({"input": "a", "top_p": -1})), Err(ConvertError::Invalid { .. })));
}

#[test]
fn what_openai_keeps_is_kept_nowhere_else() {
    for (members, path) in [
        (json!({"previous_response_id": "resp_1"}), "previous_response_id"),
        (json!({"conversation": "conv_1"}), "conversation"),
        (json!({"prompt": {"id": "pmpt_1"}}), "prompt"),
        (json!({"background": true}), "background"),
        (json!({"prompt_cache_options": {"prewarm": true}}), "prompt_cache_options.prewarm"),
        (json!({"input": [{"type": "item_reference", "id": "msg_1"}]}), "input[0]"),
        (json!({"input": [{"type": "compaction", "encrypted_content": "x"}]}), "input[0]"),
        (json!({"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}), "tools[0]"),
    ] {
        let mut body = json!({"model": "m", "input": "a"});
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        match request("gpt-6", &body).unwrap_err() {
            ConvertError::Unsupported { path: refused, message } => {
                assert!(refused == path && message.len() > 20, "{refused}: {message}");
            }
            other => panic!("{path}: {other}"),
        }
    }
    assert!(
        request("gpt-6", &json!({"input": "a", "tools": [{"type": "file_search", "vector_store_ids": []}]}))
            .unwrap_err()
            .to_string()
            .contains("`file_search`")
    );
}

#[test]
fn others_get_only_what_they_know() {
    let body = json!({"input": "a", "store": true, "metadata": {"a": "b"}, "service_tier": "flex", "prompt_cache_key": "k",
        "safety_identifier": "u", "text": {"verbosity": "low"}, "reasoning": {"effort": "high"}, "parallel_tool_calls": true});
    let (open, losses) = converted(OPEN_MODEL, &body);
    let expected = json!({"model": OPEN_MODEL, "messages": [{"role": "user", "content": "a"}], "user": "u", "reasoning_effort": "high"});
    assert_eq!(open, expected);
    assert!(losses.contains("text.verbosity") && losses.contains("prompt_cache_key"), "{losses}");
    let (own, losses) = converted("gpt-6", &body);
    for member in ["store", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "verbosity"] {
        assert!(own.get(member).is_some(), "{member}");
    }
    assert_eq!(losses, "");
}

/// The web search of the request is an option of the models that search, and a tool of nobody else.
#[test]
fn models_that_search_do_so_without_a_tool() {
    let body = json!({"input": "a", "tools": [{"type": "web_search", "search_context_size": "low",
        "user_location": {"type": "approximate", "city": "Bern", "country": "CH"}}], "tool_choice": "auto"});
    let expected = json!({"model": "gpt-6-search-api", "messages": [{"role": "user", "content": "a"}],
        "web_search_options": {"search_context_size": "low",
            "user_location": {"type": "approximate", "approximate": {"city": "Bern", "country": "CH"}}}});
    assert_eq!(converted("gpt-6-search-api", &body).0, expected);
    assert!(matches!(request("gpt-6", &body), Err(ConvertError::Unsupported { .. })));
}

#[test]
fn later_settings_of_the_input_count() {
    let update = |effort: &str| json!({"type": "configuration_update", "reasoning": {"effort": effort}});
    let body = json!({"reasoning": {"effort": "low"}, "input": [update("medium"), {"role": "user", "content": "a"}, update("high")]});
    assert_eq!(converted("gpt-6", &body).0["reasoning_effort"], "high");
}

/// Sealed reasoning of OpenAI's that a Chat client carries comes back as it was.
#[test]
fn reasoning_survives_a_chat_client() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "plan"}],
        "encrypted_content": "gAAAA"});
    let answer = response(&json!([reasoning, call("c", "ls", "{}")]));
    let message = answer["choices"][0]["message"].clone();
    assert_eq!(message["reasoning_content"], "plan");
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}, message,
        {"role": "tool", "tool_call_id": "c", "content": ""}]});
    let media = Media::new();
    let context = Context { model: "gpt-6", stream: false, server_tools: ServerTools::Refuse, media: &media };
    let next = convert::request(OpenAiChat, OpenAiResponses, &body.to_string(), &context).unwrap();
    let next: Value = serde_json::from_slice(&next.body).unwrap();
    assert_eq!(next["input"][1], reasoning);
}

/// B28: a stream that breaks off is no answer, and neither is one that never began.
#[test]
fn a_stream_that_breaks_off_is_an_error() {
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hel"});
    for events in [vec![delta], vec![]] {
        let out = stream(&events, true);
        assert!(out.contains("upstream_cut") && !out.contains("\"stop\"") && !out.contains("[DONE]"), "{out}");
    }
}

/// B29: the provider's own words about its failure arrive.
#[test]
fn failures_are_told_in_their_own_words() {
    let created = json!({"type": "response.created", "response": {"id": "r", "model": "gpt-6"}});
    for failure in [
        json!({"type": "response.failed", "response": {"id": "r", "error": {"code": "context_length_exceeded", "message": "Too long."}}}),
        json!({"type": "error", "code": "context_length_exceeded", "message": "Too long."}),
        json!({"type": "error", "error": {"code": "context_length_exceeded", "message": "Too long."}}),
        json!({"error": {"code": "context_length_exceeded", "message": "Too long."}}),
    ] {
        let out = stream(&[created.clone(), failure], true);
        let last = out.trim_end().rsplit("data: ").next().unwrap();
        let error = serde_json::from_str::<Value>(last).unwrap()["error"].clone();
        assert_eq!((&error["code"], &error["message"]), (&json!("context_length_exceeded"), &json!("Too long.")));
        assert_eq!(error["type"], "invalid_request_error");
    }
    assert!(stream(&[json!({"nothing": 1})], true).contains("upstream_error"));
}

/// B23: servers that leave out deltas, ids or items are understood as far as they say something.
#[test]
fn what_stands_only_in_the_last_event_is_written() {
    let whole = json!([{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
        call("c", "ls", "{\"a\":1}")]);
    let out = stream(
        &[json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": whole}})],
        true,
    );
    assert!(out.contains(r#""content":"Hi""#) && out.contains(r#""arguments":"{\"a\":1}""#), "{out}");
    assert!(out.contains(r#""finish_reason":"tool_calls""#) && out.ends_with("data: [DONE]\n\n"), "{out}");
}

/// Newer models of OpenAI take tools in Chat Completions only if they do not think, or not at all.
#[test]
fn thinking_gives_way_to_tools() {
    let body = |model: &str, effort: &str| {
        let tool = json!({"type": "function", "name": "ls"});
        request(model, &json!({"input": "a", "tools": [tool], "reasoning": {"effort": effort}, "temperature": 0.5}))
    };
    let converted = body("gpt-6", "high").unwrap();
    let target: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!((&target["reasoning_effort"], &target["temperature"]), (&json!("none"), &json!(0.5)));
    assert!(converted.losses.text().contains("reasoning.effort: is none"), "{}", converted.losses.text());
    let target: Value = serde_json::from_slice(&body("gpt-5", "max").unwrap().body).unwrap();
    assert_eq!((&target["reasoning_effort"], target.get("temperature")), (&json!("high"), None));
    assert!(matches!(body("gpt-6.2-sol", "low"), Err(ConvertError::Unsupported { .. })));
}

/// Vendors without this choice see only the tools that are allowed.
#[test]
fn only_allowed_tools_are_shown_where_none_can_be_allowed() {
    let tools = json!([{"type": "function", "name": "ls"}, {"type": "custom", "name": "patch"}]);
    let choice = json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "patch"}]});
    let body = converted(OPEN_MODEL, &json!({"input": "a", "tools": tools, "tool_choice": choice})).0;
    assert_eq!((body["tools"].as_array().unwrap().len(), &body["tool_choice"]), (1, &json!("required")));
    let function = &body["tools"][0]["function"];
    assert_eq!((&function["name"], &function["parameters"]["required"]), (&json!("patch"), &json!(["input"])));
}

#[test]
fn a_client_of_legacy_functions_gets_its_call_in_that_form() {
    let body = json!({"status": "completed", "id": "r", "output": [call("c", "ls", "{\"a\":1}")]}).to_string();
    let reply = Reply { legacy_functions: true, ..Reply::default() };
    let answer = convert::response(OpenAiResponses, OpenAiChat, &body, &reply).unwrap();
    let choice = serde_json::from_slice::<Value>(&answer.body).unwrap()["choices"][0].clone();
    assert_eq!(choice["message"]["function_call"], json!({"name": "ls", "arguments": "{\"a\":1}"}));
    assert_eq!((choice["message"].get("tool_calls"), &choice["finish_reason"]), (None, &json!("function_call")));
}
