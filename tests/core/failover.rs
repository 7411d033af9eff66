//! Who is asked after whom, where it depends on what other isolates do or on time.

use serde_json::{Value, json};
use tollgate::platform::body::Body;

use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole, World, provider, step};

/// A provider for Claude with these members.
fn claude(members: &Value) -> Value {
    let mut document = provider(Wire::Claude);
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
}

async fn world(members: Value) -> (World, Isolate) {
    let world = World::configured().await;
    let isolate = world.isolate();
    isolate.import(&json!({"providers": [claude(&members)]})).await;
    (world, isolate)
}

fn good() -> FakeAnswer {
    FakeAnswer::json(200, Wire::Claude.answer())
}

fn bad(status: u16) -> FakeAnswer {
    FakeAnswer::json(status, Wire::Claude.vendor_error(status, "no"))
}

/// A world whose only provider for Claude is half-open.
async fn half_open(refuse: bool) -> (World, Isolate, Isolate) {
    let (world, first) = world(json!({"breaker": {"failure_threshold": 1, "refuse": refuse}})).await;
    world.fetch.answer(bad(500));
    assert_eq!(first.ask(Wire::Claude, false).await.status, 500);
    world.advance(300_000);
    let second = world.isolate();
    (world, first, second)
}

fn failures(world: &World) -> i64 {
    let rows = world.store.run("SELECT CAST(COALESCE(SUM(failures), 0) AS INTEGER) FROM health");
    match rows[0][0] {
        tollgate::platform::database::Value::Integer(number) => number,
        ref other => panic!("{other:?}"),
    }
}

/// While another isolate tries a provider with care, it is asked all the same where there is nobody else, unless it is to refuse.
#[tokio::test]
async fn the_only_provider_is_asked_while_others_try_it() {
    for (refuse, status) in [(false, 200), (true, 503)] {
        let (world, first, second) = half_open(refuse).await;
        world.fetch.answer(FakeAnswer::Never);
        let mut probing = Box::pin(first.ask(Wire::Claude, false));
        assert!(step(&mut probing).is_none());
        let asked = world.fetch.requests().len();
        for _ in 0..2 {
            world.fetch.answer(good());
            let reply = second.ask(Wire::Claude, false).await;
            assert_eq!(reply.status, status, "{}", reply.text);
        }
        assert_eq!(world.fetch.requests().len() - asked, if refuse { 0 } else { 2 });
    }
}

/// What was admitted to a half-open provider and is not sent there after all leaves it to the next.
#[tokio::test]
async fn a_request_that_cannot_be_converted_holds_no_lease() {
    let (world, first, second) = half_open(true).await;
    let body = json!({"model": "claude/m", "n": 2, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = first.send(http::Method::POST, "/v1/chat/completions", KEY, body.to_string()).await;
    assert_eq!(Whole::of(reply).await.json()["error"]["code"], "conversion_unsupported");
    world.fetch.answer(good());
    assert_eq!(second.ask(Wire::Claude, false).await.status, 200);
}

/// Nothing is converted for who must not be asked, so what is the matter with the conversion is not the answer.
#[tokio::test]
async fn health_is_asked_before_anything_is_converted() {
    let (world, first, second) = half_open(true).await;
    world.fetch.answer(FakeAnswer::Never);
    let mut probing = Box::pin(first.ask(Wire::Claude, false));
    assert!(step(&mut probing).is_none());
    let body = json!({"model": "claude/m", "n": 2, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = second.send(http::Method::POST, "/v1/chat/completions", KEY, body.to_string()).await;
    assert_eq!(Whole::of(reply).await.status, 503);
}

/// Retries of one request are one failure, told when the last of them is over, however that comes about.
#[tokio::test]
async fn a_series_of_retries_is_one_failure() {
    let retry = json!({"retry": {"max_retries": 2, "initial_delay_ms": 1000, "jitter": false}});
    for (answers, status, told) in [
        (vec![bad(500), bad(500), bad(500)], 500, 1),
        (vec![bad(500), bad(529), good()], 200, 0),
        (vec![bad(500), bad(400)], 400, 1),
    ] {
        let (world, isolate) = world(retry.clone()).await;
        let calls = answers.len();
        answers.into_iter().for_each(|answer| world.fetch.answer(answer));
        let reply = world.clock.hurry(isolate.ask(Wire::Claude, false)).await;
        assert_eq!((reply.status, world.fetch.requests().len()), (status, calls), "{}", reply.text);
        assert_eq!(failures(&world), told, "{status}");
    }
    // Nor is it forgotten when the client leaves in between.
    let (world, isolate) = world(retry).await;
    world.fetch.answer(bad(500));
    let mut asking = Box::pin(isolate.ask(Wire::Claude, false));
    assert!(step(&mut asking).is_none());
    drop(asking);
    assert_eq!(failures(&world), 1);
}

async fn within(isolate: &Isolate, millis: u32) -> Whole {
    let request = http::Request::builder()
        .method("POST")
        .uri("/v1/messages")
        .header("authorization", format!("Bearer {KEY}"))
        .header("x-gateway-timeout-ms", millis)
        .body(Body::Whole(Wire::Claude.request("claude/m", false).into()));
    Whole::of(tollgate::http::handle(&isolate.gateway, &isolate.scope, request.unwrap()).await).await
}

/// A limit that is soon over is waited for, where nobody else is left and the operator wants retries.
#[tokio::test]
async fn a_limit_is_waited_for_when_nobody_is_left() {
    let limited = |seconds: u32| {
        let error = json!({"type": "rate_limit_error", "message": "slow down", "resets_in_seconds": seconds});
        FakeAnswer::json(429, json!({"type": "error", "error": error}).to_string())
    };
    let retry = json!({"max_retries": 1, "initial_delay_ms": 1000, "max_delay_ms": 5000, "jitter": false});
    let two = json!([{"name": "one", "secret": "sk-one"}, {"name": "two", "secret": "sk-two"}]);
    let one = json!([{"name": "one", "secret": "sk-one"}]);
    for (credentials, retry, answers, time, status, calls) in [
        (&one, &retry, vec![limited(2), good()], 60_000, 200, 2),
        (&one, &retry, vec![limited(2), limited(2), good()], 60_000, 429, 2),
        (&one, &retry, vec![limited(2), bad(500)], 60_000, 500, 2),
        (&one, &retry, vec![limited(60), good()], 60_000, 429, 1),
        (&one, &retry, vec![limited(4), good()], 3_000, 429, 1),
        (&one, &Value::Null, vec![limited(2), good()], 60_000, 429, 1),
        (&two, &retry, vec![limited(4), limited(2), good()], 60_000, 200, 3),
        (&two, &retry, vec![limited(4), good()], 60_000, 200, 2),
    ] {
        let mut members = json!({"credentials": credentials});
        if !retry.is_null() {
            members["retry"] = retry.clone();
        }
        let (world, isolate) = world(members).await;
        answers.into_iter().for_each(|answer| world.fetch.answer(answer));
        let reply = world.clock.hurry(within(&isolate, time)).await;
        let requests = world.fetch.requests();
        assert_eq!((reply.status, requests.len()), (status, calls), "{}", reply.text);
        if calls == 3 {
            let used = |at: usize| requests[at].headers["x-api-key"].clone();
            assert_ne!(used(0), used(1));
            assert_eq!(used(1), used(2), "the one that waits less");
        }
    }
}

/// All reasons are told, and a member without a credential hides none of them.
#[tokio::test]
async fn reasons_of_all_members_are_told() {
    let (world, isolate) = world(json!({})).await;
    let mut bare = claude(&json!({"credentials": []}));
    bare["name"] = "bare".into();
    let member = |provider: &str, tier: u32| json!({"provider": provider, "model": "m", "tier": tier});
    let members = [member("bare", 0), member("claude", 1), member("gemini", 2)];
    isolate.import(&json!({"providers": [bare], "routes": [{"name": "pool", "members": members}]})).await;
    let body = json!({"model": "pool", "previous_response_id": "resp_1", "input": "Hi"});
    let reply = Whole::of(isolate.send(http::Method::POST, "/v1/responses", KEY, body.to_string()).await).await;
    assert_eq!(reply.status, 400, "{}", reply.text);
    for provider in ["claude", "gemini"] {
        assert!(reply.text.contains(&format!("the provider {provider}")), "{}", reply.text);
    }
    assert!(world.fetch.requests().is_empty());
}
