//! Applying a document.

mod changes;
mod faults;
mod secrets;

use serde_json::{Value, json};

use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, new_key, unique};
use crate::support::vendors::Wire;

/// Names that no other case has, so that a document can be applied to the shared gateway.
struct Names {
    provider: String,
    route: String,
    key: String,
}

fn names() -> Names {
    let number = unique();
    Names { provider: format!("p-{number}"), route: format!("r-{number}"), key: format!("k-{number}") }
}

fn whole_document(names: &Names, key: &str) -> Value {
    json!({
        "providers": [{
            "name": names.provider,
            "channel": "openai",
            "base_url": "https://vendor.example/v1",
            "models": ["large"],
            "headers": {"x-team": "red"},
            "credentials": [
                {"name": "a", "secret": "sk-a", "weight": 2},
                {"name": "b", "secret": "sk-b", "enabled": false},
            ],
        }],
        "routes": [{"name": names.route, "max_attempts": 2, "members": [
            {"provider": names.provider, "model": "large", "tier": 1, "weight": 7},
            {"provider": names.provider, "model": "small", "enabled": false},
        ]}],
        "keys": [{"name": names.key, "key": key, "expires_at": "2099-01-31T00:00:00Z"}],
    })
}

async fn revision(host: &Host) -> i64 {
    host.admin("/admin/api/status").await["revision"].as_i64().unwrap()
}

#[tokio::test]
async fn a_document_is_applied_and_tells_what_it_changed() {
    let names = names();
    let report = Host::shared().import(&whole_document(&names, &new_key())).await;
    let create = |kind: &str, name: String| json!({"action": "create", "kind": kind, "name": name});
    let expected = json!([
        create("credential", format!("{}/a", names.provider)),
        create("credential", format!("{}/b", names.provider)),
        create("provider", names.provider.clone()),
        create("route", names.route.clone()),
        create("key", names.key.clone()),
    ]);
    assert_eq!(report["changes"], expected);
    assert_eq!(report["dry_run"], false);
    assert_eq!(report.get("keys"), None);
    assert!(report["revision"].as_i64() > Some(0));
}

/// Applying twice changes nothing and puts no revision up.
#[tokio::test]
async fn applying_twice_changes_nothing() {
    let host = Host::start(Setup::default());
    let document = whole_document(&names(), &new_key());
    let first = host.import(&document).await;
    let again = host.import(&document).await;
    assert_eq!(again, json!({"dry_run": false, "revision": first["revision"], "changes": []}));
    assert_eq!(revision(&host).await, first["revision"].as_i64().unwrap());
}

#[tokio::test]
async fn each_write_puts_the_revision_up_by_one() {
    let host = Host::start(Setup::default());
    let mut document = whole_document(&names(), &new_key());
    let before = revision(&host).await;
    host.import(&document).await;
    assert_eq!(revision(&host).await, before + 1);
    document["keys"][0]["enabled"] = false.into();
    assert_eq!(host.import(&document).await["revision"], before + 2);
    assert_eq!(revision(&host).await, before + 2);
}

#[tokio::test]
async fn a_dry_run_tells_the_difference_and_writes_nothing() {
    let host = Host::start(Setup::default());
    let names = names();
    let document = whole_document(&names, &new_key());
    let before = revision(&host).await;
    for query in ["?dry_run=1", "?dry_run=true", "?dry_run"] {
        let report = host.try_import(query, &document).await.expect(200).json();
        assert_eq!((&report["dry_run"], &report["revision"]), (&json!(true), &json!(before)));
        assert_eq!(report["changes"].as_array().unwrap().len(), 5, "{report}");
    }
    // A key that would be made up is not told: it never was.
    let made = host.try_import("?dry_run=1", &json!({"keys": [{"name": "fresh"}]})).await.expect(200).json();
    assert_eq!(made.get("keys"), None, "{made}");
    assert_eq!(revision(&host).await, before);
    assert!(!host.admin("/admin/api/export").await.to_string().contains(&names.provider));
    let report = host.try_import("?dry_run=0", &document).await.expect(200).json();
    assert_eq!(report["dry_run"], false);
    check::admin_error(&host.try_import("?dry_run=maybe", &document).await, 400, "invalid_request");
}

/// B77: more things than a statement has parameters.
#[tokio::test]
async fn b77_many_things_are_written_at_once() {
    let host = Host::start(Setup::default());
    let credentials: Vec<Value> =
        (0..150).map(|number| json!({"name": format!("c{number}"), "secret": format!("sk-{number}")})).collect();
    let members: Vec<Value> =
        (0..150).map(|number| json!({"provider": "big", "model": format!("m{number}")})).collect();
    let routes: Vec<Value> =
        (0..150).map(|number| json!({"name": format!("r{number}"), "members": members[..2]})).collect();
    let mut document = json!({
        "providers": [{"name": "big", "channel": "openai", "credentials": credentials}],
        "routes": [{"name": "wide", "members": members}],
    });
    document["routes"].as_array_mut().unwrap().extend(routes);
    let report = host.import(&document).await;
    assert_eq!(report["changes"].as_array().unwrap().len(), 302);
    assert_eq!(host.import(&document).await["changes"], json!([]));
    let status = host.admin("/admin/api/status").await;
    assert_eq!((&status["credentials"], &status["routes"]), (&json!(150), &json!(151)));
    document["providers"][0]["credentials"] = json!([]);
    let report = host.import(&document).await;
    assert_eq!(report["changes"].as_array().unwrap().len(), 150);
}

/// Writers at the same time all come through; none is lost.
#[tokio::test]
async fn writers_at_the_same_time_do_not_lose_each_others_work() {
    let host = Host::start(Setup::default().argument("--threads", 2));
    let before = revision(&host).await;
    let document = |number: usize| json!({"providers": [{"name": format!("p{number}"), "channel": "echo"}]});
    let imports = (0..12).map(async |number| host.try_import("", &document(number)).await.expect(200));
    futures_util::future::join_all(imports.collect::<Vec<_>>()).await;
    assert_eq!(revision(&host).await, before + 12);
    let export = host.admin("/admin/api/export").await.to_string();
    for number in 0..12 {
        assert!(export.contains(&format!("\"p{number}\"")), "p{number} is lost");
    }
}

#[tokio::test]
async fn settings_take_effect_with_the_next_request() {
    let host = Host::start(Setup::default().one_isolate());
    let credentials: Vec<Value> =
        (0..4).map(|number| json!({"name": format!("c{number}"), "secret": format!("sk-{number}")})).collect();
    let stage = Stage::on_with(&host, Wire::Chat, json!({"credentials": credentials})).await;
    stage.upstream.always(Answer::json(500, Wire::Chat.vendor_error(500, "no")));
    let mut calls = 0;
    for (attempts, expected) in [(2, 2), (3, 3)] {
        let report = host.import(&json!({"settings": {"max_attempts": attempts}})).await;
        let change = json!([{"action": "update", "kind": "settings", "name": "settings", "fields": ["max_attempts"]}]);
        assert_eq!(report["changes"], change);
        stage.call(false).send().await.expect(500);
        calls += expected;
        assert_eq!(stage.upstream.requests().len(), calls);
    }
    let report = host.import(&json!({"settings": {"tick": {"max_age_ms": 5}}})).await;
    assert_eq!(report["changes"][0]["fields"], json!(["max_attempts", "tick"]));
}
