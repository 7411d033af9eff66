//! Requests.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SCHEMA;
use crate::validate::openai::{self, Faults, list, range, text};

pub(in super::super) fn request(body: &Value) -> Vec<String> {
    let mut faults = Faults(SCHEMA.check("request", body, "body"));
    faults.unless(!text(body, "model").is_empty(), "model", "is empty");
    messages(list(&body["messages"]), &mut faults);
    tools(body, &mut faults);
    choice(body, &mut faults);
    format(body, &mut faults);
    numbers(body, &mut faults);
    reasoning(body, &mut faults);
    openai::metadata(&body["metadata"], "metadata", &mut faults);
    let stops = body["stop"].as_array().map_or(1, Vec::len);
    faults.unless((1..=4).contains(&stops), "stop", "has to have 1 to 4 elements");
    let streams = body["stream"] == true;
    faults.unless(streams || body["stream_options"].is_null(), "stream_options", "is only allowed with stream");
    faults.0
}

/// Each call has to be answered before the next message that is not one of its answers.
fn messages(messages: &[Value], faults: &mut Faults) {
    faults.unless(!messages.is_empty(), "messages", "is empty");
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let path = format!("messages[{index}]");
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            faults.unless(open.remove(id), &path, format!("{id:?} answers no call of the message before"));
        } else {
            faults.unless(open.is_empty(), &path, format!("the calls {open:?} are not answered before"));
            open.clear();
        }
        content(message, &path, faults);
        if text(message, "role") == "assistant" {
            assistant(message, &path, faults);
        }
        for call in list(&message["tool_calls"]) {
            let id = text(call, "id");
            faults.unless(known.insert(id), &path, format!("the call {id:?} is there twice"));
            open.insert(id);
        }
    }
    faults.unless(open.is_empty(), "messages", format!("the calls {open:?} are not answered"));
}

fn content(message: &Value, path: &str, faults: &mut Faults) {
    let content = &message["content"];
    faults.unless(content.as_array().is_none_or(|parts| !parts.is_empty()), path, "content is an empty list");
    for (index, part) in list(content).iter().enumerate() {
        let path = format!("{path}.content[{index}]");
        match text(part, "type") {
            "image_url" => openai::image_url(&part["image_url"]["url"], &path, faults),
            "input_audio" => {
                let data = text(&part["input_audio"], "data");
                faults.unless(openai::is_base64(data), &path, "data is no Base64");
            }
            "file" => file(&part["file"], &path, faults),
            _ => {}
        }
    }
}

fn file(file: &Value, path: &str, faults: &mut Faults) {
    let has = |member| !file[member].is_null();
    faults.unless(has("file_id") != has("file_data"), path, "a file has either file_id or file_data");
    if has("file_data") {
        faults.unless(has("filename"), path, "file_data has to have a filename");
        openai::file_data(&file["file_data"], path, faults);
    }
}

fn assistant(message: &Value, path: &str, faults: &mut Faults) {
    let has = |member: &str| message.get(member).is_some_and(|value| !value.is_null());
    let says = ["content", "tool_calls", "function_call", "refusal", "audio"].into_iter().any(has);
    faults.unless(says, path, "has neither content nor calls");
    let calls = message["tool_calls"].as_array();
    faults.unless(calls.is_none_or(|calls| !calls.is_empty()), path, "tool_calls is an empty list");
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let path = format!("{path}.tool_calls[{index}]");
        openai::call_id(&call["id"], &path, faults);
        if text(call, "type") == "custom" {
            openai::name(&call["custom"]["name"], &path, faults);
        } else {
            openai::name(&call["function"]["name"], &path, faults);
            openai::arguments(&call["function"]["arguments"], &path, faults);
        }
    }
}

fn tools(body: &Value, faults: &mut Faults) {
    let Some(tools) = body["tools"].as_array() else {
        for member in ["tool_choice", "parallel_tool_calls"] {
            let is_there = !body[member].is_null();
            faults.unless(!is_there, member, "is only allowed when tools are specified");
        }
        return;
    };
    faults.unless((1..=128).contains(&tools.len()), "tools", "has to have 1 to 128 elements");
    let mut names = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let path = format!("tools[{index}]");
        let definition = &tool[text(tool, "type")];
        openai::name(&definition["name"], &path, faults);
        faults.unless(names.insert(text(definition, "name")), &path, "its name is there twice");
        openai::parameters(
            &definition["parameters"],
            definition["strict"] == true,
            &format!("{path}.parameters"),
            faults,
        );
    }
}

fn choice(body: &Value, faults: &mut Faults) {
    let choice = &body["tool_choice"];
    let is_known = |kind: &str, name: &str| {
        list(&body["tools"]).iter().any(|tool| text(tool, "type") == kind && text(&tool[kind], "name") == name)
    };
    let mut named = |one: &Value| {
        let kind = text(one, "type");
        let name = text(&one[kind], "name");
        faults.unless(is_known(kind, name), "tool_choice", format!("{name:?} is no tool of the request"));
    };
    match text(choice, "type") {
        "function" | "custom" => named(choice),
        "allowed_tools" => list(&choice["allowed_tools"]["tools"]).iter().for_each(named),
        _ => {}
    }
}

fn format(body: &Value, faults: &mut Faults) {
    let format = &body["response_format"];
    match text(format, "type") {
        "json_schema" => {
            let of = &format["json_schema"];
            openai::name(&of["name"], "response_format.json_schema.name", faults);
            let path = "response_format.json_schema.schema";
            faults.unless(of["schema"]["type"] == "object", path, "has to be a schema of type object");
            openai::schema(&of["schema"], of["strict"] == true, path, faults);
        }
        "json_object" => {
            let says = body["messages"].to_string().to_lowercase().contains("json");
            faults.unless(says, "response_format", "the messages have to contain the word json for json_object");
        }
        _ => {}
    }
}

fn numbers(body: &Value, faults: &mut Faults) {
    range(body, "temperature", 0.0, 2.0, faults);
    range(body, "top_p", 0.0, 1.0, faults);
    range(body, "presence_penalty", -2.0, 2.0, faults);
    range(body, "frequency_penalty", -2.0, 2.0, faults);
    range(body, "n", 1.0, 128.0, faults);
    range(body, "top_logprobs", 0.0, 20.0, faults);
    range(body, "max_tokens", 1.0, 1e9, faults);
    range(body, "max_completion_tokens", 1.0, 1e9, faults);
    let both = !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null();
    faults.unless(!both, "max_tokens", "must not stand beside max_completion_tokens");
    let top = body["top_logprobs"].is_null() || body["logprobs"] == true;
    faults.unless(top, "top_logprobs", "is only allowed with logprobs");
}

/// What models that think refuse.
/// <https://developers.openai.com/api/docs/guides/latest-model>, <https://developers.openai.com/api/docs/guides/deployment-checklist>
fn reasoning(body: &Value, faults: &mut Faults) {
    let model = text(body, "model");
    let effort = &body["reasoning_effort"];
    openai::effort(model, effort, "reasoning_effort", faults);
    if !openai::thinks(model) {
        return;
    }
    let mut refuse = |member: &str, is_harmless: bool| {
        faults.unless(is_harmless || body[member].is_null(), member, format!("{model} does not take it"));
    };
    refuse("max_tokens", false);
    ["presence_penalty", "frequency_penalty", "logit_bias"].into_iter().for_each(|member| refuse(member, false));
    refuse("stop", model.starts_with("gpt-"));
    let version = openai::gpt(model);
    let usually_not = version.is_some_and(|version| ((5, 1)..=(5, 4)).contains(&version));
    if effort != "none" && !(effort.is_null() && usually_not) {
        refuse("temperature", body["temperature"] == 1.0 || body["temperature"] == 1);
        refuse("top_p", body["top_p"] == 1.0 || body["top_p"] == 1);
        refuse("logprobs", body["logprobs"] == false);
        refuse("top_logprobs", false);
    }
    // "GPT-6 Astra and GPT-6.1 Sol require Responses for tool calling; GPT-6 Sol and GPT-6 Luna support function calling in Chat
    // Completions only with reasoning_effort: none." The name `gpt-6` stands for a model of no family, for which nothing is said.
    let is_bound = version.is_some_and(|version| version >= (5, 4)) && model != "gpt-6";
    let thinks = effort != "none" && !(effort.is_null() && usually_not);
    faults.unless(
        !(is_bound && thinks && body["tools"].is_array()),
        "tools",
        format!("{model} takes tools here only without reasoning"),
    );
}
