//! What an import tells of the differences, and what it leaves alone.

use serde_json::{Value, json};

use super::{names, whole_document};
use crate::check;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::setup::Setup;
use crate::support::stage::new_key;

/// What differs is told by member, and only that is written.
#[tokio::test]
async fn changes_are_told_by_member() {
    let names = names();
    let host = Host::shared();
    let document = whole_document(&names, &new_key());
    host.import(&document).await;
    let p = |path: &str, value: Value| {
        let mut changed = document.clone();
        *changed.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        changed
    };
    let credential = format!("{}/a", names.provider);
    for (changed, kind, name, fields) in [
        (p("/providers/0/channel", json!("custom")), "provider", &names.provider, json!(["channel", "dialects"])),
        (p("/providers/0/base_url", json!("https://other.example")), "provider", &names.provider, json!(["base_url"])),
        (p("/providers/0/models", json!([])), "provider", &names.provider, json!(["models"])),
        (p("/providers/0/headers", json!({"x-team": "blue"})), "provider", &names.provider, json!(["headers"])),
        (p("/providers/0/credentials/0/secret", json!("sk-new")), "credential", &credential, json!(["secret"])),
        (p("/providers/0/credentials/0/weight", json!(3)), "credential", &credential, json!(["weight"])),
        (p("/routes/0/max_attempts", json!(3)), "route", &names.route, json!(["max_attempts"])),
        (p("/routes/0/members/0/tier", json!(0)), "route", &names.route, json!(["members"])),
        (p("/routes/0/members/1/model", json!("other")), "route", &names.route, json!(["members"])),
        (p("/keys/0/expires_at", json!("2099-02-01T00:00:00Z")), "key", &names.key, json!(["expires_at"])),
        (p("/keys/0/key", json!(new_key())), "key", &names.key, json!(["key"])),
    ] {
        let mut changed = changed;
        if fields == json!(["channel", "dialects"]) {
            changed["providers"][0]["dialects"] = json!(["openai_chat"]);
        }
        let report = host.try_import("?dry_run=1", &changed).await.expect(200).json();
        let expected = json!([{"action": "update", "kind": kind, "name": name, "fields": fields}]);
        assert_eq!(report["changes"], expected);
        let applied = host.import(&changed).await;
        assert_eq!(applied["changes"], expected);
        assert_eq!(host.import(&changed).await["changes"], json!([]));
        host.import(&document).await;
    }
}

/// What a document does not name stays; a list inside a named thing is complete.
#[tokio::test]
async fn what_is_not_named_stays() {
    let names = names();
    let host = Host::shared();
    host.import(&whole_document(&names, &new_key())).await;
    let other = format!("{}-other", names.provider);
    let report = host
        .import(&json!({"providers": [
            {"name": other, "channel": "echo"},
            {"name": names.provider, "channel": "openai", "credentials": [{"name": "a", "weight": 2}]},
        ]}))
        .await;
    assert_eq!(
        report["changes"],
        json!([
            {"action": "create", "kind": "provider", "name": other},
            {"action": "delete", "kind": "credential", "name": format!("{}/b", names.provider)},
            {"action": "update", "kind": "provider", "name": names.provider, "fields": ["base_url", "headers", "models"]},
        ])
    );
    let export = host.admin("/admin/api/export").await;
    let route = export["routes"].as_array().unwrap().iter().find(|route| route["name"] == names.route).unwrap();
    assert_eq!(route["members"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn pruning_deletes_what_a_section_does_not_name() {
    let host = Host::start(Setup::default());
    let (one, two) = (names(), names());
    host.import(&whole_document(&one, &new_key())).await;
    let key = new_key();
    host.import(&whole_document(&two, &key)).await;
    let routes_only = json!({"routes": []});
    let report = host.try_import("?prune=1", &routes_only).await.expect(200).json();
    let delete = |kind: &str, name: &str| json!({"action": "delete", "kind": kind, "name": name});
    assert_eq!(report["changes"], json!([delete("route", &one.route), delete("route", &two.route)]));

    let mut rest = whole_document(&two, &key);
    rest.as_object_mut().unwrap().remove("routes");
    host.try_import("?prune=1", &rest).await.expect(200);
    let export = host.admin("/admin/api/export").await;
    let listed = |section: &str| -> Vec<String> {
        export[section].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed("providers"), [two.provider.as_str()]);
    assert_eq!(listed("keys"), [two.key.as_str()]);
    assert!(listed("routes").is_empty());
    assert_eq!(host.try_import("?prune=1", &rest).await.expect(200).json()["changes"], json!([]));
}

/// A provider takes its credentials and its places in routes along.
#[tokio::test]
async fn a_deleted_provider_leaves_nothing_behind() {
    let host = Host::start(Setup::default());
    let names = names();
    host.import(&whole_document(&names, &new_key())).await;
    host.try_import("?prune=1", &json!({"providers": []})).await.expect(200);
    let export = host.admin("/admin/api/export").await;
    assert_eq!(export["providers"], json!([]));
    assert_eq!(export["routes"][0]["members"], json!([]));
    let status = host.admin("/admin/api/status").await;
    assert_eq!((&status["providers"], &status["credentials"]), (&json!(0), &json!(0)));
}

/// The same key under another name is no clash when the old name goes in the same breath.
#[tokio::test]
async fn a_key_can_be_renamed_by_pruning() {
    let host = Host::start(Setup::default());
    let key = new_key();
    host.import(&json!({"keys": [{"name": "alice", "key": key}]})).await;
    let renamed = json!({"keys": [{"name": "bob", "key": key}]});
    assert_eq!(host.try_import("", &renamed).await.status, 422);
    host.try_import("?prune=1", &renamed).await.expect(200);
    host.get("/v1/models").key(&key).send().await.expect(200);
}

/// Imports at the same time wait for each other.
#[tokio::test]
async fn imports_at_the_same_time_all_go_well() {
    let host = Host::start(Setup::default().argument("--threads", 2));
    let imports = (0..12).map(|number| {
        let document = json!({"keys": [{"name": format!("key-{number}")}]}).to_string();
        host.post("/admin/api/import", document).key(ADMIN_TOKEN).send()
    });
    for reply in futures_util::future::join_all(imports).await {
        reply.expect(200);
    }
    let export = host.admin("/admin/api/export").await;
    assert_eq!(export["keys"].as_array().unwrap().iter().filter(|key| key["name"] != "default").count(), 12);
}

/// A misspelt parameter must not make an import of what was to be a dry run.
#[tokio::test]
async fn unknown_parameters_are_refused() {
    let host = Host::shared();
    for query in ["?dryrun=1", "?DRY_RUN=1", "?dry_run=1&prun"] {
        let reply = host.try_import(query, &json!({"keys": [{"name": "never-made"}]})).await;
        assert!(check::admin_error(&reply, 400, "invalid_request").contains("dry_run and prune"));
    }
    assert!(!host.admin("/admin/api/export").await.to_string().contains("never-made"));
}
