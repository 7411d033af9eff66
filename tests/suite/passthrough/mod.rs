//! A client and a vendor of the same dialect: everything that the gateway does not own keeps its bytes, both ways.

mod chat;
mod claude;
mod echo;
mod embeddings;
mod gemini;
mod responses;
mod token_counts;

use serde_json::json;

use crate::support::client::End;
use crate::support::script::{Answer, Framing, Gate};
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, sse};

/// The body as the vendor should get it: the client's, with the model as the vendor names it.
fn for_vendor(stage: &Stage<'_>, body: &str) -> String {
    body.replace(&stage.model(), "vendor-model")
}

#[tokio::test]
async fn a_buffered_answer_keeps_its_bytes_both_ways() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let reply = stage.answered(Answer::json(200, wire.answer())).await;
        assert_eq!((reply.status, reply.text()), (200, wire.answer().as_str()), "{wire:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.header("x-provider"), Some(stage.provider.as_str()));
        assert!(!reply.request_id().is_empty());
        let sent = stage.recorded();
        assert_eq!(sent.method, "POST");
        assert_eq!(sent.target, wire.target("vendor-model", false));
        assert_eq!(sent.text(), for_vendor(&stage, &wire.request(&stage.model(), false)), "{wire:?}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

#[tokio::test]
async fn a_streamed_answer_keeps_its_bytes_both_ways() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let mut stream = stage.streamed(Answer::sse(wire.events())).await;
        assert_eq!(stream.status, 200);
        assert_eq!(stream.headers["content-type"], "text/event-stream; charset=utf-8");
        assert_eq!(stream.headers["x-provider"], stage.provider.as_str());
        assert!(stream.headers.contains_key("x-gateway-request-id"));
        assert_eq!(stream.rest_text().await, (sse(wire.events_for_client()), End::Complete), "{wire:?}");
        let sent = stage.recorded();
        assert_eq!(sent.target, wire.target("vendor-model", true));
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

/// An event is with the client before the vendor has thought of the next one.
#[tokio::test]
async fn events_are_not_held_back() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let gate = Gate::new();
        let answer = wire.events().into_iter().fold(Answer::events(), |answer, event| answer.piece(event).wait(&gate));
        let mut stream = stage.streamed(answer).await;
        let for_client = wire.events_for_client();
        for event in wire.events() {
            if for_client.contains(&event) {
                stream.expect(&event).await;
            }
            gate.open();
        }
        assert_eq!(stream.rest_text().await, (String::new(), End::Complete), "{wire:?}");
    }
}

/// The head is with the client as soon as the first event is there: until then another provider could still answer.
#[tokio::test]
async fn the_head_of_a_stream_comes_with_its_first_event() {
    let stage = Stage::new(Wire::Responses).await;
    let gate = Gate::new();
    let mut events = Wire::Responses.events().into_iter();
    let answer = Answer::events().header("x-request-id", "req_1").pieces(events.next()).wait(&gate).pieces(events);
    let mut stream = stage.streamed(answer).await;
    assert_eq!(stream.headers["x-request-id"], "req_1");
    gate.open();
    assert_eq!(stream.rest_text().await, (sse(Wire::Responses.events()), End::Complete));
}

#[tokio::test]
async fn a_buffered_answer_is_passed_on_in_any_framing() {
    for framing in [Framing::Length, Framing::Chunked, Framing::UntilClose] {
        let stage = Stage::new(Wire::Chat).await;
        let body = Wire::Chat.answer();
        let (head, tail) = body.split_at(body.len() / 2);
        let answer = Answer::new(200).header("content-type", "application/json").framing(framing);
        let reply = stage.answered(answer.pieces([head.to_owned(), tail.to_owned()])).await;
        assert_eq!((reply.status, reply.text()), (200, body.as_str()), "{framing:?}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

#[tokio::test]
async fn a_large_request_and_a_large_answer_pass() {
    let stage = Stage::new(Wire::Claude).await;
    let long = "北京 🌍 ".repeat(100_000);
    let body = format!(r#"{{"model":"{}","messages":[{{"role":"user","content":"{long}"}}]}}"#, stage.model());
    let answer = crate::support::vendors::claude::answer(&long, 3, 4);
    stage.upstream.answer(Answer::json(200, answer.clone()));
    let reply = stage.post("/v1/messages", body.clone()).send().await;
    assert!(reply.text() == answer, "the answer is not the same");
    assert!(stage.recorded().text() == for_vendor(&stage, &body), "the request is not the same");
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 3), ("output", 4)]);
}

#[tokio::test]
async fn a_route_gives_the_model_another_name() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let route = format!("public-{}", stage.provider);
        let members = [json!({"provider": stage.provider, "model": "the \"real\" one"})];
        stage.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
        stage.upstream.answer(Answer::json(200, wire.answer()));
        let body = wire.request(&route, false);
        stage.post(&wire.target(&route, false), body.clone()).send().await.expect(200);
        let sent = stage.recorded();
        if wire == Wire::Gemini {
            assert_eq!(sent.target, "/v1beta/models/the%20%22real%22%20one:generateContent");
            assert_eq!(sent.text(), body);
        } else {
            assert_eq!(sent.text(), body.replace(&route, r#"the \"real\" one"#));
        }
    }
}

/// A literal name with a slash that an operator has published goes before the prefix form.
#[tokio::test]
async fn a_published_name_goes_before_a_prefix() {
    let stage = Stage::new(Wire::Chat).await;
    let name = stage.model();
    let members = [json!({"provider": stage.provider, "model": "behind-the-name"})];
    stage.host.import(&json!({"routes": [{"name": name, "members": members}]})).await;
    stage.answered(Answer::json(200, Wire::Chat.answer())).await.expect(200);
    assert_eq!(stage.recorded().json()["model"], "behind-the-name");
}

#[tokio::test]
async fn a_model_name_may_have_more_slashes() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let body = Wire::Chat.request(&format!("{}/meta/llama:70b", stage.provider), false);
    stage.post("/v1/chat/completions", body).send().await.expect(200);
    assert_eq!(stage.recorded().json()["model"], "meta/llama:70b");
}

/// A connection that the vendor has closed in the meantime is not noticed by the client.
#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced() {
    let stage = Stage::new(Wire::Chat).await;
    for _ in 0..4 {
        let answer = Answer::json(200, Wire::Chat.answer()).ending(crate::support::script::Ending::Closed);
        stage.answered(answer).await.expect(200);
    }
    assert_eq!(stage.upstream.connections(), 4);
}

#[tokio::test]
async fn connections_to_a_vendor_are_kept() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for _ in 0..20 {
        stage.call(false).send().await.expect(200);
    }
    // Each isolate has its own.
    assert!(stage.upstream.connections() <= 2, "{}", stage.upstream.connections());
}
