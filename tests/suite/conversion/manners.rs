//! Clients get their answers whole or streamed as they ask, whatever their vendor can do.

use serde_json::json;

use super::{call, minimal, stage_on, text_of, text_of_stream, understood, understood_stream, upstream_model};
use crate::support::corpus::events;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::vendors::Wire;

fn stream_of(vendor: Wire) -> String {
    vendor.case("stream", if vendor == Wire::Chat { "text-with-usage" } else { "text" })
}

#[tokio::test]
async fn a_vendor_that_always_streams_serves_clients_that_do_not() {
    for client in Wire::ALL {
        for vendor in Wire::ALL {
            let stage = stage_on(Host::shared(), vendor, json!({"streaming": "always"})).await;
            stage.upstream.answer(Answer::events().piece(stream_of(vendor)));
            let reply = call(&stage, client, minimal(client), false).send().await;
            let body = understood(client, &reply);
            let expected = text_of_stream(vendor, &events(stream_of(vendor).as_bytes()));
            assert_eq!(text_of(client, &body), expected, "{vendor:?} for {client:?}");
            let sent = stage.recorded();
            assert_eq!(sent.target, vendor.target(upstream_model(vendor), true));
            assert!(vendor == Wire::Gemini || sent.json()["stream"] == true, "{}", sent.text());
            let total = stage.usage(1).await;
            assert!(total["input"].as_i64() > Some(0) && total["estimated_calls"] == 0, "{total}");
        }
    }
}

#[tokio::test]
async fn a_vendor_that_never_streams_serves_clients_that_do() {
    for client in Wire::ALL {
        for vendor in Wire::ALL {
            let stage = stage_on(Host::shared(), vendor, json!({"streaming": "never"})).await;
            let body = vendor.case("response", "text");
            let expected = text_of(vendor, &serde_json::from_str(&body).expect("an answer"));
            stage.upstream.answer(Answer::json(200, body));
            let reply = call(&stage, client, minimal(client), true).send().await;
            let events = understood_stream(client, &reply);
            assert_eq!(text_of_stream(client, &events), expected, "{vendor:?} for {client:?}");
            let sent = stage.recorded();
            assert_eq!(sent.target, vendor.target(upstream_model(vendor), false));
            assert!(!sent.text().contains("\"stream\":true"), "{}", sent.text());
        }
    }
}

/// A vendor may answer otherwise than it was asked.
#[tokio::test]
async fn a_document_instead_of_a_stream_becomes_one() {
    for client in Wire::ALL {
        for vendor in Wire::ALL {
            let stage = stage_on(Host::shared(), vendor, json!({})).await;
            stage.upstream.answer(Answer::json(200, vendor.case("response", "text")));
            let reply = call(&stage, client, minimal(client), true).send().await;
            if (client, vendor) == (Wire::Gemini, Wire::Gemini) {
                // It may be an array of events, as Gemini streams where it is not asked for events.
                assert_eq!(reply.status, 200);
            } else {
                understood_stream(client, &reply);
            }
        }
    }
}

/// A Gemini client that does not ask for events gets one array.
#[tokio::test]
async fn a_gemini_client_may_stream_an_array() {
    for vendor in Wire::Gemini.others() {
        let stage = stage_on(Host::shared(), vendor, json!({})).await;
        stage.upstream.answer(Answer::events().piece(stream_of(vendor)));
        let target = format!("/v1beta/models/{}:streamGenerateContent", stage.model());
        let reply = stage.post(&target, minimal(Wire::Gemini)).send().await.expect(200);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        let chunks = reply.json();
        let chunks = chunks.as_array().expect("an array");
        let text: String = chunks.iter().map(|chunk| text_of(Wire::Gemini, chunk)).collect();
        assert_eq!(text, text_of_stream(vendor, &events(stream_of(vendor).as_bytes())), "{vendor:?}");
    }
}
