//! Tools and their use.

use serde_json::Value;

use super::super::check::{Check, list};
use super::{content, schema};

/// Checks the tools and how they are to be used.
pub(super) fn check(check: &mut Check, body: &Value) {
    let mut names = Vec::new();
    for (index, tool) in list(&body["tools"]).iter().enumerate() {
        let at = format!("tools[{index}]");
        check.members(
            &at,
            tool,
            "functionDeclarations:list googleSearch:obj googleSearchRetrieval:obj codeExecution:obj urlContext:obj \
             googleMaps:obj fileSearch:obj computerUse:obj mcpServers:list",
        );
        check.require(tool.as_object().is_some_and(|tool| !tool.is_empty()), &at, "an empty tool");
        for (index, function) in list(&tool["functionDeclarations"]).iter().enumerate() {
            let at = format!("{at}.functionDeclarations[{index}]");
            self::function(check, &at, function);
            let name = function["name"].as_str().unwrap_or_default();
            check.require(!names.contains(&name), &at, format!("duplicate function declaration {name:?}"));
            names.push(name);
        }
        if tool["googleSearch"].is_object() {
            check.members(&at, &tool["googleSearch"], "searchTypes:obj timeRangeFilter:obj");
        }
        for empty in ["codeExecution", "urlContext"] {
            if tool[empty].is_object() {
                check.members(&at, &tool[empty], "");
            }
        }
    }
    config(check, &body["toolConfig"], &names);
}

fn function(check: &mut Check, at: &str, function: &Value) {
    check.members(
        at,
        function,
        "name:text! description:str parameters:obj parametersJsonSchema:obj response:obj responseJsonSchema:obj behavior:text",
    );
    content::function_name(check, at, &function["name"]);
    for (one, other) in [("parameters", "parametersJsonSchema"), ("response", "responseJsonSchema")] {
        let both = function.get(one).is_some() && function.get(other).is_some();
        check.require(!both, at, format!("{one} and {other} exclude each other"));
    }
    if let Some(parameters) = function.get("parameters") {
        let at = format!("{at}.parameters");
        schema::check(check, &at, parameters);
        check.require(schema::is_type(parameters, "OBJECT"), &at, "only an object");
        let has_members = parameters["properties"].as_object().is_some_and(|members| !members.is_empty());
        check.require(has_members, &at, "properties: should be non-empty for OBJECT type");
    }
    if let Some(response) = function.get("response") {
        schema::check(check, &format!("{at}.response"), response);
    }
}

fn config(check: &mut Check, config: &Value, names: &[&str]) {
    let at = "toolConfig";
    if config.is_null() {
        return;
    }
    check.members(at, config, "functionCallingConfig:obj retrievalConfig:obj includeServerSideToolInvocations:bool");
    let calling = &config["functionCallingConfig"];
    if calling.is_null() {
        return;
    }
    check.members(at, calling, "mode:(AUTO|ANY|NONE|VALIDATED) allowedFunctionNames:list");
    let allowed = list(&calling["allowedFunctionNames"]);
    let may_allow = matches!(calling["mode"].as_str(), Some("ANY" | "VALIDATED"));
    check.require(allowed.is_empty() || may_allow, at, "allowedFunctionNames is for ANY and VALIDATED only");
    for name in allowed {
        let is_known = name.as_str().is_some_and(|name| names.contains(&name));
        check.require(is_known, at, format!("{name} is not declared"));
    }
    let forces = calling["mode"] == "ANY";
    check.require(!forces || !names.is_empty(), at, "ANY without functions");
}
