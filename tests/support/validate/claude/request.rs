//! The members of a request.

use serde_json::Value;

use super::super::check::{Check, kind, list};
use super::{blocks, conversation, tools};

/// Checks a whole request.
pub(super) fn check(check: &mut Check, body: &Value) {
    check.members(
        "",
        body,
        "model:text! max_tokens:count! messages:list! system:any stream:bool? stop_sequences:list? temperature:num? top_p:num? \
         top_k:count? tools:list? tool_choice:obj? thinking:obj? output_config:obj? output_format:obj? cache_control:obj? \
         metadata:obj? service_tier:(auto|standard_only)? speed:(standard|fast)? inference_geo:str? container:any \
         diagnostics:obj? mcp_servers:list? context_management:obj? compaction:any thread:obj? fallbacks:any \
         fallback_credit_token:any billing_policy:any",
    );
    check.range("temperature", &body["temperature"], 0.0, 1.0);
    check.range("top_p", &body["top_p"], 0.0, 1.0);
    let both = !body["temperature"].is_null() && !body["top_p"].is_null();
    check.require(!both, "top_p", "temperature and top_p cannot both be specified for this model");
    for (index, text) in list(&body["stop_sequences"]).iter().enumerate() {
        let is_text = text.as_str().is_some_and(|text| !text.trim().is_empty());
        check.require(is_text, &format!("stop_sequences[{index}]"), "each stop sequence must contain non-whitespace");
    }
    if body["metadata"].is_object() {
        check.members("metadata", &body["metadata"], "user_id:str?");
        check.require(
            body["metadata"]["user_id"].as_str().is_none_or(|id| id.len() <= 512),
            "metadata.user_id",
            "too long",
        );
    }
    system(check, &body["system"]);
    tools::check(check, body);
    thinking(check, body);
    output(check, body);
    conversation::check(check, body);
    let marks = count_marks(body);
    check.require(marks <= 4, "", format!("{marks} blocks with cache_control, 4 are allowed"));
}

fn system(check: &mut Check, system: &Value) {
    match system {
        Value::Null => {}
        Value::String(text) => check.require(!text.is_empty(), "system", "empty"),
        Value::Array(blocks) => {
            for (index, block) in blocks.iter().enumerate() {
                let at = format!("system[{index}]");
                blocks::block(check, &at, block);
                check.require(kind(block) == "text", &at, "only text");
                conversation::text(check, &at, block);
            }
        }
        _ => check.fault("system", "neither text nor blocks"),
    }
}

fn thinking(check: &mut Check, body: &Value) {
    let thinking = &body["thinking"];
    let at = "thinking";
    match kind(thinking) {
        "" => check.require(thinking.is_null(), at, "without type"),
        "enabled" => {
            check.members(
                at,
                thinking,
                "type:str! budget_tokens:count! display:(summarized|omitted|updates)? block_binding:any",
            );
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            check.require(budget >= 1024, at, "budget_tokens: at least 1024");
            check.require(
                budget < body["max_tokens"].as_u64().unwrap_or_default(),
                at,
                "`max_tokens` must be greater than `thinking.budget_tokens`",
            );
        }
        "adaptive" => {
            check.members(at, thinking, "type:str! display:(summarized|omitted|updates)? block_binding:any");
        }
        "disabled" | "between_tools" => check.members(at, thinking, "type:str!"),
        other => check.fault(at, format!("unknown kind {other:?}")),
    }
    if matches!(kind(thinking), "enabled" | "adaptive") {
        let temperature = body["temperature"].as_f64();
        check.require(temperature.is_none_or(|one| one == 1.0), "temperature", "only 1 when thinking is on");
        check.require(body["top_k"].is_null(), "top_k", "must be unset when thinking is on");
        check.require(
            body["top_p"].as_f64().is_none_or(|top_p| top_p >= 0.95),
            "top_p",
            "at least 0.95 when thinking is on",
        );
        let is_forced = matches!(kind(&body["tool_choice"]), "any" | "tool");
        check.require(!is_forced, "tool_choice", "thinking may not be enabled when tool_choice forces tool use");
    }
}

fn output(check: &mut Check, body: &Value) {
    let output = &body["output_config"];
    if output.is_object() {
        check.members("output_config", output, "effort:(low|medium|high|xhigh|max)? format:obj? task_budget:any");
        format(check, "output_config.format", &output["format"]);
    }
    format(check, "output_format", &body["output_format"]);
}

fn format(check: &mut Check, at: &str, format: &Value) {
    if format.is_object() {
        check.members(at, format, "type:(json_schema)! schema:obj!");
    }
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let own = usize::from(members.get("cache_control").is_some_and(|mark| kind(mark) == "ephemeral"));
            let inner =
                members.iter().filter(|(name, _)| !matches!(name.as_str(), "input" | "input_schema" | "schema"));
            own + inner.map(|(_, member)| count_marks(member)).sum::<usize>()
        }
        Value::Array(elements) => elements.iter().map(count_marks).sum(),
        _ => 0,
    }
}
