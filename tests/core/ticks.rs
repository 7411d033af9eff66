//! The question that every request asks first, when it fails, and when it need not be asked.

use serde_json::json;
use tollgate::platform::database::DatabaseErrorKind;

use crate::support::database::Trouble;
use crate::support::fetch::FakeAnswer;
use crate::support::vendors::{Wire, message_of};
use crate::support::world::{Isolate, KEY, Whole, World};

const FAILURES: [DatabaseErrorKind; 3] =
    [DatabaseErrorKind::Unavailable, DatabaseErrorKind::Unknown, DatabaseErrorKind::Schema];

async fn good_answer(world: &World, isolate: &Isolate) {
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let reply = isolate.ask(Wire::Chat, false).await;
    assert_eq!((reply.status, reply.text.as_str()), (200, Wire::Chat.answer().as_str()));
}

/// Checks a 503 that asks to come back.
fn check_unavailable(reply: &Whole, wire: Wire) {
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert_eq!(reply.headers["retry-after"], "2");
    let error = reply.json();
    assert!(message_of(&error).contains("database"), "{error}");
    match wire {
        Wire::Chat | Wire::Responses => assert_eq!(error["error"]["code"], "database_unavailable"),
        Wire::Claude => {
            assert_eq!(error["error"]["type"], "overloaded_error");
            assert_eq!(error["error"]["details"]["error_code"], "database_unavailable");
        }
        Wire::Gemini => {
            assert_eq!((&error["error"]["code"], &error["error"]["status"]), (&json!(503), &json!("UNAVAILABLE")));
            assert_eq!(error["error"]["details"][1]["retryDelay"], "2s");
        }
    }
}

#[tokio::test]
async fn a_failed_tick_serves_what_is_known() {
    let world = World::configured().await;
    let isolate = world.isolate();
    good_answer(&world, &isolate).await;
    for kind in FAILURES {
        world.store.trouble(Trouble::Before(kind));
        good_answer(&world, &isolate).await;
    }
    // The settlements of those requests went out all the same.
    assert_eq!(world.store.run("SELECT COUNT(*) FROM usage WHERE outcome = 'ok'")[0][0], 4.into());
}

/// A change that cannot be loaded is not taken for seen.
#[tokio::test]
async fn a_failed_load_is_made_up_for() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    good_answer(&world, &isolate).await;
    other.import(&json!({"providers": [{"name": "new", "channel": "echo"}]})).await;
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
    good_answer(&world, &isolate).await;
    assert_eq!(isolate.gateway.handle.snapshot().unwrap().routing.providers.len(), 4);
    good_answer(&world, &isolate).await;
    assert_eq!(isolate.gateway.handle.snapshot().unwrap().routing.providers.len(), 5);
}

/// A key that nobody knows yet cannot be let in while the database is away, nor told to be wrong.
#[tokio::test]
async fn an_unseen_key_has_to_come_back() {
    let world = World::configured().await;
    for wire in Wire::ALL {
        let isolate = world.isolate();
        isolate.status().await;
        world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
        check_unavailable(&isolate.ask(wire, false).await, wire);
        world.fetch.answer(FakeAnswer::json(200, wire.answer()));
        assert_eq!(isolate.ask(wire, false).await.status, 200);
    }
}

#[tokio::test]
async fn a_cold_isolate_has_to_come_back() {
    let world = World::configured().await;
    for wire in Wire::ALL {
        let isolate = world.isolate();
        for stream in [false, true] {
            world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
            check_unavailable(&isolate.ask(wire, stream).await, wire);
        }
        world.fetch.answer(FakeAnswer::json(200, wire.answer()));
        assert_eq!(isolate.ask(wire, false).await.status, 200);
    }
}

async fn with_staleness(milliseconds: u32) -> World {
    let world = World::configured().await;
    world.isolate().import(&json!({"settings": {"tick": {"max_age_ms": milliseconds}}})).await;
    world.journal.take();
    world
}

#[tokio::test]
async fn allowed_staleness_is_used_up_to_its_last_millisecond() {
    let world = with_staleness(1000).await;
    let isolate = world.isolate();
    good_answer(&world, &isolate).await;
    assert_eq!(world.journal.take(), ["read 9", "fetch", "deferred 1"]);
    for (pause, asks) in [(0, false), (999, false), (1, true), (999, false), (1, true), (5000, true), (0, false)] {
        world.advance(pause);
        good_answer(&world, &isolate).await;
        let expected: &[&str] = if asks { &["read 1", "fetch", "deferred 1"] } else { &["fetch", "deferred 1"] };
        assert_eq!(world.journal.take(), expected, "after {pause} ms");
    }
}

/// What others write is seen when the time is over, by each isolate for itself.
#[tokio::test]
async fn a_stale_isolate_catches_up() {
    let world = with_staleness(1000).await;
    let (isolate, other) = (world.isolate(), world.isolate());
    good_answer(&world, &isolate).await;
    other.import(&json!({"keys": [{"name": "key", "enabled": false}]})).await;
    world.advance(999);
    good_answer(&world, &isolate).await;
    world.advance(1);
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 401);
}

/// Within a process a notice ends the staleness at once.
#[tokio::test]
async fn a_notice_ends_staleness() {
    let world = with_staleness(3_600_000).await;
    let (isolate, other) = (world.isolate_of_process(), world.isolate_of_process());
    good_answer(&world, &isolate).await;
    good_answer(&world, &other).await;
    other.import(&json!({"keys": [{"name": "key", "enabled": false}]})).await;
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 401);
    assert_eq!(other.ask(Wire::Chat, false).await.status, 401);
    // And after that it is quiet again.
    other.import(&json!({"keys": [{"name": "key", "enabled": true}]})).await;
    good_answer(&world, &isolate).await;
    world.journal.take();
    good_answer(&world, &isolate).await;
    assert_eq!(world.journal.take(), ["fetch", "deferred 1"]);
}

/// A key that has not been seen is looked for, however fresh the rest is.
#[tokio::test]
async fn staleness_does_not_shut_out_new_keys() {
    let world = with_staleness(3_600_000).await;
    let (isolate, other) = (world.isolate(), world.isolate());
    good_answer(&world, &isolate).await;
    other.import(&json!({"keys": [{"name": "new", "key": "tg-new-0123456789abcdef"}]})).await;
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask_as("tg-new-0123456789abcdef").await.status, 200);
}

/// A question that failed does not count as asked.
#[tokio::test]
async fn a_failed_tick_does_not_prolong_staleness() {
    let world = with_staleness(1000).await;
    let isolate = world.isolate();
    good_answer(&world, &isolate).await;
    world.advance(1000);
    world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
    good_answer(&world, &isolate).await;
    world.journal.take();
    good_answer(&world, &isolate).await;
    assert_eq!(world.journal.take(), ["read 1", "fetch", "deferred 1"]);
}

/// An operator who looks is not shown the past.
#[tokio::test]
async fn administrators_always_see_the_present() {
    let world = with_staleness(3_600_000).await;
    let (isolate, other) = (world.isolate(), world.isolate());
    let before = isolate.status().await["revision"].as_i64().unwrap();
    other.import(&json!({"keys": [{"name": "another"}]})).await;
    assert_eq!(isolate.status().await["revision"], before + 1);
    let models = isolate.send(http::Method::GET, "/v1/models", KEY, "").await;
    assert_eq!(models.status(), 200);
}
