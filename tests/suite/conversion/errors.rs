//! A vendor's errors, for clients of another dialect.

use serde_json::json;

use super::{call, minimal, pairs, stage};
use crate::support::script::Answer;
use crate::support::vendors::{Wire, message_of};

/// B40, B41: status, words and waiting time arrive in the client's envelope.
#[tokio::test]
async fn b40_an_error_is_told_in_the_clients_envelope() {
    for (client, vendor) in pairs() {
        for status in [400, 404, 413, 429, 500, 503] {
            for stream in [false, true] {
                let stage = stage(vendor).await;
                let answer = Answer::json(status, vendor.vendor_error(status, "no more of this"));
                stage.upstream.always(answer.header("retry-after", "7"));
                let reply = call(&stage, client, minimal(client), stream).send().await;
                let what = format!("{vendor:?} for {client:?}, {status}: {}", reply.text());
                assert_eq!(reply.status, status, "{what}");
                assert_eq!(reply.header("retry-after"), Some("7"), "{what}");
                assert_eq!(reply.header("content-type"), Some("application/json"), "{what}");
                let body = reply.json();
                assert_eq!(message_of(&body), "no more of this", "{what}");
                let typed = match client {
                    Wire::Chat | Wire::Responses => {
                        body["error"]["type"].is_string() && !body["error"]["code"].is_number()
                    }
                    Wire::Claude => body["type"] == "error" && body["error"]["type"].is_string(),
                    Wire::Gemini => body["error"]["code"] == status && body["error"]["status"].is_string(),
                };
                assert!(typed, "{what}");
            }
        }
    }
}

/// B41: when to come back is understood in every form, and told in the client's.
#[tokio::test]
async fn b41_the_waiting_time_is_understood_and_told() {
    for (client, vendor) in pairs() {
        let retry_info = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"});
        let gemini = json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": [retry_info]}});
        let stage = stage(vendor).await;
        let answer = match vendor {
            Wire::Gemini => Answer::json(429, gemini.to_string()),
            _ => Answer::json(429, vendor.vendor_error(429, "slow down")).header("retry-after-ms", "12500"),
        };
        stage.upstream.always(answer);
        let reply = call(&stage, client, minimal(client), false).send().await;
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("13")), "{vendor:?} for {client:?}");
        if client == Wire::Gemini {
            let details = reply.json()["error"]["details"].to_string();
            assert!(details.contains(r#""retryDelay":"13s""#), "{details}");
        }
    }
}

/// Agents shorten their history when they are told that it is too long, each in its own words.
#[tokio::test]
async fn a_prompt_that_is_too_long_is_told_as_such() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        let words = match vendor {
            Wire::Claude => "prompt is too long: 210000 tokens > 200000 maximum",
            Wire::Gemini => "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Wire::Chat | Wire::Responses => "This model's maximum context length is 128000 tokens.",
        };
        stage.upstream.always(Answer::json(400, vendor.vendor_error(400, words)));
        let reply = call(&stage, client, minimal(client), false).send().await;
        if (client, vendor) == (Wire::Chat, Wire::Responses) || (client, vendor) == (Wire::Responses, Wire::Chat) {
            // Their errors are alike and pass as they are.
            assert_eq!(reply.json()["error"]["code"], "vendor_code");
            continue;
        }
        let error = reply.json()["error"].clone();
        let code = match client {
            Wire::Claude => &error["details"]["error_code"],
            Wire::Gemini => &error["details"][0]["reason"],
            Wire::Chat | Wire::Responses => &error["code"],
        };
        assert_eq!(code.as_str().unwrap().to_ascii_lowercase(), "context_length_exceeded", "{vendor:?} for {client:?}");
        let message = error["message"].as_str().unwrap();
        assert!(client != Wire::Claude || message.starts_with("prompt is too long"), "{message}");
    }
}

/// The pool's credential is no fault of the client's.
#[tokio::test]
async fn a_refused_credential_is_the_gateways_own_trouble() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        stage.upstream.answer(Answer::json(401, vendor.vendor_error(401, "bad key")));
        let reply = call(&stage, client, minimal(client), false).send().await;
        assert_eq!(reply.status, 502);
        assert!(!reply.text().contains("bad key"));
    }
}

/// What is no answer of its dialect is not passed on.
#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_error() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        for body in ["{\"unexpected\":", "[]", "7", "null"] {
            stage.upstream.answer(Answer::json(200, body));
            let reply = call(&stage, client, minimal(client), false).send().await;
            assert_eq!(reply.status, 502, "{vendor:?} for {client:?}: {body} became {}", reply.text());
        }
    }
}

/// A request that is nonsense in its own dialect is refused before anybody is asked.
#[tokio::test]
async fn a_malformed_request_is_refused() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let bodies = match client {
            Wire::Chat => [r#"{"messages":7}"#.to_owned(), format!(r#"{{"messages":{deep}}}"#)],
            Wire::Responses => [r#"{"input":7}"#.to_owned(), format!(r#"{{"input":{deep}}}"#)],
            Wire::Claude => {
                [r#"{"max_tokens":1,"messages":7}"#.to_owned(), format!(r#"{{"max_tokens":1,"messages":{deep}}}"#)]
            }
            Wire::Gemini => [r#"{"contents":7}"#.to_owned(), format!(r#"{{"contents":{deep}}}"#)],
        };
        for body in bodies {
            let model = stage.model();
            let body = match client {
                Wire::Gemini => body,
                _ => body.replacen('{', &format!(r#"{{"model":"{model}","#), 1),
            };
            let reply = stage.post(&client.target(&model, false), body).send().await;
            assert_eq!(reply.status, 400, "{vendor:?} for {client:?}: {}", reply.text());
        }
        assert!(stage.upstream.requests().is_empty());
    }
}
