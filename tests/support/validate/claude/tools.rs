//! Tools, and which of them is to be called.

use serde_json::Value;

use super::super::check::{Check, kind, list};
use super::blocks;

/// What every tool may have.
const COMMON: &str = "defer_loading:bool? allowed_callers:list? cache_control:obj? strict:bool?";

/// The beginning of a kind of tool, the tool's name, and its own members.
const BUILT_IN: [(&str, &str, &str); 11] = [
    ("bash_", "bash", "input_examples:list?"),
    ("text_editor_", "str_replace", "max_characters:count? input_examples:list?"),
    ("memory_", "memory", "input_examples:list?"),
    (
        "computer_2",
        "computer",
        "display_width_px:count! display_height_px:count! display_number:count? enable_zoom:bool? input_examples:list?",
    ),
    (
        "web_search_",
        "web_search",
        "max_uses:count? allowed_domains:list? blocked_domains:list? user_location:obj? response_inclusion:str?",
    ),
    (
        "web_fetch_",
        "web_fetch",
        "max_uses:count? allowed_domains:list? blocked_domains:list? citations:obj? max_content_tokens:count? url_sources:any \
         use_cache:bool? response_inclusion:str?",
    ),
    ("code_execution_", "code_execution", ""),
    ("tool_search_tool_", "tool_search_tool", ""),
    ("computer_toolset_", "", "configs:any"),
    ("browser_toolset_", "", "configs:any"),
    ("mcp_toolset", "", "mcp_server_name:text! default_config:any configs:any tools:any"),
];

/// Checks the tools and the choice among them.
pub(super) fn check(check: &mut Check, body: &Value) {
    let mut names = Vec::new();
    for (index, tool) in list(&body["tools"]).iter().enumerate() {
        let at = format!("tools[{index}]");
        self::tool(check, &at, tool);
        if let Some(name) = tool["name"].as_str() {
            check.require(!names.contains(&name), &at, "tool names must be unique");
            names.push(name);
        }
    }
    choice(check, &body["tool_choice"], &names);
    let has_choice = body["tool_choice"].is_object();
    check.require(!has_choice || !list(&body["tools"]).is_empty(), "tool_choice", "may only be specified with tools");
}

fn tool(check: &mut Check, at: &str, tool: &Value) {
    if matches!(kind(tool), "" | "custom") {
        check.members(
            at,
            tool,
            &format!("type:str? name:text! description:str? input_schema:obj! eager_input_streaming:bool? input_examples:list? {COMMON}"),
        );
        blocks::name(check, &format!("{at}.name"), &tool["name"]);
        let schema = &tool["input_schema"];
        check.require(schema["type"] == "object", at, "input_schema.type: 'object' is demanded");
        let has_union = ["oneOf", "allOf", "anyOf"].iter().any(|name| schema.get(name).is_some());
        check.require(!has_union, at, "input_schema does not support oneOf, allOf, or anyOf at the top level");
        return;
    }
    match BUILT_IN.iter().find(|(prefix, ..)| kind(tool).starts_with(prefix)) {
        Some((_, name, spec)) => {
            let named = if name.is_empty() { "" } else { "name:text!" };
            check.members(at, tool, &format!("type:str! {named} {spec} {COMMON}"));
            check.require(
                tool["name"].as_str().unwrap_or_default().starts_with(name),
                at,
                "the name is not that tool's",
            );
            let both = list(&tool["allowed_domains"]).len().min(list(&tool["blocked_domains"]).len());
            check.require(both == 0, at, "allowed_domains and blocked_domains exclude each other");
            if tool["user_location"].is_object() {
                let at = format!("{at}.user_location");
                let spec = "type:(approximate)! city:str? region:str? country:str? timezone:str?";
                check.members(&at, &tool["user_location"], spec);
            }
        }
        None => check.fault(at, format!("unknown kind {:?}", kind(tool))),
    }
}

fn choice(check: &mut Check, choice: &Value, names: &[&str]) {
    let at = "tool_choice";
    match kind(choice) {
        "" => check.require(choice.is_null(), at, "without type"),
        "auto" | "any" => check.members(at, choice, "type:str! disable_parallel_tool_use:bool?"),
        "tool" => {
            check.members(at, choice, "type:str! name:text! disable_parallel_tool_use:bool?");
            let is_known = choice["name"].as_str().is_some_and(|name| names.contains(&name));
            check.require(is_known, at, format!("the tool {} is not among the tools", choice["name"]));
        }
        "none" => check.members(at, choice, "type:str!"),
        other => check.fault(at, format!("unknown kind {other:?}")),
    }
}
