//! Attempts in time: pauses, deadlines, openings and streams that are read on.

use serde_json::json;
use tollgate::platform::body::Body;

use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::{Wire, claude, message_of};
use crate::support::world::{Isolate, KEY, Whole, World, next, provider, step};

/// A world whose Claude provider has these members.
async fn world(members: serde_json::Value) -> (World, Isolate) {
    let world = World::configured().await;
    let isolate = world.isolate();
    let mut document = provider(Wire::Claude);
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    isolate.import(&json!({"providers": [document]})).await;
    (world, isolate)
}

fn pieces(events: &[String], last: Option<Piece>) -> FakeAnswer {
    let events = events.iter().map(|event| Piece::Bytes(event.clone().into()));
    FakeAnswer::pieces(events.chain(last).collect())
}

#[tokio::test]
async fn a_retry_waits_and_grows() {
    let (world, isolate) = world(json!({"retry": {"max_retries": 2, "initial_delay_ms": 1000, "jitter": false}})).await;
    for _ in 0..2 {
        world.fetch.answer(FakeAnswer::json(500, Wire::Claude.vendor_error(500, "oops")));
    }
    world.fetch.answer(FakeAnswer::json(200, Wire::Claude.answer()));
    let mut asking = Box::pin(isolate.open(Wire::Claude, false));
    for (advance, calls) in [(0, 1), (999, 1), (1, 2), (1999, 2), (1, 3)] {
        world.advance(advance);
        let done = step(&mut asking).is_some();
        assert_eq!((done, world.fetch.requests().len()), (calls == 3, calls));
    }
}

async fn within(isolate: &Isolate, millis: u32, stream: bool) -> Whole {
    let body = Wire::Claude.request("claude/m", stream);
    let request = http::Request::builder()
        .method("POST")
        .uri("/v1/messages")
        .header("authorization", format!("Bearer {KEY}"))
        .header("x-gateway-timeout-ms", millis)
        .body(Body::Whole(body.into()));
    Whole::of(tollgate::http::handle(&isolate.gateway, &isolate.scope, request.unwrap()).await).await
}

/// The time that a client gives holds whatever its request waits for, a pause between two attempts included.
#[tokio::test]
async fn a_deadline_ends_whatever_is_waited_for() {
    for stream in [false, true] {
        let (world, isolate) =
            world(json!({"retry": {"max_retries": 9, "initial_delay_ms": 1500, "jitter": false}})).await;
        world.fetch.answer(FakeAnswer::json(500, Wire::Claude.vendor_error(500, "oops")));
        world.fetch.answer(FakeAnswer::Never);
        let reply = world.clock.hurry(within(&isolate, 4000, stream)).await;
        assert_eq!((reply.status, world.fetch.cancelled()), (504, 1), "{}", reply.text);
        assert!(message_of(&reply.json()).contains("x-gateway-timeout-ms"));
        assert_eq!(reply.headers["x-gateway-attempts"], "2");
        // The second has read the prompt, as far as anybody knows.
        let rows = world.store.run("SELECT error, estimated, input > 0 FROM usage ORDER BY call");
        let [failed, cut] = ["upstream_error", "deadline_exceeded"];
        assert_eq!(rows, [[failed.into(), 0.into(), 0.into()], [cut.into(), 1.into(), 1.into()]]);
    }
}

/// No pause is begun that the request does not live to see the end of: the last answer stands at once.
#[tokio::test]
async fn a_pause_that_outlasts_the_request_is_not_made() {
    let (world, isolate) = world(json!({"retry": {"max_retries": 9, "initial_delay_ms": 4500, "jitter": false}})).await;
    world.fetch.answer(FakeAnswer::json(500, Wire::Claude.vendor_error(500, "oops")));
    assert_eq!(within(&isolate, 4000, false).await.status, 500);
    assert_eq!(world.fetch.requests().len(), 1);
}

/// The response begins without content when that has been waited for long enough, and nothing is lost.
#[tokio::test]
async fn a_stream_is_read_ahead_for_a_while() {
    let (world, isolate) = world(json!({})).await;
    let (release, released) = tokio::sync::oneshot::channel();
    let mut answer: Vec<Piece> = Wire::Claude.events().into_iter().map(|event| Piece::Bytes(event.into())).collect();
    answer.insert(2, Piece::Wait(released));
    world.fetch.answer(FakeAnswer::pieces(answer));
    let mut opening = Box::pin(isolate.open(Wire::Claude, true));
    assert!(step(&mut opening).is_none());
    world.advance(9_999);
    assert!(step(&mut opening).is_none());
    world.advance(1);
    let response = step(&mut opening).expect("it has waited long enough");
    release.send(()).unwrap();
    assert_eq!(Whole::of(response).await.text, Wire::Claude.events().concat());
}

/// With `drain`, what the client has not stayed for is read for its figures, and settled once.
#[tokio::test]
async fn a_stream_that_was_left_is_drained() {
    let events = Wire::Claude.events();
    for (setting, last, outcome, tokens) in [
        ("drain", None, "client_closed", (11, 5)),
        ("drain", Some(Piece::Break), "client_closed", (11, 5)),
        ("cancel", None, "client_closed", (11, 1)),
    ] {
        let (world, isolate) = world(json!({})).await;
        isolate.import(&json!({"settings": {"stream": {"on_client_close": setting}}})).await;
        world.fetch.answer(pieces(&events, last));
        let Body::Stream(mut stream) = isolate.open(Wire::Claude, true).await.into_body() else { panic!("no stream") };
        for _ in 0..3 {
            next(&mut *stream).await.unwrap().unwrap();
        }
        drop(stream);
        assert_eq!(world.tasks.waiting(), usize::from(setting == "drain"));
        world.tasks.run().await;
        let rows = world.store.run("SELECT outcome, input, output FROM usage");
        assert_eq!(rows, [vec![outcome.into(), tokens.0.into(), tokens.1.into()]], "{setting}");
    }
    // Who has had the end has left nothing.
    let (world, isolate) = world(json!({})).await;
    isolate.import(&json!({"settings": {"stream": {"on_client_close": "drain"}}})).await;
    world.fetch.answer(pieces(&events, Some(Piece::Silence)));
    let Body::Stream(mut stream) = isolate.open(Wire::Claude, true).await.into_body() else { panic!("no stream") };
    for _ in &events {
        next(&mut *stream).await.unwrap().unwrap();
    }
    drop(stream);
    assert_eq!(world.tasks.waiting(), 0);
    assert_eq!(world.store.run("SELECT outcome FROM usage"), [vec!["ok".into()]]);
}

/// An account that has a problem in a stream is told from a provider that has.
#[tokio::test]
async fn an_error_in_a_stream_reaches_the_records_with_its_status() {
    let (world, isolate) = world(json!({})).await;
    let error =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    world.fetch.answer(pieces(&[claude::message_start(11, 1), error.to_owned()], None));
    let reply = isolate.ask(Wire::Claude, true).await;
    assert_eq!((reply.status, message_of(&reply.json())), (529, "busy"));
    let rows = world.store.run("SELECT status, error, outcome FROM usage");
    assert_eq!(rows, [vec![529.into(), "upstream_failed".into(), "failed".into()]]);
}
