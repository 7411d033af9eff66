//! Credentials stay sealed until they are used.

use serde_json::json;

use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{World, provider};

const BUMP: &str = "UPDATE settings SET config_revision = config_revision + 1, routing_revision = config_revision + 1";

/// One that cannot be opened harms nobody who does not use it: nothing is opened when the configuration is loaded.
#[tokio::test]
async fn a_credential_is_opened_by_its_first_use() {
    let world = World::configured().await;
    let damaged = "UPDATE credentials SET secret = 'v1.AAAA' WHERE provider_id = (SELECT id FROM providers WHERE name = 'claude')";
    world.store.run(damaged);
    world.store.run(BUMP);
    let isolate = world.isolate();
    assert_eq!(isolate.status().await["skipped_rows"], json!([]));
    assert_eq!(isolate.status().await["credentials"], 4);
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
    let reply = isolate.ask(Wire::Claude, false).await;
    assert_eq!((reply.status, &reply.json()["error"]["details"]["error_code"]), (503, &json!("no_credential")));
    assert_eq!(world.fetch.requests().len(), 1);
}

/// Another credential of the same provider takes its place.
#[tokio::test]
async fn a_credential_that_does_not_open_is_passed_over() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let mut two = provider(Wire::Chat);
    two["credentials"] = json!([{"name": "a", "secret": "sk-a"}, {"name": "b", "secret": "sk-b"}]);
    isolate.import(&json!({"providers": [two]})).await;
    world.store.run("UPDATE credentials SET secret = 'nonsense' WHERE name = 'a'");
    world.store.run(BUMP);
    for _ in 0..4 {
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
        assert_eq!(world.fetch.requests().pop().unwrap().headers["authorization"], "Bearer sk-b");
    }
    // What was not sent is not a call.
    assert_eq!(world.store.run("SELECT COUNT(*) FROM usage")[0][0], 4.into());
}

/// A sealed secret opens only for the row that it was sealed for: copied to another it is worthless.
#[tokio::test]
async fn a_sealed_secret_cannot_be_moved() {
    let world = World::configured().await;
    world.store.run(
        "UPDATE credentials SET secret = (SELECT secret FROM credentials AS other \
         WHERE other.provider_id = (SELECT id FROM providers WHERE name = 'claude')) \
         WHERE provider_id = (SELECT id FROM providers WHERE name = 'openai_chat')",
    );
    world.store.run(BUMP);
    assert_eq!(world.isolate().ask(Wire::Chat, false).await.status, 503);
    assert!(world.fetch.requests().is_empty());
}

/// The same secret sealed twice looks different, so equal accounts cannot be told.
#[tokio::test]
async fn equal_secrets_do_not_look_equal() {
    let world = World::new();
    let account =
        |name: &str| json!({"name": name, "channel": "openai", "credentials": [{"name": "a", "secret": "sk-same"}]});
    world.isolate().import(&json!({"providers": [account("one"), account("two")]})).await;
    assert_eq!(world.store.run("SELECT COUNT(DISTINCT secret) FROM credentials")[0][0], 2.into());
}
