//! The turns of a conversation.

use serde_json::Value;

use super::super::check::{Check, kind, list};
use super::blocks;

/// Checks the messages.
pub(super) fn check(check: &mut Check, body: &Value) {
    let messages = list(&body["messages"]);
    let is_continued = kind(&body["thread"]) == "continue";
    check.require(!messages.is_empty(), "messages", "at least one message is required");
    let first = messages.first().unwrap_or(&Value::Null);
    let is_compacted = list(&first["content"]).iter().any(|block| kind(block) == "compaction");
    let may_be_first = first["role"] == "user" || is_continued || is_compacted;
    check.require(may_be_first, "messages[0]", "the first message has to be the user's");
    let mut ids = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        check.members(&at, message, "role:(user|assistant|system)! content:any clear_at:str? output_config:obj?");
        let is_last = index + 1 == messages.len();
        content(check, &at, message, is_last);
        let results = results(check, &at, message);
        if message["role"] == "user" && !is_continued {
            for id in &results {
                check.require(open.contains(id), &at, format!("unexpected tool_use_id {id:?} in a tool_result"));
            }
            for id in open.drain(..) {
                check.require(
                    results.contains(&id),
                    &at,
                    format!("tool_use {id:?} without tool_result right after it"),
                );
            }
        } else {
            check.require(open.is_empty(), &at, format!("tool_use {open:?} without tool_result right after it"));
        }
        for block in list(&message["content"]).iter().filter(|block| kind(block) == "tool_use") {
            let id = block["id"].as_str().unwrap_or_default();
            check.require(!ids.contains(&id), &at, format!("tool_use ids must be unique: {id:?}"));
            ids.push(id);
            open.push(id);
        }
    }
    check.require(open.is_empty(), "messages", format!("tool_use {open:?} without tool_result"));
    thinking_comes_first(check, body);
}

fn content(check: &mut Check, at: &str, message: &Value, is_last: bool) {
    let role = message["role"].as_str().unwrap_or_default();
    match &message["content"] {
        Value::String(content) => {
            let may_be_empty = is_last && role == "assistant";
            check.require(may_be_empty || !content.trim().is_empty(), at, "messages must have non-empty content");
        }
        Value::Array(blocks) => {
            let may_be_empty = is_last && role == "assistant";
            check.require(may_be_empty || !blocks.is_empty(), at, "messages must have non-empty content");
            for (index, block) in blocks.iter().enumerate() {
                let at = format!("{at}.content[{index}]");
                blocks::block(check, &at, block);
                check.require(
                    allowed(role).contains(&kind(block)),
                    &at,
                    format!("{:?} cannot be {role}'s", kind(block)),
                );
                text(check, &at, block);
                if kind(block).ends_with("tool_use") {
                    blocks::name(check, &format!("{at}.name"), &block["name"]);
                }
                for citation in list(&block["citations"]) {
                    check.require(citation["encrypted_index"] != "", &at, "invalid encrypted_index");
                }
                if kind(block) == "thinking" {
                    let signature = block["signature"].as_str().unwrap_or_default();
                    check.require(
                        !signature.is_empty() && !signature.starts_with("tollgate-"),
                        &at,
                        "invalid signature",
                    );
                }
            }
        }
        Value::Null => check.require(role == "system", at, "content is missing"),
        _ => check.fault(at, "content is neither text nor blocks"),
    }
}

/// A text block has to have text.
pub(super) fn text(check: &mut Check, at: &str, block: &Value) {
    if kind(block) == "text" {
        let is_text = block["text"].as_str().is_some_and(|text| !text.trim().is_empty());
        check.require(is_text, at, "text content blocks must contain non-whitespace text");
    }
}

fn allowed(role: &str) -> &'static [&'static str] {
    match role {
        "user" => &["text", "image", "document", "search_result", "tool_result", "container_upload", "compaction"],
        "system" => &["text", "tool_addition", "tool_removal"],
        _ => &[
            "text",
            "thinking",
            "redacted_thinking",
            "tool_use",
            "server_tool_use",
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
            "advisor_tool_result",
            "container_upload",
            "mcp_tool_use",
            "mcp_tool_result",
            "mcp_tool_listing",
            "compaction",
            "fallback",
        ],
    }
}

/// The ids of the calls that are answered here. Results come first, and hold only what results may hold.
fn results<'a>(check: &mut Check, at: &str, message: &'a Value) -> Vec<&'a str> {
    let mut ids = Vec::new();
    let mut has_other = false;
    for block in list(&message["content"]) {
        if kind(block) != "tool_result" {
            has_other = true;
            continue;
        }
        check.require(!has_other, at, "tool_result blocks have to stand first");
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        check.require(!ids.contains(&id), at, format!("each tool_use must have a single result: {id:?}"));
        ids.push(id);
        match &block["content"] {
            Value::Null | Value::String(_) => {}
            Value::Array(inner) => {
                for (index, inner) in inner.iter().enumerate() {
                    let at = format!("{at} result {id} [{index}]");
                    let known = ["text", "image", "document", "search_result", "tool_reference", "browser_state"];
                    check.require(
                        known.contains(&kind(inner)),
                        &at,
                        format!("{:?} cannot be in a result", kind(inner)),
                    );
                    if kind(inner) != "browser_state" {
                        blocks::block(check, &at, inner);
                    }
                    text(check, &at, inner);
                }
            }
            _ => check.fault(at, "a result's content is neither text nor blocks"),
        }
    }
    ids
}

/// With a budget for thinking, the last turn of the model has to begin with its thinking if it calls tools.
fn thinking_comes_first(check: &mut Check, body: &Value) {
    let messages = list(&body["messages"]);
    let is_prose = |message: &&Value| {
        message["role"] == "user" && !list(&message["content"]).iter().any(|block| kind(block) == "tool_result")
    };
    let start = messages.iter().rposition(|message| is_prose(&message)).map_or(0, |at| at + 1);
    let last = messages.iter().skip(start).rfind(|message| message["role"] == "assistant");
    let Some(blocks) = last.map(|message| list(&message["content"])) else { return };
    let calls = blocks.iter().any(|block| kind(block) == "tool_use");
    let begins = blocks.first().is_some_and(|block| matches!(kind(block), "thinking" | "redacted_thinking"));
    check.require(
        kind(&body["thinking"]) != "enabled" || !calls || begins,
        "messages",
        "when thinking is enabled, a final assistant message must start with a thinking block",
    );
}
