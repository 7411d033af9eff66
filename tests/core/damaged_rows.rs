//! Rows that cannot be used: left out, told to the operator, and no harm to anything else.

use serde_json::{Value, json};

use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole, World};

/// Makes isolates load again, as a write past the gateway does.
const BUMP: &str = "UPDATE settings SET config_revision = config_revision + 1, routing_revision = config_revision + 1";

async fn skipped(isolate: &Isolate) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let status = isolate.status().await;
    let rows = status["skipped_rows"].as_array().unwrap();
    rows.iter()
        .map(|row| {
            assert!(!text(&row["reason"]).is_empty());
            (text(&row["table"]), text(&row["row"]))
        })
        .collect()
}

#[tokio::test]
async fn damaged_rows_are_left_out_and_told() {
    let world = World::configured().await;
    let isolate = world.isolate();
    isolate
        .import(&json!({
            "providers": [
                {"name": "channel", "channel": "echo"},
                {"name": "options", "channel": "echo"},
                {"name": "address", "channel": "openai"},
                {"name": "dialects", "channel": "echo"},
                {"name": "enabled", "channel": "echo"},
            ],
            "routes": [
                {"name": "bad-route", "members": [{"provider": "openai_chat", "model": "m"}]},
                {"name": "good-route", "members": [
                    {"provider": "channel", "model": "m"},
                    {"provider": "openai_chat", "model": "m", "tier": 1},
                ]},
            ],
        }))
        .await;
    assert!(skipped(&isolate).await.is_empty());
    for sql in [
        "UPDATE providers SET channel = 'nonsense' WHERE name = 'channel'",
        "UPDATE providers SET options = '{' WHERE name = 'options'",
        "UPDATE providers SET base_url = 'https://10.0.0.1' WHERE name = 'address'",
        "UPDATE providers SET options = '{\"dialects\":[\"klingon\"]}' WHERE name = 'dialects'",
        "UPDATE providers SET enabled = 'perhaps' WHERE name = 'enabled'",
        "UPDATE routes SET options = '3' WHERE name = 'bad-route'",
        "UPDATE credentials SET weight = 'heavy' WHERE provider_id = (SELECT id FROM providers WHERE name = 'claude')",
        BUMP,
    ] {
        world.store.run(sql);
    }
    for isolate in [isolate, world.isolate()] {
        let mut found = skipped(&isolate).await;
        found.sort();
        let expected: Vec<(String, String)> = [
            ("credentials", "account"),
            ("providers", "address"),
            ("providers", "channel"),
            ("providers", "dialects"),
            ("providers", "enabled"),
            ("providers", "options"),
            ("routes", "bad-route"),
        ]
        .iter()
        .map(|(table, row)| ((*table).to_owned(), (*row).to_owned()))
        .collect();
        assert_eq!(found, expected);
        // Everything else serves.
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        let reply = Whole::of(isolate.open_with(Wire::Chat, "good-route", false, KEY).await).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(isolate.ask(Wire::Claude, false).await.json()["error"]["details"]["error_code"], "no_credential");
        for gone in ["channel/m", "options/m", "bad-route"] {
            let reply = Whole::of(isolate.open_with(Wire::Chat, gone, false, KEY).await).await;
            assert_eq!(reply.status, 404, "{gone}: {}", reply.text);
        }
    }
}

/// Settings that are damaged are the defaults.
#[tokio::test]
async fn damaged_settings_are_the_defaults() {
    let world = World::configured().await;
    let isolate = world.isolate();
    isolate.import(&json!({"settings": {"max_attempts": 1}})).await;
    world.store.run("UPDATE settings SET document = 'nonsense'");
    world.store.run(BUMP);
    assert_eq!(skipped(&isolate).await, [("settings".to_owned(), "settings".to_owned())]);
    assert_eq!(isolate.gateway.handle.snapshot().unwrap().max_attempts(), 6);
    isolate.import(&json!({"settings": {"max_attempts": 2}})).await;
    assert!(skipped(&isolate).await.is_empty());
}

/// A damaged key opens nothing, and is not served from memory either.
#[tokio::test]
async fn a_damaged_key_is_refused() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
    world.store.run("UPDATE api_keys SET enabled = 'perhaps'");
    world
        .store
        .run("UPDATE settings SET config_revision = config_revision + 1, identity_revision = config_revision + 1");
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 401);
    assert_eq!(world.isolate().ask(Wire::Chat, false).await.status, 401);
}

/// A repaired row is back with the next load.
#[tokio::test]
async fn a_repaired_row_is_back() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.store.run("UPDATE providers SET channel = 'nonsense' WHERE name = 'openai_chat'");
    world.store.run(BUMP);
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 404);
    // An import that describes it whole repairs it.
    isolate.import(&json!({"providers": [crate::support::world::provider(Wire::Chat)]})).await;
    assert!(skipped(&isolate).await.is_empty());
    world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
    assert_eq!(isolate.ask(Wire::Chat, false).await.status, 200);
}

/// A row that cannot even be read does not stop an import that describes it anew.
#[tokio::test]
async fn an_unreadable_row_can_be_replaced() {
    let world = World::configured().await;
    let isolate = world.isolate();
    world.store.run("UPDATE providers SET options = '{' WHERE name = 'openai_chat'");
    world.store.run(BUMP);
    let reply = isolate.try_import(&json!({"providers": [crate::support::world::provider(Wire::Chat)]})).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert!(skipped(&isolate).await.is_empty());
}

/// A provider whose rules are damaged is not asked without them: it might be sent what nobody should see.
#[tokio::test]
async fn a_provider_is_not_used_without_its_rules() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let document = json!({
        "rule_sets": [{"name": "house", "rules": [{"remove": {"path": "user"}}]}],
        "providers": [
            {"name": "shared", "channel": "echo", "rule_sets": ["house"]},
            {"name": "own", "channel": "echo", "rewrite": [{"remove": {"path": "user"}}]},
        ],
    });
    isolate.import(&document).await;
    let ask = async |isolate: &Isolate, model: &str| {
        Whole::of(isolate.open_with(Wire::Chat, model, false, KEY).await).await.status
    };
    assert_eq!((ask(&isolate, "shared/echo").await, ask(&isolate, "own/echo").await), (200, 200));
    for rules in ["{", r#"[{"remove":{"path":"a..b"}}]"#] {
        world.store.run(&format!("UPDATE rule_sets SET rules = '{rules}'"));
        world.store.run(r#"UPDATE providers SET options = '{"rewrite":[{}]}' WHERE name = 'own'"#);
        world.store.run(BUMP);
        for isolate in [&isolate, &world.isolate()] {
            let mut found = skipped(isolate).await;
            found.sort();
            let expected = [("providers", "own"), ("providers", "shared"), ("rule_sets", "house")];
            assert_eq!(found, expected.map(|(table, row)| (table.to_owned(), row.to_owned())));
            assert_eq!((ask(isolate, "shared/echo").await, ask(isolate, "own/echo").await), (404, 404));
        }
        isolate.import(&document).await;
        assert!(skipped(&isolate).await.is_empty());
        assert_eq!((ask(&isolate, "shared/echo").await, ask(&isolate, "own/echo").await), (200, 200));
    }
}
