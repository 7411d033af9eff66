//! Token counts across dialects.

use serde_json::{Value, json};

use super::stage;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::Wire;

fn question(client: Wire, model: &str) -> (String, Value) {
    match client {
        Wire::Claude => (
            "/v1/messages/count_tokens".to_owned(),
            json!({"model": model, "system": "Be brief", "messages": [{"role": "user", "content": "Hi"}]}),
        ),
        Wire::Responses => (
            "/v1/responses/input_tokens".to_owned(),
            json!({"model": model, "instructions": "Be brief", "input": "Hi"}),
        ),
        Wire::Gemini => (
            format!("/v1beta/models/{model}:countTokens"),
            json!({"generateContentRequest": {"model": format!("models/{model}"), "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
                "systemInstruction": {"parts": [{"text": "Be brief"}]}}}),
        ),
        Wire::Chat => unreachable!("Chat has no such operation"),
    }
}

fn count_in(client: Wire, body: &Value) -> i64 {
    let count = if client == Wire::Gemini { &body["totalTokens"] } else { &body["input_tokens"] };
    count.as_i64().unwrap_or_else(|| panic!("{body}"))
}

async fn ask(stage: &Stage<'_>, client: Wire) -> crate::support::client::Reply {
    let (target, body) = question(client, &stage.model());
    stage.post(&target, body.to_string()).send().await
}

#[tokio::test]
async fn the_vendor_counts_where_it_can() {
    let counters = [Wire::Claude, Wire::Responses, Wire::Gemini];
    for client in counters {
        for vendor in counters.into_iter().filter(|vendor| *vendor != client) {
            let stage = stage(vendor).await;
            let answer = match vendor {
                Wire::Gemini => r#"{"totalTokens":123}"#,
                _ => r#"{"object":"response.input_tokens","input_tokens":123}"#,
            };
            stage.upstream.answer(Answer::json(200, answer));
            let reply = ask(&stage, client).await.expect(200);
            assert_eq!(count_in(client, &reply.json()), 123, "{vendor:?} for {client:?}");
            assert_eq!(reply.header("x-gateway-token-count"), None);
            let sent = stage.recorded();
            let expected = match vendor {
                Wire::Claude => "/v1/messages/count_tokens",
                Wire::Responses => "/v1/responses/input_tokens",
                _ => "/v1beta/models/vendor-model:countTokens",
            };
            assert_eq!(sent.target, expected);
            assert!(sent.text().contains("Be brief") && sent.text().contains("Hi"), "{}", sent.text());
            for refused in ["max_tokens", "\"store\"", "\"stream\"", "max_output_tokens", "\"include\""] {
                assert!(!sent.text().contains(refused), "{}", sent.text());
            }
            check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1)]);
        }
    }
}

#[tokio::test]
async fn an_estimate_says_that_it_is_one() {
    for client in [Wire::Claude, Wire::Responses, Wire::Gemini] {
        let stage = stage(Wire::Chat).await;
        let reply = ask(&stage, client).await.expect(200);
        assert!((10..60).contains(&count_in(client, &reply.json())), "{}", reply.text());
        assert_eq!(reply.header("x-gateway-token-count"), Some("estimate"));
        assert!(stage.upstream.requests().is_empty());
        check_counts(&stage.usage(1).await, &[("requests", 1)]);
    }
}
