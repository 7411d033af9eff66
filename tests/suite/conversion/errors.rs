//! A vendor's errors, for clients of another dialect.

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
