//! What has another form in each dialect: the system prompt, texts, cache breakpoints.

use serde_json::{Value, json};

use super::{CHAT, CLAUDE, GEMINI, RESPONSES, actions, check, check_json, compiled, try_rewrite};
use crate::engine::rewrite::rewrite_body;
use crate::protocol::dialect::Dialect;

#[test]
fn system_prompts_have_each_dialects_form() {
    let rule = |how: &str| json!({"system": {how: "NEW"}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let cached = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    for (dialect, body, prepended, appended, replaced) in [
        (CLAUDE, json!({}), json!({"system": "NEW"}), json!({"system": "NEW"}), json!({"system": "NEW"})),
        (
            CLAUDE,
            json!({"system": "old"}),
            json!({"system": "NEW\n\nold"}),
            json!({"system": "old\n\nNEW"}),
            json!({"system": "NEW"}),
        ),
        (CLAUDE, json!({"system": ""}), json!({"system": "NEW"}), json!({"system": "NEW"}), json!({"system": "NEW"})),
        (
            CLAUDE,
            json!({"system": [text("a"), cached("b")]}),
            json!({"system": [text("NEW"), text("a"), cached("b")]}),
            json!({"system": [text("a"), cached("b"), text("NEW")]}),
            json!({"system": [cached("NEW")]}),
        ),
        (CLAUDE, json!({"system": 7}), json!({"system": 7}), json!({"system": 7}), json!({"system": 7})),
        (
            RESPONSES,
            json!({"input": "x"}),
            json!({"input": "x", "instructions": "NEW"}),
            json!({"input": "x", "instructions": "NEW"}),
            json!({"input": "x", "instructions": "NEW"}),
        ),
        (
            RESPONSES,
            json!({"instructions": null}),
            json!({"instructions": "NEW"}),
            json!({"instructions": "NEW"}),
            json!({"instructions": "NEW"}),
        ),
        (
            RESPONSES,
            json!({"instructions": "old"}),
            json!({"instructions": "NEW\n\nold"}),
            json!({"instructions": "old\n\nNEW"}),
            json!({"instructions": "NEW"}),
        ),
        (
            CHAT,
            json!({"messages": [{"role": "user", "content": "x"}]}),
            json!({"messages": [{"role": "system", "content": "NEW"}, {"role": "user", "content": "x"}]}),
            json!({"messages": [{"role": "system", "content": "NEW"}, {"role": "user", "content": "x"}]}),
            json!({"messages": [{"role": "system", "content": "NEW"}, {"role": "user", "content": "x"}]}),
        ),
        (
            CHAT,
            json!({"messages": [{"role": "developer", "content": "a"}, {"role": "system", "content": "b"}, {"role": "user"}, {"role": "system", "content": "c"}]}),
            json!({"messages": [{"role": "developer", "content": "NEW\n\na"}, {"role": "system", "content": "b"}, {"role": "user"}, {"role": "system", "content": "c"}]}),
            json!({"messages": [{"role": "developer", "content": "a\n\nNEW"}, {"role": "system", "content": "b"}, {"role": "user"}, {"role": "system", "content": "c"}]}),
            json!({"messages": [{"role": "developer", "content": "NEW"}, {"role": "user"}, {"role": "system", "content": "c"}]}),
        ),
        (
            CHAT,
            json!({"messages": [{"role": "system", "content": [text("a")]}]}),
            json!({"messages": [{"role": "system", "content": [text("NEW"), text("a")]}]}),
            json!({"messages": [{"role": "system", "content": [text("a"), text("NEW")]}]}),
            json!({"messages": [{"role": "system", "content": [text("NEW")]}]}),
        ),
        (CHAT, json!({"input": "x"}), json!({"input": "x"}), json!({"input": "x"}), json!({"input": "x"})),
        (
            GEMINI,
            json!({}),
            json!({"systemInstruction": {"parts": [{"text": "NEW"}]}}),
            json!({"systemInstruction": {"parts": [{"text": "NEW"}]}}),
            json!({"systemInstruction": {"parts": [{"text": "NEW"}]}}),
        ),
        (
            GEMINI,
            json!({"system_instruction": {"role": "user", "parts": [{"text": "a"}]}}),
            json!({"system_instruction": {"role": "user", "parts": [{"text": "NEW"}, {"text": "a"}]}}),
            json!({"system_instruction": {"role": "user", "parts": [{"text": "a"}, {"text": "NEW"}]}}),
            json!({"system_instruction": {"role": "user", "parts": [{"text": "NEW"}]}}),
        ),
        (
            GEMINI,
            json!({"generateContentRequest": {}}),
            json!({"generateContentRequest": {"systemInstruction": {"parts": [{"text": "NEW"}]}}}),
            json!({"generateContentRequest": {"systemInstruction": {"parts": [{"text": "NEW"}]}}}),
            json!({"generateContentRequest": {"systemInstruction": {"parts": [{"text": "NEW"}]}}}),
        ),
    ] {
        for (how, expected) in [("prepend", prepended), ("append", appended), ("replace", replaced)] {
            check_json(dialect, &rule(how), &body, &expected);
        }
    }
}

/// A request in which each sort of text says which it is, and other things say `x` too.
fn full_of_x(dialect: Dialect) -> Value {
    let part = |kind: &str, text: &str| json!({"type": kind, "text": text});
    match dialect {
        CLAUDE => json!({
            "model": "x", "metadata": {"user_id": "x"}, "system": [part("text", "system x")],
            "tools": [{"name": "x", "description": "tool_descriptions x", "input_schema": {"description": "x"}}],
            "messages": [
                {"role": "user", "content": "user x"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "x", "signature": "x"}, part("text", "assistant x"),
                    {"type": "tool_use", "name": "x", "input": {"text": "x"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "content": "tool_results x"},
                    {"type": "tool_result", "content": [part("text", "tool_results x")]},
                    {"type": "document", "title": "x", "text": "x"}, part("text", "user x")]},
            ],
        }),
        CHAT => json!({
            "model": "x", "user": "x",
            "tools": [{"type": "function", "function": {"name": "x", "description": "tool_descriptions x", "parameters": {"description": "x"}}}],
            "messages": [
                {"role": "system", "content": "system x"},
                {"role": "developer", "content": [part("text", "system x")]},
                {"role": "user", "name": "x", "content": [part("text", "user x"), {"type": "image_url", "image_url": {"url": "x"}}]},
                {"role": "assistant", "content": "assistant x", "tool_calls": [{"function": {"arguments": "x"}}]},
                {"role": "tool", "tool_call_id": "x", "content": "tool_results x"},
            ],
        }),
        RESPONSES => json!({
            "model": "x", "instructions": "system x",
            "tools": [{"type": "function", "name": "x", "description": "tool_descriptions x"}],
            "input": [
                {"role": "developer", "content": "system x"},
                {"type": "message", "role": "user", "content": [part("input_text", "user x"), {"type": "input_file", "filename": "x"}]},
                {"type": "message", "role": "assistant", "content": [part("output_text", "assistant x")]},
                {"type": "reasoning", "summary": [part("summary_text", "x")], "encrypted_content": "x"},
                {"type": "function_call", "arguments": "x"},
                {"type": "function_call_output", "call_id": "x", "output": "tool_results x"},
                {"type": "custom_tool_call_output", "output": [part("input_text", "tool_results x")]},
            ],
        }),
        GEMINI => json!({
            "systemInstruction": {"parts": [{"text": "system x"}]},
            "tools": [{"functionDeclarations": [{"name": "x", "description": "tool_descriptions x", "parameters": {"description": "x"}}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "user x"}, {"inlineData": {"data": "x"}}]},
                {"role": "model", "parts": [{"text": "x", "thought": true}, {"text": "assistant x"}, {"functionCall": {"name": "x", "args": {"text": "x"}}}]},
                {"parts": [{"functionResponse": {"name": "x", "response": {"result": "tool_results x", "other": "x"}}}]},
            ],
        }),
    }
}

/// A regular expression sees the texts that are named and nothing else.
#[test]
fn only_named_texts_are_searched() {
    for dialect in Dialect::ALL {
        for field in ["system", "user", "assistant", "tool_results", "tool_descriptions"] {
            let body = full_of_x(dialect);
            let rule = json!({"replace": {"pattern": "x", "with": "y", "in": [field]}});
            let expected = body.to_string().replace(&format!("{field} x"), &format!("{field} y"));
            assert_ne!(expected, body.to_string(), "{dialect} {field}");
            check_json(dialect, &rule, &body, &serde_json::from_str(&expected).unwrap());
        }
    }
}

#[test]
fn texts_of_other_operations_are_the_users() {
    let rule = json!({"replace": {"pattern": "x", "with": "y", "in": ["user"]}});
    for (dialect, body) in [
        (CHAT, json!({"input": "x", "model": "x"})),
        (CHAT, json!({"input": ["x", "x"], "model": "x"})),
        (RESPONSES, json!({"input": "x", "model": "x"})),
        (GEMINI, json!({"content": {"parts": [{"text": "x"}]}, "title": "x"})),
        (GEMINI, json!({"requests": [{"model": "models/x", "content": {"parts": [{"text": "x"}]}}]})),
        (GEMINI, json!({"generateContentRequest": {"contents": [{"parts": [{"text": "x"}]}]}})),
    ] {
        let expected = body.to_string();
        let expected =
            expected.replace("\"text\":\"x\"", "\"text\":\"y\"").replace("\"input\":\"x\"", "\"input\":\"y\"");
        let expected = expected.replace(r#"["x","x"]"#, r#"["y","y"]"#);
        check_json(dialect, &rule, &body, &serde_json::from_str(&expected).unwrap());
    }
}

/// What cannot be read as text would escape a rule that hides something.
#[test]
fn halves_of_surrogate_pairs_hide_nothing() {
    let rule = json!({"replace": {"pattern": "secret", "with": "[hidden]", "in": ["user"]}});
    let body = r#"{"messages":[{"role":"user","\ud800":1,"content":"\ud800 secret \u00e4"}]}"#;
    check(CHAT, rule, body, r#"{"messages":[{"role":"user","�":1,"content":"� [hidden] ä"}]}"#);
}

#[test]
fn cache_breakpoints_find_their_places() {
    let rule = |at: Value, ttl: &str| json!({"cache_breakpoint": {"at": at, "ttl": ttl}});
    let mark = json!({"type": "ephemeral"});
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    let block = |text: &str| json!({"type": "text", "text": text});
    let marked = |text: &str, mark: &Value| json!({"type": "text", "text": text, "cache_control": mark});
    let message = |role: &str, content: Value| json!({"role": role, "content": content});
    let one = |content: Value| json!({"messages": [message("user", content)]});
    for (rule, body, expected) in [
        (rule(json!("system"), "5m"), json!({"system": "a"}), json!({"system": [marked("a", &mark)]})),
        (
            rule(json!("system"), "1h"),
            json!({"system": [block("a"), block("b")]}),
            json!({"system": [block("a"), marked("b", &hour)]}),
        ),
        (rule(json!("system"), "5m"), json!({}), json!({})),
        (rule(json!("system"), "5m"), json!({"system": ""}), json!({"system": ""})),
        // One that the client has put there stays as it is.
        (rule(json!("system"), "5m"), json!({"system": [marked("a", &hour)]}), json!({"system": [marked("a", &hour)]})),
        (
            rule(json!("tools"), "5m"),
            json!({"tools": [{"name": "a"}, {"name": "b", "defer_loading": true}]}),
            json!({"tools": [{"name": "a", "cache_control": mark}, {"name": "b", "defer_loading": true}]}),
        ),
        (rule(json!("tools"), "5m"), json!({"tools": []}), json!({"tools": []})),
        (
            rule(json!("last_user"), "5m"),
            json!({"messages": [message("user", json!("a")), message("assistant", json!("b"))]}),
            json!({"messages": [message("user", json!([marked("a", &mark)])), message("assistant", json!("b"))]}),
        ),
        (
            rule(json!(-1), "5m"),
            json!({"messages": [message("assistant", json!([block("a"), {"type": "thinking", "thinking": "b"}, block("")]))]}),
            json!({"messages": [message("assistant", json!([marked("a", &mark), {"type": "thinking", "thinking": "b"}, block("")]))]}),
        ),
        (rule(json!(3), "5m"), one(json!("a")), one(json!("a"))),
        (rule(json!(0), "5m"), one(json!([{"type": "image"}])), one(json!([{"type": "image", "cache_control": mark}]))),
        // What is kept for longer comes first.
        (
            rule(json!(0), "1h"),
            json!({"system": [marked("s", &mark)], "messages": [message("user", json!([block("a")]))]}),
            json!({"system": [marked("s", &mark)], "messages": [message("user", json!([marked("a", &mark)]))]}),
        ),
        (
            rule(json!("system"), "5m"),
            json!({"system": "s", "messages": [message("user", json!([marked("a", &hour)]))]}),
            json!({"system": [marked("s", &hour)], "messages": [message("user", json!([marked("a", &hour)]))]}),
        ),
    ] {
        check_json(CLAUDE, &rule, &body, &expected);
        // No other dialect has such marks.
        check_json(CHAT, &rule, &body, &body);
    }
}

/// B55: four breakpoints at most, wherever they are.
#[test]
fn there_are_never_more_than_four_breakpoints() {
    let mark = json!({"type": "ephemeral"});
    let rules = json!([
        {"cache_breakpoint": {"at": "system"}},
        {"cache_breakpoint": {"at": "tools"}},
        {"cache_breakpoint": {"at": "last_user"}},
        {"cache_breakpoint": {"at": 0}},
        {"cache_breakpoint": {"at": 1}},
    ]);
    let bare = json!({
        "system": "s",
        "tools": [{"name": "t"}],
        "messages": [
            {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"},
        ],
    });
    let count = |body: &Value| {
        let rewritten = try_rewrite(CLAUDE, &rules, &body.to_string()).unwrap();
        rewritten.unwrap_or_else(|| body.to_string()).matches("cache_control").count()
    };
    assert_eq!(count(&bare), 4);
    let mut own = bare.clone();
    own["cache_control"] = mark.clone();
    assert_eq!(count(&own), 4);
    own["messages"][0]["content"] = json!([{"type": "tool_result", "content": [
        {"type": "text", "text": "a", "cache_control": mark}, {"type": "text", "text": "a", "cache_control": mark},
        {"type": "text", "text": "a", "cache_control": null}]}]);
    // The one that is null is none.
    assert_eq!(count(&own), 5);
}

/// Whatever byte of a request is another one, rules make JSON of JSON and leave the rest alone.
#[test]
fn damaged_requests_do_no_harm() {
    let rules = json!([
        {"set": {"path": "messages[*].content[0].text", "value": "y"}},
        {"default": {"path": "metadata.team", "value": "y"}},
        {"append": {"path": "tools", "value": {"name": "y"}}},
        {"remove": {"path": "messages[1].content[-1]"}},
        {"system": {"prepend": "y"}},
        {"system": {"replace": "y"}},
        {"cache_breakpoint": {"at": "tools"}},
        {"cache_breakpoint": {"at": "last_user"}},
        {"replace": {"pattern": "x", "with": "y", "in": ["system", "user", "assistant", "tool_results", "tool_descriptions"]}},
    ]);
    let is_json = |text: &[u8]| serde_json::from_slice::<&serde_json::value::RawValue>(text).is_ok();
    let rewrite = compiled(&rules).unwrap();
    let actions = actions(&rewrite);
    for dialect in Dialect::ALL {
        let whole = full_of_x(dialect).to_string().into_bytes();
        for at in 0..whole.len() {
            for byte in *b"\"{}[]:,\\0\xff" {
                let mut body = whole.clone();
                body[at] = byte;
                let rewritten = rewrite_body(dialect, &body, &actions).unwrap();
                if let (true, Some(rewritten)) = (is_json(&body), rewritten) {
                    assert!(is_json(rewritten.as_bytes()), "{rewritten}");
                }
            }
        }
    }
}
