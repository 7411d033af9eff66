//! The budget: one batch before a request is dispatched, one after it.

use serde_json::json;
use tollgate::platform::database::Intent;
use tollgate::platform::fetch::FetchErrorKind;

use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::Wire;
use crate::support::world::{KEY, Whole, World, next};

/// What a cold isolate reads at once: the revisions, the settings, providers, credentials, routes, members, rule sets, what was spent of
/// quotas, the key.
const COLD: &str = "read 9";

#[tokio::test]
async fn a_cold_request_reads_everything_in_one_batch() {
    let world = World::configured().await;
    for wire in Wire::ALL {
        let isolate = world.isolate();
        world.fetch.answer(FakeAnswer::json(200, wire.answer()));
        let reply = isolate.ask(wire, false).await;
        assert_eq!((reply.status, reply.text.as_str()), (200, wire.answer().as_str()));
        assert_eq!(world.journal.take(), [COLD, "fetch", "deferred 1"], "{wire:?}");
        assert_eq!(isolate.scope.database.round_trips(), 2);
    }
}

#[tokio::test]
async fn a_warm_request_reads_the_revisions_only() {
    let world = World::configured().await;
    let isolate = world.isolate();
    for warm in [false, true, true] {
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        isolate.ask(Wire::Chat, false).await;
        let first = if warm { "read 1" } else { COLD };
        assert_eq!(world.journal.take(), [first, "fetch", "deferred 1"]);
    }
}

#[tokio::test]
async fn an_unseen_key_is_read_along() {
    let world = World::configured().await;
    let isolate = world.isolate();
    isolate.status().await;
    world.journal.take();
    for expected in ["read 2", "read 1"] {
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        isolate.ask(Wire::Chat, false).await;
        assert_eq!(world.journal.take(), [expected, "fetch", "deferred 1"]);
    }
}

/// The settlement waits for the last byte, and then it is made at once.
#[tokio::test]
async fn a_stream_is_settled_after_its_last_byte() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.fetch.answer(FakeAnswer::sse(Wire::Claude.events()));
    let mut body = match isolate.open(Wire::Claude, true).await.into_body() {
        tollgate::platform::body::Body::Stream(stream) => stream,
        whole => panic!("{whole:?}"),
    };
    assert_eq!(world.journal.take(), [COLD, "fetch"]);
    for event in Wire::Claude.events() {
        assert_eq!(next(&mut *body).await.unwrap().unwrap(), event);
        assert!(world.journal.take().is_empty());
    }
    assert!(next(&mut *body).await.is_none());
    assert_eq!(world.journal.take(), ["deferred 1"]);
    assert!(next(&mut *body).await.is_none());
    drop(body);
    assert!(world.journal.take().is_empty());
}

/// A failover asks more vendors and the database no more, also where its failures count for two breakers.
#[tokio::test]
async fn a_failover_is_settled_in_one_batch() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let members = [
        json!({"provider": "openai_chat", "model": "a"}),
        json!({"provider": "openai_chat", "model": "b", "tier": 1}),
        json!({"provider": "openai_chat", "model": "c", "tier": 2}),
    ];
    isolate.import(&json!({"routes": [{"name": "pool", "members": members}]})).await;
    world.journal.take();
    world.fetch.answer(FakeAnswer::json(500, "{}"));
    world.fetch.answer(FakeAnswer::Fail(FetchErrorKind::Connect));
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let reply = Whole::of(isolate.open_with(Wire::Chat, "pool", false, KEY).await).await;
    assert_eq!(reply.status, 200);
    assert_eq!(world.journal.take(), ["read 2", "fetch", "fetch", "fetch", "deferred 6"]);
}

#[tokio::test]
async fn requests_that_reach_no_vendor_keep_to_it() {
    let world = World::configured().await;
    let isolate = world.isolate();
    isolate.status().await;
    world.journal.take();
    isolate.open_with(Wire::Chat, "nobody/knows", false, KEY).await;
    assert_eq!(world.journal.take(), ["read 2", "deferred 1"]);
    isolate.open_with(Wire::Claude, "nobody/knows", false, KEY).await;
    assert_eq!(world.journal.take(), ["read 1", "deferred 1"]);
    isolate.ask_as("tg-wrong").await;
    assert_eq!(world.journal.take(), ["read 2"]);
    isolate.send(http::Method::POST, "/v1/messages", KEY, "{").await;
    assert_eq!(world.journal.take(), ["read 1"]);
    isolate.send(http::Method::GET, "/v1/models", KEY, "").await;
    assert_eq!(world.journal.take(), ["read 1"]);
    isolate.send(http::Method::GET, "/health", KEY, "").await;
    assert!(world.journal.take().is_empty());
}

/// What is read is read by batches that write nothing, so that a replica may serve them.
#[tokio::test]
async fn what_comes_before_the_dispatch_only_reads() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.fetch.answer(FakeAnswer::pieces(vec![Piece::Break]));
    isolate.ask(Wire::Chat, true).await;
    for batch in world.store.batches.borrow().iter().rev().take(2) {
        for statement in &batch.statements {
            let reads = statement.sql.starts_with("SELECT ");
            assert_eq!(reads, batch.intent == Intent::Read, "{}", statement.sql);
        }
    }
}
