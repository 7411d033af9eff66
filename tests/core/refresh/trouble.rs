//! Token endpoints that do not help.

use serde_json::json;
use tollgate::platform::fetch::FetchErrorKind;

use super::{ask, leases, tokens, used, version, world, world_with};
use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::vendors::Wire;
use crate::support::world::{KEY, Whole};

fn troubles() -> Vec<FakeAnswer> {
    vec![
        FakeAnswer::Fail(FetchErrorKind::Connect),
        FakeAnswer::Fail(FetchErrorKind::Timeout),
        FakeAnswer::json(500, "{}"),
        FakeAnswer::json(200, "<html>"),
        FakeAnswer::json(200, r#"{"expires_in":3600}"#),
        FakeAnswer::json(400, r#"{"error":"invalid_client"}"#),
        FakeAnswer::json(429, r#"{"error":"slow_down"}"#),
        FakeAnswer::json(302, ""),
    ]
}

/// As long as the old token is good, it is used, and the token endpoint is asked again after a while.
#[tokio::test]
async fn a_good_token_is_used_while_there_is_trouble() {
    for trouble in troubles() {
        let (world, vendor) = world_with(50).await;
        let isolate = world.isolate();
        vendor.instead(trouble);
        assert_eq!(ask(&isolate).await.status, 200);
        assert_eq!(ask(&isolate).await.status, 200);
        assert_eq!((vendor.asked(), version(&world), leases(&world)), (1, 0, 0));
        world.advance(5000);
        assert_eq!(ask(&isolate).await.status, 200);
        assert_eq!((vendor.asked(), version(&world)), (2, 1));
        assert_eq!(used(&world), ["access-0", "access-0", "access-1"]);
    }
}

/// One that has ended is no use: the next credential is, and nothing is dead.
#[tokio::test]
async fn an_ended_token_goes_to_the_next_credential() {
    for trouble in troubles() {
        let (world, vendor) = world(json!([
            {"name": "a", "secret": tokens(0, -1), "weight": 1_000_000},
            {"name": "b", "secret": {"access_token": "access-other", "refresh_token": "r"}, "weight": 0},
        ]))
        .await;
        let isolate = world.isolate();
        vendor.instead(trouble);
        assert_eq!(ask(&isolate).await.status, 200);
        assert_eq!((vendor.asked(), used(&world), leases(&world)), (1, vec!["access-other".to_owned()], 0));
        world.advance(5000);
        assert_eq!(ask(&isolate).await.status, 200);
        assert_eq!(used(&world).pop().unwrap(), "access-1");
    }
}

/// Alone, it is an error that says that it may be well in a moment.
#[tokio::test]
async fn an_ended_token_alone_is_an_error() {
    let (world, vendor) = world_with(-1).await;
    vendor.instead(FakeAnswer::Fail(FetchErrorKind::Connect));
    let reply = ask(&world.isolate()).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (502, &json!("token_refresh_failed")));
    // Nobody was called.
    assert!(used(&world).is_empty());
}

/// After a refusal that no new token follows, the refusal stands.
#[tokio::test]
async fn a_refusal_stands_while_there_is_trouble() {
    let (world, vendor) = world_with(3000).await;
    vendor.0.refuses_all.set(true);
    vendor.instead(FakeAnswer::json(500, "{}"));
    let reply = ask(&world.isolate()).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (502, &json!("upstream_credential_refused")));
    assert_eq!((vendor.asked(), used(&world).len()), (1, 1));
}

/// A token that was refused and cannot be made anew is not sent again.
#[tokio::test]
async fn a_refused_token_is_not_sent_again() {
    let (world, vendor) = world_with(3000).await;
    vendor.0.refuses_all.set(true);
    let isolate = world.isolate();
    for _ in 0..3 {
        vendor.instead(FakeAnswer::json(503, "{}"));
        assert_ne!(world.clock.hurry(ask(&isolate)).await.status, 200);
        world.advance(5000);
    }
    assert_eq!((vendor.asked(), used(&world)), (3, vec!["access-0".to_owned()]));
    vendor.0.refuses_all.set(false);
    world.advance(5000);
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!(used(&world), ["access-0", "access-1"]);
}

/// A refusal that nothing can put right is told once, and the call counts once.
#[tokio::test]
async fn a_refused_call_counts_once() {
    let quotas = json!([{"unit": "requests", "budget": 100, "window_hours": 1}]);
    let (world, vendor) = world(json!([{"name": "account", "secret": tokens(0, 3000), "quotas": quotas}])).await;
    world.fetch.answer(FakeAnswer::json(403, Wire::Chat.vendor_error(403, "no")));
    assert_ne!(ask(&world.isolate()).await.status, 200);
    assert_eq!(vendor.asked(), 0);
    assert_eq!(world.store.run("SELECT SUM(amount) FROM quota_usage"), [vec![1.into()]]);
    assert_eq!(world.store.run("SELECT COUNT(*) FROM health WHERE kind = 'refused'"), [vec![1.into()]]);
}

/// A refusal within a stream is one like any other: a new token puts it right, and nothing is dead.
#[tokio::test]
async fn a_refusal_within_a_stream_is_put_right() {
    let (world, vendor) = world_with(3000).await;
    let error = r#"{"error":{"message":"expired","type":"authentication_error","code":401}}"#;
    let event = format!("data: {error}\n\n");
    world.fetch.answer(FakeAnswer::Respond(200, "text/event-stream", vec![Piece::Bytes(event.into())]));
    let isolate = world.isolate();
    let answer = Whole::of(isolate.open_with(Wire::Chat, "login/m", true, KEY).await).await;
    assert_eq!(
        (vendor.asked(), used(&world)),
        (1, vec!["access-0".to_owned(), "access-1".to_owned()]),
        "{}",
        answer.text
    );
    assert!(world.store.run("SELECT * FROM health").is_empty());
}
