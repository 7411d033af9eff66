//! Requests.

use std::collections::BTreeMap;

use serde_json::Value;

use super::SCHEMA;
use crate::validate::openai::{self, Faults, list, range, text};

pub(in super::super) fn request(body: &Value) -> Vec<String> {
    let mut faults = Faults(SCHEMA.check("request", body, "body"));
    faults.unless(!text(body, "model").is_empty(), "model", "is empty");
    let input = &body["input"];
    let is_there = input.is_string() || !list(input).is_empty();
    faults.unless(is_there || body["prompt"].is_object(), "input", "is missing or empty");
    for (index, item) in list(input).iter().enumerate() {
        self::item(item, &format!("input[{index}]"), &mut faults);
    }
    calls(list(input), &mut faults);
    reasoning_items(list(input), body["store"] == false, &mut faults);
    tools(body, &mut faults);
    format(body, &mut faults);
    settings(body, &mut faults);
    reasoning(body, &mut faults);
    faults.0
}

fn item(item: &Value, path: &str, faults: &mut Faults) {
    let kind = item["type"].as_str().unwrap_or("message");
    let prefix = match kind {
        "message" => "msg",
        "function_call" | "function_call_output" => "fc",
        "custom_tool_call" | "custom_tool_call_output" => "ctc",
        "reasoning" => "rs",
        _ => "",
    };
    if let Some(id) = item["id"].as_str() {
        let fits = (1..=64).contains(&id.len()) && id.starts_with(prefix);
        faults.unless(fits, path, format!("the id {id:?} has to begin with {prefix} and have at most 64 characters"));
    }
    match kind {
        "message" => message(item, path, faults),
        "function_call" => {
            openai::call_id(&item["call_id"], path, faults);
            openai::name(&item["name"], path, faults);
            openai::arguments(&item["arguments"], path, faults);
        }
        "custom_tool_call" => {
            openai::call_id(&item["call_id"], path, faults);
            openai::name(&item["name"], path, faults);
        }
        "function_call_output" | "custom_tool_call_output" => {
            openai::call_id(&item["call_id"], path, faults);
            let parts = item["output"].as_array();
            faults.unless(parts.is_none_or(|parts| !parts.is_empty()), path, "output is an empty list");
            parts.into_iter().flatten().for_each(|part| self::part(part, path, faults));
        }
        _ => {}
    }
}

/// The model's messages have parts of another kind than those towards it.
fn message(message: &Value, path: &str, faults: &mut Faults) {
    let is_models = message["role"] == "assistant";
    let parts = message["content"].as_array();
    faults.unless(parts.is_none_or(|parts| !parts.is_empty()), path, "content is an empty list");
    for part in parts.into_iter().flatten() {
        let kind = text(part, "type");
        let fits = matches!(kind, "output_text" | "refusal") == is_models;
        faults.unless(fits, path, format!("{kind} is no part of a message of {}", message["role"]));
        self::part(part, path, faults);
    }
}

fn part(part: &Value, path: &str, faults: &mut Faults) {
    let count = |members: &[&str]| members.iter().filter(|member| !part[**member].is_null()).count();
    match text(part, "type") {
        "input_image" => {
            faults.unless(count(&["image_url", "file_id"]) == 1, path, "an image has either image_url or file_id");
            if part["image_url"].is_string() {
                openai::image_url(&part["image_url"], path, faults);
            }
        }
        "input_file" => {
            let places = count(&["file_data", "file_url", "file_id"]);
            faults.unless(places == 1, path, "a file has one of file_data, file_url and file_id");
            if part["file_data"].is_string() {
                faults.unless(!text(part, "filename").is_empty(), path, "file_data has to have a filename");
                openai::file_data(&part["file_data"], path, faults);
            }
        }
        _ => {}
    }
}

/// Each call has its output behind it, and each output its call before it.
fn calls(items: &[Value], faults: &mut Faults) {
    let mut open: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let (kind, id) = (text(item, "type"), text(item, "call_id"));
        let path = format!("input[{index}]");
        match kind {
            "function_call" | "custom_tool_call" => {
                faults.unless(
                    open.insert((kind, id), false).is_none(),
                    &path,
                    format!("the call {id:?} is there twice"),
                );
            }
            "function_call_output" | "custom_tool_call_output" => {
                match open.get_mut(&(kind.trim_end_matches("_output"), id)) {
                    Some(is_answered) if !*is_answered => *is_answered = true,
                    Some(_) => faults.add(&path, format!("the call {id:?} is answered twice")),
                    None => faults.add(&path, format!("no tool call found for the output of {id:?}")),
                }
            }
            _ => {}
        }
    }
    for ((_, id), _) in open.iter().filter(|(_, is_answered)| !**is_answered) {
        faults.add("input", format!("no tool output found for the call {id:?}"));
    }
}

/// What is not kept at the vendor has to come with its content, and before what it led to.
fn reasoning_items(items: &[Value], is_stateless: bool, faults: &mut Faults) {
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item["type"] == "reasoning") {
        let path = format!("input[{index}]");
        let sealed = text(item, "encrypted_content");
        faults.unless(
            !is_stateless || !sealed.is_empty(),
            &path,
            "is not kept at the vendor, and has no encrypted_content",
        );
        let of_model = items.get(index + 1).is_some_and(|next| {
            let kind = next["type"].as_str().unwrap_or("message");
            next["role"] == "assistant" || (kind != "message" && !kind.ends_with("_output"))
        });
        faults.unless(of_model, &path, "reasoning was provided without its required following item");
    }
}

fn tools(body: &Value, faults: &mut Faults) {
    for (index, tool) in list(&body["tools"]).iter().enumerate() {
        self::tool(tool, &format!("tools[{index}]"), faults);
    }
    let choice = &body["tool_choice"];
    let names = |one: &Value| (text(one, "type").to_owned(), text(one, "name").to_owned());
    let known: Vec<_> = list(&body["tools"]).iter().map(names).collect();
    for (index, one) in known.iter().enumerate().filter(|(_, (_, name))| !name.is_empty()) {
        faults.unless(!known[..index].contains(one), &format!("tools[{index}]"), "its name is there twice");
    }
    let mut named = |one: &Value| {
        let (kind, name) = names(one);
        let is_known = known.iter().any(|tool| tool.0 == kind && (name.is_empty() || tool.1 == name));
        faults.unless(is_known || kind == "mcp", "tool_choice", format!("{kind} {name:?} is no tool of the request"));
    };
    match text(choice, "type") {
        "" => {}
        "allowed_tools" => list(&choice["tools"]).iter().for_each(named),
        _ => named(choice),
    }
    let must_call = *choice == "required" && known.is_empty();
    faults.unless(!must_call, "tool_choice", "is required, and there are no tools");
}

fn tool(tool: &Value, path: &str, faults: &mut Faults) {
    match text(tool, "type") {
        "function" => {
            openai::name(&tool["name"], path, faults);
            openai::parameters(&tool["parameters"], tool["strict"] == true, &format!("{path}.parameters"), faults);
        }
        "custom" => openai::name(&tool["name"], path, faults),
        "namespace" => {
            openai::name(&tool["name"], path, faults);
            list(&tool["tools"]).iter().for_each(|inner| self::tool(inner, path, faults));
        }
        _ => {}
    }
}

fn format(body: &Value, faults: &mut Faults) {
    let format = &body["text"]["format"];
    match text(format, "type") {
        "json_schema" => {
            openai::name(&format["name"], "text.format.name", faults);
            let path = "text.format.schema";
            faults.unless(format["schema"]["type"] == "object", path, "has to be a schema of type object");
            openai::schema(&format["schema"], format["strict"] == true, path, faults);
        }
        "json_object" => {
            let says = body["input"].to_string().to_lowercase().contains("json");
            faults.unless(says, "text.format", "the input has to contain the word json for json_object");
        }
        _ => {}
    }
}

fn settings(body: &Value, faults: &mut Faults) {
    range(body, "temperature", 0.0, 2.0, faults);
    range(body, "top_p", 0.0, 1.0, faults);
    range(body, "top_logprobs", 0.0, 20.0, faults);
    range(body, "max_output_tokens", 16.0, 1e9, faults);
    openai::metadata(&body["metadata"], "metadata", faults);
    for member in ["prompt_cache_key", "safety_identifier"] {
        faults.unless(text(body, member).len() <= 64, member, "has more than 64 characters");
    }
    let both = !body["previous_response_id"].is_null() && !body["conversation"].is_null();
    faults.unless(!both, "conversation", "must not stand beside previous_response_id");
    let streams = body["stream"] == true;
    faults.unless(streams || body["stream_options"].is_null(), "stream_options", "is only allowed with stream");
    let lost = body["background"] == true && body["store"] == false;
    faults.unless(!lost, "background", "needs store");
}

/// What models that think refuse, and what others do.
fn reasoning(body: &Value, faults: &mut Faults) {
    let model = text(body, "model");
    let effort = &body["reasoning"]["effort"];
    openai::effort(model, effort, "reasoning.effort", faults);
    let included = |wanted: &str| list(&body["include"]).iter().any(|one| one == wanted);
    if !openai::thinks(model) {
        faults.unless(body["reasoning"].is_null(), "reasoning", format!("{model} does not reason"));
        let sealed = included("reasoning.encrypted_content");
        return faults.unless(!sealed, "include", format!("{model} has no encrypted reasoning"));
    }
    let usually_not = openai::gpt(model).is_some_and(|version| ((5, 1)..=(5, 4)).contains(&version));
    if effort == "none" || (effort.is_null() && usually_not) {
        return;
    }
    for member in ["temperature", "top_p"] {
        let is_harmless = body[member].is_null() || body[member].as_f64() == Some(1.0);
        faults.unless(is_harmless, member, format!("{model} does not take it"));
    }
    faults.unless(body["top_logprobs"].is_null(), "top_logprobs", format!("{model} does not take it"));
    faults.unless(!included("message.output_text.logprobs"), "include", format!("{model} has no log probabilities"));
}
