//! Isolates that cannot serve yet, and what they say.

use serde_json::json;

use crate::support::fetch::FakeAnswer;
use crate::support::vendors::{Wire, message_of};
use crate::support::world::{Isolate, MIGRATION_HINT, World};

async fn check(isolate: &Isolate, code: &str, words: &str) {
    for wire in Wire::ALL {
        for stream in [false, true] {
            let reply = isolate.ask(wire, stream).await;
            assert_eq!(reply.status, 503, "{}", reply.text);
            let request_id = reply.headers["x-gateway-request-id"].to_str().unwrap();
            let message = message_of(&reply.json()).to_owned();
            assert_eq!(reply.text, wire.error(503, code, &message, request_id));
            assert!(message.contains(words), "{message}");
        }
    }
    let reply = isolate.try_import(&json!({})).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (503, &json!(code)));
    // Probes do not ask the database.
    assert_eq!(isolate.send(http::Method::GET, "/health", "", "").await.status(), 200);
}

#[tokio::test]
async fn a_missing_schema_is_told_with_the_command_to_run() {
    let world = World::without_schema();
    check(&world.isolate(), "schema_outdated", MIGRATION_HINT).await;
}

#[tokio::test]
async fn an_old_schema_is_told_with_the_command_to_run() {
    let world = World::configured().await;
    world.store.run("UPDATE settings SET schema_version = 0");
    check(&world.isolate(), "schema_outdated", MIGRATION_HINT).await;
}

/// A newer schema is fine: migrations only add, and the other version is being rolled out.
#[tokio::test]
async fn a_newer_schema_is_served() {
    let world = World::configured().await;
    world.store.run("UPDATE settings SET schema_version = 1000");
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(world.isolate().ask(Wire::Chat, false).await.status, 200);
}

/// The isolate serves as soon as somebody has run the command.
#[tokio::test]
async fn an_isolate_recovers_when_the_schema_is_there() {
    let world = World::without_schema();
    let isolate = world.isolate();
    check(&isolate, "schema_outdated", MIGRATION_HINT).await;
    world.store.migrate();
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 401);
    let document = json!({"providers": [crate::support::world::provider(Wire::Chat)], "keys": [{"name": "k"}]});
    let key = isolate.import(&document).await["keys"][0]["key"].as_str().unwrap().to_owned();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask_as(&key).await.status, 200);
}

/// Under another master key no secret opens and no key is recognized, which would look like wrong keys.
#[tokio::test]
async fn another_master_key_is_told() {
    let world = World::configured().await;
    check(&world.isolate_under(&"x".repeat(32)), "wrong_master_key", "TOLLGATE_MASTER_KEY").await;
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(world.isolate().ask(Wire::Chat, false).await.status, 200);
}

/// A database that nobody has written to yet has no master key of its own; the first write decides.
#[tokio::test]
async fn the_first_write_binds_the_master_key() {
    let world = World::new();
    let (one, other) = (world.isolate(), world.isolate_under(&"x".repeat(32)));
    assert_eq!(one.status().await["revision"], 0);
    assert_eq!(other.status().await["revision"], 0);
    other.import(&json!({"keys": [{"name": "k"}]})).await;
    check(&world.isolate(), "wrong_master_key", "TOLLGATE_MASTER_KEY").await;
}

/// An isolate that has read the empty database must not write under a key that is not the database's.
#[tokio::test]
async fn a_warm_isolate_under_another_key_does_not_write() {
    let world = World::new();
    let (one, other) = (world.isolate(), world.isolate_under(&"x".repeat(32)));
    one.status().await;
    other.status().await;
    one.import(&json!({"providers": [crate::support::world::provider(Wire::Chat)]})).await;
    let reply = other.try_import(&json!({"providers": [crate::support::world::provider(Wire::Claude)]})).await;
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert_eq!(world.store.run("SELECT COUNT(*) FROM providers")[0][0], 1.into());
}

/// An instance without any admin token is closed, not open.
#[tokio::test]
async fn without_an_admin_token_the_admin_surface_is_closed() {
    let world = World::new();
    world.variables.set("TOLLGATE_ADMIN_TOKEN", "");
    let isolate = world.isolate();
    for token in ["", "tga-", "tga-anything", crate::support::host::ADMIN_TOKEN] {
        let response = isolate.send(http::Method::GET, "/admin/api/export", token, "").await;
        assert_eq!(response.status(), 401, "{token:?}");
    }
}
