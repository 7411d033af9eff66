//! Secrets and variables in documents.

use serde_json::json;

use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

/// A secret that is left out keeps its value, also when everything else about it changes.
#[tokio::test]
async fn secrets_that_are_left_out_stay() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    let mut provider = stage.provider_document();
    provider["credentials"] = json!([{"name": "account", "weight": 5}]);
    let keys = json!([{"name": stage.key_name, "expires_at": "2099-01-01T00:00:00Z"}]);
    stage.host.import(&json!({"providers": [provider], "keys": keys})).await;
    stage.call(false).send().await.expect(200);
    assert_eq!(stage.recorded().header("authorization"), Some(format!("Bearer {}", stage.secret).as_str()));
}

/// A new secret is used by the next request.
#[tokio::test]
async fn a_new_secret_is_used_at_once() {
    let stage = Stage::new(Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    for number in 0..4 {
        let secret = format!("sk-rotated-{number}");
        let mut provider = stage.provider_document();
        provider["credentials"] = json!([{"name": "account", "secret": secret}]);
        stage.host.import(&json!({"providers": [provider]})).await;
        stage.call(false).send().await.expect(200);
        assert_eq!(stage.upstream.requests().pop().unwrap().header("x-api-key"), Some(secret.as_str()));
    }
}

/// A key that the document does not bring is made up and shown once.
#[tokio::test]
async fn keys_are_made_up_and_shown_once() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    let name = format!("made-{}", unique());
    let document = json!({"keys": [{"name": name}]});
    let report = stage.host.import(&document).await;
    assert_eq!(report["keys"].as_array().unwrap().len(), 1);
    assert_eq!(report["keys"][0]["name"], json!(name));
    let key = report["keys"][0]["key"].as_str().unwrap();
    assert!(key.starts_with("tg-") && key.len() > 40, "{key}");
    let body = Wire::Chat.request(&stage.model(), false);
    stage.host.post("/v1/chat/completions", body).key(key).send().await.expect(200);
    let again = stage.host.import(&document).await;
    assert_eq!((again.get("keys"), &again["changes"]), (None, &json!([])));
    assert!(!stage.host.stderr().contains(key));
}

/// Variables stand anywhere in a text, or for the whole of one; what is the gateway's own cannot be had.
#[tokio::test]
async fn variables_are_expanded_on_the_host() {
    let host =
        Host::start(Setup::default().variable("SUITE_VENDOR_SECRET", "sk-from-env").variable("SUITE_TEAM", "red"));
    let members = json!({
        "headers": {"x-team": "team-${SUITE_TEAM}-${SUITE_TEAM}", "x-plain": "$SUITE_TEAM ${SUITE_TEAM"},
        "credentials": [{"name": "account", "secret": "env://SUITE_VENDOR_SECRET"}],
    });
    let stage = Stage::on_with(&host, Wire::Chat, members.clone()).await;
    stage.answered(Answer::json(200, Wire::Chat.answer())).await.expect(200);
    let recorded = stage.recorded();
    assert_eq!(recorded.header("authorization"), Some("Bearer sk-from-env"));
    assert_eq!(recorded.header("x-team"), Some("team-red-red"));
    assert_eq!(recorded.header("x-plain"), Some("$SUITE_TEAM ${SUITE_TEAM"));
    // The same variables again are no change.
    let mut provider = stage.provider_document();
    provider["headers"] = members["headers"].clone();
    provider["credentials"] = members["credentials"].clone();
    assert_eq!(host.import(&json!({"providers": [provider]})).await["changes"], json!([]));
    for name in ["NEVER_SET", "TOLLGATE_MASTER_KEY", "TOLLGATE_ADMIN_TOKEN"] {
        for text in [format!("env://{name}"), format!("a${{{name}}}b")] {
            let document = json!({"providers": [{"name": "p", "channel": "echo", "headers": {"x": text}}]});
            let reply = host.try_import("", &document).await;
            let message = check::admin_error(&reply, 422, "invalid_document");
            assert!(message.contains(name) && message.contains("providers[0].headers.x"), "{message}");
            assert!(!message.contains("suite-secret"), "{message}");
        }
    }
}

/// A secret in a wrong place is not repeated by the fault.
#[tokio::test]
async fn faults_do_not_repeat_values() {
    let host = Host::start(Setup::default().variable("SUITE_VENDOR_SECRET", "sk-from-env"));
    for provider in [
        json!({"name": "p", "channel": "echo", "credentials": ["${SUITE_VENDOR_SECRET}"]}),
        json!({"name": "p", "channel": "echo", "network": "${SUITE_VENDOR_SECRET}"}),
        json!({"name": "p", "channel": "echo", "enabled": "${SUITE_VENDOR_SECRET}"}),
    ] {
        let reply = host.try_import("", &json!({"providers": [provider]})).await;
        let message = check::admin_error(&reply, 422, "invalid_document");
        assert!(!message.contains("sk-from"), "{message}");
        assert!(message.contains("expected"), "{message}");
    }
}
