//! How settlements are written, and what happens when that fails.

use serde_json::json;
use tollgate::platform::database::{DatabaseErrorKind, Intent};
use tollgate::platform::fetch::FetchErrorKind;

use crate::support::database::Trouble;
use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole, World, step};

/// One row for each call, the outcome on the last.
#[tokio::test]
async fn a_failover_has_a_row_for_each_call() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let members = [
        json!({"provider": "claude", "model": "a"}),
        json!({"provider": "claude", "model": "b", "tier": 1}),
        json!({"provider": "claude", "model": "c", "tier": 2}),
    ];
    isolate.import(&json!({"routes": [{"name": "pool", "members": members}]})).await;
    world.fetch.answer(FakeAnswer::json(429, "{}"));
    world.fetch.answer(FakeAnswer::Fail(FetchErrorKind::Timeout));
    world.fetch.answer(FakeAnswer::json(200, Wire::Claude.answer()));
    Whole::of(isolate.open_with(Wire::Claude, "pool", false, KEY).await).await;
    let rows =
        world.store.run("SELECT call, upstream_model, model, status, error, outcome, input FROM usage ORDER BY call");
    let row = |call: i64, upstream: &str, status: i64, error: Option<&str>, outcome: Option<&str>, input: i64| {
        vec![call.into(), upstream.into(), "pool".into(), status.into(), error.into(), outcome.into(), input.into()]
    };
    assert_eq!(
        rows,
        [
            row(0, "a", 429, Some("upstream_error"), None, 0),
            row(1, "b", 0, Some("upstream_timeout"), None, 0),
            row(2, "c", 200, None, Some("ok"), 11),
        ]
    );
}

/// Counting tokens costs nothing, however it ends.
#[tokio::test]
async fn counting_tokens_is_not_charged() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let ask = || isolate.send(http::Method::POST, "/v1/messages/count_tokens", KEY, r#"{"model":"claude/m"}"#);
    world.fetch.answer(FakeAnswer::json(200, r#"{"input_tokens":123}"#));
    Whole::of(ask().await).await;
    world.fetch.answer(FakeAnswer::Never);
    let mut left = Box::pin(ask());
    assert!(step(&mut left).is_none());
    drop(left);
    let rows = world.store.run("SELECT SUM(input + output), SUM(estimated), COUNT(outcome) FROM usage");
    assert_eq!(rows, [vec![0.into(), 0.into(), 2.into()]]);
}

/// Times are told by the clock: until the head, until the last byte, and of the call.
#[tokio::test]
async fn times_are_recorded() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let (release, released) = tokio::sync::oneshot::channel();
    let mut pieces: Vec<Piece> = Wire::Claude.events().into_iter().map(|event| Piece::Bytes(event.into())).collect();
    // After the first content, with which the response begins.
    pieces.insert(3, Piece::Wait(released));
    world.fetch.answer(FakeAnswer::pieces(pieces));
    let response = isolate.open(Wire::Claude, true).await;
    world.advance(500);
    release.send(()).unwrap();
    Whole::of(response).await;
    let rows = world.store.run("SELECT first_byte_ms, duration_ms, total_ms FROM usage");
    assert_eq!(rows, [vec![0.into(), 500.into(), 500.into()]]);
}

/// A settlement that fails is lost; the answer is not.
#[tokio::test]
async fn a_lost_settlement_does_not_lose_the_answer() {
    let world = World::configured().await;
    let isolate = world.isolate();
    for stream in [false, true] {
        world.store.trouble(Trouble::None);
        world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
        let answer =
            if stream { FakeAnswer::sse(Wire::Claude.events()) } else { FakeAnswer::json(200, Wire::Claude.answer()) };
        world.fetch.answer(answer);
        let reply = isolate.ask(Wire::Claude, stream).await;
        assert!(reply.status == 200 && !reply.broken, "{reply:?}");
    }
    assert_eq!(world.store.run("SELECT COUNT(*) FROM usage")[0][0], 0.into());
}

/// Where a batch takes time, as on Workers, it goes on beside the response.
#[tokio::test]
async fn a_slow_settlement_is_waited_for_beside_the_response() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.store.trouble(Trouble::None);
    let release = world.store.hold_next();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
    assert_eq!(world.tasks.waiting(), 1);
    release.send(()).unwrap();
    world.tasks.run().await;
    assert_eq!(world.store.run("SELECT outcome FROM usage"), [vec!["ok".into()]]);
}

/// A batch that is sent again changes nothing, be it whole or one that reports another end.
#[tokio::test]
async fn a_settlement_that_is_sent_twice_changes_nothing() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    isolate.ask(Wire::Chat, false).await;
    let before = world.store.run("SELECT * FROM usage");
    let batches = world.store.batches.borrow().clone();
    let settlement = batches.iter().find(|batch| batch.intent == Intent::Deferred).unwrap();
    for _ in 0..3 {
        world.store.repeat(settlement);
    }
    let mut other = settlement.clone();
    for statement in &mut other.statements {
        statement.parameters[15] = 9999.into();
    }
    world.store.repeat(&other);
    assert_eq!(world.store.run("SELECT * FROM usage"), before);
}

/// Request ids differ from isolate to isolate, so that no settlement takes another for itself.
#[tokio::test]
async fn settlements_of_many_isolates_do_not_meet() {
    let world = World::configured().await;
    let isolates: Vec<Isolate> = (0..5).map(|_| world.isolate()).collect();
    for isolate in isolates.iter().cycle().take(50) {
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        isolate.ask(Wire::Chat, false).await;
    }
    assert_eq!(world.store.run("SELECT COUNT(*), SUM(input) FROM usage"), [vec![50.into(), 550.into()]]);
}
