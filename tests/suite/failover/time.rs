//! Time limits, and clients that leave a stream which is read to its end all the same.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::OnceCell;

use super::route_over;
use crate::check;
use crate::support::client::{Call, End};
use crate::support::host::{Host, learns_of_leaving_clients};
use crate::support::script::{Answer, Ending, Gate};
use crate::support::setup::Setup;
use crate::support::stage::Stage;
use crate::support::vendors::{Wire, sse};

fn with_patience(stage: &Stage<'_>, model: &str, stream: bool, millis: u32) -> Call {
    let call = stage.post(&stage.wire.target(model, stream), stage.wire.request(model, stream));
    call.header("x-gateway-timeout-ms", &millis.to_string())
}

/// The client's time bounds the whole request: nobody else is asked when it is up.
#[tokio::test]
async fn a_request_ends_with_its_own_time() {
    for wire in Wire::ALL {
        for stream in [false, true] {
            let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
            let model = route_over(&[&first, &second], json!({})).await;
            first.upstream.answer(Answer::none(Ending::Silent));
            let started = Instant::now();
            let reply = with_patience(&first, &model, stream, 400).send().await;
            check::error(&reply, wire, 504, "deadline_exceeded");
            assert_eq!(reply.header("x-gateway-attempts"), Some("1"));
            assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
            assert!(second.upstream.requests().is_empty());
            // That the prompt was read is the least that can be assumed.
            let total = first.usage(1).await;
            let counts = ["requests", "calls", "failed_calls", "estimated_calls", "output"].map(|name| &total[name]);
            assert_eq!(counts, [&json!(1), &json!(1), &json!(1), &json!(1), &json!(0)], "{total}");
            assert!(total["input"].as_i64().is_some_and(|input| input > 0), "{total}");
        }
    }
}

/// Once the response has begun, it ends with the dialect's error event.
#[tokio::test]
async fn a_stream_ends_with_the_requests_time() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let beginning = wire.events()[..3].to_vec();
        stage.upstream.answer(Answer::sse(beginning.clone()).ending(Ending::Silent));
        let mut stream = with_patience(&stage, &stage.model(), true, 700).open().await;
        let (text, end) = stream.rest_text().await;
        let rest = text.strip_prefix(&sse(beginning)).unwrap_or_else(|| panic!("{wire:?}: {text}"));
        assert!(rest.to_lowercase().contains("upstream_timeout") && rest.ends_with("\n\n"), "{wire:?}: {rest}");
        assert_eq!(end, End::Complete);
        assert_eq!(stage.usage(1).await["failed_calls"], 1);
    }
}

#[tokio::test]
async fn a_time_that_is_none_is_refused() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for value in ["0", "-5", "soon", "1.5", ""] {
            let reply = stage.call(false).header("x-gateway-timeout-ms", value).send().await;
            let message = check::error(&reply, wire, 400, "invalid_request");
            assert!(message.contains("x-gateway-timeout-ms"), "{message}");
        }
        assert!(stage.upstream.requests().is_empty());
        stage.upstream.answer(Answer::json(200, wire.answer()));
        with_patience(&stage, &stage.model(), false, 60_000).send().await.expect(200);
    }
}

/// A provider's own limits make it pass the turn on: until the head, until the first piece of a stream, between two, and in all.
#[tokio::test]
async fn a_provider_that_is_too_slow_is_passed_over() {
    let opening = || Wire::Claude.events()[..1].to_vec();
    for (timeouts, slow) in [
        (json!({"first_byte_ms": 400}), Answer::none(Ending::Silent)),
        (json!({"first_byte_ms": 400}), Answer::events().ending(Ending::Silent)),
        (json!({"idle_ms": 400}), Answer::sse(opening()).ending(Ending::Silent)),
        (json!({"total_ms": 400}), Answer::sse(opening()).ending(Ending::Silent)),
        (json!({"total_ms": 400}), Answer::none(Ending::Silent)),
    ] {
        let (first, second) =
            (Stage::with(Wire::Claude, json!({"timeouts": timeouts})).await, Stage::new(Wire::Claude).await);
        let model = route_over(&[&first, &second], json!({})).await;
        first.upstream.answer(slow);
        second.upstream.answer(Answer::sse(Wire::Claude.events()));
        let started = Instant::now();
        let mut stream = first.post("/v1/messages", Wire::Claude.request(&model, true)).open().await;
        assert_eq!(stream.rest_text().await, (sse(Wire::Claude.events()), End::Complete), "{timeouts}");
        assert!(started.elapsed() < Duration::from_secs(5), "{timeouts}: {:?}", started.elapsed());
    }
}

/// A stream that goes on and on ends with the provider's limit.
#[tokio::test]
async fn a_stream_ends_with_the_providers_total() {
    let stage = Stage::with(Wire::Chat, json!({"timeouts": {"total_ms": 600}})).await;
    let word = Wire::Chat.events().swap_remove(1);
    let endless =
        (0..100).fold(Answer::events(), |answer, _| answer.piece(word.clone()).pause(Duration::from_millis(50)));
    let mut stream = stage.streamed(endless).await;
    let (text, end) = stream.rest_text().await;
    assert!(text.contains("upstream_timeout"), "{text}");
    assert_eq!(end, End::Complete);
}

/// A client that gives a stream too little time says nothing of the provider; the provider's own limit does.
#[tokio::test]
async fn a_clients_patience_is_not_the_providers_fault() {
    let breaker = json!({"failure_threshold": 1, "refuse": true});
    for (members, patience, status) in [
        (json!({"breaker": breaker}), 1500, 200),
        (json!({"breaker": breaker, "timeouts": {"total_ms": 600}}), 60_000, 503),
    ] {
        let stage = Stage::with(Wire::Chat, members).await;
        let word = Wire::Chat.events().swap_remove(1);
        let endless =
            (0..200).fold(Answer::events(), |answer, _| answer.piece(word.clone()).pause(Duration::from_millis(50)));
        stage.upstream.answer(endless);
        let mut stream = with_patience(&stage, &stage.model(), true, patience).open().await;
        let (text, end) = stream.rest_text().await;
        assert!(text.contains("upstream_timeout"), "{text}");
        assert_eq!(end, End::Complete);
        stage.usage(1).await;
        stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
        let reply = stage.call(false).send().await;
        assert_eq!(reply.status, status, "{patience}: {}", reply.text());
    }
}

/// A gateway that reads streams to their ends.
async fn draining_host() -> &'static Host {
    static HOST: OnceCell<Host> = OnceCell::const_new();
    HOST.get_or_init(|| async {
        let host = Host::start(Setup::default().one_isolate());
        host.import(&json!({"settings": {"stream": {"on_client_close": "drain"}}})).await;
        host
    })
    .await
}

/// The vendor is read to its end, so its own figures are known although the client has left.
#[tokio::test]
async fn a_stream_that_was_left_is_read_for_its_figures() {
    for wire in Wire::ALL {
        let stage = Stage::on(draining_host().await, wire).await;
        let gate = Gate::new();
        let events = wire.events();
        let beginning = events[..3].to_vec();
        let rest = events[3..].to_vec();
        // A host that learns of leaving by a failed write has to write something first.
        let pause = Duration::from_millis(300);
        let answer = Answer::sse(beginning.clone()).wait(&gate).piece(": more\n\n").pause(pause);
        let mut stream = stage.streamed(answer.pieces(rest)).await;
        stream.expect(&sse(beginning)).await;
        drop(stream);
        tokio::time::sleep(Duration::from_millis(100)).await;
        gate.open();
        let total = stage.usage(1).await;
        assert_eq!(
            (&total["input"], &total["output"], &total["estimated_calls"]),
            (&json!(11), &json!(5), &json!(0)),
            "{wire:?}"
        );
        if learns_of_leaving_clients() {
            assert_eq!(total["failed_calls"], 1, "{wire:?}: {total}");
        }
        assert_eq!(stage.upstream.requests().len(), 1);
    }
}
