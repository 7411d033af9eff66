//! Credentials whose tokens end: a token endpoint beside the vendor.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::stage::Stage;
use crate::support::upstream::Upstream;
use crate::support::vendors::Wire;

/// A stage whose provider has its tokens from `endpoint`.
async fn stage_with(wire: Wire, endpoint: &Upstream, secret: Value) -> Stage<'static> {
    let members = json!({
        "oauth": {"token_url": endpoint.url("/token"), "client_id": "client", "client_secret": "hush & hush"},
        "credentials": [{"name": "account", "secret": secret}],
    });
    Stage::with(wire, members).await
}

fn new_tokens(number: u32) -> Answer {
    let (access, refresh) = (format!("access-{number}"), format!("refresh-{number}"));
    Answer::json(200, json!({"access_token": access, "refresh_token": refresh, "expires_in": 3600}).to_string())
}

fn refused() -> Answer {
    Answer::json(400, r#"{"error":"invalid_grant"}"#)
}

/// What the vendor was sent for authentication, call by call.
fn used(stage: &Stage<'_>) -> Vec<String> {
    let name = stage.wire.authentication("").0;
    stage.upstream.requests().iter().map(|request| request.header(name).unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_token_is_had_before_the_first_call_and_kept() {
    for wire in Wire::ALL {
        let endpoint = Upstream::start().await;
        endpoint.answer(new_tokens(1));
        endpoint.always(refused());
        let stage = stage_with(wire, &endpoint, json!({"refresh_token": "refresh-0"})).await;
        stage.upstream.always(Answer::json(200, wire.answer()));
        for _ in 0..4 {
            stage.call(false).send().await.expect(200);
        }
        let asked = endpoint.request();
        assert_eq!((asked.method.as_str(), asked.target.as_str()), ("POST", "/token"));
        assert_eq!(asked.header("authorization"), None);
        let form = "grant_type=refresh_token&refresh_token=refresh-0&client_id=client&client_secret=hush%20%26%20hush";
        assert_eq!(asked.text(), form);
        assert_eq!(used(&stage), vec![wire.authentication("access-1").1; 4]);
    }
}

/// B62: many at once, on whatever isolates the host has, and a token endpoint that takes each refresh token once.
#[tokio::test]
async fn many_at_once_refresh_once() {
    let endpoint = Upstream::start().await;
    endpoint.answer(new_tokens(1));
    endpoint.always(refused());
    let stage = stage_with(
        Wire::Claude,
        &endpoint,
        json!({"access_token": "access-0", "refresh_token": "refresh-0", "expires_at": 1}),
    )
    .await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    let replies = join_all((0..10).map(|_| stage.call(false).send())).await;
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!(endpoint.requests().len(), 1);
    assert_eq!(used(&stage), vec!["access-1".to_owned(); 10]);
}

/// An access token that the vendor refuses is made anew, and the request goes through.
#[tokio::test]
async fn a_refused_token_is_made_anew() {
    for stream in [false, true] {
        let endpoint = Upstream::start().await;
        endpoint.answer(new_tokens(1));
        let secret = json!({"access_token": "access-0", "refresh_token": "refresh-0"}).to_string();
        let stage = stage_with(Wire::Chat, &endpoint, secret.into()).await;
        stage.upstream.answer(Answer::json(401, Wire::Chat.vendor_error(401, "expired")));
        let good = if stream { Answer::sse(Wire::Chat.events()) } else { Answer::json(200, Wire::Chat.answer()) };
        stage.upstream.answer(good);
        stage.call(stream).send().await.expect(200);
        assert_eq!(used(&stage), ["Bearer access-0", "Bearer access-1"]);
        assert_eq!(endpoint.requests().len(), 1);
    }
}

/// A login that has ended is the gateway's own trouble, and new tokens end it.
#[tokio::test]
async fn a_login_that_has_ended_needs_a_new_one() {
    let endpoint = Upstream::start().await;
    endpoint.always(refused());
    let stage = stage_with(Wire::Gemini, &endpoint, json!({"refresh_token": "refresh-0"})).await;
    stage.upstream.always(Answer::json(200, Wire::Gemini.answer()));
    let reply = stage.call(false).send().await;
    let message = check::error(&reply, Wire::Gemini, 502, "upstream_credential_refused");
    assert!(!message.contains("refresh-0"), "{message}");
    assert!(stage.upstream.requests().is_empty());
    let mut provider = stage.provider_document();
    provider["credentials"] =
        json!([{"name": "account", "secret": {"access_token": "access-9", "refresh_token": "r"}}]);
    provider["oauth"] = json!({"token_url": endpoint.url("/token"), "client_id": "client"});
    stage.host.import(&json!({"providers": [provider]})).await;
    stage.call(false).send().await.expect(200);
    assert_eq!(used(&stage), ["access-9"]);
}

#[tokio::test]
async fn a_token_endpoint_in_trouble_is_told() {
    let endpoint = Upstream::start().await;
    endpoint.answer(Answer::json(503, "<html>"));
    let stage = stage_with(Wire::Responses, &endpoint, json!({"refresh_token": "refresh-0"})).await;
    check::error(&stage.call(false).send().await, Wire::Responses, 502, "token_refresh_failed");
    assert!(stage.upstream.requests().is_empty());
}

#[tokio::test]
async fn faults_of_logins_are_told_with_their_paths() {
    let host = Host::shared();
    let oauth = |member: &str, value: Value| {
        let mut oauth = json!({"token_url": "https://login.example/token", "client_id": "c"});
        oauth[member] = value;
        json!({"name": "p", "channel": "openai", "oauth": oauth})
    };
    let secret = |oauth: Value, secret: Value| json!({"name": "p", "channel": "openai", "oauth": oauth, "credentials": [{"name": "c", "secret": secret}]});
    let fine = json!({"token_url": "https://login.example/token", "client_id": "c"});
    let place = "providers[0].credentials[0].secret";
    for (provider, path) in [
        (oauth("token_url", json!("http://login.example/token")), "providers[0].oauth.token_url"),
        (oauth("token_url", json!("https://10.0.0.1/token")), "providers[0].oauth.token_url"),
        (oauth("token_url", json!("https://login.example/token?a=b")), "providers[0].oauth.token_url"),
        (oauth("client_id", json!("")), "providers[0].oauth.client_id"),
        (oauth("margin_seconds", json!(100_000)), "providers[0].oauth.margin_seconds"),
        (oauth("refresh_statuses", json!([500])), "providers[0].oauth.refresh_statuses"),
        (oauth("unknown", json!(1)), "providers[0].oauth.unknown"),
        (secret(fine.clone(), json!("sk-plain-123")), place),
        (secret(fine.clone(), json!({"access_token": "sk-plain-123"})), place),
        (secret(fine.clone(), json!({"refresh_token": "sk-plain-123", "expires_at": "soon"})), place),
        (secret(fine, json!(["sk-plain-123"])), place),
        (secret(Value::Null, json!({"refresh_token": "sk-plain-123"})), place),
    ] {
        let reply = host.try_import("?dry_run=1", &json!({"providers": [provider]})).await;
        let message = check::admin_error(&reply, 422, "invalid_document");
        let faults = reply.json()["error"]["faults"].clone();
        assert_eq!(faults[0]["path"], path, "{faults}");
        assert!(!message.contains("sk-plain-123"), "{message}");
    }
}
