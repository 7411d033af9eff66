//! What explains where a request would go.

use serde_json::{Value, json};

use super::{accounts, secrets_used, stage};
use crate::check;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

async fn explain(host: &Host, wanted: &Value) -> Value {
    host.post("/admin/api/explain", wanted.to_string()).key(ADMIN_TOKEN).send().await.expect(200).json()
}

#[tokio::test]
async fn a_request_is_explained_without_asking_anybody() {
    let (first, second) = (stage(Wire::Claude, json!({})).await, stage(Wire::Chat, json!({})).await);
    let off = stage(Wire::Claude, json!({"credentials": []})).await;
    let route = format!("route-{}", unique());
    let members = json!([
        {"provider": second.provider, "model": "fallback", "tier": 1, "terminal": true, "triggers": ["5xx"]},
        {"provider": first.provider, "model": "main", "weight": 7},
        {"provider": off.provider, "model": "off", "tier": 2},
    ]);
    first
        .host
        .import(&json!({"routes": [{"name": route, "max_attempts": 5, "strategy": "priority", "members": members}]}))
        .await;
    let turns = json!([{"role": "user", "content": "Hi"}]);
    let body = json!({"model": route, "max_tokens": 9, "top_k": 3, "messages": turns});
    let told = explain(first.host, &json!({"path": "/v1/messages?beta=true", "headers": {}, "body": body})).await;
    assert_eq!(
        (told["rule"].as_str(), told["route"].as_str(), &told["max_attempts"]),
        (Some("route"), Some(route.as_str()), &json!(5)),
        "{told}"
    );
    assert_eq!((&told["dialect"], &told["operation"]), (&json!("claude"), &json!("generate")));
    let [main, fallback, ..] = told["candidates"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert_eq!(
        (&main["provider"], &main["model"], &main["weight"]),
        (&json!(first.provider), &json!("main"), &json!(7))
    );
    assert_eq!((&main["standing"], &main["dialect"], main.get("losses")), (&json!("ready"), &json!("claude"), None));
    assert_eq!(
        main["credentials"][0],
        json!({"name": "account", "place": 1, "weight": 100, "standing": "ready", "under_way": 0})
    );
    assert!(main["reason"].as_str().unwrap().contains("priority"), "{main}");
    assert_eq!((&fallback["provider"], &fallback["dialect"]), (&json!(second.provider), &json!("openai_responses")));
    assert_eq!((&fallback["terminal"], &fallback["triggers"]), (&json!(true), &json!(["5xx"])));
    assert!(fallback["losses"].as_str().unwrap().contains("top_k"), "{fallback}");
    assert_eq!((&main["grant"], &fallback["grant"]), (&json!(1), &json!(1)));
    // Strictness would pass it over.
    let strict = json!({"path": "/v1/messages", "headers": {"x-gateway-strict": "1"}, "body": body});
    let told = explain(first.host, &strict).await;
    assert!(told["candidates"][1]["passed_over"].is_string(), "{told}");
    for stage in [&first, &second, &off] {
        assert!(stage.upstream.requests().is_empty());
    }
    let text = told.to_string();
    assert!(!text.contains(&first.secret) && !text.contains(&second.secret));
}

#[tokio::test]
async fn whoever_is_never_reached_and_what_was_spent_is_told() {
    let quotas = json!([{"window_hours": 1, "unit": "requests", "budget": 100}]);
    let first =
        stage(Wire::Chat, json!({"credentials": accounts(&["a", "b"]), "retry": {"max_retries": 1}, "quotas": quotas}))
            .await;
    let (second, third) = (stage(Wire::Chat, json!({})).await, stage(Wire::Chat, json!({})).await);
    let route = format!("route-{}", unique());
    let import = async |max_attempts: u32, is_terminal: bool| {
        let members = json!([
            {"provider": first.provider, "model": "m"},
            {"provider": second.provider, "model": "m", "tier": 1, "terminal": is_terminal},
            {"provider": third.provider, "model": "m", "tier": 2},
        ]);
        let routes = json!([{"name": route, "max_attempts": max_attempts, "members": members}]);
        first.host.import(&json!({"routes": routes})).await;
        explain(first.host, &json!({"dialect": "openai_chat", "model": route})).await
    };
    let grants = |told: &Value| -> Vec<Value> {
        told["candidates"].as_array().unwrap().iter().map(|one| one["grant"].clone()).collect()
    };
    // Each of those after it is left a call.
    let told = import(4, false).await;
    assert_eq!(grants(&told), [2, 1, 1], "{told}");
    let told = import(2, false).await;
    assert_eq!(grants(&told), [1, 1, 0], "{told}");
    assert!(told["candidates"][2]["passed_over"].as_str().unwrap().contains("max_attempts"), "{told}");
    assert_eq!(
        (&told["candidates"][0]["quotas"][0]["spent"], &told["candidates"][0]["quotas"][0]["budget"]),
        (&json!(0), &json!(100))
    );
    let told = import(9, true).await;
    assert!(told["candidates"][2]["passed_over"].as_str().unwrap().contains("terminal"), "{told}");
}

#[tokio::test]
async fn every_rule_has_its_name() {
    let stage = stage(Wire::Claude, json!({"model_map": {"rules": [{"pattern": "x", "target": "y"}]}})).await;
    let prefix = format!("prefix-{}-", unique());
    let matching = json!({"name": format!("r{prefix}"), "match": {"model_prefix": prefix}, "members": [{"provider": stage.provider}]});
    stage.host.import(&json!({"routes": [matching]})).await;
    for (wanted, rule, model) in [
        (json!({"dialect": "claude", "model": format!("{}/x", stage.provider)}), "provider_prefix", "y"),
        (json!({"dialect": "gemini", "model": format!("{}/x", stage.provider)}), "provider_prefix", "y"),
        (json!({"dialect": "openai_responses", "model": format!("{prefix}1")}), "route_match", &*format!("{prefix}1")),
        (json!({"path": format!("/{}/v1/messages", stage.provider), "body": {"model": "x"}}), "namespace", "y"),
    ] {
        let told = explain(stage.host, &wanted).await;
        assert_eq!((&told["rule"], &told["candidates"][0]["model"]), (&json!(rule), &json!(model)), "{told}");
    }
    let told = explain(stage.host, &json!({"dialect": "claude", "model": "nobody"})).await;
    assert!(told["error"].as_str().unwrap().contains("nobody") && told["candidates"] == json!([]), "{told}");
    let other =
        json!({"path": "/v1/messages", "headers": {"x-gateway-channel": "gemini"}, "body": {"model": stage.model()}});
    let told = explain(stage.host, &other).await;
    assert_eq!(told["skipped"], json!([{"provider": stage.provider, "reason": "the client wants another channel"}]));
}

#[tokio::test]
async fn nobodys_turn_is_over() {
    let host = Host::start(Setup::default().one_isolate());
    let stage = Stage::on_with(&host, Wire::Chat, json!({"credentials": accounts(&["a", "b"])})).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for _ in 0..4 {
        let told = explain(&host, &json!({"dialect": "openai_chat", "model": stage.model()})).await;
        let next = told["candidates"][0]["credentials"][0]["name"].as_str().unwrap().to_owned();
        explain(&host, &json!({"dialect": "openai_chat", "model": stage.model()})).await;
        stage.call(false).send().await.expect(200);
        assert_eq!(secrets_used(&stage).pop().unwrap(), format!("sk-account-{next}"));
    }
    assert_eq!(secrets_used(&stage), ["sk-account-a", "sk-account-b", "sk-account-a", "sk-account-b"]);
}

#[tokio::test]
async fn what_describes_no_request_is_refused() {
    let host = Host::shared();
    for wanted in [
        json!({}),
        json!([]),
        json!({"path": "/v1/models"}),
        json!({"path": "/admin/api/export"}),
        json!({"path": "/nowhere", "body": {}}),
        json!({"path": "/v1/messages", "dialect": "claude"}),
        json!({"dialect": "klingon", "model": "m"}),
        json!({"dialect": "claude", "modell": "m"}),
        json!({"path": "/v1/messages", "headers": {"a b": "c"}, "body": {}}),
        json!({"path": "/v1/messages", "headers": {"a": 1}, "body": {}}),
        json!({"path": "/v1/messages", "body": 3}),
        json!({"path": "/v1/messages", "headers": {"x-gateway-channel": "none"}, "body": {"model": "m"}}),
    ] {
        let reply = host.post("/admin/api/explain", wanted.to_string()).key(ADMIN_TOKEN).send().await;
        check::admin_error(&reply, 400, "invalid_request");
    }
    let key = Stage::new(Wire::Chat).await.key;
    let reply = host.post("/admin/api/explain", "{}").key(&key).send().await;
    check::admin_error(&reply, 401, "invalid_admin_token");
}
