//! Token endpoints that do not help.

use serde_json::json;
use tollgate::platform::fetch::FetchErrorKind;

use super::{ask, leases, tokens, used, version, world, world_with};
use crate::support::fetch::FakeAnswer;

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
