//! The configuration as a document.

use serde_json::{Value, json};

use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::setup::Setup;
use crate::support::stage::new_key;

fn document(key: &str) -> Value {
    json!({
        "settings": {"max_attempts": 4, "tick": {"max_age_ms": 250}},
        "providers": [
            {"name": "alpha", "channel": "echo"},
            {
                "name": "beta",
                "channel": "custom",
                "base_url": "http://127.0.0.1:9/path",
                "network": "private",
                "dialects": ["claude", "openai_chat"],
                "headers": {"api-key": "{secret}", "x-team": "red"},
                "models": ["m2", "m1"],
                "refuses_stream_options": true,
                "enabled": false,
                "credentials": [
                    {"name": "first", "secret": "sk-exported-never-1", "weight": 3},
                    {"name": "second", "secret": "sk-exported-never-2", "enabled": false},
                ],
            },
        ],
        "routes": [{
            "name": "chat",
            "max_attempts": 2,
            "members": [
                {"provider": "beta", "model": "m1", "tier": 1},
                {"provider": "alpha", "model": "echo", "weight": 7},
                {"provider": "alpha", "model": "other", "weight": 9, "enabled": false},
            ],
        }],
        "keys": [
            {"name": "one", "key": key},
            {"name": "two", "expires_at": "2099-01-31T12:00:00Z", "enabled": false},
        ],
    })
}

/// A gateway that holds the document and nothing else.
async fn configured(key: &str) -> Host {
    let host = Host::start(Setup::default());
    host.try_import("?prune=1", &document(key)).await.expect(200);
    host
}

#[tokio::test]
async fn the_export_is_the_document_without_its_secrets() {
    let key = new_key();
    let host = configured(&key).await;
    let reply = host.get("/admin/api/export").key(ADMIN_TOKEN).send().await.expect(200);
    let mut expected = document(&key);
    expected["providers"][1]["credentials"] = json!([
        {"name": "first", "weight": 3},
        {"name": "second", "enabled": false},
    ]);
    // In the order in which they are tried.
    expected["routes"][0]["members"] = json!([
        {"provider": "alpha", "model": "other", "weight": 9, "enabled": false},
        {"provider": "alpha", "model": "echo", "weight": 7},
        {"provider": "beta", "model": "m1", "tier": 1},
    ]);
    expected["keys"][0] = json!({"name": "one"});
    assert_eq!(reply.json(), expected);
    for secret in [key.as_str(), "sk-exported-never", "tg-", "v1."] {
        assert!(!reply.text().contains(secret), "{secret} in {}", reply.text());
    }
}

#[tokio::test]
async fn the_export_applied_again_changes_nothing() {
    let host = configured(&new_key()).await;
    let export = host.admin("/admin/api/export").await;
    for query in ["", "?prune=1"] {
        let report = host.try_import(query, &export).await.expect(200).json();
        assert_eq!(report["changes"], json!([]));
    }
}

/// Everything but the secrets can be carried to another instance.
#[tokio::test]
async fn the_export_describes_another_instance() {
    let host = configured(&new_key()).await;
    let mut export = host.admin("/admin/api/export").await;
    let other = Host::start(Setup::default());
    let refused = other.try_import("?prune=1", &export).await.expect(422).json();
    let paths: Vec<&str> =
        refused["error"]["faults"].as_array().unwrap().iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["providers[1].credentials[0].secret", "providers[1].credentials[1].secret"]);
    for credential in export["providers"][1]["credentials"].as_array_mut().unwrap() {
        credential["secret"] = "sk-other".into();
    }
    let report = other.try_import("?prune=1", &export).await.expect(200).json();
    // Nobody can bring keys along, so new ones are made.
    assert_eq!(report["keys"].as_array().unwrap().len(), 2);
    assert_eq!(other.admin("/admin/api/export").await, host.admin("/admin/api/export").await);
}

/// Left-out settings are the defaults, and defaults are left out.
#[tokio::test]
async fn default_settings_are_not_exported() {
    let host = configured(&new_key()).await;
    host.import(&json!({"settings": {}})).await;
    assert_eq!(host.admin("/admin/api/export").await.get("settings"), None);
}
