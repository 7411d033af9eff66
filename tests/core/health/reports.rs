//! What operators see, and how they reset it.

use http::Method;
use serde_json::{Value, json};
use tollgate::engine::failure::FailureKind;

use super::{Failed, Well, world};
use crate::support::host::ADMIN_TOKEN;
use crate::support::world::{Isolate, Whole, World};

async fn post(isolate: &Isolate, target: &str, body: &str) -> Whole {
    Whole::of(isolate.send(Method::POST, target, ADMIN_TOKEN, body.to_owned()).await).await
}

#[tokio::test]
async fn a_credential_is_shown_with_what_is_the_matter() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::RateLimited, 7200)).await;
    first.call("m", "two", Failed(FailureKind::Unauthorized, 0)).await;
    let reply = Whole::of(second.send(Method::GET, "/admin/api/health", ADMIN_TOKEN, "").await).await;
    assert!(!reply.text.contains("sk-"), "{}", reply.text);
    let health = reply.json();
    let [one, two] = health["providers"][0]["credentials"].as_array().unwrap().as_slice() else { panic!("{health}") };
    assert_eq!((&one["name"], &one["state"]), (&json!("one"), &json!("resting")));
    assert_eq!(one["until"], "2026-11-30T00:30:00Z");
    assert_eq!(one["hint"], "2026-11-30T02:00:00Z");
    assert_eq!(one["cause"], "the test wants it so");
    assert_eq!((&one["rests"][0]["kind"], &one["rests"][0]["model"]), (&json!("limited"), &json!("m")));
    assert_eq!((&two["state"], &two["until"]), (&json!("out"), &json!("2026-11-30T00:30:00Z")));
    assert_eq!(two["rests"][0]["kind"], "dead");
    assert_eq!(second.status().await["health"], health["providers"]);
}

/// A world in which everything is the matter.
async fn ill() -> (World, Isolate, Isolate) {
    let world = world(json!({"quotas": [{"budget": 100}], "breaker": {"failure_threshold": 1}})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::Server, 0)).await;
    first.call("m", "one", Failed(FailureKind::RateLimited, 60)).await;
    first.call("m", "one", Failed(FailureKind::Refused, 60)).await;
    first.call("m", "two", Failed(FailureKind::Unauthorized, 60)).await;
    world.advance(1);
    first.call("m", "two", Failed(FailureKind::QuotaUsedUp, 0)).await;
    (world, first, second)
}

/// The states of the breaker, the quota and the two credentials.
async fn states(isolate: &Isolate) -> [String; 4] {
    let shown = isolate.shown().await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    [
        text(&shown["breakers"][0]["state"]),
        text(&shown["quotas"][0]["state"]),
        text(&shown["credentials"][0]["state"]),
        text(&shown["credentials"][1]["state"]),
    ]
}

#[tokio::test]
async fn a_reset_reaches_all() {
    for (target, body, expected) in [
        ("/api/reset", "", ["closed", "within_quota", "ready", "ready"]),
        ("/api/reset", "{}", ["closed", "within_quota", "ready", "ready"]),
        ("/api/reset", r#"{"providers":["vendor"]}"#, ["closed", "within_quota", "ready", "ready"]),
        ("/api/reset", r#"{"vendors":["vendor"]}"#, ["closed", "within_quota", "ready", "ready"]),
        ("/api/reset", r#"{"providers":[]}"#, ["open", "quota_exceeded", "resting", "out"]),
        ("/admin/api/health/reset", "{}", ["closed", "within_quota", "ready", "ready"]),
        ("/admin/api/health/reset", r#"{"provider":"vendor"}"#, ["closed", "within_quota", "ready", "ready"]),
        (
            "/admin/api/health/reset",
            r#"{"provider":"vendor","credential":"one"}"#,
            ["open", "quota_exceeded", "ready", "out"],
        ),
        ("/admin/api/health/reset", r#"{"credential":"two"}"#, ["open", "quota_exceeded", "resting", "ready"]),
    ] {
        let (world, first, second) = ill().await;
        for isolate in [&first, &second] {
            assert_eq!(states(isolate).await, ["open", "quota_exceeded", "resting", "out"]);
        }
        let reply = post(&second, target, body).await;
        assert_eq!((reply.status, reply.json()), (200, json!({"status": "ok"})), "{body}");
        for isolate in [&second, &first, &world.isolate()] {
            assert_eq!(states(isolate).await, expected, "{target} {body}");
        }
    }
}

/// What was spent is forgotten only if that is asked for.
#[tokio::test]
async fn a_reset_may_forget_what_was_spent() {
    let world = world(json!({"quotas": [{"budget": 100}]})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Well(100)).await;
    assert!(first.admits("m", "one").await && !second.admits("m", "one").await);
    post(&second, "/admin/api/health/reset", "{}").await;
    for isolate in [&first, &second] {
        assert_eq!(states(isolate).await[1], "quota_exceeded");
    }
    post(&second, "/admin/api/health/reset", r#"{"provider":"vendor","quotas":true}"#).await;
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(states(isolate).await[1], "within_quota");
        assert!(isolate.admits("m", "one").await);
    }
}

#[tokio::test]
async fn a_reset_that_makes_no_sense_is_refused() {
    let (_world, first, _) = ill().await;
    for (body, expected) in [
        ("[]", "expected an object"),
        ("{", "expected an object"),
        (r#"{"provder":"vendor"}"#, "unknown field"),
        (r#"{"providers":["nobody"]}"#, "no provider \"nobody\""),
        (r#"{"provider":"vendor","credential":"nobody"}"#, "no credential \"nobody\""),
    ] {
        let reply = post(&first, "/api/reset", body).await;
        let error = reply.json()["error"].clone();
        assert_eq!((reply.status, &error["code"]), (400, &json!("invalid_request")), "{body}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{error}");
    }
    assert_eq!(states(&first).await, ["open", "quota_exceeded", "resting", "out"]);
}
