//! Rules in documents.

use serde_json::{Value, json};

use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

fn mark(name: &str) -> Value {
    json!({"set": {"path": format!("marks.{name}"), "value": [1]}})
}

/// The sets of a provider come first, in its order, then its own rules; a changed set is used by the next request.
#[tokio::test]
async fn sets_are_shared_by_providers() {
    let host = Host::shared();
    let (one, two) = (format!("set-{}", unique()), format!("set-{}", unique()));
    let set = |value: &str| json!({"set": {"path": "mark", "value": value}});
    let append = |value: &str| json!({"append": {"path": "marks", "value": value}});
    host.import(&json!({"rule_sets": [
        {"name": one, "rules": [append("one"), set("one")]},
        {"name": two, "rules": [{"default": {"path": "marks", "value": []}}, append("two"), set("two")]},
    ]}))
    .await;
    let own = json!([append("own")]);
    let stage = Stage::with(Wire::Chat, json!({"rule_sets": [two, one], "rewrite": own})).await;
    for (rules, expected) in [
        (None, json!([["two", "one", "own"], "one"])),
        (Some(json!([append("new")])), json!([["two", "new", "own"], "two"])),
    ] {
        if let Some(rules) = rules {
            let report = host.import(&json!({"rule_sets": [{"name": one, "rules": rules}]})).await;
            let expected = json!([{"action": "update", "kind": "rule_set", "name": one, "fields": ["rules"]}]);
            assert_eq!(report["changes"], expected);
        }
        stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
        stage.call(false).send().await.expect(200);
        let sent = stage.upstream.requests().pop().unwrap().json();
        assert_eq!(json!([sent["marks"], sent["mark"]]), expected);
    }
}

#[tokio::test]
async fn rules_are_compared_exported_and_pruned() {
    let host = Host::start(Setup::default());
    let document = json!({
        "rule_sets": [
            {"name": "a", "rules": [mark("a"), {"when": {"models": ["x*"]}, "system": {"append": "s"}}]},
            {"name": "b", "rules": []},
        ],
        "providers": [{
            "name": "p", "channel": "echo", "rule_sets": ["a"],
            "rewrite": [
                {"replace": {"pattern": "a", "with": "b", "in": ["user"]}},
                {"header": {"set": {"x-a": "b"}, "remove": ["x-c"]}},
                {"query": {"remove": ["d"]}},
                {"cache_breakpoint": {"at": -1, "ttl": "1h"}},
                {"default": {"path": "x", "value": {"y": [null, 1.5, [2]]}}},
            ],
        }],
        "routes": [],
        "keys": [],
    });
    host.try_import("?prune=1", &document).await.expect(200);
    assert_eq!(host.admin("/admin/api/export").await, document);
    assert_eq!(host.try_import("?prune=1", &document).await.expect(200).json()["changes"], json!([]));
    let mut changed = document.clone();
    changed["providers"][0]["rewrite"][0]["replace"]["with"] = "c".into();
    let host = &host;
    let fields = |document: Value| async move {
        let report = host.try_import("?dry_run=1", &document).await.expect(200).json();
        report["changes"][0]["fields"].clone()
    };
    assert_eq!(fields(changed).await, json!(["rewrite"]));
    let mut changed = document.clone();
    changed["providers"][0]["rule_sets"] = json!(["b", "a"]);
    assert_eq!(fields(changed).await, json!(["rule_sets"]));
    // One that is in use cannot be left out, one that is not can.
    let pruned = json!({"rule_sets": [{"name": "b", "rules": []}]});
    let reply = host.try_import("?prune=1", &pruned).await;
    let message = check::admin_error(&reply, 422, "invalid_document");
    assert!(message.contains("\"a\" is used by the provider \"p\""), "{message}");
    let report =
        host.try_import("?prune=1", &json!({"rule_sets": [document["rule_sets"][0]]})).await.expect(200).json();
    assert_eq!(report["changes"], json!([{"action": "delete", "kind": "rule_set", "name": "b"}]));
    let both = json!({"rule_sets": [], "providers": [{"name": "p", "channel": "echo"}]});
    host.try_import("?prune=1", &both).await.expect(200);
    assert_eq!(host.admin("/admin/api/export").await.get("rule_sets"), None);
}

#[tokio::test]
async fn bad_rules_are_refused_with_their_places() {
    let host = Host::shared();
    let good = json!({"remove": {"path": "a"}});
    for (rule, place) in [
        (json!({}), ""),
        (json!({"remove": {"path": "a."}}), ".remove.path"),
        (json!({"remove": {"path": "model"}}), ".remove.path"),
        (json!({"set": {"path": "a"}}), ".set"),
        (json!({"replace": {"pattern": "(", "with": "", "in": ["user"]}}), ".replace.pattern"),
        (json!({"replace": {"pattern": "", "with": "", "in": ["all"]}}), ".replace.in[0]"),
        (json!({"header": {"set": {"x-api-key": "sk-123"}}}), ".header.set.x-api-key"),
        (json!({"query": {"set": {"key": "sk-123"}}}), ".query.set.key"),
        (json!({"cache_breakpoint": {"at": "end"}}), ".cache_breakpoint.at"),
        (json!({"when": {"operations": ["guess"]}, "remove": {"path": "a"}}), ".when.operations[0]"),
        (json!({"unknown": 1}), ".unknown"),
        (json!(["remove"]), ""),
    ] {
        for (document, before) in [
            (
                json!({"providers": [{"name": "p", "channel": "echo", "rewrite": [good, rule]}]}),
                "providers[0].rewrite[1]",
            ),
            (json!({"rule_sets": [{"name": "s", "rules": [good, rule]}]}), "rule_sets[0].rules[1]"),
        ] {
            let reply = host.try_import("?dry_run=1", &document).await;
            let message = check::admin_error(&reply, 422, "invalid_document");
            let path = reply.json()["error"]["faults"][0]["path"].as_str().unwrap().to_owned();
            assert!(path.starts_with(&format!("{before}{place}")), "{path} for {rule}: {message}");
            assert!(!message.contains("sk-123"), "{message}");
        }
    }
    let unknown = json!({"providers": [{"name": "p", "channel": "echo", "rule_sets": ["nobody-has-it"]}]});
    let reply = host.try_import("?dry_run=1", &unknown).await.expect(422);
    assert_eq!(reply.json()["error"]["faults"][0]["path"], "providers[0].rule_sets[0]");
    let twice = json!({"rule_sets": [{"name": "s", "rules": []}, {"name": "s", "rules": []}]});
    let reply = host.try_import("?dry_run=1", &twice).await.expect(422);
    assert_eq!(reply.json()["error"]["faults"][0]["path"], "rule_sets[1].name");
}
