//! Turns of a conversation over every pair.

use serde_json::json;

use super::{
    call, calls_of, minimal, pairs, stage, text_of, text_of_stream, understood, understood_stream, upstream_model,
};
use crate::support::client::End;
use crate::support::corpus::events;
use crate::support::script::{Answer, Gate};
use crate::support::vendors::Wire;

/// The text that the corpus has as the plainest answer.
fn plain_text(vendor: Wire) -> String {
    text_of(vendor, &serde_json::from_str(&vendor.case("response", "text")).expect("an answer"))
}

#[tokio::test]
async fn text_comes_back_whole_and_is_counted() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        stage.upstream.answer(Answer::json(200, vendor.case("response", "text")));
        let reply = call(&stage, client, minimal(client), false).send().await;
        let body = understood(client, &reply);
        assert_eq!(text_of(client, &body), plain_text(vendor), "{vendor:?} for {client:?}");
        assert_eq!(reply.header("x-provider"), Some(stage.provider.as_str()));
        assert_eq!(stage.recorded().target, vendor.target(upstream_model(vendor), false));
        let total = stage.usage(1).await;
        assert!(total["input"].as_i64() > Some(0) && total["output"].as_i64() > Some(0), "{total}");
        assert_eq!((&total["estimated_calls"], &total["failed_calls"]), (&json!(0), &json!(0)));
    }
}

#[tokio::test]
async fn text_comes_back_as_a_stream_and_is_counted() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        let stream = vendor.case("stream", if vendor == Wire::Chat { "text-with-usage" } else { "text" });
        let expected = text_of_stream(vendor, &events(stream.as_bytes()));
        stage.upstream.answer(Answer::events().piece(stream));
        let reply = call(&stage, client, minimal(client), true).send().await;
        let events = understood_stream(client, &reply);
        assert_eq!(text_of_stream(client, &events), expected, "{vendor:?} for {client:?}");
        assert_eq!(stage.recorded().target, vendor.target(upstream_model(vendor), true));
        let total = stage.usage(1).await;
        assert!(total["input"].as_i64() > Some(0) && total["output"].as_i64() > Some(0), "{total}");
        assert_eq!((&total["estimated_calls"], &total["failed_calls"]), (&json!(0), &json!(0)));
    }
}

/// A piece is with the client before the vendor has thought of the next one.
#[tokio::test]
async fn nothing_is_held_back() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        let stream = vendor.case("stream", if vendor == Wire::Chat { "text-with-usage" } else { "text" });
        let all = text_of_stream(vendor, &events(stream.as_bytes()));
        // Up to the end of the event that has the first text.
        let ends = stream.match_indices("\n\n").map(|(at, _)| at + 2);
        let cut = ends.into_iter().find(|end| !text_of_stream(vendor, &events(&stream.as_bytes()[..*end])).is_empty());
        let (head, tail) = stream.split_at(cut.expect("some text"));
        let first = text_of_stream(vendor, &events(head.as_bytes()));
        let gate = Gate::new();
        let answer = Answer::events().piece(head.to_owned()).wait(&gate).piece(tail.to_owned());
        stage.upstream.answer(answer);
        let mut answer = call(&stage, client, minimal(client), true).open().await;
        let mut seen = Vec::new();
        while text_of_stream(client, &events(&seen)).len() < first.len() {
            seen.extend_from_slice(&answer.next().await.expect("a piece before the vendor goes on").expect("no break"));
        }
        gate.open();
        let (rest, end) = answer.rest().await;
        seen.extend_from_slice(&rest);
        assert_eq!((text_of_stream(client, &events(&seen)), end), (all, End::Complete), "{vendor:?} for {client:?}");
    }
}

/// The case of the corpus with two calls at once.
fn parallel(vendor: Wire, kind: &str) -> String {
    let name = match (vendor, kind) {
        (Wire::Claude, _) => "tool-use-parallel",
        (Wire::Gemini, "stream") => "tool-call-parallel-in-one-event",
        _ => "tool-call-parallel",
    };
    vendor.case(kind, name)
}

#[tokio::test]
async fn parallel_calls_come_back_whole() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        let body = parallel(vendor, "response");
        let expected = calls_of(vendor, &serde_json::from_str(&body).expect("an answer"));
        assert!(expected.len() >= 2, "{vendor:?}");
        stage.upstream.answer(Answer::json(200, body));
        let reply = call(&stage, client, minimal(client), false).send().await;
        assert_eq!(calls_of(client, &understood(client, &reply)), expected, "{vendor:?} for {client:?}");
        let body = reply.json();
        let reason = match client {
            Wire::Chat => body["choices"][0]["finish_reason"].clone(),
            Wire::Responses => body["status"].clone(),
            Wire::Claude => body["stop_reason"].clone(),
            Wire::Gemini => body["candidates"][0]["finishReason"].clone(),
        };
        let expected = match client {
            Wire::Chat => "tool_calls",
            Wire::Responses => "completed",
            Wire::Claude => "tool_use",
            Wire::Gemini => "STOP",
        };
        assert_eq!(reason, expected, "{vendor:?} for {client:?}");
    }
}
