//! How what was learnt is written.

use serde_json::json;
use tollgate::engine::failure::FailureKind;
use tollgate::engine::health::Standing;
use tollgate::platform::database::{DatabaseErrorKind, Intent};

use super::{Failed, Left, Well, word, world};
use crate::support::database::Trouble;
use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::Wire;
use crate::support::world::{KEY, Whole};

const ALL: &str = "SELECT subject, failures, successes, wait_ms, since, until, revision FROM health ORDER BY subject";

/// A batch that is sent again counts nothing twice.
#[tokio::test]
async fn a_batch_that_is_sent_twice_counts_once() {
    let quotas = json!([{"budget": 1000}]);
    let world = world(json!({"quotas": quotas, "breaker": {"failure_threshold": 10}})).await;
    let isolate = world.isolate();
    for end in [
        Failed(FailureKind::Server, 0),
        Well(100),
        Failed(FailureKind::Server, 0),
        Failed(FailureKind::RateLimited, 9),
        Failed(FailureKind::QuotaUsedUp, 9),
    ] {
        isolate.call("m", "one", end).await;
    }
    let state = || {
        let usage = world.store.run("SELECT * FROM quota_usage");
        (world.store.run(ALL), usage, world.store.run("SELECT health_revision FROM settings"))
    };
    let before = state();
    assert_eq!(before.0.len(), 4, "{:?}", before.0);
    let batches = world.store.batches.borrow().clone();
    for batch in batches.iter().filter(|batch| batch.intent == Intent::Deferred) {
        world.store.repeat(batch);
    }
    assert_eq!(state(), before);
}

/// Where an answer is streamed, what its failed attempts taught goes ahead; otherwise it goes with the settlement.
#[tokio::test]
async fn a_stream_does_not_keep_it_to_itself() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.look().await;
    second.look().await;
    let limited = r#"{"error":{"message":"slow down","details":[{"retryDelay":"60s"}]}}"#;
    for stream in [true, false] {
        let events = Wire::Chat.events();
        let (release, released) = tokio::sync::oneshot::channel();
        world.fetch.answer(FakeAnswer::json(429, limited));
        let mut pieces: Vec<Piece> = events.iter().map(|event| Piece::Bytes(event.clone().into())).collect();
        pieces.insert(2, Piece::Wait(released));
        let answer = if stream { FakeAnswer::pieces(pieces) } else { FakeAnswer::json(200, Wire::Chat.answer()) };
        world.fetch.answer(answer);
        let model = if stream { "vendor/m" } else { "vendor/other" };
        world.journal.take();
        let response = first.open_with(Wire::Chat, model, stream, KEY).await;
        let sent = world.journal.take();
        if stream {
            // The revision, the credential, the failed call.
            assert_eq!(sent.last().unwrap(), "deferred 3", "{sent:?}");
            let name = second.credential_standing("m", "one").await.name();
            let other = second.credential_standing("m", "two").await.name();
            assert!([name, other].contains(&"resting"), "{name} {other}");
        }
        world.journal.take();
        release.send(()).ok();
        assert_eq!(Whole::of(response).await.status, 200);
        let sent = if stream { world.journal.take() } else { sent };
        assert_eq!(sent.last().unwrap(), if stream { "deferred 2" } else { "deferred 4" });
    }
    // Nothing is written twice, and a repetition changes nothing.
    let rows = || world.store.run("SELECT request_id, call, status, outcome FROM usage ORDER BY request_id, call");
    let (before, health) = (rows(), world.store.run(ALL));
    assert_eq!((before.len(), health.len()), (4, 2));
    let batches = world.store.batches.borrow().clone();
    for batch in batches.iter().filter(|batch| batch.intent == Intent::Deferred) {
        world.store.repeat(batch);
    }
    assert_eq!((rows(), world.store.run(ALL)), (before, health));
}

/// An answer that breaks off, or reports an error, is a failure of the provider; a client that leaves is none.
#[tokio::test]
async fn the_end_of_an_answer_teaches() {
    let world = world(json!({"breaker": {"failure_threshold": 1}})).await;
    let isolate = world.isolate();
    let start = || Piece::Bytes(Wire::Chat.events()[1].clone().into());
    world.fetch.answer(FakeAnswer::pieces(vec![start(), Piece::Silence]));
    drop(isolate.open_with(Wire::Chat, "vendor/left", true, KEY).await);
    world.fetch.answer(FakeAnswer::pieces(vec![start(), Piece::Break]));
    Whole::of(isolate.open_with(Wire::Chat, "vendor/cut", true, KEY).await).await;
    assert_eq!(isolate.provider_standing("left").await, Standing::Ready);
    assert_eq!(isolate.provider_standing("cut").await.name(), "resting");
}

/// A row that cannot be read is left out, and nothing else is.
#[tokio::test]
async fn damaged_rows_do_no_harm() {
    let world = world(json!({"quotas": [{"budget": 1000}]})).await;
    let (first, second) = (world.isolate(), world.isolate());
    second.look().await;
    first.call("m", "one", Failed(FailureKind::RateLimited, 60)).await;
    first.call("m", "two", Failed(FailureKind::RateLimited, 60)).await;
    first.call("m", "two", Well(10)).await;
    for sql in [
        "UPDATE health SET kind = 'nonsense' WHERE subject = (SELECT MIN(subject) FROM health)",
        "INSERT INTO health SELECT subject || 'x', kind, provider_id, NULL, model, failures, successes, wait_ms, since, until, \
         hint, status, cause, secret_version, revision FROM health WHERE kind = 'limited'",
        "INSERT INTO health SELECT 'y', 'quota', provider_id, NULL, NULL, 'many', -1, wait_ms, since, until, hint, status, cause, \
         secret_version, revision FROM health WHERE kind = 'limited' LIMIT 1",
        "INSERT INTO health SELECT 'z', 'quota', provider_id, NULL, NULL, 5, -1, wait_ms, since, until, hint, 70000, cause, \
         secret_version, revision FROM health WHERE kind = 'limited' LIMIT 1",
        "INSERT INTO quota_usage SELECT 'nonsense', slice, amount, revision FROM quota_usage",
        "INSERT INTO quota_usage SELECT quota, slice + 1, 'much', revision FROM quota_usage WHERE quota <> 'nonsense'",
    ] {
        world.store.run(sql);
    }
    for isolate in [&second, &world.isolate()] {
        let standings = [isolate.credential_standing("m", "one").await, isolate.credential_standing("m", "two").await];
        let words: Vec<&str> = standings.iter().map(Standing::name).collect();
        assert!(words.contains(&"resting") && isolate.status().await["health"].is_array(), "{words:?}");
        assert_eq!(isolate.shown().await["quotas"][0]["window_usage_tokens"], 10);
    }
}

/// Clients name models, so there may be any number; an isolate remembers so many and no more.
#[tokio::test]
async fn any_number_of_models_does_no_harm() {
    let world = world(json!({})).await;
    let isolate = world.isolate();
    isolate.look().await;
    for number in 0..200 {
        isolate.begin(&format!("model-{number}"), "one").end(Failed(FailureKind::RateLimited, 60));
    }
    isolate.begin(&"m".repeat(100_000), "one").end(Failed(FailureKind::RateLimited, 60));
    assert_eq!(world.store.run("SELECT COUNT(*) FROM health")[0][0], 65.into());
    assert_eq!(isolate.credential_standing("model-7", "one").await.name(), "resting");
    // What is over makes room.
    world.advance(61_000);
    isolate.call("model-new", "one", Failed(FailureKind::RateLimited, 60)).await;
    let other = world.isolate();
    assert_eq!(word(&world, &other.credential_standing("model-new", "one").await), ("resting", Some(60)));
}

/// What has been over for long is deleted by whoever finds it.
#[tokio::test]
async fn history_does_not_stay_for_ever() {
    let world = world(json!({})).await;
    let isolate = world.isolate();
    isolate.call("m", "one", Failed(FailureKind::RateLimited, 60)).await;
    world.advance(8 * 86_400_000);
    world.isolate().call("m", "two", Failed(FailureKind::RateLimited, 60)).await;
    assert_eq!(world.store.run("SELECT COUNT(*) FROM health")[0][0], 1.into());
}

/// An answer that comes late, or from a replica that lags behind, takes nothing back.
#[tokio::test]
async fn what_is_known_is_not_taken_back() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::RateLimited, 60)).await;
    let release = world.store.hold_next();
    let mut slow = Box::pin(second.look());
    assert!(crate::support::world::step(&mut slow).is_none());
    world.advance(1000);
    first.call("m", "one", Failed(FailureKind::RateLimited, 600)).await;
    second.look().await;
    release.send(()).unwrap();
    slow.await;
    let standing = second.gateway.handle.health().of_credential(&second.credential("one"), "m", second.now());
    assert_eq!(word(&world, &standing), ("resting", Some(600)));
}

/// What goes ahead of a stream is written once, whether it arrives before the settlement, after it, or is thought to be lost.
#[tokio::test]
async fn what_goes_ahead_is_written_once_in_any_order() {
    let lost = DatabaseErrorKind::Unavailable;
    for trouble in [Trouble::None, Trouble::Before(lost), Trouble::After(lost)] {
        let world = world(json!({})).await;
        let isolate = world.isolate();
        isolate.look().await;
        let mut call = isolate.begin("m", "one");
        call.fail(FailureKind::Server, 0);
        world.store.trouble(trouble);
        call.settlement.stream_began();
        let early = world.store.batches.borrow().last().unwrap().clone();
        call.end(Left);
        world.store.repeat(&early);
        assert_eq!(world.store.run("SELECT failures FROM health"), [vec![1.into()]]);
    }
}
