//! HTTP/2 without TLS, as a proxy in front would speak it.

use std::time::Duration;

use super::setup;
use crate::check;
use crate::support::client::End;
use crate::support::host::Host;
use crate::support::script::{Answer, Ending, Gate};
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, sse};

#[tokio::test]
async fn answers_are_the_same_over_http2() {
    let host = Host::start(setup());
    for wire in Wire::ALL {
        let stage = Stage::on(&host, wire).await;
        stage.upstream.answer(Answer::json(200, wire.answer()));
        let reply = stage.call(false).http2().send().await;
        assert_eq!((reply.status, reply.text()), (200, wire.answer().as_str()));
        assert!(!reply.request_id().is_empty());
        stage.upstream.answer(Answer::sse(wire.events()));
        let mut stream = stage.call(true).http2().open().await;
        assert_eq!(stream.rest_text().await, (sse(wire.events_for_client()), End::Complete));
        stage.upstream.answer(Answer::json(429, wire.vendor_error(429, "no")).header("connection", "close"));
        stage.call(false).http2().send().await.expect(429);
        check::error(&stage.post(&wire.target("", false), "{").http2().send().await, wire, 400, "invalid_request");
        let counts = [("requests", 3), ("calls", 3), ("failed_calls", 1), ("input", 22), ("output", 10)];
        check_counts(&stage.usage(3).await, &counts);
    }
}

#[tokio::test]
async fn events_are_not_held_back_over_http2() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Claude).await;
    let gate = Gate::new();
    let events = Wire::Claude.events();
    let answer = events.iter().fold(Answer::events(), |answer, event| answer.piece(event.clone()).wait(&gate));
    stage.upstream.answer(answer);
    let mut stream = stage.call(true).http2().open().await;
    for event in &events {
        stream.expect(event).await;
        gate.open();
    }
    assert_eq!(stream.rest_text().await, (String::new(), End::Complete));
}

/// B32: over HTTP/2 a client leaves a stream, not the connection.
#[tokio::test]
async fn b32_a_client_that_leaves_over_http2_frees_the_vendor() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Claude).await;
    let first = Wire::Claude.events().swap_remove(0);
    stage.upstream.answer(Answer::sse([first.clone()]).ending(Ending::Silent));
    let mut stream = stage.call(true).http2().open().await;
    stream.expect(&first).await;
    drop(stream);
    stage.upstream.abandoned(1, Duration::from_secs(2)).await;
    assert_eq!(stage.usage(1).await["failed_calls"], 1);
}

/// B28: a stream that breaks off within an event is reset.
#[tokio::test]
async fn b28_a_broken_stream_breaks_over_http2() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Claude).await;
    let events = [Wire::Claude.events()[..3].concat(), "event: content_bl".to_owned()];
    let answer = Answer::sse(events.clone()).pause(Duration::from_millis(50)).ending(Ending::Closed);
    stage.upstream.answer(answer);
    let mut stream = stage.call(true).http2().open().await;
    assert_eq!(stream.rest_text().await.1, End::Broken);
}

#[tokio::test]
async fn large_bodies_pass_over_http2() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Chat).await;
    let long = "x".repeat(3_000_000);
    let answer = crate::support::vendors::chat::answer(&long, 1, 2);
    stage.upstream.answer(Answer::json(200, answer.clone()));
    let body = format!(r#"{{"model":"{}","x":"{long}"}}"#, stage.model());
    let reply = stage.post("/v1/chat/completions", body.clone()).http2().send().await;
    assert!(reply.text() == answer, "the answer is not the same");
    assert!(stage.recorded().text() == body.replace(&stage.model(), "vendor-model"), "the request is not the same");
}
