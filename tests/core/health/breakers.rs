//! Breakers, over all isolates.

use std::sync::Arc;

use serde_json::{Value, json};
use tollgate::engine::failure::FailureKind;
use tollgate::engine::health::{Place, Standing};

use super::{Failed, Left, Well, word, world};
use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole, World, step};

const SERVER: super::End = Failed(FailureKind::Server, 0);

async fn breaker(isolate: &Isolate) -> Value {
    isolate.shown().await["breakers"][0].clone()
}

/// A world whose breaker has opened by the failures of two isolates.
async fn opened(members: Value) -> (World, Isolate, Isolate) {
    let world = world(members).await;
    let (first, second) = (world.isolate(), world.isolate());
    for isolate in [&first, &second, &first] {
        assert_eq!(first.provider_standing("m").await, Standing::Ready);
        isolate.call("m", "one", SERVER).await;
    }
    (world, first, second)
}

#[tokio::test]
async fn failures_of_all_isolates_count_together() {
    let (world, first, second) = opened(json!({})).await;
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(word(&world, &isolate.provider_standing("m").await), ("resting", Some(300)));
        assert_eq!(isolate.provider_standing("other").await, Standing::Ready);
        let shown = breaker(isolate).await;
        assert_eq!((&shown["state"], &shown["failure_count"]), (&json!("open"), &json!(3)));
        assert_eq!(shown["current_recovery_seconds"], 300);
        assert_eq!(shown["last_failure_time"], "2026-11-30T00:00:00Z");
        assert_eq!(shown["until"], "2026-11-30T00:05:00Z");
    }
}

/// Failures that meet in the database add up, though neither isolate has seen the other's.
#[tokio::test]
async fn failures_at_the_same_time_are_all_counted() {
    let world = world(json!({})).await;
    let isolates = [world.isolate(), world.isolate(), world.isolate()];
    for isolate in &isolates {
        isolate.look().await;
    }
    for isolate in &isolates {
        isolate.begin("m", "one").end(SERVER);
    }
    assert_eq!(word(&world, &isolates[0].provider_standing("m").await), ("resting", Some(300)));
}

/// The whole way, with what a vendor really does.
#[tokio::test]
async fn it_opens_by_real_failures() {
    let world = world(json!({"credentials": [{"name": "one", "secret": "sk-one"}]})).await;
    let (first, second) = (world.isolate(), world.isolate());
    for _ in 0..3 {
        world.fetch.answer(FakeAnswer::json(500, "{}"));
        Whole::of(first.open_with(Wire::Chat, "vendor/m", false, KEY).await).await;
    }
    assert_eq!(word(&world, &second.provider_standing("m").await), ("resting", Some(300)));
    // What is about the request or the account does not count.
    for status in [400, 401, 403, 404, 429] {
        let world = super::world(json!({})).await;
        let isolate = world.isolate();
        for _ in 0..4 {
            world.fetch.answer(FakeAnswer::json(status, "{}"));
            world.fetch.answer(FakeAnswer::json(status, "{}"));
            Whole::of(isolate.open_with(Wire::Chat, "vendor/m", false, KEY).await).await;
            world.fetch.forget_answers();
        }
        assert_eq!(isolate.provider_standing("m").await, Standing::Ready, "{status}");
    }
}

#[tokio::test]
async fn a_success_in_between_resets_the_count() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    for end in [SERVER, SERVER, Well(1), SERVER, SERVER, Left] {
        first.call("m", "one", end).await;
        assert_eq!(second.provider_standing("m").await, Standing::Ready);
    }
    second.call("m", "one", SERVER).await;
    assert_eq!(first.provider_standing("m").await.name(), "resting");
}

/// Half-open: one at a time over all isolates, and two successes close it.
#[tokio::test]
async fn half_open_lets_one_through() {
    let (world, first, second) = opened(json!({})).await;
    world.advance(300_000);
    assert_eq!(first.provider_standing("m").await.name(), "probing");
    world.journal.take();
    assert!(first.admits("m", "one").await);
    assert_eq!(world.journal.take(), ["read 2", "write 2"]);
    assert!(!second.admits("m", "two").await);
    assert!(!second.admits("m", "one").await);
    assert!(!first.admits("m", "two").await);
    // Who was refused knows it and does not ask again.
    world.journal.take();
    assert!(!second.admits("m", "one").await);
    assert_eq!(world.journal.take(), ["read 2"]);
    first.begin("m", "one").end(Well(1));
    assert_eq!(breaker(&second).await["success_count"], 1);
    assert!(second.admits("m", "one").await, "the first is over, so the next may");
    second.begin("m", "one").end(Well(1));
    for isolate in [&first, &second] {
        assert_eq!(isolate.provider_standing("m").await, Standing::Ready);
        let shown = breaker(isolate).await;
        assert_eq!((&shown["state"], &shown["failure_count"]), (&json!("closed"), &json!(0)));
        assert_eq!(shown["current_recovery_seconds"], 300);
    }
    // Ready costs nothing.
    world.journal.take();
    assert!(first.admits("m", "one").await);
    assert_eq!(world.journal.take(), ["read 2"]);
}

#[tokio::test]
async fn half_open_may_let_more_through() {
    let (world, first, second) = opened(json!({"breaker": {"half_open_requests": 2}})).await;
    world.advance(300_000);
    assert!(first.admits("m", "one").await);
    assert!(second.admits("m", "one").await);
    assert!(!first.admits("m", "one").await);
    assert!(!world.isolate().admits("m", "one").await);
}

/// A failure opens it for twice as long, up to the cap; an isolate that dies gives its lease back by time.
#[tokio::test]
async fn half_open_fails_back() {
    let (world, first, second) = opened(json!({"breaker": {"max_recovery_seconds": 1000}})).await;
    let mut wait = 300;
    for expected in [600, 1000, 1000] {
        world.advance(wait * 1000);
        assert!(second.admits("m", "one").await);
        second.begin("m", "one").end(SERVER);
        for isolate in [&first, &second, &world.isolate()] {
            assert_eq!(word(&world, &isolate.provider_standing("m").await), ("resting", Some(expected)));
        }
        wait = expected as u64;
    }
    world.advance(1_000_000);
    assert!(first.admits("m", "one").await);
    std::mem::forget(first);
    assert!(!second.admits("m", "one").await);
    world.advance(60_000);
    assert!(second.admits("m", "one").await);
}

/// What the vendor asks for counts if it is longer, up to the cap.
#[tokio::test]
async fn a_hint_makes_it_longer() {
    for (hint, expected) in [(100, 300), (500, 500), (50_000, 3600)] {
        let world = world(json!({"breaker": {"failure_threshold": 1}})).await;
        let (first, second) = (world.isolate(), world.isolate());
        first.call("m", "one", Failed(FailureKind::Overloaded, hint)).await;
        assert_eq!(word(&world, &second.provider_standing("m").await), ("resting", Some(expected)));
    }
}

#[tokio::test]
async fn it_refuses_or_is_not_there_as_it_is_told() {
    let (world, _, second) = opened(json!({"breaker": {"refuse": true}})).await;
    assert_eq!(word(&world, &second.provider_standing("m").await), ("out", Some(300)));
    assert!(!second.admits("m", "one").await);
    let world = super::world(json!({"breaker": {"enabled": false}})).await;
    let isolate = world.isolate();
    isolate.look().await;
    for _ in 0..5 {
        world.journal.take();
        isolate.begin("m", "one").end(SERVER);
        assert_eq!(world.journal.take(), ["deferred 1"]);
    }
    assert_eq!(isolate.provider_standing("m").await, Standing::Ready);
}

/// The view of one isolate and what all share follow the same rules, whatever comes.
#[tokio::test]
async fn memory_and_database_say_the_same() {
    let world = world(json!({"breaker": {"recovery_timeout_seconds": 7, "max_recovery_seconds": 20}})).await;
    let isolate = world.isolate();
    isolate.look().await;
    let mut drawn: u64 = 12345;
    for step in 0..400 {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let end = match (drawn >> 33) % 5 {
            0 | 1 => Well(1),
            2 => Failed(FailureKind::Overloaded, (drawn >> 40) % 30),
            _ => SERVER,
        };
        // Without a tick, so that it goes by its own memory.
        isolate.begin("m", "one").end(end);
        let mine = isolate.gateway.handle.health().report(&isolate.gateway.handle.snapshot().unwrap(), isolate.now());
        let mine = mine[0].breakers.first().map(|mine| {
            (mine.failure_count, mine.success_count, mine.until.map_or(0, |until| until.0), mine.last_failure_time.0)
        });
        let rows = world.store.run("SELECT failures, successes, until, since FROM health");
        let shared = rows.first().map(|row| {
            let integer = |index: usize| match row[index] {
                tollgate::platform::database::Value::Integer(number) => number,
                ref other => panic!("{other:?}"),
            };
            (integer(0), integer(1), integer(2), integer(3))
        });
        assert_eq!(mine, shared, "step {step}");
        world.advance((drawn >> 50) % 9000);
    }
}

/// A lease for a call that is never made is given back at once, also when the request is dropped while it is asked for; and a call that
/// got none does not take another's.
#[tokio::test]
async fn a_call_that_is_never_made_gives_its_lease_back() {
    let world = world(json!({"breaker": {"failure_threshold": 1, "half_open_requests": 1}})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::Server, 0)).await;
    world.advance(3_600_000);
    let leases = || world.store.run("SELECT subject FROM leases").len();
    assert!(first.admits("m", "one").await);
    assert!(!second.admits("m", "one").await);
    assert!(!first.admits("m", "one").await);
    // A call that was not admitted ends and leaves the lease alone.
    let admitted = first.admitted.take();
    first.begin("m", "one").end(Left);
    assert_eq!(leases(), 1);
    drop(admitted);
    assert_eq!(leases(), 0);
    assert!(first.admits("m", "one").await);
    first.admitted.take();
    let second = world.isolate();
    second.look().await;
    let release = world.store.hold_next();
    let (provider, model) = (second.provider(), Arc::from("m"));
    let place = Place { provider: &provider, credential: None, secret_version: 0, model: &model };
    let health = second.gateway.handle.health();
    let mut asking = Box::pin(health.admit(&second.scope, place));
    assert!(step(&mut asking).is_none());
    assert_eq!(leases(), 1);
    drop((asking, release));
    world.tasks.run().await;
    assert_eq!(leases(), 0);
}
