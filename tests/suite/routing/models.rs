//! Which model of a provider stands for a name.

use serde_json::{Value, json};

use super::{models_asked, stage};
use crate::check;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

fn map() -> Value {
    json!({
        "rules": [
            {"pattern": "claude-sonnet-.*", "target": "glm-5.1", "is_regex": true},
            {"pattern": "claude-haiku-*", "target": "glm-4.5-air"},
            {"pattern": "claude-.*", "target": "glm-any", "is_regex": true},
            {"pattern": "claude-haiku-9", "target": "glm-nine"},
        ],
        "default": "glm-default",
    })
}

/// S-357 to S-368, for a member without a model and for the prefix form.
#[tokio::test]
async fn names_are_mapped_exactly_then_by_pattern_then_by_default() {
    // On a gateway of its own, since the default would also serve requests of others that name no model.
    let host = Host::start(Setup::default());
    let stage = Stage::on_with(&host, Wire::Claude, json!({"model_map": map()})).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    let route = format!("claude-sonnet-{}", unique());
    let other = format!("route-{}", unique());
    let members = json!([{"provider": stage.provider}]);
    let fixed = json!([{"provider": stage.provider, "model": "claude-as-it-is"}]);
    stage
        .host
        .import(&json!({"routes": [{"name": route, "members": members}, {"name": other, "members": fixed}]}))
        .await;
    let cases = [
        (route, "glm-5.1"),
        (other, "claude-as-it-is"),
        (format!("{}/claude-sonnet-4-6", stage.provider), "glm-5.1"),
        (format!("{}/claude-haiku-9", stage.provider), "glm-nine"),
        (format!("{}/claude-haiku-10", stage.provider), "glm-4.5-air"),
        (format!("{}/claude-3", stage.provider), "glm-any"),
        (format!("{}/gpt-5", stage.provider), "glm-default"),
    ];
    for (name, _) in &cases {
        stage.post("/v1/messages", Wire::Claude.request(name, false)).send().await.expect(200);
    }
    assert_eq!(models_asked(&stage), cases.map(|(_, model)| model));
}

#[tokio::test]
async fn without_a_rule_a_name_stays() {
    let map = json!({"rules": [{"pattern": "a", "target": "b"}]});
    let stage = stage(Wire::Chat, json!({"model_map": map})).await;
    for name in ["a", "aa"] {
        let model = format!("{}/{name}", stage.provider);
        stage.post("/v1/chat/completions", Wire::Chat.request(&model, false)).send().await.expect(200);
    }
    assert_eq!(models_asked(&stage), ["b", "aa"]);
}

#[tokio::test]
async fn bad_rules_are_refused_with_their_place() {
    let host = Host::shared();
    for (map, path) in [
        (
            json!({"rules": [{"pattern": "a", "target": "b"}, {"pattern": "(", "target": "b", "is_regex": true}]}),
            "rules[1].pattern",
        ),
        (json!({"rules": [{"pattern": "", "target": "b"}]}), "rules[0].pattern"),
        (json!({"rules": [{"pattern": "a", "target": ""}]}), "rules[0].target"),
        (json!({"default": ""}), "default"),
    ] {
        let document = json!({"providers": [{"name": "never", "channel": "echo", "model_map": map}]});
        let reply = host.post("/admin/api/import", document.to_string()).key(ADMIN_TOKEN).send().await;
        check::admin_error(&reply, 422, "invalid_document");
        assert_eq!(
            reply.json()["error"]["faults"][0]["path"],
            format!("providers[0].model_map.{path}"),
            "{}",
            reply.text()
        );
    }
}

/// S-165: on a gateway of its own, since everybody is asked.
#[tokio::test]
async fn without_a_name_every_provider_is_asked_for_its_default() {
    let host = Host::start(Setup::default().one_isolate());
    let with_default = |model: &str| json!({"model_map": {"default": model}});
    let nobody = Stage::on(&host, Wire::Chat).await;
    for body in ["{}", r#"{"messages":[]}"#, r#"{"model":"","messages":[]}"#, r#"{"model":null,"messages":[]}"#] {
        let reply = nobody.post("/v1/chat/completions", body).send().await;
        let message = check::error(&reply, Wire::Chat, 400, "invalid_request");
        assert!(message.contains("model_map.default"), "{message}");
    }
    let first = Stage::on_with(&host, Wire::Chat, with_default("first")).await;
    let second = Stage::on_with(&host, Wire::Chat, with_default("second")).await;
    for stage in [&first, &second] {
        stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    }
    for body in [r#"{"messages":[]}"#, r#"{"model":"","messages":[]}"#, r#"{"model":null,"messages":[]}"#] {
        for _ in 0..2 {
            first.post("/v1/chat/completions", body).send().await.expect(200);
        }
    }
    assert_eq!(models_asked(&first), ["first"; 3]);
    assert_eq!(models_asked(&second), ["second"; 3]);
    let sent = first.upstream.requests().swap_remove(0);
    assert_eq!(sent.text(), r#"{"model":"first","messages":[]}"#);
    assert!(nobody.upstream.requests().is_empty());
    // In a namespace, only its provider is.
    first.post(&format!("/{}/v1/chat/completions", second.provider), r#"{"messages":[]}"#).send().await.expect(200);
    assert_eq!(models_asked(&second).len(), 4);
}
