//! What each action makes of a body.

mod dialects;

use serde_json::{Value, json};

use super::compile::{Action, BodyAction};
use super::*;
use crate::store::options::Rule;

const CHAT: Dialect = Dialect::OpenAiChat;
const RESPONSES: Dialect = Dialect::OpenAiResponses;
const CLAUDE: Dialect = Dialect::Claude;
const GEMINI: Dialect = Dialect::Gemini;

fn compiled(rules: &Value) -> Result<Rewrite, Vec<RuleFault>> {
    let rules: Vec<Rule> = serde_json::from_value(rules.clone()).unwrap();
    Rewrite::compile(&rules, &[], &RuleSets::default())
}

/// Rules that are all about bodies.
fn actions(rewrite: &Rewrite) -> Vec<&BodyAction> {
    rewrite
        .rules()
        .map(|rule| match &rule.action {
            Action::Body(action) => action,
            _ => panic!("a rule about bodies"),
        })
        .collect()
}

fn try_rewrite(dialect: Dialect, rules: &Value, body: &str) -> Result<Option<String>, TooMuch> {
    let rewrite = compiled(rules).unwrap();
    rewrite_body(dialect, body.as_bytes(), &actions(&rewrite))
}

/// Applies one rule; an empty text if it changes nothing.
#[track_caller]
fn check(dialect: Dialect, rule: Value, body: &str, expected: &str) {
    let rewritten = try_rewrite(dialect, &json!([rule]), body).unwrap().unwrap_or_default();
    assert_eq!(rewritten, expected, "{rule} on {body}");
}

#[track_caller]
fn check_json(dialect: Dialect, rule: &Value, body: &Value, expected: &Value) {
    let rewritten = try_rewrite(dialect, &json!([rule]), &body.to_string()).unwrap();
    let rewritten = rewritten.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    assert_eq!(rewritten.as_ref().unwrap_or(body), expected, "{rule} on {body}");
}

#[test]
fn values_are_set() {
    let set = |path: &str, value: Value| json!({"set": {"path": path, "value": value}});
    for (path, value, body, expected) in [
        ("a", json!(1), r#"{}"#, r#"{"a":1}"#),
        ("a", json!(1), r#" {"a" : 2.50 ,"b":1e3} "#, r#"{"a":1,"b":1e3}"#),
        ("a", json!(1), r#"{"a":1,"b":2,"a":3}"#, r#"{"a":1,"b":2}"#),
        ("a", json!(1), r#"{"\u0061":2}"#, r#"{"a":1}"#),
        ("a.b.c", json!([1]), r#"{"x":1}"#, r#"{"x":1,"a":{"b":{"c":[1]}}}"#),
        ("a.b", json!(1), r#"{"a":null}"#, r#"{"a":{"b":1}}"#),
        ("a.b", json!(1), r#"{"a":"text"}"#, ""),
        ("a.b", json!(1), r#"{"a":[1]}"#, ""),
        ("a[0]", json!(1), r#"{}"#, ""),
        ("a.b[0]", json!(1), r#"{}"#, ""),
        ("a[0]", json!(1), r#"{"a":[]}"#, ""),
        ("a[0]", json!(1), r#"{"a":{"0":2}}"#, ""),
        ("a[-1]", json!(1), r#"{"a":[7,8.0,9]}"#, r#"{"a":[7,8.0,1]}"#),
        ("a[*]", json!(1), r#"{"a":[7,8]}"#, r#"{"a":[1,1]}"#),
        ("a[*].b", json!(1), r#"{"a":[{"c":1.0},2,{"b":3}]}"#, r#"{"a":[{"c":1.0,"b":1},2,{"b":1}]}"#),
        ("a[*].b.c", json!(1), r#"{"a":[{}]}"#, r#"{"a":[{"b":{"c":1}}]}"#),
        (r#"a["b.c"]"#, json!(1), r#"{"a":{"b.c":2}}"#, r#"{"a":{"b.c":1}}"#),
        ("a", json!({"b": [1.0, "ä"]}), r#"{}"#, r#"{"a":{"b":[1.0,"ä"]}}"#),
    ] {
        check(CHAT, set(path, value), body, expected);
    }
}

#[test]
fn defaults_are_only_set_where_nothing_is() {
    let default = |path: &str| json!({"default": {"path": path, "value": 1}});
    for (path, body, expected) in [
        ("a", r#"{}"#, r#"{"a":1}"#),
        ("a", r#"{"a":null}"#, r#"{"a":1}"#),
        ("a", r#"{"a":0}"#, ""),
        ("a", r#"{"a":null,"a":5}"#, ""),
        ("a.b", r#"{"a":{"c":2}}"#, r#"{"a":{"c":2,"b":1}}"#),
        ("a[0]", r#"{"a":[null,null]}"#, r#"{"a":[1,null]}"#),
        ("a[*]", r#"{"a":[null,2,null]}"#, r#"{"a":[1,2,1]}"#),
    ] {
        check(CHAT, default(path), body, expected);
    }
}

#[test]
fn lists_are_added_to() {
    let append = |path: &str| json!({"append": {"path": path, "value": "x"}});
    for (path, body, expected) in [
        ("a", r#"{"a":[1.0]}"#, r#"{"a":[1.0,"x"]}"#),
        ("a", r#"{"a":[]}"#, r#"{"a":["x"]}"#),
        ("a", r#"{}"#, ""),
        ("a", r#"{"a":"text"}"#, ""),
        ("a", r#"{"a":null}"#, ""),
        ("a.b", r#"{"a":{"b":[2]}}"#, r#"{"a":{"b":[2,"x"]}}"#),
        ("a[*]", r#"{"a":[[1],2,[3]]}"#, r#"{"a":[[1,"x"],2,[3,"x"]]}"#),
    ] {
        check(CHAT, append(path), body, expected);
    }
}

#[test]
fn things_are_removed() {
    let remove = |path: &str| json!({"remove": {"path": path}});
    for (path, body, expected) in [
        ("a", r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2}"#),
        ("a", r#"{"b":1}"#, ""),
        ("a.b", r#"{"a":{"b":1,"c":1.50}}"#, r#"{"a":{"c":1.50}}"#),
        ("a.b", r#"{}"#, ""),
        ("a.b", r#"{"a":null}"#, ""),
        ("a[0]", r#"{"a":[1,2]}"#, r#"{"a":[2]}"#),
        ("a[-3]", r#"{"a":[1,2]}"#, ""),
        ("a[*]", r#"{"a":[1,2]}"#, r#"{"a":[]}"#),
        ("a[*].b", r#"{"a":[{"b":1},{"c":1},"b"]}"#, r#"{"a":[{},{"c":1},"b"]}"#),
    ] {
        check(CHAT, remove(path), body, expected);
    }
}

/// Each rule sees what those before it have made.
#[test]
fn rules_build_on_each_other() {
    let rules = json!([
        {"default": {"path": "tools", "value": []}},
        {"append": {"path": "tools", "value": {"name": "a", "description": "x"}}},
        {"replace": {"pattern": "x", "with": "y", "in": ["tool_descriptions"]}},
        {"set": {"path": "tools[-1].strict", "value": true}},
        {"system": {"append": "s"}},
        {"replace": {"pattern": "s", "with": "t", "in": ["system"]}},
        {"cache_breakpoint": {"at": "system"}},
        {"remove": {"path": "system[0].type"}},
    ]);
    let rewritten = try_rewrite(CLAUDE, &rules, r#"{"max_tokens":1.0}"#).unwrap().unwrap();
    assert_eq!(
        rewritten,
        r#"{"max_tokens":1.0,"tools":[{"name":"a","description":"y","strict":true}],"system":[{"text":"t","cache_control":{"type":"ephemeral"}}]}"#
    );
}

#[test]
fn a_long_body_keeps_its_numbers_and_its_order() {
    let mut body = String::from(r#"{"z":1.50e+03,"messages":["#);
    for number in 0..500 {
        body.push_str(&format!(
            r#"{{"role":"user","seed":1234567890123456789012345{number},"content":[{{"type":"text","text":"hello {number} \u00e4","w":0.10}}]}},"#
        ));
    }
    body.push_str(r#"{"role":"user","content":"last"}],"a":-0.0,"temperature":1E400}"#);
    assert!(body.len() > 50_000);
    let rules = json!([
        {"replace": {"pattern": "last", "with": "first", "in": ["user"]}},
        {"set": {"path": "top_p", "value": 0.5}},
    ]);
    let rewritten = try_rewrite(CHAT, &rules, &body).unwrap().unwrap();
    let expected = body.replace("\"last\"", "\"first\"");
    let expected = format!("{},\"top_p\":0.5}}", expected.strip_suffix('}').unwrap());
    assert_eq!(rewritten, expected);
}

/// Whatever a client sends, a rule changes something or nothing, and fails only where it would take too much.
#[test]
fn hostile_bodies_do_no_harm() {
    let deep = format!("{{\"messages\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let wide = format!("{{\"messages\":[{}1]}}", "1,".repeat(400_000));
    let rules = json!([
        {"set": {"path": "messages[*].content[0].text", "value": "x"}},
        {"remove": {"path": "messages[0][0][0][0]"}},
        {"system": {"prepend": "s"}},
        {"replace": {"pattern": "a*", "with": "b", "in": ["system", "user", "assistant", "tool_results", "tool_descriptions"]}},
        {"cache_breakpoint": {"at": "last_user"}},
    ]);
    let bodies = [
        "",
        "[]",
        "nonsense",
        "{\"a\":",
        "\u{0}",
        "{}",
        r#"{"messages":{"messages":[]},"system":{},"tools":"t","input":[[[]]]}"#,
        r#"{"messages":[null,1,"x",[],{"content":{}},{"role":5,"content":[null,[],{"type":1}]}],"contents":[1,{"parts":{}}]}"#,
        &deep,
        &wide,
    ];
    for dialect in Dialect::ALL {
        for body in bodies {
            let _ = try_rewrite(dialect, &rules, body);
        }
    }
    // A value in each of many places is more than can be sent.
    let rule = json!([{"set": {"path": "messages[*]", "value": "x".repeat(1000)}}]);
    assert_eq!(try_rewrite(CHAT, &rule, &wide), Err(TooMuch));
}

#[test]
fn bad_rules_are_told_with_their_places() {
    for (rule, path) in [
        (json!({}), "rewrite[1]"),
        (json!({"remove": {"path": "a"}, "set": {"path": "a", "value": 1}}), "rewrite[1]"),
        (json!({"remove": {"path": "a..b"}}), "rewrite[1].remove.path"),
        (json!({"set": {"path": "model", "value": "x"}}), "rewrite[1].set.path"),
        (json!({"set": {"path": "[\"model\"]", "value": "x"}}), "rewrite[1].set.path"),
        (json!({"default": {"path": "stream", "value": true}}), "rewrite[1].default.path"),
        (json!({"remove": {"path": "stream_options"}}), "rewrite[1].remove.path"),
        (json!({"set": {"path": "stream_options.include_usage", "value": false}}), "rewrite[1].set.path"),
        (json!({"append": {"path": "model.x", "value": 1}}), "rewrite[1].append.path"),
        (json!({"system": {}}), "rewrite[1].system"),
        (json!({"system": {"prepend": "a", "append": "b"}}), "rewrite[1].system"),
        (json!({"replace": {"pattern": "(", "with": "", "in": ["user"]}}), "rewrite[1].replace.pattern"),
        (json!({"replace": {"pattern": "a", "with": "$1", "in": ["user"]}}), "rewrite[1].replace.with"),
        (json!({"replace": {"pattern": "a", "with": "", "in": []}}), "rewrite[1].replace.in"),
        (json!({"header": {}}), "rewrite[1].header"),
        (json!({"header": {"set": {"authorization": "x"}}}), "rewrite[1].header.set.authorization"),
        (json!({"query": {"remove": ["alt"]}}), "rewrite[1].query.remove[0]"),
        (
            json!({"when": {"headers": {"x-unknown": "*"}}, "remove": {"path": "a"}}),
            "rewrite[1].when.headers.x-unknown",
        ),
        (
            json!({"when": {"headers": {"authorization": "*"}}, "remove": {"path": "a"}}),
            "rewrite[1].when.headers.authorization",
        ),
    ] {
        let faults = compiled(&json!([{"remove": {"path": "fine"}}, rule])).unwrap_err();
        let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, [path], "{rule}");
    }
    assert!(compiled(&json!([{"set": {"path": "stream_options.include_obfuscation", "value": false}}])).is_ok());
    let many = vec![json!({"remove": {"path": "a"}}); 201];
    assert_eq!(compiled(&many.into()).unwrap_err()[0].path, "rewrite");
}

#[test]
fn sets_go_first_and_have_to_be_there() {
    let rules =
        |value: &str| -> Vec<Rule> { serde_json::from_value(json!([{"set": {"path": "a", "value": value}}])).unwrap() };
    let mut known = RuleSets::default();
    known.insert("one".into(), &rules("one")).unwrap();
    known.insert("two".into(), &rules("two")).unwrap();
    assert!(known.insert("bad".into(), &[Rule::default()]).is_err());
    let sets = ["two".to_owned(), "one".to_owned()];
    assert_eq!(Rewrite::compile(&rules("own"), &sets, &known).unwrap().rules().count(), 3);
    let sets = ["one".to_owned(), "bad".to_owned(), "none".to_owned()];
    let faults = Rewrite::compile(&[Rule::default()], &sets, &known).unwrap_err();
    let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["rule_sets[1]", "rule_sets[2]", "rewrite[0]"]);
}

#[test]
fn conditions_all_have_to_hold() {
    use http::HeaderValue;

    let mut client_headers = http::HeaderMap::new();
    client_headers.append("user-agent", HeaderValue::from_static("claude-cli/2.1 (external)"));
    client_headers.append("x-gateway-tag", HeaderValue::from_static("a"));
    client_headers.append("x-gateway-tag", HeaderValue::from_static("b"));
    let asked = Asked {
        operation: crate::protocol::operation::Operation::EmbedBatch,
        dialect: GEMINI,
        model: "gemini-3-pro",
        client_headers: &client_headers,
    };
    for (when, expected) in [
        (json!({}), true),
        (json!({"operations": ["generate", "embed"], "models": ["x", "gemini-*"], "dialects": ["gemini"]}), true),
        (json!({"operations": ["generate"]}), false),
        (json!({"models": ["gemini"]}), false),
        (json!({"dialects": ["claude"], "models": ["*"]}), false),
        (json!({"headers": {"user-agent": "claude-cli/*", "X-Gateway-Tag": "b"}}), true),
        (json!({"headers": {"user-agent": "claude-cli/*", "x-gateway-tag": "c"}}), false),
        (json!({"headers": {"anthropic-beta": "*"}}), false),
    ] {
        let rewrite = compiled(&json!([{"when": when, "remove": {"path": "a"}}])).unwrap();
        assert_eq!(rewrite.rules().next().unwrap().applies(&asked), expected, "{when}");
    }
}
