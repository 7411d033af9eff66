//! How much an isolate reads when something has changed: as little as the scope of the change allows.

use serde_json::{Value, json};

use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::{Wire, chat};
use crate::support::world::{KEY, World, provider};

/// Checks what a warm isolate reads with its next request after another one has applied `document`.
async fn check(document: &Value, expected: &[&str]) {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    isolate.ask(Wire::Chat, false).await;
    other.import(document).await;
    world.journal.take();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
    assert_eq!(world.journal.take(), [expected, &["fetch", "deferred 1"]].concat(), "{document}");
    // What has been read once is not read again.
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    isolate.ask(Wire::Chat, false).await;
    assert_eq!(world.journal.take(), ["read 1", "fetch", "deferred 1"], "{document}");
    assert_eq!(isolate.status().await["revision"], other.status().await["revision"]);
}

#[tokio::test]
async fn nothing_new_is_nothing_to_read() {
    check(&json!({"keys": [{"name": "key", "key": KEY}]}), &["read 1"]).await;
}

/// A change of any key makes each isolate read its own callers' keys again, one by one, and nothing else.
#[tokio::test]
async fn a_change_of_keys_reads_the_key_again() {
    check(&json!({"keys": [{"name": "another"}]}), &["read 1", "read 2"]).await;
}

/// A new secret alone is the cheaper reload: the revisions and the credentials.
#[tokio::test]
async fn a_new_secret_reads_the_credentials() {
    let mut changed = provider(Wire::Chat);
    changed["credentials"][0]["secret"] = "sk-new".into();
    check(&json!({"providers": [changed]}), &["read 1", "read 2"]).await;
}

#[tokio::test]
async fn any_other_change_reads_the_configuration() {
    let mut weight = provider(Wire::Chat);
    weight["credentials"][0]["weight"] = 7.into();
    for document in [
        json!({"providers": [{"name": "another", "channel": "echo"}]}),
        json!({"providers": [weight]}),
        json!({"routes": [{"name": "r", "members": []}]}),
        json!({"settings": {"max_attempts": 3}}),
    ] {
        check(&document, &["read 1", "read 7"]).await;
    }
}

/// Several changes are read at once.
#[tokio::test]
async fn changes_add_up() {
    let mut secret = provider(Wire::Chat);
    secret["credentials"][0]["secret"] = "sk-new".into();
    let document = json!({
        "providers": [secret, {"name": "another", "channel": "echo"}],
        "keys": [{"name": "another"}],
    });
    check(&document, &["read 1", "read 7", "read 2"]).await;
}

/// The secret that the reload brings is the one that is used.
#[tokio::test]
async fn a_reloaded_secret_is_used() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    for secret in ["sk-openai_chat", "sk-second", "sk-third"] {
        let mut changed = provider(Wire::Chat);
        changed["credentials"][0]["secret"] = secret.into();
        other.import(&json!({"providers": [changed]})).await;
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        isolate.ask(Wire::Chat, false).await;
        let sent = world.fetch.requests().pop().unwrap();
        assert_eq!(sent.headers["authorization"], format!("Bearer {secret}"));
    }
}

/// A request that is under way keeps the configuration that it began with.
#[tokio::test]
async fn a_request_keeps_its_configuration() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    let (release, released) = tokio::sync::oneshot::channel();
    world.fetch.answer(FakeAnswer::pieces(vec![Piece::Bytes(chat::delta("a").into()), Piece::Wait(released)]));
    let response = isolate.open(Wire::Chat, true).await;
    let mut disabled = provider(Wire::Chat);
    disabled["enabled"] = false.into();
    other.import(&json!({"providers": [disabled]})).await;
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 404);
    drop(release);
    let whole = crate::support::world::Whole::of(response).await;
    assert_eq!(whole.headers["x-provider"], "openai_chat");
}
