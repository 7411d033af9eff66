//! Documents that make no sense.

use serde_json::{Value, json};

use super::{names, whole_document};
use crate::check;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::stage::new_key;

#[tokio::test]
async fn faults_are_told_with_their_paths_and_nothing_is_written() {
    let host = Host::shared();
    let names = names();
    let good = whole_document(&names, &new_key());
    let before = good["keys"][0]["key"].as_str().unwrap();
    let p = |path: &str, value: Value| {
        let (parent, name) = path.rsplit_once('/').unwrap();
        let mut changed = good.clone();
        match (name.parse::<usize>(), changed.pointer_mut(parent).unwrap()) {
            (Ok(index), list) => list[index] = value,
            (Err(_), object) => object[name] = value,
        }
        changed
    };
    let mut twice = good.clone();
    let provider = twice["providers"][0].clone();
    twice["providers"].as_array_mut().unwrap().push(provider);
    let mut two_keys = good.clone();
    two_keys["keys"].as_array_mut().unwrap().push(json!({"name": "other", "key": before}));
    for (document, path) in [
        (p("/providers/0/name", json!("")), "providers[0].name"),
        (p("/providers/0/name", json!("a/b")), "providers[0].name"),
        (p("/providers/0/name", json!("a\nb")), "providers[0].name"),
        (p("/providers/0/name", json!("x".repeat(201))), "providers[0].name"),
        (p("/providers/0/channel", json!("nonsense")), "providers[0]"),
        (p("/providers/0/base_url", json!("https://10.0.0.1")), "providers[0]"),
        (p("/providers/0/base_url", json!("http://vendor.example")), "providers[0]"),
        (p("/providers/0/headers", json!({"host": "a"})), "providers[0]"),
        (p("/providers/0/headers", json!({"x": "a\r\nb"})), "providers[0]"),
        (p("/providers/0/headers", json!({"Authorization": "Bearer abc"})), "providers[0].headers.Authorization"),
        (p("/providers/0/dialects", json!(["klingon"])), "providers[0].dialects[0]"),
        (p("/providers/0/unknown", json!(1)), "providers[0].unknown"),
        (p("/providers/0/network", json!("lan")), "providers[0].network"),
        (p("/providers/0/credentials/0/secret", json!("sk a")), "providers[0].credentials[0].secret"),
        (p("/providers/0/credentials/0/secret", json!("")), "providers[0].credentials[0].secret"),
        (p("/providers/0/credentials/1", json!({"name": "new"})), "providers[0].credentials[1].secret"),
        (p("/providers/0/credentials/1/name", json!("a")), "providers[0].credentials[1].name"),
        (p("/providers/0/credentials/0/weight", json!(-1)), "providers[0].credentials[0].weight"),
        (p("/routes/0/max_attempts", json!(0)), "routes[0].max_attempts"),
        (p("/routes/0/members/0/provider", json!("nobody")), "routes[0].members[0].provider"),
        (p("/routes/0/members/0/model", json!("")), "routes[0].members[0].model"),
        (p("/routes/0/members/1/model", json!("large")), "routes[0].members[1]"),
        (p("/routes/0/members/0/tier", json!(1.5)), "routes[0].members[0].tier"),
        (p("/keys/0/key", json!("short")), "keys[0].key"),
        (p("/keys/0/key", json!("sk-0123456789012345678901234567")), "keys[0].key"),
        (p("/keys/0/key", json!("tg-01234567890123456789 a")), "keys[0].key"),
        (p("/keys/0/expires_at", json!("tomorrow")), "keys[0].expires_at"),
        (p("/keys/0/enabled", json!("yes")), "keys[0].enabled"),
        (twice, "providers[1].name"),
        (two_keys, "keys[1].key"),
        (json!({"settings": {"max_attempts": 0}}), "settings.max_attempts"),
        (json!({"settings": {"tick": {"max_age_ms": -1}}}), "settings.tick.max_age_ms"),
        (json!({"settings": {"unknown": 1}}), "settings"),
        (json!({"provider": []}), "provider"),
        (json!({"providers": {}}), "providers"),
    ] {
        let reply = host.try_import("", &document).await;
        let message = check::admin_error(&reply, 422, "invalid_document");
        let faults = reply.json()["error"]["faults"].clone();
        let found = faults.as_array().unwrap().iter().find(|fault| fault["path"].as_str().unwrap().starts_with(path));
        let found = found.unwrap_or_else(|| panic!("{path} is not among {faults}"));
        assert!(message.contains(found["message"].as_str().unwrap()), "{message}");
    }
    assert!(!host.admin("/admin/api/export").await.to_string().contains(&names.provider));
}

#[tokio::test]
async fn all_faults_are_told_at_once() {
    let document = json!({
        "providers": [{"name": "", "channel": "echo"}, {"name": "b/c", "channel": "nonsense"}],
        "routes": [{"name": "r", "members": [{"provider": "nobody", "model": "m"}]}],
        "keys": [{"name": "k", "key": "short"}],
    });
    let reply = Host::shared().try_import("", &document).await.expect(422);
    let error = &reply.json()["error"];
    let paths: Vec<&str> =
        error["faults"].as_array().unwrap().iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    let expected =
        ["providers[0].name", "providers[1].name", "providers[1]", "routes[0].members[0].provider", "keys[0].key"];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn a_body_that_is_no_document_is_refused() {
    let host = Host::shared();
    for (body, status, code) in [
        ("", 400, "invalid_request"),
        ("{", 400, "invalid_request"),
        ("providers: []", 400, "invalid_request"),
        ("3", 422, "invalid_document"),
        ("null", 422, "invalid_document"),
    ] {
        let reply = host.post("/admin/api/import", body).key(ADMIN_TOKEN).send().await;
        check::admin_error(&reply, status, code);
    }
    let empty = host.post("/admin/api/import", "{}").key(ADMIN_TOKEN).send().await.expect(200).json();
    assert_eq!(empty["changes"], json!([]));
}

/// A document and the things in it are objects with names, never lists of values in some order.
#[tokio::test]
async fn lists_are_no_documents() {
    let host = Host::shared();
    for body in [
        "[]",
        r#"[null,[{"name":"positional","channel":"echo"}]]"#,
        r#"{"providers":[["positional","echo"]]}"#,
        r#"{"settings":[3]}"#,
    ] {
        let reply = host.post("/admin/api/import?dry_run=1", body).key(ADMIN_TOKEN).send().await;
        check::admin_error(&reply, 422, "invalid_document");
    }
}
