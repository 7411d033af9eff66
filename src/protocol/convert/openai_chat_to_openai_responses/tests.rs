//! What a Chat client's request becomes for Responses, and what comes back to a Responses client.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, Reply, ServerTools};
use crate::protocol::dialect::Dialect::{OpenAiChat, OpenAiResponses};

fn request(model: &str, body: &Value) -> Result<ConvertedRequest, ConvertError> {
    let media = Media::new();
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &media };
    convert::request(OpenAiChat, OpenAiResponses, &body.to_string(), &context)
}

/// The body for `model` of a request with these members beside the model, and what was lost.
fn converted(model: &str, members: Value) -> (Value, String) {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}]});
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let converted = request(model, &body).unwrap();
    (serde_json::from_slice(&converted.body).unwrap(), converted.losses.text())
}

fn input(model: &str, messages: &Value) -> Value {
    converted(model, json!({"messages": messages})).0["input"].clone()
}

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": ""}});
    json!({"role": "assistant", "content": "", "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn result(id: &str, content: impl Into<Value>) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content.into()})
}

/// What a client with the tools of Codex and more leaves behind, towards a model without custom tools.
fn reply() -> Reply {
    let body = json!({"model": "m", "input": "a", "tools": [
        {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find"}, {"type": "custom", "name": "note"}]},
        {"type": "custom", "name": "patch"}, {"type": "local_shell"}, {"type": "shell"}, {"type": "apply_patch"},
        {"type": "tool_search", "execution": "client"},
    ]});
    let media = Media::new();
    let context = Context { model: "llama-5-70b", stream: false, server_tools: ServerTools::Refuse, media: &media };
    let converted = convert::request(OpenAiResponses, OpenAiChat, &body.to_string(), &context).unwrap();
    Reply { id: "1".to_owned(), model: "m".to_owned(), created: 7, ..converted.reply }
}

/// The names of the functions at the upstream, their arguments, and the item that the client gets.
fn called_tools() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("crm__find", "{}", json!({"type": "function_call", "name": "find", "namespace": "crm", "arguments": "{}"})),
        (
            "crm__note",
            r#"{"input":"a\nb"}"#,
            json!({"type": "custom_tool_call", "name": "note", "namespace": "crm", "input": "a\nb"}),
        ),
        ("patch", r#"{"input":"x"}"#, json!({"type": "custom_tool_call", "name": "patch", "input": "x"})),
        (
            "shell",
            r#"{"commands":["ls"]}"#,
            json!({"type": "shell_call", "action": {"commands": ["ls"]}, "environment": {"type": "local"}}),
        ),
        (
            "local_shell",
            r#"{"command":["ls"]}"#,
            json!({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"], "env": {}}}),
        ),
        (
            "apply_patch",
            r#"{"type":"delete_file","path":"a"}"#,
            json!({"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}}),
        ),
        (
            "tool_search",
            r#"{"query":"x"}"#,
            json!({"type": "tool_search_call", "execution": "client", "arguments": {"query": "x"}}),
        ),
        ("shell", r#"{"comm"#, json!({"type": "function_call", "name": "shell", "arguments": "{\"comm"})),
        ("other", "", json!({"type": "function_call", "name": "other", "arguments": "{}"})),
    ]
}

fn stream(reply: Reply, chunks: &[Value], done: bool) -> Vec<Value> {
    let mut stream = convert::stream(OpenAiChat, OpenAiResponses, Rc::new(reply)).unwrap();
    let mut out = vec![];
    chunks.iter().for_each(|chunk| stream.event(&chunk.to_string(), &mut out));
    if done {
        stream.event("[DONE]", &mut out);
    }
    if !stream.is_over() {
        stream.finish(&mut out);
    }
    let out = String::from_utf8(out).unwrap();
    out.split("\n\n")
        .filter_map(|event| event.split_once("\ndata: "))
        .map(|(name, data)| {
            let data: Value = serde_json::from_str(data).unwrap();
            assert_eq!(name.strip_prefix("event: ").unwrap(), data["type"]);
            data
        })
        .collect()
}

fn chunk(delta: Value) -> Value {
    json!({"model": "up", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap().trim_start_matches("response.")).collect()
}

fn has(item: &Value, expected: &Value) -> bool {
    expected.as_object().unwrap().iter().all(|(name, value)| item.get(name) == Some(value))
}

/// B05: an orphan on either side is a fault of the request, and named.
#[test]
fn orphans_are_refused_by_name() {
    let user = json!({"role": "user", "content": "go on"});
    for messages in
        [json!([user, calls(&["t1", "t2"]), result("t1", "ok"), user]), json!([user, result("t2", "late"), user])]
    {
        let error = request("gpt-6", &json!({"model": "m", "messages": messages})).unwrap_err();
        assert!(matches!(&error, ConvertError::Invalid { .. }) && error.to_string().contains("\"t2\""), "{error}");
    }
}

/// B07: ids within the limit stay, longer ones stay apart and still meet.
#[test]
fn long_ids_still_meet() {
    let (one, two) = (format!("{}1", "k".repeat(70)), format!("{}2", "k".repeat(70)));
    let items = input(
        "gpt-6",
        &json!([calls(&[&one, &two, "f.ls:0"]), result(&one, "1"), result(&two, "2"), result("f.ls:0", "3")]),
    );
    let ids: Vec<&str> = items.as_array().unwrap().iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    assert!(ids[0].len() <= 64 && ids[0] != ids[1] && ids[0] == ids[3] && ids[1] == ids[4]);
    assert_eq!((ids[2], ids[5]), ("f.ls:0", "f.ls:0"));
}

/// B08, B47: no arguments are `{}`, and an empty text beside calls is no message.
#[test]
fn empty_arguments_are_an_empty_object() {
    let items = input("gpt-6", &json!([calls(&["c1"]), result("c1", "")]));
    let expected = json!([{"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": ""}]);
    assert_eq!(items, expected);
}

/// B10: Responses takes images in results.
#[test]
fn results_keep_their_images() {
    let content = json!([{"type": "text", "text": "taken"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]);
    let items = input("gpt-6", &json!([calls(&["s1"]), result("s1", content)]));
    let expected = json!([{"type": "input_text", "text": "taken"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}]);
    assert_eq!(items[1]["output"], expected);
}

/// B17: shown reasoning is a reasoning item for those who show theirs, nothing for OpenAI, and never text.
#[test]
fn reasoning_is_never_said() {
    let messages =
        json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "reasoning_content": "step 1"}]);
    let open = input("llama-5-70b", &messages);
    assert_eq!(
        open[1],
        json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "step 1"}]})
    );
    let (body, losses) = converted("gpt-6", json!({"messages": messages}));
    assert!(!body.to_string().contains("step 1") && losses.contains("messages[1]"), "{losses}");
}

/// B46: leading words of the system are the instructions, later ones stay in their place.
#[test]
fn the_system_speaks_in_its_place() {
    let say = |role: &str, content: &str| json!({"role": role, "content": content});
    let messages = json!([
        say("system", "S0"),
        say("developer", "D0"),
        say("user", "a"),
        say("assistant", "b"),
        say("user", "c"),
        say("system", "file X changed"),
        say("user", "d")
    ]);
    let body = converted("gpt-6", json!({"messages": messages})).0;
    assert_eq!(body["instructions"], "S0\n\nD0");
    assert_eq!(body["input"][3], json!({"type": "message", "role": "developer", "content": "file X changed"}));
    // OpenAI looks for the word "JSON" in the input only.
    let body = converted("gpt-6", json!({"messages": messages, "response_format": {"type": "json_object"}})).0;
    assert_eq!((body.get("instructions"), &body["input"][0]["content"]), (None, &json!("S0")));
}

/// B49: files travel, also as bare base64.
#[test]
fn files_are_not_lost() {
    for data in ["data:application/pdf;base64,JVBERi0=", "JVBERi0="] {
        let part = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}});
        let items = input("gpt-6", &json!([{"role": "user", "content": [part]}]));
        let expected =
            json!([{"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}]);
        assert_eq!(items[0]["content"], expected);
    }
}

/// B82: the newer bound wins, none is made up, 0 is refused.
#[test]
fn the_bound_on_tokens_is_the_clients() {
    let max = |members: Value| converted("gpt-6", members).0.get("max_output_tokens").cloned();
    assert_eq!(max(json!({"max_tokens": 100, "max_completion_tokens": 200})), Some(json!(200)));
    assert_eq!(max(json!({})), None);
    let (body, losses) = converted("gpt-6", json!({"max_tokens": 5}));
    assert!(body["max_output_tokens"] == 16 && losses.starts_with("max_tokens: "), "{losses}");
    let error = request("gpt-6", &json!({"model": "m", "messages": [], "max_tokens": 0})).unwrap_err();
    assert!(matches!(error, ConvertError::Invalid { .. }));
}

/// B83: what is out of range is clamped or refused, what has no counterpart is told, and `n` is not ignored.
#[test]
fn sampling_stays_within_what_the_model_takes() {
    let (body, losses) = converted(
        "gpt-4.1",
        json!({"temperature": 1.6, "top_p": 0.5, "seed": 1, "logit_bias": {"5": 1},
        "presence_penalty": 0.5, "frequency_penalty": 0, "stop": ["END"], "n": 1}),
    );
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(1.6), &json!(0.5)));
    for path in ["seed", "logit_bias", "presence_penalty", "stop"] {
        assert!(losses.contains(&format!("{path}: ")), "{path} in {losses}");
    }
    assert!(!losses.contains("frequency_penalty"));
    let (body, losses) = converted("gpt-6", json!({"temperature": 0.3}));
    assert!(body.get("temperature").is_none() && losses.contains("temperature"));
    let user = json!([{"role": "user", "content": "a"}]);
    let several = request("gpt-6", &json!({"model": "m", "messages": user, "n": 2})).unwrap_err();
    assert!(matches!(several, ConvertError::Unsupported { .. }));
    let negative = request("gpt-6", &json!({"model": "m", "messages": user, "temperature": -1})).unwrap_err();
    assert!(matches!(negative, ConvertError::Invalid { .. }));
}

/// Only models that reason take the question for their sealed reasoning.
#[test]
fn only_what_the_model_has_is_asked_for() {
    assert_eq!(converted("gpt-6", json!({})).0["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(converted("gpt-4o", json!({})).0.get("include"), None);
    let body = converted("gpt-4o", json!({"logprobs": true, "top_logprobs": 3, "reasoning_effort": "high"})).0;
    assert_eq!((&body["include"], &body["top_logprobs"]), (&json!(["message.output_text.logprobs"]), &json!(3)));
    assert_eq!((body.get("reasoning"), &body["store"]), (None, &json!(false)));
}

#[test]
fn each_way_to_ask_for_thinking_is_understood() {
    for (members, expected) in [
        (json!({"reasoning_effort": "xhigh"}), json!({"effort": "xhigh"})),
        (json!({"reasoning": {"max_tokens": 8000}}), json!({"effort": "medium", "summary": "auto"})),
        (json!({"reasoning": {"effort": "low", "exclude": true}}), json!({"effort": "low"})),
        (json!({"reasoning": {"enabled": false}}), json!({"effort": "none"})),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 16000}}),
            json!({"effort": "high", "summary": "auto"}),
        ),
        (json!({"thinking": {"type": "disabled"}}), json!({"effort": "none"})),
    ] {
        assert_eq!(converted("gpt-6", members).0["reasoning"], expected);
    }
}

#[test]
fn legacy_functions_are_tools() {
    let members = json!({"functions": [{"name": "ls"}], "function_call": {"name": "ls"}, "messages": [
        {"role": "user", "content": "a"}, {"role": "assistant", "content": null, "function_call": {"name": "ls", "arguments": "{}"}},
        {"role": "function", "name": "ls", "content": "x"}]});
    let body = converted("gpt-6", members).0;
    assert_eq!(body["tools"][0]["parameters"], json!({"type": "object", "properties": {}}));
    assert_eq!(body["tool_choice"], json!({"type": "function", "name": "ls"}));
    assert_eq!(
        (&body["input"][1]["call_id"], &body["parallel_tool_calls"]),
        (&body["input"][2]["call_id"], &json!(false))
    );
}

/// A client's tools are what they were before they became functions.
#[test]
fn calls_come_back_as_the_clients_tools() {
    for (name, arguments, expected) in called_tools() {
        let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}});
        let body = json!({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        let reply = reply();
        let answer = convert::response(OpenAiChat, OpenAiResponses, &body.to_string(), &reply).unwrap();
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let item = &answer["output"][0];
        assert!(has(item, &expected) && item["call_id"] == "c", "{item}");
    }
}

#[test]
fn streamed_calls_come_back_as_the_clients_tools() {
    for (name, arguments, expected) in called_tools() {
        let (head, tail) = arguments.split_at(arguments.len() / 2);
        let first = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": name, "arguments": head}}]});
        let second = json!({"tool_calls": [{"index": 0, "function": {"arguments": tail}}]});
        let events = stream(reply(), &[chunk(first), chunk(second), end("tool_calls")], true);
        let last = events.last().unwrap();
        let item = &last["response"]["output"][0];
        assert!(has(item, &expected) && item["call_id"] == "c", "{item}");
        let done = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
        assert_eq!(&done["item"], item);
        assert_eq!(events.iter().filter(|event| event["type"] == "response.output_item.added").count(), 1);
    }
}

/// B22, B23: items follow one another, each with its parts, its places and its end, and the last event has them all.
#[test]
fn a_stream_has_all_of_its_events() {
    let chunks = [
        chunk(json!({"role": "assistant"})),
        chunk(json!({"reasoning_content": "a", "content": "X"})),
        chunk(json!({"content": "Y"})),
        end("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}),
    ];
    let events = stream(reply(), &chunks, true);
    let expected = [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(kinds(&events), expected);
    assert!((0..).zip(&events).all(|(number, event)| event["sequence_number"] == number));
    let response = &events.last().unwrap()["response"];
    assert_eq!((&response["model"], &response["usage"]["total_tokens"]), (&json!("up"), &json!(10)));
    assert_eq!((&response["output"][0], &response["output"][1]), (&events[7]["item"], &events[14]["item"]));
    assert_eq!(response["output"][1]["content"][0]["text"], "XY");
}

/// B26, B34, B35: a fragment beside the reason counts, zeros are no usage, and chunks without choices are read.
#[test]
fn nothing_is_lost_at_the_end() {
    let zeros = json!({"choices": null, "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}});
    let first = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "get", "arguments": "{\"p\":"}}]});
    let last = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}, "finish_reason": "tool_calls"}]});
    let events = stream(reply(), &[chunk(first), last, usage, zeros], true);
    let response = &events.last().unwrap()["response"];
    assert_eq!((&response["output"][0]["arguments"], &response["status"]), (&json!("{\"p\":1}"), &json!("completed")));
    assert_eq!(response["usage"]["output_tokens"], 4);
}

/// B25: a limit stays a limit, also with a call in the stream.
#[test]
fn a_limit_stays_a_limit() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "get", "arguments": "{\"p"}}]});
    let events = stream(reply(), &[chunk(call), end("length")], true);
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["incomplete_details"]["reason"]),
        (&json!("response.incomplete"), &json!("max_output_tokens"))
    );
    assert_eq!(last["response"]["output"][0]["status"], "incomplete");
}

/// B28: what breaks off has failed; what has its reason is whole, also without the end mark.
#[test]
fn a_stream_that_breaks_off_has_failed() {
    for chunks in [vec![chunk(json!({"content": "Hel"}))], vec![]] {
        let events = stream(reply(), &chunks, false);
        let last = events.last().unwrap();
        assert_eq!(
            (&last["type"], &last["response"]["error"]["code"]),
            (&json!("response.failed"), &json!("upstream_cut"))
        );
    }
    assert_eq!(kinds(&stream(reply(), &[], true)).last(), Some(&"failed"));
    let whole = stream(reply(), &[chunk(json!({"content": "Hel"})), end("stop")], false);
    assert_eq!(kinds(&whole).last(), Some(&"completed"));
    let marked = stream(reply(), &[chunk(json!({"content": "Hel"}))], true);
    assert_eq!(kinds(&marked).last(), Some(&"completed"));
}

/// B29: the provider's own words about its failure arrive, in the client's form.
#[test]
fn failures_are_told_in_their_own_words() {
    let error =
        json!({"error": {"message": "Too long.", "type": "invalid_request_error", "code": "context_length_exceeded"}});
    let events = stream(reply(), &[chunk(json!({"content": "Hel"})), error.clone()], true);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["error"], json!({"code": "context_length_exceeded", "message": "Too long."}));
    assert_eq!(last["response"]["id"], events[0]["response"]["id"]);
    let whole = convert::response(OpenAiChat, OpenAiResponses, &error.to_string(), &reply()).unwrap_err();
    assert!(matches!(whole, ConvertError::Failed(fault) if fault.status == 400 && fault.message == "Too long."));
}

/// Vendors tell the fragments of calls apart in different ways.
#[test]
fn fragments_find_their_calls() {
    let call = |index: Value, id: &str, name: &str, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
    for (calls, expected) in [
        // All with the index 0, or without, but each whole and with its id.
        (vec![call(json!(0), "a", "ls", "{}"), call(json!(0), "b", "ls", "[]")], vec!["{}", "[]"]),
        (vec![call(Value::Null, "a", "ls", "{}"), call(Value::Null, "b", "ls", "[]")], vec!["{}", "[]"]),
        (vec![call(Value::Null, "", "ls", "{}"), call(Value::Null, "", "ls", "[]")], vec!["{}", "[]"]),
        // Ids and names repeated, or empty.
        (vec![call(json!(0), "a", "ls", "{"), call(json!(0), "a", "ls", "}"), call(json!(0), "", "", "")], vec!["{}"]),
        // Interleaved.
        (
            vec![
                call(json!(0), "a", "ls", "{"),
                call(json!(1), "b", "ls", "["),
                call(json!(0), "", "", "}"),
                call(json!(1), "", "", "]"),
            ],
            vec!["{}", "[]"],
        ),
    ] {
        let chunks: Vec<_> =
            calls.into_iter().map(|call| chunk(json!({"tool_calls": [call]}))).chain([end("stop")]).collect();
        let events = stream(reply(), &chunks, true);
        let output = events.last().unwrap()["response"]["output"].clone();
        let arguments: Vec<&str> =
            output.as_array().unwrap().iter().map(|item| item["arguments"].as_str().unwrap()).collect();
        assert_eq!(arguments, expected);
    }
}
