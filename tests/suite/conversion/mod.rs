//! A client of one dialect and a vendor of another.

mod counts;
mod embeddings;
mod endings;
mod errors;
mod everything;
mod losses;
mod manners;
mod media;
mod thinking;
mod turns;

use serde_json::{Value, json};

use crate::support::client::{Call, Reply};
use crate::support::corpus::events;
use crate::support::host::Host;
use crate::support::stage::Stage;
use crate::support::validate;
use crate::support::vendors::Wire;

/// A vendor that speaks `wire` and nothing else.
pub async fn stage(wire: Wire) -> Stage<'static> {
    stage_on(Host::shared(), wire, json!({})).await
}

/// The same on a gateway of its own, with members of the provider's document replaced.
pub async fn stage_on<'a>(host: &'a Host, wire: Wire, members: Value) -> Stage<'a> {
    let mut all = json!({"dialects": [wire.dialect()]});
    for (name, value) in members.as_object().expect("members") {
        all[name] = value.clone();
    }
    Stage::on_with(host, wire, all).await
}

/// All pairs of a client and a vendor that do not understand each other.
pub fn pairs() -> impl Iterator<Item = (Wire, Wire)> {
    Wire::ALL.into_iter().flat_map(|client| client.others().map(move |vendor| (client, vendor)))
}

/// A model that the vendor really has; what it takes depends on its name.
pub fn upstream_model(vendor: Wire) -> &'static str {
    match vendor {
        Wire::Chat | Wire::Responses => "gpt-6",
        Wire::Claude => "claude-sonnet-4-5",
        Wire::Gemini => "gemini-3-pro",
    }
}

/// A request of a client that speaks `client`, for the vendor of `stage`.
pub fn call(stage: &Stage<'_>, client: Wire, body: &str, stream: bool) -> Call {
    let model = format!("{}/{}", stage.provider, upstream_model(stage.wire));
    let mut body: Value = serde_json::from_str(body).expect("a request");
    if client != Wire::Gemini {
        body["model"] = model.as_str().into();
        if stream {
            body["stream"] = true.into();
        } else if let Some(members) = body.as_object_mut() {
            members.remove("stream");
            members.remove("stream_options");
        }
    }
    stage.post(&client.target(&model, stream), body.to_string())
}

/// The smallest request.
pub fn minimal(client: Wire) -> &'static str {
    match client {
        Wire::Chat => r#"{"messages":[{"role":"user","content":"Hi"}]}"#,
        Wire::Responses => r#"{"input":"Hi"}"#,
        Wire::Claude => r#"{"max_tokens":9000,"messages":[{"role":"user","content":"Hi"}]}"#,
        Wire::Gemini => r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#,
    }
}

/// Checks that an answer is one that clients of `client` understand, and returns it.
#[track_caller]
pub fn understood(client: Wire, reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{client:?}: {}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let body = reply.json();
    let faults = validate::response(client.dialect_of_core(), &body);
    assert!(faults.is_empty(), "{client:?}: {faults:?} in {body}");
    body
}

/// Checks that a stream is one that clients of `client` understand, and returns its events.
#[track_caller]
pub fn understood_stream(client: Wire, reply: &Reply) -> Vec<(String, String)> {
    assert_eq!(reply.status, 200, "{client:?}: {}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let events = events(&reply.body);
    let faults = validate::stream(client.dialect_of_core(), &events);
    assert!(faults.is_empty(), "{client:?}: {faults:?} in {}", String::from_utf8_lossy(&reply.body));
    events
}

/// The text of a whole answer.
pub fn text_of(client: Wire, body: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let join = |texts: Vec<&str>| texts.concat();
    match client {
        Wire::Chat => body["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned(),
        Wire::Responses => {
            let items = list(&body["output"]);
            let parts: Vec<Value> = items.iter().flat_map(|item| list(&item["content"])).collect();
            join(
                parts
                    .iter()
                    .filter(|part| part["type"] == "output_text")
                    .filter_map(|part| part["text"].as_str())
                    .collect(),
            )
        }
        Wire::Claude => {
            let blocks = list(&body["content"]);
            join(
                blocks
                    .iter()
                    .filter(|block| block["type"] == "text")
                    .filter_map(|block| block["text"].as_str())
                    .collect(),
            )
        }
        Wire::Gemini => {
            let parts = list(&body["candidates"][0]["content"]["parts"]);
            join(parts.iter().filter(|part| part["thought"] != true).filter_map(|part| part["text"].as_str()).collect())
        }
    }
}

/// The text of a stream.
pub fn text_of_stream(client: Wire, events: &[(String, String)]) -> String {
    let data = events.iter().filter_map(|(_, data)| serde_json::from_str::<Value>(data).ok());
    data.map(|event| match client {
        Wire::Chat => event["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned(),
        Wire::Responses if event["type"] == "response.output_text.delta" => {
            event["delta"].as_str().unwrap_or_default().to_owned()
        }
        Wire::Claude if event["delta"]["type"] == "text_delta" => {
            event["delta"]["text"].as_str().unwrap_or_default().to_owned()
        }
        Wire::Gemini => text_of(Wire::Gemini, &event),
        Wire::Responses | Wire::Claude => String::new(),
    })
    .collect()
}

/// The names and the arguments of the calls of a whole answer.
pub fn calls_of(client: Wire, body: &Value) -> Vec<(String, Value)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parsed = |value: &Value| serde_json::from_str(value.as_str().unwrap_or_default()).expect("arguments are JSON");
    match client {
        Wire::Chat => list(&body["choices"][0]["message"]["tool_calls"])
            .iter()
            .map(|call| (text(&call["function"]["name"]), parsed(&call["function"]["arguments"])))
            .collect(),
        Wire::Responses => list(&body["output"])
            .iter()
            .filter(|item| item["type"] == "function_call")
            .map(|item| (text(&item["name"]), parsed(&item["arguments"])))
            .collect(),
        Wire::Claude => list(&body["content"])
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| (text(&block["name"]), block["input"].clone()))
            .collect(),
        Wire::Gemini => list(&body["candidates"][0]["content"]["parts"])
            .iter()
            .filter(|part| part["functionCall"].is_object())
            .map(|part| (text(&part["functionCall"]["name"]), part["functionCall"]["args"].clone()))
            .collect(),
    }
}
