use serde_json::{Value, json};

use crate::protocol::convert::media::Media;
use crate::protocol::convert::{self, Context, ConvertError, ConvertedRequest, ServerTools};
use crate::protocol::dialect::Dialect;

fn converted(model: &str, request: &Value) -> Result<ConvertedRequest, ConvertError> {
    let context = Context { model, stream: false, server_tools: ServerTools::Refuse, media: &Media::new() };
    convert::request(Dialect::OpenAiResponses, Dialect::Claude, &request.to_string(), &context)
}

fn body(model: &str, request: &Value) -> Value {
    serde_json::from_slice(&converted(model, request).unwrap().body).unwrap()
}

fn losses(model: &str, request: &Value) -> String {
    converted(model, request).unwrap().losses.text()
}

/// B05: an orphan is named, and nothing is sent.
#[test]
fn orphans_are_refused_by_name() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "ls", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "ok"});
    let user = |text: &str| json!({"role": "user", "content": text});
    for (input, id) in [
        (json!([user("go"), call("t1"), call("t2"), output("t1"), user("go on")]), "t2"),
        (json!([user("hi"), output("t9"), user("?")]), "t9"),
        (json!([user("hi"), call("t1"), user("?"), {"role": "assistant", "content": "a"}, output("t1")]), "t1"),
    ] {
        let error = converted("claude-sonnet-4-5", &json!({"input": input})).unwrap_err();
        assert!(matches!(error, ConvertError::Invalid { .. }) && error.to_string().contains(id), "{error}");
    }
    // What the user says before the results have come goes after them.
    let body = body("claude-sonnet-4-5", &json!({"input": [user("hi"), call("t1"), user("wait"), output("t1")]}));
    assert_eq!(body["messages"][2]["content"][0]["type"], "tool_result");
    assert_eq!(body["messages"][2]["content"][1]["text"], "wait");
}

/// B08: no arguments are an empty object; what is no JSON is refused with the call's name.
#[test]
fn arguments_are_an_object() {
    let request = |arguments: &str| {
        json!({"input": [
            {"role": "user", "content": "now?"},
            {"type": "function_call", "call_id": "c1", "name": "now", "arguments": arguments},
            {"type": "function_call_output", "call_id": "c1", "output": ""},
        ]})
    };
    for (arguments, input) in [("", json!({})), ("{}", json!({})), (" {\"a\":1} ", json!({"a": 1}))] {
        let body = body("claude-sonnet-4-5", &request(arguments));
        assert_eq!(body["messages"][1]["content"][0]["input"], input);
        assert!(body["messages"][2]["content"][0].get("content").is_none());
    }
    for arguments in ["{\"a\":", "null", "[]"] {
        let error = converted("claude-sonnet-4-5", &request(arguments)).unwrap_err();
        assert!(matches!(&error, ConvertError::Invalid { .. }) && error.to_string().contains("\"c1\""), "{error}");
    }
}

/// B10: an image in an output stays there.
#[test]
fn outputs_keep_their_images() {
    let request = json!({"input": [
        {"role": "user", "content": "look"},
        {"type": "function_call", "call_id": "s1", "name": "snap", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "s1", "output": [
            {"type": "input_text", "text": "taken"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        ]},
    ]});
    let result = &body("claude-sonnet-4-5", &request)["messages"][2]["content"][0];
    assert_eq!(result["content"][1]["source"], json!({"type": "base64", "media_type": "image/png", "data": "AAAA"}));
}

fn thought(encrypted_content: &str) -> Value {
    json!({"reasoning": {"effort": "high"}, "input": [
        {"role": "user", "content": "list"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I\n list."}],
            "encrypted_content": encrypted_content},
        {"type": "function_call", "call_id": "t1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t1", "output": "a"},
    ]})
}

/// B13: thinking of Claude comes back byte for byte, before its call.
#[test]
fn genuine_thinking_comes_back() {
    let body = body("claude-sonnet-4-5", &thought("tollgate-claude:c2ln"));
    let thinking = json!({"type": "thinking", "thinking": "I\n list.", "signature": "c2ln"});
    assert_eq!(body["messages"][1]["content"][0], thinking);
    assert_eq!(body["messages"][1]["content"][1]["type"], "tool_use");
    assert_eq!(body["thinking"]["type"], "enabled");
}

/// B13: thinking of others is left out, and never becomes text. A model that demands the thinking before a call does not think
/// then, one that does not demand it does.
#[test]
fn foreign_thinking_is_left_out() {
    for foreign in ["gAAAAABp", "", "tollgate-gemini:c2ln", "tollgate-openai:{}"] {
        let old = body("claude-sonnet-4-5", &thought(foreign));
        assert_eq!(old["messages"][1]["content"].as_array().unwrap().len(), 1);
        assert!(old.get("thinking").is_none() && !old.to_string().contains("I\\n list"));
        assert!(losses("claude-sonnet-4-5", &thought(foreign)).contains("without Claude's own thinking"));
        let new = body("claude-opus-5-5", &thought(foreign));
        assert_eq!((&new["thinking"]["type"], &new["output_config"]["effort"]), (&json!("adaptive"), &json!("high")));
    }
    let redacted = body("claude-sonnet-4-5", &thought("tollgate-claude-redacted:ZGF0YQ=="));
    assert_eq!(redacted["messages"][1]["content"][0], json!({"type": "redacted_thinking", "data": "ZGF0YQ=="}));
}

/// B46: instructions keep their places.
#[test]
fn later_instructions_stay_where_they_are() {
    let request = json!({"instructions": "I0", "input": [
        {"role": "developer", "content": "S0"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"}, {"role": "developer", "content": "file X changed"},
        {"role": "assistant", "content": "d"}, {"role": "user", "content": "e"},
    ]});
    let body = body("claude-sonnet-4-5", &request);
    assert_eq!(body["system"], json!([{"type": "text", "text": "I0"}, {"type": "text", "text": "S0"}]));
    assert_eq!(body["messages"][2]["content"][1]["text"], "System notice: file X changed");
    assert_eq!(body["messages"].as_array().unwrap().len(), 5);
}

/// B82: the bound is the model's own where none is given, and never above it.
#[test]
fn bounds_on_the_answer() {
    let request = |tokens: Value| json!({"input": "hi", "max_output_tokens": tokens});
    let bound = |tokens| body("claude-sonnet-4-5", &request(tokens))["max_tokens"].clone();
    assert_eq!(
        (bound(json!(null)), bound(json!(300)), bound(json!(999_999))),
        (json!(64_000), json!(300), json!(64_000))
    );
    for tokens in [0, -5] {
        let error = converted("claude-sonnet-4-5", &request(json!(tokens))).unwrap_err();
        assert!(matches!(error, ConvertError::Invalid { .. }));
    }
}

/// B83: sampling within what Claude takes.
#[test]
fn sampling_is_bounded() {
    let sampled = |members: Value| {
        let mut request = json!({"input": "hi"});
        request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        converted("claude-sonnet-4-5", &request).map(|converted| {
            let body: Value = serde_json::from_slice(&converted.body).unwrap();
            (body["temperature"].as_f64(), body["top_p"].as_f64())
        })
    };
    assert_eq!(sampled(json!({"temperature": 1.6})).unwrap(), (Some(1.0), None));
    assert_eq!(sampled(json!({"temperature": 0.3, "top_p": 0.9})).unwrap(), (Some(0.3), None));
    assert_eq!(sampled(json!({"top_p": 0.9})).unwrap(), (None, Some(0.9)));
    assert_eq!(sampled(json!({"temperature": 0.3, "reasoning": {"effort": "high"}})).unwrap(), (None, None));
    for absurd in [json!({"temperature": -1}), json!({"top_p": -0.5})] {
        assert!(matches!(sampled(absurd).unwrap_err(), ConvertError::Invalid { .. }));
    }
}

#[test]
fn what_needs_a_state_is_refused() {
    for members in [
        json!({"previous_response_id": "resp_1"}),
        json!({"conversation": "conv_1"}),
        json!({"prompt": {"id": "pmpt_1"}}),
        json!({"background": true}),
        json!({"input": [{"type": "item_reference", "id": "msg_1"}]}),
        json!({"input": [{"type": "compaction", "encrypted_content": "g"}]}),
    ] {
        let mut request = json!({"input": "hi"});
        request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let error = converted("claude-sonnet-4-5", &request).unwrap_err();
        assert!(matches!(error, ConvertError::Unsupported { .. }), "{error}");
    }
}

/// Names that Codex has in groups are flattened, and found again.
#[test]
fn groups_of_tools_are_flattened() {
    let request = json!({"input": [
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "namespace", "name": "git", "tools": [
            {"type": "custom", "name": "patch"}, {"type": "function", "name": "log", "parameters": {"type": "object"}},
        ]}]},
        {"role": "user", "content": "go"},
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "namespace": "git", "input": "a \"b\""},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "done"},
    ]});
    let converted = converted("claude-sonnet-4-5", &request).unwrap();
    let body: Value = serde_json::from_slice(&converted.body).unwrap();
    assert_eq!(body["tools"][0]["name"], "git__patch");
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"input": "a \"b\""}));
    let tool = converted.reply.tools.client("git__patch").unwrap();
    assert_eq!((tool.name.as_str(), tool.namespace.as_deref()), ("patch", Some("git")));
}

#[test]
fn the_newest_models_cannot_be_made_to_call() {
    let request = json!({"input": "hi", "tool_choice": "required", "parallel_tool_calls": false,
        "tools": [{"type": "function", "name": "ls"}]});
    let choice = |model| body(model, &request)["tool_choice"].clone();
    assert_eq!(choice("claude-sonnet-5"), json!({"type": "any", "disable_parallel_tool_use": true}));
    assert_eq!(choice("claude-opus-5-5"), json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert!(losses("claude-opus-5-5", &request).contains("tool_choice"));
}

#[test]
fn tools_that_claude_lacks_are_refused_or_left_out() {
    let request = json!({"input": "hi", "tools": [{"type": "file_search", "vector_store_ids": ["v"]}]});
    let error = converted("claude-sonnet-4-5", &request).unwrap_err();
    assert!(matches!(&error, ConvertError::Unsupported { .. }) && error.to_string().contains("file_search"));
    let media = Media::new();
    let context = Context { model: "m", stream: false, server_tools: ServerTools::Drop, media: &media };
    let dialects = (Dialect::OpenAiResponses, Dialect::Claude);
    let dropped = convert::request(dialects.0, dialects.1, &request.to_string(), &context).unwrap();
    assert!(dropped.losses.matters() && !String::from_utf8(dropped.body).unwrap().contains("tools"));
}

#[test]
fn cache_marks_are_bounded() {
    let part = |ttl: Value| json!({"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": ttl}});
    let parts: Vec<Value> = ["12h", "30m", "12h", "12h", "30m"].into_iter().map(|ttl| part(json!(ttl))).collect();
    let request = json!({"input": [{"role": "user", "content": parts}], "prompt_cache_key": "k"});
    let body = body("claude-sonnet-4-5", &request);
    let marks: Vec<Value> =
        (0..5).map(|index| body["messages"][0]["content"][index]["cache_control"].clone()).collect();
    let (short, long) = (json!({"type": "ephemeral"}), json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(marks, [json!(null), json!(null), long.clone(), long, short.clone()]);
    assert_eq!(body["cache_control"], short);
}
