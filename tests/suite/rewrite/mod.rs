//! Rewrite rules: what the vendor gets of a request.

mod configuration;

use serde_json::{Value, json};

use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, unique};
use crate::support::upstream::Recorded;
use crate::support::vendors::Wire;

/// What a vendor of `wire` gets of `body` with these rules. `MODEL` in the body is the model's name.
async fn sent(wire: Wire, rules: Value, body: &str) -> Recorded {
    let stage = Stage::with(wire, json!({"rewrite": rules})).await;
    stage.upstream.answer(Answer::json(200, wire.answer()));
    let model = stage.model();
    stage.post(&wire.target(&model, false), body.replace("MODEL", &model)).send().await.expect(200);
    stage.recorded()
}

#[tokio::test]
async fn a_body_is_edited_by_path_and_keeps_the_rest() {
    let body = r#"{ "model" : "MODEL", "temperature":1.0, "seed":12345678901234567890, "x":{"a":1e2 ,"b":[ ]}, "user":"u","messages":[{"role":"user","content":"Say h\u00e9llo"}]}"#;
    for (rules, expected) in [
        (
            json!([{"set": {"path": "temperature", "value": 0.2}}]),
            r#"{"model":"vendor-model","temperature":0.2,"seed":12345678901234567890,"x":{"a":1e2 ,"b":[ ]},"user":"u","messages":[{"role":"user","content":"Say h\u00e9llo"}]}"#,
        ),
        (
            json!([{"default": {"path": "metadata.team", "value": "red"}}, {"default": {"path": "user", "value": "v"}}]),
            r#"{"model":"vendor-model","temperature":1.0,"seed":12345678901234567890,"x":{"a":1e2 ,"b":[ ]},"user":"u","messages":[{"role":"user","content":"Say h\u00e9llo"}],"metadata":{"team":"red"}}"#,
        ),
        (
            json!([{"append": {"path": "messages", "value": {"role": "user", "content": "Be brief"}}}]),
            r#"{"model":"vendor-model","temperature":1.0,"seed":12345678901234567890,"x":{"a":1e2 ,"b":[ ]},"user":"u","messages":[{"role":"user","content":"Say h\u00e9llo"},{"role":"user","content":"Be brief"}]}"#,
        ),
        (
            json!([{"remove": {"path": "x.b"}}, {"remove": {"path": "user"}}, {"remove": {"path": "nothing[0].here"}}]),
            r#"{"model":"vendor-model","temperature":1.0,"seed":12345678901234567890,"x":{"a":1e2},"messages":[{"role":"user","content":"Say h\u00e9llo"}]}"#,
        ),
        // What finds nothing leaves every byte.
        (
            json!([{"remove": {"path": "nothing"}}, {"set": {"path": "user.name", "value": 1}}]),
            r#"{ "model" : "vendor-model", "temperature":1.0, "seed":12345678901234567890, "x":{"a":1e2 ,"b":[ ]}, "user":"u","messages":[{"role":"user","content":"Say h\u00e9llo"}]}"#,
        ),
    ] {
        assert_eq!(sent(Wire::Chat, rules.clone(), body).await.text(), expected, "{rules}");
    }
}

#[tokio::test]
async fn a_system_prompt_is_changed_in_each_dialects_form() {
    for (wire, path) in [
        (Wire::Chat, "/messages/0/content"),
        (Wire::Responses, "/instructions"),
        (Wire::Claude, "/system"),
        (Wire::Gemini, "/systemInstruction/parts/0/text"),
    ] {
        let rules = json!([{"system": {"replace": "Answer in verse."}}, {"system": {"prepend": "Be kind."}}]);
        let body = wire.request("MODEL", false);
        let found = sent(wire, rules, &body).await.json();
        let text = found.pointer(path).unwrap_or_else(|| panic!("{wire:?}: {found}")).as_str().unwrap().to_owned();
        let expected = if wire == Wire::Gemini { "Be kind." } else { "Be kind.\n\nAnswer in verse." };
        assert_eq!(text, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn texts_are_searched_and_nothing_else() {
    let rules =
        json!([{"replace": {"pattern": r"(\w+)@corp\.example", "with": "$1@hidden", "in": ["user", "tool_results"]}}]);
    let body = json!({
        "model": "MODEL", "max_tokens": 10, "metadata": {"user_id": "a@corp.example"},
        "system": "Mail a@corp.example",
        "messages": [
            {"role": "user", "content": "I am a@corp.example"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {"to": "b@corp.example"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "sent to b@corp.example, c@corp.example"}]},
        ],
    });
    let mut expected = body.clone();
    expected["model"] = "vendor-model".into();
    expected["messages"][0]["content"] = "I am a@hidden".into();
    expected["messages"][2]["content"][0]["content"] = "sent to b@hidden, c@hidden".into();
    assert_eq!(sent(Wire::Claude, rules, &body.to_string()).await.json(), expected);
}

#[tokio::test]
async fn headers_and_the_query_are_changed() {
    let rules = json!([
        {"header": {"set": {"x-team": "red", "anthropic-beta": "a-1"}, "remove": ["user-agent"]}},
        {"query": {"set": {"beta": "yes & no"}, "remove": ["gone"]}},
    ]);
    let stage = Stage::with(Wire::Claude, json!({"rewrite": rules})).await;
    stage.upstream.answer(Answer::json(200, Wire::Claude.answer()));
    let body = Wire::Claude.request(&stage.model(), false);
    let call = stage.post("/v1/messages?gone=1&kept=2", body.clone());
    call.header("user-agent", "mine").header("anthropic-beta", "b-2").send().await.expect(200);
    let recorded = stage.recorded();
    assert_eq!(recorded.target, "/v1/messages?kept=2&beta=yes%20%26%20no");
    assert_eq!(recorded.header("x-team"), Some("red"));
    assert_eq!(recorded.header("anthropic-beta"), Some("a-1"));
    assert_ne!(recorded.header("user-agent"), Some("mine"));
    // The body is none of theirs.
    assert_eq!(recorded.text(), body.replace(&stage.model(), "vendor-model"));
}

#[tokio::test]
async fn cache_breakpoints_are_put_where_there_is_room() {
    let rules = json!([
        {"cache_breakpoint": {"at": "tools", "ttl": "1h"}},
        {"cache_breakpoint": {"at": "last_user"}},
        {"cache_breakpoint": {"at": 0}},
    ]);
    let mark = json!({"type": "ephemeral"});
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": mark});
    let body = json!({
        "model": "MODEL", "max_tokens": 10, "system": [marked("a"), marked("b")],
        "tools": [{"name": "t", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}, {"role": "user", "content": "e"},
        ],
    });
    let found = sent(Wire::Claude, rules.clone(), &body.to_string()).await.json();
    assert_eq!(found["tools"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(found["messages"][2]["content"], json!([marked("e")]));
    assert_eq!(found.to_string().matches("cache_control").count(), 4);
    let chat = sent(Wire::Chat, rules, &Wire::Chat.request("MODEL", false)).await;
    assert!(!chat.text().contains("cache_control"));
}

/// A rule sees the request as the vendor gets it, whatever dialect the client speaks.
#[tokio::test]
async fn rules_come_after_the_conversion() {
    let rules = json!([
        {"when": {"dialects": ["claude"]}, "set": {"path": "max_tokens", "value": 77}},
        {"when": {"dialects": ["openai_chat"]}, "set": {"path": "wrong", "value": true}},
        {"system": {"append": "Be brief."}},
        {"replace": {"pattern": "tea", "with": "coffee", "in": ["user"]}},
        {"query": {"set": {"beta": "true"}}},
    ]);
    let stage = Stage::with(Wire::Claude, json!({"rewrite": rules})).await;
    for stream in [false, true] {
        let answer = if stream { Answer::sse(Wire::Claude.events()) } else { Answer::json(200, Wire::Claude.answer()) };
        stage.upstream.answer(answer);
        let body = json!({"model": stage.model(), "stream": stream, "max_completion_tokens": 10, "messages": [
            {"role": "system", "content": "You serve drinks."}, {"role": "user", "content": "A tea, please"}]});
        stage.post("/v1/chat/completions", body.to_string()).send().await.expect(200);
        let recorded = stage.upstream.requests().pop().unwrap();
        let found = recorded.json();
        assert_eq!(recorded.target, "/v1/messages?beta=true");
        assert_eq!((&found["max_tokens"], found.get("wrong")), (&json!(77), None));
        let system = found["system"].to_string();
        assert!(system.contains("You serve drinks.") && system.contains("Be brief."), "{system}");
        assert!(found["messages"].to_string().contains("A coffee, please"), "{found}");
    }
}

#[tokio::test]
async fn rules_apply_where_their_conditions_hold() {
    let mark = |name: &str| json!({"path": format!("marks.{name}"), "value": 1});
    let rules = json!([
        {"when": {"operations": ["generate"]}, "set": mark("generate")},
        {"when": {"operations": ["count_tokens"]}, "set": mark("count")},
        {"when": {"models": ["vendor-*"]}, "set": mark("model")},
        {"when": {"models": ["other"]}, "set": mark("other")},
        {"when": {"headers": {"user-agent": "cli/*"}}, "set": mark("agent")},
        {"when": {"headers": {"x-gateway-tag": "night"}}, "set": mark("tag")},
    ]);
    let stage = Stage::with(Wire::Claude, json!({"rewrite": rules})).await;
    let body = Wire::Claude.request(&stage.model(), false);
    for (path, headers, expected) in [
        ("/v1/messages", vec![], json!({"generate": 1, "model": 1})),
        ("/v1/messages", vec![("user-agent", "cli/1.0")], json!({"generate": 1, "model": 1, "agent": 1})),
        ("/v1/messages", vec![("x-gateway-tag", "night")], json!({"generate": 1, "model": 1, "tag": 1})),
        ("/v1/messages/count_tokens", vec![("x-gateway-tag", "day")], json!({"count": 1, "model": 1})),
    ] {
        let answer = if path.ends_with("tokens") { r#"{"input_tokens":3}"#.to_owned() } else { Wire::Claude.answer() };
        stage.upstream.answer(Answer::json(200, answer));
        let call = stage.post(path, body.clone());
        let call = headers.into_iter().fold(call, |call, (name, value)| call.header(name, value));
        call.send().await.expect(200);
        let recorded = stage.upstream.requests().pop().unwrap();
        assert_eq!(recorded.json()["marks"], expected, "{path}");
        assert_eq!(recorded.header("x-gateway-tag"), None);
    }
}

/// Each provider has its own rules, also within one request.
#[tokio::test]
async fn the_next_provider_is_sent_what_its_own_rules_make() {
    let first = Stage::with(Wire::Chat, json!({"rewrite": [{"set": {"path": "who", "value": "first"}}]})).await;
    let second = Stage::with(Wire::Chat, json!({"rewrite": [{"remove": {"path": "seed"}}]})).await;
    let route = format!("route-{}", unique());
    let members = json!([{"provider": first.provider, "tier": 0, "model": "m"}, {"provider": second.provider, "tier": 1, "model": "m"}]);
    first.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    first.upstream.answer(Answer::json(500, Wire::Chat.vendor_error(500, "oops")));
    second.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    first.post("/v1/chat/completions", Wire::Chat.request(&route, false)).send().await.expect(200);
    assert_eq!(first.recorded().json()["who"], "first");
    let sent = second.recorded().json();
    assert_eq!((sent.get("who"), sent.get("seed")), (None, None));
}

/// What rules cannot do for a request is the operator's fault, and nobody else is asked.
#[tokio::test]
async fn rules_that_make_too_much_end_the_request() {
    let rules = json!([{"set": {"path": "list[*]", "value": "x".repeat(20_000)}}]);
    let first = Stage::with(Wire::Chat, json!({"rewrite": rules})).await;
    let second = Stage::new(Wire::Chat).await;
    let route = format!("route-{}", unique());
    let members = json!([{"provider": first.provider, "tier": 0, "model": "m"}, {"provider": second.provider, "tier": 1, "model": "m"}]);
    first.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    let body = json!({"model": route, "messages": [], "list": vec![1; 1000]}).to_string();
    check::error(&first.post("/v1/chat/completions", body).send().await, Wire::Chat, 500, "rewrite_failed");
    assert!(first.upstream.requests().is_empty() && second.upstream.requests().is_empty());
}

/// The groups of an expression are written without braces, which are a document's variables.
#[tokio::test]
async fn variables_stand_in_rules_too() {
    let host = Host::start(Setup::default().variable("SUITE_TEAM", "red"));
    let rules = json!([{"replace": {"pattern": "(a)b", "with": "$1-${SUITE_TEAM}-$$", "in": ["user"]}}]);
    let stage = Stage::on_with(&host, Wire::Chat, json!({"rewrite": rules})).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let body = json!({"model": stage.model(), "messages": [{"role": "user", "content": "ab"}]}).to_string();
    stage.post("/v1/chat/completions", body).send().await.expect(200);
    assert_eq!(stage.recorded().json()["messages"][0]["content"], "a-red-$");
}
