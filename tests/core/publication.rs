//! Two requests that load at the same time: whatever the order of events, a newer configuration is never replaced by an
//! older one.

use serde_json::json;
use tollgate::store::revision;

use crate::support::database::Trouble;
use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{KEY, World, step};

fn echo(name: &str) -> serde_json::Value {
    json!({"providers": [{"name": name, "channel": "echo"}]})
}

/// Of two loads the slower one, which is the older, is dropped.
#[tokio::test]
async fn an_older_load_does_not_replace_a_newer_one() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    isolate.status().await;
    other.import(&echo("second")).await;
    // The first request sees the change and loads it; the result is on its way.
    world.store.trouble(Trouble::None);
    let release = world.store.hold_next();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let mut first = Box::pin(isolate.ask(Wire::Chat, false));
    assert!(step(&mut first).is_none());
    // Meanwhile there is another change, which another request loads at once.
    other.import(&echo("third")).await;
    let newest = isolate.status().await;
    assert_eq!(newest["providers"], 6);
    // Now the older result arrives.
    release.send(()).unwrap();
    assert_eq!(first.await.status, 200);
    assert_eq!(isolate.status().await["revision"], newest["revision"]);
    assert_eq!(isolate.gateway.handle.snapshot().unwrap().routing.providers.len(), 6);
}

/// The same for two isolates that start cold.
#[tokio::test]
async fn two_cold_requests_both_load_and_the_newer_stays() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    let release = world.store.hold_next();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let mut first = Box::pin(isolate.ask(Wire::Chat, false));
    assert!(step(&mut first).is_none());
    other.import(&echo("second")).await;
    let newest = isolate.status().await["revision"].clone();
    release.send(()).unwrap();
    assert_eq!(first.await.status, 200);
    assert_eq!(isolate.status().await["revision"], newest);
}

/// A replica that lags behind does not take an isolate back.
#[tokio::test]
async fn a_stale_answer_does_not_take_the_configuration_back() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    let before = isolate.scope.database.batch(tollgate::platform::database::Intent::Read, vec![revision::read()]);
    let before = before.await.unwrap();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    isolate.ask(Wire::Chat, false).await;
    other.import(&echo("second")).await;
    let newest = isolate.status().await["revision"].clone();
    world.store.trouble(Trouble::Stale(before));
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
    assert_eq!(isolate.gateway.handle.snapshot().unwrap().revisions.config, newest.as_i64().unwrap());
}

/// A key that is revoked between the two reads of one request may still serve that request, but no later one.
#[tokio::test]
async fn a_key_that_is_revoked_during_a_load_does_not_stay() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    isolate.status().await;
    other.import(&echo("second")).await;
    // The first batch finds the change, and the key, which is still good; its result is on its way.
    let release = world.store.hold_next();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let mut first = Box::pin(isolate.ask(Wire::Chat, false));
    assert!(step(&mut first).is_none());
    other.import(&json!({"keys": [{"name": "key", "enabled": false}]})).await;
    release.send(()).unwrap();
    first.await;
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 401, "the revoked key is still taken");
}

/// The same when another request has loaded the revocation meanwhile.
#[tokio::test]
async fn a_key_that_is_revoked_during_another_load_does_not_stay() {
    let world = World::configured().await;
    let (isolate, other) = (world.isolate(), world.isolate());
    isolate.status().await;
    let release = world.store.hold_next();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    let mut first = Box::pin(isolate.ask_as(KEY));
    assert!(step(&mut first).is_none());
    other.import(&json!({"keys": [{"name": "key", "enabled": false}]})).await;
    isolate.status().await;
    release.send(()).unwrap();
    first.await;
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask_as(KEY).await.status, 401, "the revoked key is still taken");
}
