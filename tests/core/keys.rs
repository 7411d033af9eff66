//! Keys that end, and isolates that remember them.

use serde_json::json;

use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, World};

/// A minute after the beginning of every world.
const A_MINUTE_AFTER: &str = "2026-11-30T00:01:00Z";

async fn status(world: &World, isolate: &Isolate, key: &str) -> u16 {
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let status = isolate.ask_as(key).await.status;
    // Who is not let in leaves it behind.
    world.fetch.forget_answers();
    status
}

#[tokio::test]
async fn a_revoked_key_is_refused_by_every_isolate_at_once() {
    let world = World::configured().await;
    let isolates = [world.isolate(), world.isolate(), world.isolate_of_process()];
    for isolate in &isolates {
        assert_eq!(status(&world, isolate, KEY).await, 200);
    }
    for enabled in [false, true] {
        isolates[0].import(&json!({"keys": [{"name": "key", "enabled": enabled}]})).await;
        for isolate in &isolates {
            assert_eq!(status(&world, isolate, KEY).await, if enabled { 200 } else { 401 });
        }
    }
}

/// The end of a key comes by the clock, without a write, also where it is remembered.
#[tokio::test]
async fn a_key_ends_at_its_time() {
    let world = World::configured().await;
    let (isolate, fresh) = (world.isolate(), world.isolate());
    isolate.import(&json!({"keys": [{"name": "key", "expires_at": A_MINUTE_AFTER}]})).await;
    assert_eq!(status(&world, &isolate, KEY).await, 200);
    world.advance(59_999);
    assert_eq!(status(&world, &isolate, KEY).await, 200);
    world.advance(1);
    assert_eq!(status(&world, &isolate, KEY).await, 401);
    assert_eq!(status(&world, &fresh, KEY).await, 401);
    // A later end opens it again.
    isolate.import(&json!({"keys": [{"name": "key", "expires_at": "2099-01-01T00:00:00Z"}]})).await;
    assert_eq!(status(&world, &isolate, KEY).await, 200);
    assert_eq!(status(&world, &fresh, KEY).await, 200);
}

/// A wrong key is looked for each time: it may have been made in between.
#[tokio::test]
async fn a_wrong_key_is_not_remembered_as_wrong() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    let key = "tg-made-later-0123456789";
    assert_eq!(status(&world, &isolate, key).await, 401);
    other.import(&json!({"keys": [{"name": "later", "key": key}]})).await;
    assert_eq!(status(&world, &isolate, key).await, 200);
}

/// A key's name is written as it was when the request came.
#[tokio::test]
async fn usage_keeps_the_name_of_the_key() {
    let world = World::configured().await;
    let isolate = world.isolate();
    assert_eq!(status(&world, &isolate, KEY).await, 200);
    let rows = world.store.run("SELECT api_key, api_key_id IN (SELECT id FROM api_keys) FROM usage");
    assert_eq!(rows, [vec!["key".into(), 1.into()]]);
}

/// Neither a key nor a secret is in the database as it is, nor in what the isolate prints for debugging.
#[tokio::test]
async fn no_secret_is_stored_as_it_is() {
    let world = World::configured().await;
    for table in ["settings", "api_keys", "credentials", "providers", "admin_tokens", "usage"] {
        let rows = format!("{:?}", world.store.run(&format!("SELECT * FROM {table}")));
        for secret in [KEY, "sk-openai_chat", "suite-secret"] {
            assert!(!rows.contains(secret), "{secret} in {table}");
        }
    }
    let batches = world.store.batches.borrow();
    let parameters = format!("{:?}", batches.iter().map(|batch| batch.statements.clone()).collect::<Vec<_>>());
    assert!(!parameters.contains("sk-openai_chat") && !parameters.contains("suite-secret"));
}
