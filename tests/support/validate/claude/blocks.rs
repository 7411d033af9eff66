//! Content blocks.

use serde_json::Value;

use super::super::check::{Check, is_base64, kind, list};

/// The members of each kind of block.
const BLOCKS: [(&str, &str); 25] = [
    ("text", "text:str! citations:list? cache_control:obj?"),
    ("image", "source:obj! cache_control:obj? transformations:any?"),
    ("document", "source:obj! title:str? context:str? citations:obj? cache_control:obj?"),
    ("search_result", "source:text! title:str! content:list! citations:obj? cache_control:obj?"),
    ("thinking", "thinking:str! signature:str!"),
    ("redacted_thinking", "data:text!"),
    ("tool_use", "id:text! name:text! input:obj! caller:obj? toolset_name:str? cache_control:obj?"),
    ("tool_result", "tool_use_id:text! content:any is_error:bool? toolset_name:str? cache_control:obj?"),
    ("server_tool_use", "id:text! name:text! input:obj! caller:obj? cache_control:obj?"),
    ("web_search_tool_result", RESULT),
    ("web_fetch_tool_result", RESULT),
    ("code_execution_tool_result", RESULT),
    ("bash_code_execution_tool_result", RESULT),
    ("text_editor_code_execution_tool_result", RESULT),
    ("tool_search_tool_result", RESULT),
    ("advisor_tool_result", RESULT),
    ("container_upload", "file_id:text! cache_control:obj?"),
    ("mcp_tool_use", "id:text! name:text! server_name:text! input:obj! cache_control:obj?"),
    ("mcp_tool_result", "tool_use_id:text! content:any is_error:bool? cache_control:obj?"),
    ("mcp_tool_listing", "mcp_server_name:text! tools:list!"),
    ("compaction", "content:str? encrypted_content:str? signature:str? tool_changes:any? cache_control:obj?"),
    ("fallback", "from:obj! to:obj! trigger:obj?"),
    ("tool_addition", "tool:obj! cache_control:obj?"),
    ("tool_removal", "tool:obj! cache_control:obj?"),
    ("tool_reference", "tool_name:text! cache_control:obj?"),
];

const RESULT: &str = "tool_use_id:text! content:any! caller:obj? cache_control:obj?";

/// The members of each kind of citation.
const CITATIONS: [(&str, &str); 5] = [
    (
        "char_location",
        "cited_text:str! document_index:count! document_title:str!? start_char_index:count! end_char_index:count! file_id:str?",
    ),
    (
        "page_location",
        "cited_text:str! document_index:count! document_title:str!? start_page_number:count! end_page_number:count! \
         file_id:str?",
    ),
    (
        "content_block_location",
        "cited_text:str! document_index:count! document_title:str!? start_block_index:count! end_block_index:count! \
         file_id:str?",
    ),
    (
        "search_result_location",
        "cited_text:str! source:str! title:str!? search_result_index:count! start_block_index:count! end_block_index:count!",
    ),
    ("web_search_result_location", "cited_text:str! url:text! title:str!? encrypted_index:str!"),
];

/// The members of a block of any kind.
pub(super) fn block(check: &mut Check, at: &str, block: &Value) {
    match BLOCKS.iter().find(|(name, _)| *name == kind(block)) {
        Some((_, spec)) => check.members(at, block, &format!("type:str! {spec}")),
        None => return check.fault(at, format!("unknown kind {:?}", kind(block))),
    }
    for (index, citation) in list(&block["citations"]).iter().enumerate() {
        self::citation(check, &format!("{at}.citations[{index}]"), citation);
    }
    if block["cache_control"].is_object() {
        check.members(&format!("{at}.cache_control"), &block["cache_control"], "type:(ephemeral)! ttl:(5m|1h)?");
    }
    if block["caller"].is_object() {
        check.members(&format!("{at}.caller"), &block["caller"], "type:text! tool_id:str?");
    }
    match kind(block) {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            id(check, &format!("{at}.id"), &block["id"]);
        }
        "image" => source(check, &format!("{at}.source"), &block["source"], false),
        "document" => source(check, &format!("{at}.source"), &block["source"], true),
        _ => {}
    }
}

/// A citation.
pub(super) fn citation(check: &mut Check, at: &str, citation: &Value) {
    match CITATIONS.iter().find(|(name, _)| *name == kind(citation)) {
        Some((_, spec)) => check.members(at, citation, &format!("type:str! {spec}")),
        None => check.fault(at, format!("unknown kind {:?}", kind(citation))),
    }
}

/// A block of an answer.
pub(super) fn answer(check: &mut Check, at: &str, whole: &Value) {
    block(check, at, whole);
    let is_for_users = ["image", "document", "search_result", "tool_result", "tool_addition", "tool_removal"];
    check.require(!is_for_users.contains(&kind(whole)), at, "not in an answer");
    check.require(whole.get("cache_control").is_none_or(Value::is_null), at, "cache_control is for requests");
}

/// An id of a call.
pub(super) fn id(check: &mut Check, at: &str, id: &Value) {
    let is_valid =
        |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    check.require(id.as_str().is_some_and(is_valid), at, format!("{id} does not match ^[a-zA-Z0-9_-]+$"));
}

/// A tool's name.
pub(super) fn name(check: &mut Check, at: &str, name: &Value) {
    let is_valid = |name: &str| {
        (1..=128).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    check.require(name.as_str().is_some_and(is_valid), at, format!("{name} does not match ^[a-zA-Z0-9_-]{{1,128}}$"));
}

fn source(check: &mut Check, at: &str, source: &Value, is_document: bool) {
    match (kind(source), is_document) {
        ("base64", false) => {
            check.members(at, source, "type:str! media_type:(image/jpeg|image/png|image/gif|image/webp)! data:text!");
        }
        ("base64", true) => check.members(at, source, "type:str! media_type:(application/pdf)! data:text!"),
        ("text", true) => check.members(at, source, "type:str! media_type:(text/plain)! data:text!"),
        ("content", true) => check.members(at, source, "type:str! content:any!"),
        ("url", _) => {
            check.members(at, source, "type:str! url:text!");
            let is_https =
                source["url"].as_str().is_some_and(|url| url.starts_with("https://") || url.starts_with("http://"));
            check.require(is_https, at, "only http and https are fetched");
        }
        ("file", _) => check.members(at, source, "type:str! file_id:text!"),
        (other, _) => check.fault(at, format!("unknown source {other:?}")),
    }
    if kind(source) == "base64" {
        check.require(source["data"].as_str().is_some_and(is_base64), at, "data is no base64");
    }
}
