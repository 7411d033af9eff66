//! There and back: what both dialects can express is still there.

use serde_json::Value;
use tollgate::protocol::convert::media::Media;
use tollgate::protocol::convert::{self, Context, ServerTools};
use tollgate::protocol::dialect::Dialect;

use crate::corpus::{Case, cases, none, pairs};
use crate::responses::reply;

fn convert(from: Dialect, to: Dialect, body: &str) -> Option<String> {
    let media = Media::new();
    // A model of no vendor's takes everything, so that nothing is lost because of the model.
    let context = Context { model: "some-model", stream: false, server_tools: ServerTools::Drop, media: &media };
    let converted = convert::request(from, to, body, &context).ok()?;
    String::from_utf8(converted.body).ok()
}

/// What every dialect can say of a request: its texts, in their order, who calls what with which arguments, and the names of its tools.
fn gist(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap();
    let mut gist = Vec::new();
    collect(&body, "", &mut gist);
    gist.sort();
    gist
}

fn collect(value: &Value, name: &str, gist: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for kind in ["function", "functionCall", "custom"] {
                if let Some(called) = members.get(kind).and_then(|call| call.get("name")).and_then(Value::as_str) {
                    gist.push(format!("name {called}"));
                }
            }
            let is_call = ["tool_use", "function_call", "custom_tool_call"]
                .iter()
                .any(|kind| members.get("type") == Some(&Value::from(*kind)));
            if let (true, Some(called)) = (is_call, members.get("name").and_then(Value::as_str)) {
                gist.push(format!("name {called}"));
            }
            members.iter().for_each(|(name, member)| collect(member, name, gist));
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, name, gist)),
        // Words are compared one by one, since dialects join texts differently.
        Value::String(text) if ["text", "content", "instructions", "system", "input"].contains(&name) => {
            gist.extend(text.split_whitespace().map(|word| format!("word {word}")));
        }
        _ => {}
    }
}

/// The plain cases of each corpus: conversations, tools, results, images.
const PLAIN: [&str; 34] = [
    "minimal",
    "system-and-user",
    "tool-call-and-result",
    "unicode-and-escapes",
    "agent-many-turns",
    "tools-auto",
    "b04-tool-call-parallel",
    "image-data-url",
    "tool-call-with-text",
    "content-parts-text",
    "tool-choice-required",
    "text",
    "text-blocks",
    "multi-turn",
    "system-string",
    "tool-results-parallel",
    "tool-result-string",
    "tools-custom",
    "stop-sequences",
    "image-base64",
    "consecutive-user-turns",
    "conversation",
    "b04-parallel-results",
    "text-unicode-and-escapes",
    "tool-declared",
    "tool-result",
    "image-inline",
    "tool-choice-any",
    "input-string",
    "input-easy-messages",
    "input-typed-parts",
    "tool-result-parallel",
    "tool-result-single",
    "codex-second-turn",
];

fn is_plain(case: &Case) -> bool {
    PLAIN.contains(&case.name())
}

#[test]
fn a_request_there_and_back_says_the_same() {
    let (mut faults, mut checked) = (Vec::new(), 0);
    for (from, to) in pairs() {
        for case in cases(from, "request").iter().filter(|case| is_plain(case)) {
            let Some(there) = convert(from, to, &case.text) else { continue };
            let Some(back) = convert(to, from, &there) else {
                faults.push(format!("{from} to {to}, {}: it does not come back", case.name()));
                continue;
            };
            checked += 1;
            let (before, after) = (gist(&case.text), gist(&back));
            let missing: Vec<&String> = before.iter().filter(|item| !after.contains(item)).collect();
            if !missing.is_empty() {
                faults.push(format!("{from} to {to}, {}: {missing:?} is gone from {back}", case.name()));
            }
        }
    }
    assert!(checked >= 40, "only {checked} cases");
    none(&faults);
}

/// An answer's text comes back unchanged over every other dialect.
#[test]
fn an_answer_there_and_back_says_the_same() {
    let mut faults = Vec::new();
    for (from, to) in pairs() {
        for case in cases(from, "response").iter().filter(|case| {
            case.name() == "text" || case.name().starts_with("tool-call-parallel") || case.name() == "tool-use-parallel"
        }) {
            let there = convert::response(from, to, &case.text, &reply()).unwrap();
            let back = convert::response(to, from, std::str::from_utf8(&there.body).unwrap(), &reply()).unwrap();
            let (before, after) = (gist(&case.text), gist(std::str::from_utf8(&back.body).unwrap()));
            if before != after {
                faults.push(format!("{from} to {to}, {}: {before:?} became {after:?}", case.name()));
            }
        }
    }
    none(&faults);
}
