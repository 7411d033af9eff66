//! Conversations that a vendor keeps, over several isolates and when something fails.

use http::Method;
use serde_json::{Value, json};
use tollgate::platform::database::DatabaseErrorKind;

use crate::support::database::Trouble;
use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole, World, provider};

fn answer(id: &str) -> FakeAnswer {
    FakeAnswer::json(200, json!({"id": id, "object": "response", "status": "completed", "output": []}).to_string())
}

async fn respond(isolate: &Isolate, previous: Option<&str>) -> Whole {
    let mut body = json!({"model": "openai_responses/m", "input": "Hi"});
    if let Some(previous) = previous {
        body["previous_response_id"] = previous.into();
    }
    Whole::of(isolate.send(Method::POST, "/v1/responses", KEY, body.to_string()).await).await
}

/// A world whose provider for Responses has four accounts.
async fn world() -> World {
    let world = World::configured().await;
    let mut provider = provider(Wire::Responses);
    provider["credentials"] =
        (0..4).map(|number| json!({"name": format!("c{number}"), "secret": format!("sk-{number}")})).collect();
    world.isolate().import(&json!({"providers": [provider]})).await;
    world.journal.take();
    world
}

fn secrets(world: &World) -> Vec<String> {
    let requests = world.fetch.requests();
    requests.iter().map(|request| request.headers["authorization"].to_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_isolate_knows_whose_a_conversation_is() {
    let world = world().await;
    let (first, second) = (world.isolate(), world.isolate());
    world.fetch.answer(answer("resp_a"));
    assert_eq!(respond(&first, None).await.status, 200);
    for isolate in [&second, &first, &second, &second] {
        world.fetch.answer(answer("resp_b"));
        assert_eq!(respond(isolate, Some("resp_a")).await.status, 200);
    }
    let secrets = secrets(&world);
    assert!(secrets.iter().all(|secret| *secret == secrets[0]), "{secrets:?}");
    let rows = world.store.run("SELECT COUNT(*), COUNT(DISTINCT credential_id) FROM continuations");
    assert_eq!(rows, [vec![2.into(), 1.into()]]);
    // The id itself is nowhere.
    assert!(world.store.run("SELECT id FROM continuations WHERE id LIKE '%resp%'").is_empty());
}

/// One more read for an owner that the isolate does not remember, and none afterwards.
#[tokio::test]
async fn only_an_owner_that_is_not_remembered_is_read() {
    let world = world().await;
    let (first, second) = (world.isolate(), world.isolate());
    for isolate in [&first, &second] {
        world.fetch.answer(answer("resp_warm"));
        respond(isolate, None).await;
    }
    world.fetch.answer(answer("resp_a"));
    let before = first.scope.database.round_trips();
    respond(&first, None).await;
    assert_eq!(first.scope.database.round_trips() - before, 2);
    for (isolate, expected) in [(&second, 3), (&second, 2), (&first, 2)] {
        world.fetch.answer(answer("resp_b"));
        let before = isolate.scope.database.round_trips();
        respond(isolate, Some("resp_a")).await;
        assert_eq!(isolate.scope.database.round_trips() - before, expected);
    }
}

/// An owner that cannot be looked up is as one that is not known.
#[tokio::test]
async fn a_failed_look_up_passes_the_request_on() {
    let world = world().await;
    let isolate = world.isolate();
    world.fetch.answer(answer("resp_warm"));
    respond(&isolate, None).await;
    // The first is the tick.
    world.store.trouble(Trouble::None);
    world.store.trouble(Trouble::Before(DatabaseErrorKind::Unavailable));
    world.fetch.answer(answer("resp_b"));
    assert_eq!(respond(&isolate, Some("resp_x")).await.status, 200);
}

/// A conversation is forgotten when the vendor has forgotten it.
#[tokio::test]
async fn owners_are_forgotten_after_thirty_days() {
    let world = world().await;
    world.fetch.answer(answer("resp_a"));
    respond(&world.isolate(), None).await;
    world.advance(30 * 24 * 3600 * 1000 + 1);
    let isolate = world.isolate();
    world.fetch.answer(answer("resp_b"));
    assert_eq!(respond(&isolate, Some("resp_a")).await.status, 200);
    let explained = Whole::of(
        isolate
            .send(
                Method::POST,
                "/admin/api/explain",
                crate::support::host::ADMIN_TOKEN,
                json!({"path": "/v1/responses", "key": "key", "body": {"model": "openai_responses/m", "previous_response_id": "resp_b"}})
                    .to_string(),
            )
            .await,
    );
    let explained: Value = explained.await.json();
    assert_eq!(explained["continuation"], json!({"known": true, "provider": "openai_responses"}));
}

/// The same id is another conversation when another key names it: it neither follows the first nor leads it elsewhere.
#[tokio::test]
async fn a_key_does_not_steer_what_another_continues() {
    let world = world().await;
    let isolate = world.isolate();
    let other = "tg-another-key-of-the-gateway";
    isolate.import(&json!({"keys": [{"name": "other", "key": other}]})).await;
    let known = async |key: &str| {
        let wanted = json!({"path": "/v1/responses", "key": key,
            "body": {"model": "openai_responses/m", "previous_response_id": "resp_a"}});
        let admin = crate::support::host::ADMIN_TOKEN;
        let explained = isolate.send(Method::POST, "/admin/api/explain", admin, wanted.to_string()).await;
        Whole::of(explained).await.json()["continuation"]["known"].clone()
    };
    world.fetch.answer(answer("resp_a"));
    assert_eq!(respond(&isolate, None).await.status, 200);
    assert_eq!((known("key").await, known("other").await), (json!(true), json!(false)));
    let owners = || world.store.run("SELECT id, provider_id, credential_id FROM continuations ORDER BY id");
    let before = owners();
    // What the other continues is noted for the other only.
    world.fetch.answer(answer("resp_b"));
    let body = json!({"model": "openai_responses/m", "input": "Hi", "previous_response_id": "resp_a"});
    let reply = Whole::of(isolate.send(Method::POST, "/v1/responses", other, body.to_string()).await).await;
    assert_eq!((reply.status, known("other").await), (200, json!(true)));
    let after = owners();
    assert_eq!((before.len(), after.len()), (1, 3));
    assert!(after.contains(&before[0]));
}
