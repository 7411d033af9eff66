//! Base URLs with a name in them, and routes that take requests which do not name them.

use serde_json::json;

use super::{models_asked, stage};
use crate::check;
use crate::support::host::ADMIN_TOKEN;
use crate::support::script::Answer;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

/// The path of a call with a namespace in it, in each of its places.
fn in_namespace(target: &str, namespace: &str) -> Vec<String> {
    let (version, rest) = target[1..].split_once('/').unwrap();
    vec![format!("/{namespace}{target}"), format!("/{version}/{namespace}/{rest}"), format!("/v1/{namespace}{target}")]
}

/// S-632: a namespace that no route takes is a provider's name, and the model is the provider's own.
#[tokio::test]
async fn a_namespace_leads_to_the_provider_of_that_name() {
    for wire in Wire::ALL {
        let stage = stage(wire, json!({})).await;
        for path in in_namespace(&wire.target("some-model", false), &stage.provider) {
            let reply = stage.post(&path, wire.request("some-model", false)).send().await.expect(200);
            assert_eq!(reply.header("x-provider"), Some(stage.provider.as_str()), "{path}");
        }
        for request in stage.upstream.requests() {
            assert_eq!(request.target, wire.target("some-model", false));
            assert!(!request.text().contains(&stage.provider));
        }
        let path = &in_namespace(&wire.target("m", false), "nobody-at-all")[0];
        let reply = stage.post(path, wire.request("m", false)).send().await;
        let message = check::error(&reply, wire, 404, "model_not_found");
        assert!(message.contains("nobody-at-all"), "{message}");
    }
}

/// S-628 to S-631.
#[tokio::test]
async fn routes_take_what_meets_their_conditions() {
    let (first, second) = (stage(Wire::Chat, json!({})).await, stage(Wire::Chat, json!({})).await);
    let number = unique();
    let (team, prefix) = (format!("team-{number}"), format!("prefix-{number}-"));
    let member = |stage: &Stage<'_>, model: &str| json!([{"provider": stage.provider, "model": model}]);
    first
        .host
        .import(&json!({"routes": [
            {"name": format!("z-{number}"), "match": {"namespace": team, "model_prefix": "small", "order": 1}, "members": member(&second, "small")},
            {"name": format!("a-{number}"), "match": {"namespace": team, "order": 2}, "members": [{"provider": first.provider}]},
            {"name": format!("b-{number}"), "match": {"model_prefix": prefix}, "members": member(&second, "prefixed")},
        ]}))
        .await;
    let ask = async |namespace: &str, model: &str| {
        let path = if namespace.is_empty() { String::new() } else { format!("/{namespace}") };
        let target = format!("{path}/v1/chat/completions");
        first.post(&target, Wire::Chat.request(model, false)).send().await
    };
    ask(&team, "large").await.expect(200);
    ask(&team, "small-1").await.expect(200);
    ask("", &format!("{prefix}x")).await.expect(200);
    // A route that names no namespace also stands for its first provider's.
    ask(&second.provider, &format!("{prefix}y")).await.expect(200);
    // Otherwise that namespace is the provider by itself.
    ask(&second.provider, "other").await.expect(200);
    // The name of a route goes before the namespace.
    ask(&team, &format!("b-{number}")).await.expect(200);
    assert_eq!(models_asked(&first), ["large"]);
    assert_eq!(models_asked(&second), ["small", "prefixed", "prefixed", "other", "prefixed"]);
    check::error(&ask("", "large").await, Wire::Chat, 404, "model_not_found");
}

/// A fallback of a namespace works as that of a named route.
#[tokio::test]
async fn a_matched_route_fails_over() {
    let (first, second) = (stage(Wire::Claude, json!({})).await, stage(Wire::Claude, json!({})).await);
    let team = format!("team-{}", unique());
    let members = json!([{"provider": first.provider}, {"provider": second.provider, "model": "fallback", "tier": 1}]);
    first.host.import(&json!({"routes": [{"name": team, "match": {"namespace": team}, "members": members}]})).await;
    first.upstream.answer(Answer::json(500, Wire::Claude.vendor_error(500, "oops")));
    let reply =
        first.post(&format!("/{team}/v1/messages"), Wire::Claude.request("own", false)).send().await.expect(200);
    assert_eq!(reply.header("x-provider"), Some(second.provider.as_str()));
    assert_eq!((models_asked(&first), models_asked(&second)), (vec!["own".to_owned()], vec!["fallback".to_owned()]));
}

#[tokio::test]
async fn a_namespace_lists_the_models_of_its_providers() {
    let stage = stage(Wire::Chat, json!({"models": ["b", "a"]})).await;
    for path in [format!("/{}/v1/models", stage.provider), format!("/v1/{}/models", stage.provider)] {
        let list = stage.host.get(&path).key(&stage.key).send().await.expect(200).json();
        let names: Vec<&str> =
            list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
        assert_eq!(names, ["a", "b"], "{path}");
    }
    let one = stage.host.get(format!("/{}/v1/models/x", stage.provider)).key(&stage.key).send().await.expect(200);
    assert_eq!(
        (one.json()["id"].as_str(), one.json()["owned_by"].as_str()),
        (Some("x"), Some(stage.provider.as_str()))
    );
    stage.host.get("/nobody-at-all/v1/models/x").key(&stage.key).send().await.expect(404);
}

/// A namespace never leads to the management surface, whoever asks.
#[tokio::test]
async fn a_namespace_opens_nothing_else() {
    let stage = stage(Wire::Chat, json!({})).await;
    for path in ["/admin/api/export", "/api/status"] {
        for path in [format!("/{}{path}", stage.provider), format!("/v1/{}{path}", stage.provider)] {
            for key in [&stage.key, ADMIN_TOKEN] {
                stage.host.get(&path).key(key).send().await.expect(404);
            }
            stage.host.get(&path).send().await.expect(401);
        }
    }
    let without_key = stage.host.post(format!("/{}/v1/chat/completions", stage.provider), "{}");
    without_key.send().await.expect(401);
}

#[tokio::test]
async fn conditions_that_make_no_sense_are_refused() {
    let stage = stage(Wire::Chat, json!({})).await;
    for (matching, path) in [
        (json!({"namespace": ""}), "routes[0].match.namespace"),
        (json!({"namespace": "a/b"}), "routes[0].match.namespace"),
        (json!({"namespace": "admin"}), "routes[0].match.namespace"),
        (json!({"namespace": "v1"}), "routes[0].match.namespace"),
        (json!({"model_prefix": ""}), "routes[0].match.model_prefix"),
        (json!({"order": -1}), "routes[0].match.order"),
        (json!({"prefix": "x"}), "routes[0].match.prefix"),
    ] {
        let document = json!({"routes": [{"name": "never", "match": matching, "members": []}]});
        let reply = stage.host.post("/admin/api/import", document.to_string()).key(ADMIN_TOKEN).send().await;
        check::admin_error(&reply, 422, "invalid_document");
        assert_eq!(reply.json()["error"]["faults"][0]["path"], path, "{}", reply.text());
    }
}
