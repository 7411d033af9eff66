//! The channel that answers from inside: a new user's first answer.

use serde_json::{Value, json};

use crate::check;
use crate::support::client::End;
use crate::support::host::Host;
use crate::support::stage::{new_key, unique, usage_of};
use crate::support::vendors::{Wire, data};

struct Echo {
    host: &'static Host,
    model: String,
    key_name: String,
    key: String,
}

impl Echo {
    async fn new() -> Self {
        let host = Host::shared();
        let (name, key_name, key) = (format!("echo-{}", unique()), format!("key-{}", unique()), new_key());
        host.import(&json!({
            "providers": [{"name": name, "channel": "echo"}],
            "keys": [{"name": key_name, "key": key}],
        }))
        .await;
        Self { host, model: format!("{name}/echo"), key_name, key }
    }

    async fn ask(&self, wire: Wire, stream: bool, body: &Value) -> crate::support::client::Reply {
        let mut body = body.clone();
        if wire != Wire::Gemini {
            body["model"] = self.model.as_str().into();
            body["stream"] = stream.into();
        }
        self.host.post(wire.target(&self.model, stream), body.to_string()).key(&self.key).send().await
    }
}

fn question(wire: Wire) -> Value {
    match wire {
        Wire::Chat | Wire::Claude => json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "no"},
            {"role": "user", "content": [{"type": "text", "text": "one two 北京"}]},
        ]}),
        Wire::Responses => {
            json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "one two 北京"}]}]})
        }
        Wire::Gemini => json!({"contents": [{"parts": [{"text": "one two 北京"}]}]}),
    }
}

fn text_of(wire: Wire, answer: &Value) -> &Value {
    match wire {
        Wire::Chat => &answer["choices"][0]["message"]["content"],
        Wire::Responses => &answer["output"][0]["content"][0]["text"],
        Wire::Claude => &answer["content"][0]["text"],
        Wire::Gemini => &answer["candidates"][0]["content"]["parts"][0]["text"],
    }
}

fn delta_of(wire: Wire, event: &Value) -> &str {
    let delta = match wire {
        Wire::Chat => &event["choices"][0]["delta"]["content"],
        Wire::Responses if event["type"] == "response.output_text.delta" => &event["delta"],
        Wire::Claude => &event["delta"]["text"],
        Wire::Gemini => &event["candidates"][0]["content"]["parts"][0]["text"],
        Wire::Responses => &Value::Null,
    };
    delta.as_str().unwrap_or_default()
}

#[tokio::test]
async fn echo_repeats_the_last_text_of_the_user_in_each_dialect() {
    for wire in Wire::ALL {
        let echo = Echo::new().await;
        let reply = echo.ask(wire, false, &question(wire)).await.expect(200);
        assert_eq!(text_of(wire, &reply.json()), "one two 北京", "{wire:?}");
        let reply = echo.ask(wire, true, &question(wire)).await.expect(200);
        assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
        let events: Vec<Value> = reply
            .text()
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect();
        let deltas: Vec<&str> =
            events.iter().map(|event| delta_of(wire, event)).filter(|text| !text.is_empty()).collect();
        assert_eq!(deltas, ["one", " two", " 北京"], "{wire:?}");
        let total = usage_of(echo.host, &echo.key_name, 2).await;
        assert_eq!((&total["failed_calls"], &total["estimated_calls"]), (&json!(0), &json!(0)), "{wire:?}: {total}");
        assert!(total["input"].as_i64() > Some(0) && total["output"].as_i64() > Some(0), "{wire:?}: {total}");
    }
}

#[tokio::test]
async fn echo_tells_usage_in_a_chat_stream_only_on_request() {
    let echo = Echo::new().await;
    for (options, told) in [(json!(null), false), (json!({"include_usage": true}), true)] {
        let mut body = question(Wire::Chat);
        body["stream_options"] = options;
        let reply = echo.ask(Wire::Chat, true, &body).await.expect(200);
        assert_eq!(reply.text().contains("prompt_tokens"), told, "{}", reply.text());
        assert!(reply.text().ends_with(&data("[DONE]")));
    }
}

#[tokio::test]
async fn echo_counts_tokens_in_each_dialect_that_can_ask() {
    let echo = Echo::new().await;
    let model = &echo.model;
    for (wire, target, member) in [
        (Wire::Responses, "/v1/responses/input_tokens".to_owned(), "input_tokens"),
        (Wire::Claude, "/v1/messages/count_tokens".to_owned(), "input_tokens"),
        (Wire::Gemini, format!("/v1beta/models/{model}:countTokens"), "totalTokens"),
    ] {
        let mut body = question(wire);
        body["model"] = model.as_str().into();
        let reply = echo.host.post(target, body.to_string()).key(&echo.key).send().await.expect(200);
        assert!(reply.json()[member].as_i64() > Some(0), "{wire:?}: {}", reply.text());
    }
}

#[tokio::test]
async fn echo_says_what_it_cannot_do() {
    let echo = Echo::new().await;
    for wire in Wire::ALL {
        let reply = echo.ask(wire, false, &json!({})).await;
        check::error(&reply, wire, 400, "invalid_request");
    }
    let body = json!({"model": echo.model, "input": "a"});
    let reply = echo.host.post("/v1/embeddings", body.to_string()).key(&echo.key).send().await;
    check::error(&reply, Wire::Chat, 400, "dialect_unsupported");
}

#[tokio::test]
async fn an_echo_stream_arrives_in_pieces_and_ends() {
    let echo = Echo::new().await;
    let mut body = question(Wire::Claude);
    body["model"] = echo.model.as_str().into();
    body["stream"] = true.into();
    let mut stream = echo.host.post("/v1/messages", body.to_string()).key(&echo.key).open().await;
    let (text, end) = stream.rest_text().await;
    assert_eq!(end, End::Complete);
    assert!(
        text.starts_with("event: message_start\n") && text.ends_with("data: {\"type\":\"message_stop\"}\n\n"),
        "{text}"
    );
}
