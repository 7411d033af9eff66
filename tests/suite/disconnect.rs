//! Clients that leave.

use std::time::Duration;

use serde_json::json;

use crate::heartbeat;
use crate::support::host::{Host, learns_of_leaving_clients};
use crate::support::raw::Raw;
use crate::support::script::{Answer, Ending, Framing, Gate};
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, sse};

/// How soon the vendor has to be let go. On Workers that takes a heartbeat or two.
const SOON: Duration = Duration::from_secs(5);

/// B32: the vendor stops being paid for what nobody reads, the request counts as left, and nobody else is asked.
#[tokio::test]
async fn b32_a_client_that_leaves_a_stream_frees_the_vendor() {
    let host = if learns_of_leaving_clients() { Host::shared() } else { heartbeat::host().await };
    for wire in Wire::ALL {
        let stage = Stage::on(host, wire).await;
        // The response begins with the first content.
        let beginning = wire.events()[..3].to_vec();
        let mut stream = stage.streamed(Answer::sse(beginning.clone()).ending(Ending::Silent)).await;
        stream.expect(&sse(beginning)).await;
        drop(stream);
        stage.upstream.abandoned(1, SOON).await;
        let total = stage.usage(1).await;
        assert_eq!((&total["calls"], &total["failed_calls"]), (&json!(1), &json!(1)), "{wire:?}: {total}");
        assert!(total["input"].as_i64() > Some(0), "{wire:?}: {total}");
        assert_eq!(stage.upstream.requests().len(), 1, "{wire:?}");
    }
}

/// B32: also while the vendor keeps on sending.
#[tokio::test]
async fn b32_a_client_that_leaves_a_busy_stream_frees_the_vendor() {
    let stage = Stage::new(Wire::Claude).await;
    let event = crate::support::vendors::claude::delta("word ");
    let mut answer = Answer::events();
    for _ in 0..1000 {
        answer = answer.piece(event.clone()).pause(Duration::from_millis(5));
    }
    let mut stream = stage.streamed(answer).await;
    for _ in 0..3 {
        stream.next().await.expect("more is to come").expect("nothing breaks");
    }
    drop(stream);
    stage.upstream.abandoned(1, SOON).await;
    assert_eq!(stage.usage(1).await["failed_calls"], 1);
}

/// B32: a client that leaves before the head of the answer frees the vendor as well.
#[tokio::test]
async fn b32_a_client_that_leaves_before_the_answer_frees_the_vendor() {
    if !learns_of_leaving_clients() {
        return;
    }
    for stream in [false, true] {
        let stage = Stage::new(Wire::Chat).await;
        stage.upstream.answer(Answer::none(Ending::Silent));
        let call = stage.call(stream);
        let waiting = tokio::spawn(async move { drop(call.try_open().await) });
        stage.upstream.received(1).await;
        waiting.abort();
        stage.upstream.abandoned(1, SOON).await;
        let total = stage.usage(1).await;
        assert_eq!((&total["calls"], &total["failed_calls"]), (&json!(1), &json!(1)), "{total}");
        assert_eq!(stage.upstream.requests().len(), 1);
    }
}

/// B32: leaving is no failure of the vendor's, so nobody else is asked.
#[tokio::test]
async fn b32_a_client_that_leaves_causes_no_failover() {
    if !learns_of_leaving_clients() {
        return;
    }
    let (first, second) = (Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await);
    let route = format!("route-{}", first.provider);
    let member = |stage: &Stage<'_>, tier: u32| json!({"provider": stage.provider, "model": "m", "tier": tier});
    let members = [member(&first, 0), member(&second, 1)];
    first.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    first.upstream.answer(Answer::none(Ending::Silent));
    let call = first.post("/v1/chat/completions", Wire::Chat.request(&route, true));
    let waiting = tokio::spawn(async move { drop(call.try_open().await) });
    first.upstream.received(1).await;
    waiting.abort();
    first.upstream.abandoned(1, SOON).await;
    assert_eq!(first.usage(1).await["calls"], 1);
    assert!(second.upstream.requests().is_empty());
}

/// Most clients leave as soon as they have read the end; that is a success.
#[tokio::test]
async fn a_client_that_leaves_after_the_end_has_had_its_answer() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let gate = Gate::new();
        let mut stream = stage.streamed(Answer::sse(wire.events()).wait(&gate)).await;
        stream.expect(&sse(wire.events_for_client())).await;
        drop(stream);
        if !learns_of_leaving_clients() {
            gate.open();
        }
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

/// A client that goes away within its own body has asked nothing.
#[tokio::test]
async fn a_request_that_breaks_off_reaches_no_vendor() {
    let stage = Stage::new(Wire::Chat).await;
    for ending in ["content-length: 500", "transfer-encoding: chunked"] {
        let mut client = Raw::connect(stage.host.address).await;
        let head = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n", stage.key);
        client.write(format!("{head}{ending}\r\n\r\n5\r\n{{\"mod\r\n")).await;
        drop(client);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(stage.upstream.requests().is_empty());
    assert!(stage.usage(0).await.is_null());
}

/// A buffered answer that nobody waits for is let go as well.
#[tokio::test]
async fn b32_a_client_that_leaves_a_buffered_answer_frees_the_vendor() {
    if !learns_of_leaving_clients() {
        return;
    }
    let stage = Stage::new(Wire::Chat).await;
    let body = Wire::Chat.answer();
    let answer = Answer::json(200, body[..20].to_owned()).framing(Framing::Claimed(body.len()));
    stage.upstream.answer(answer.ending(Ending::Silent));
    let call = stage.call(false);
    let reading = tokio::spawn(async move {
        if let Ok(mut stream) = call.try_open().await {
            stream.rest().await;
        }
    });
    stage.upstream.received(1).await;
    // Long enough for the beginning of the answer to arrive, where it is passed on at all.
    tokio::time::sleep(Duration::from_millis(100)).await;
    reading.abort();
    stage.upstream.abandoned(1, SOON).await;
    assert_eq!(stage.usage(1).await["failed_calls"], 1);
}

/// Whether a host learns of a client that left or carries the call to its end: the call is settled, once.
#[tokio::test]
async fn b32_a_client_that_leaves_before_the_answer_is_settled() {
    for stream in [false, true] {
        let stage = Stage::new(Wire::Claude).await;
        let gate = Gate::new();
        let answer = if stream { Answer::sse(Wire::Claude.events()) } else { Answer::json(200, Wire::Claude.answer()) };
        stage.upstream.answer(answer.wait_first(&gate));
        let call = stage.call(stream);
        let waiting = tokio::spawn(async move { drop(call.try_open().await) });
        stage.upstream.received(1).await;
        waiting.abort();
        tokio::time::sleep(Duration::from_millis(50)).await;
        gate.open();
        let total = stage.usage(1).await;
        assert_eq!((&total["requests"], &total["calls"]), (&json!(1), &json!(1)), "{total}");
        assert_eq!(stage.upstream.requests().len(), 1);
    }
}
