//! Who is let in, and what is said to those who are not.

use http::Method;
use serde_json::json;
use tollgate::http::routes::{Access, ROUTES};

use crate::check;
use crate::support::host::{ADMIN_TOKEN, Host, Kind, kind};
use crate::support::raw::Raw;
use crate::support::script::Answer;
use crate::support::stage::{Stage, new_key};
use crate::support::vendors::Wire;

/// Every header in which a client may bring its key.
fn ways(key: &str) -> [(&'static str, String); 4] {
    [
        ("authorization", format!("Bearer {key}")),
        ("Authorization", format!("bearer  {key}")),
        ("x-api-key", key.to_owned()),
        ("x-goog-api-key", key.to_owned()),
    ]
}

#[tokio::test]
async fn a_key_is_taken_in_each_header_on_each_endpoint() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        stage.upstream.always(Answer::json(200, wire.answer()));
        let model = stage.model();
        for (name, value) in ways(&stage.key) {
            let call = stage.host.post(wire.target(&model, false), wire.request(&model, false));
            let reply = call.header(name, &value).send().await;
            assert_eq!((reply.status, reply.text()), (200, wire.answer().as_str()), "{wire:?} by {name}");
        }
        for request in stage.upstream.requests() {
            let (name, value) = wire.authentication(&stage.secret);
            assert_eq!(request.header(name), Some(value.as_str()), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_key_in_the_query_is_taken_and_goes_no_further() {
    let stage = Stage::new(Wire::Gemini).await;
    stage.upstream.always(Answer::json(200, Wire::Gemini.answer()));
    let path = format!("/v1beta/models/{}:generateContent", stage.model());
    let key = &stage.key;
    for (query, left) in [
        (format!("?key={key}"), ""),
        (format!("?alt=json&key={key}&x=1"), "?alt=json&x=1"),
        (format!("?k%65y={}", key.replace('-', "%2D")), ""),
    ] {
        stage.host.post(format!("{path}{query}"), Wire::Gemini.request("", false)).send().await.expect(200);
        let sent = stage.upstream.requests().pop().unwrap();
        assert_eq!(sent.target, format!("/v1beta/models/vendor-model:generateContent{left}"));
    }
}

#[tokio::test]
async fn of_two_credentials_the_gateways_own_counts() {
    let stage = Stage::new(Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    let model = stage.model();
    let call = || stage.host.post("/v1/messages", Wire::Claude.request(&model, false));
    call().key("sk-ant-other").header("x-api-key", &stage.key).send().await.expect(200);
    call().key(&stage.key).header("x-api-key", "sk-ant-other").send().await.expect(200);
    for request in stage.upstream.requests() {
        assert!(!format!("{request:?}").contains("sk-ant-other"));
    }
}

/// B40, B68: the refusal has the client's envelope and one fixed text, whatever is wrong with the key.
#[tokio::test]
async fn b68_a_refusal_is_fixed_text_in_the_clients_envelope() {
    let stage = Stage::new(Wire::Chat).await;
    let (disabled, expired) = (new_key(), new_key());
    stage
        .host
        .import(&json!({"keys": [
            {"name": format!("{}-disabled", stage.key_name), "key": disabled, "enabled": false},
            {"name": format!("{}-expired", stage.key_name), "key": expired, "expires_at": "2020-01-01T00:00:00Z"},
        ]}))
        .await;
    let longer = format!("{}x", stage.key);
    let shorter = &stage.key[..stage.key.len() - 1];
    let mut texts = Vec::new();
    for wire in Wire::ALL {
        for stream in [false, true] {
            let call = || stage.host.post(wire.target("any/model", stream), wire.request("any/model", stream));
            texts.push(check::error(&call().send().await, wire, 401, "invalid_api_key"));
            for key in
                [&longer, shorter, "tg-", "sk-proj-0123456789abcdefghijkl", &disabled, &expired, ADMIN_TOKEN, " "]
            {
                let reply = call().key(key).send().await;
                texts.push(check::error(&reply, wire, 401, "invalid_api_key"));
            }
            let basic = call().header("authorization", &format!("Basic {}", stage.key)).send().await;
            texts.push(check::error(&basic, wire, 401, "invalid_api_key"));
        }
    }
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(stage.upstream.requests().is_empty());
}

#[tokio::test]
async fn a_disabled_key_is_refused_at_once() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for enabled in [true, false, true] {
        stage.host.import(&json!({"keys": [{"name": stage.key_name, "enabled": enabled}]})).await;
        // On several connections, which may lead to several isolates.
        for _ in 0..4 {
            let reply = stage.call(false).send().await;
            assert_eq!(reply.status, if enabled { 200 } else { 401 });
        }
    }
}

#[tokio::test]
async fn a_replaced_key_is_refused_and_the_new_one_is_taken() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    stage.call(false).send().await.expect(200);
    let new = new_key();
    stage.host.import(&json!({"keys": [{"name": stage.key_name, "key": new}]})).await;
    stage.call(false).send().await.expect(401);
    let model = stage.model();
    stage.host.post("/v1/chat/completions", Wire::Chat.request(&model, false)).key(&new).send().await.expect(200);
}

/// B79: whoever is not let in is told so before the body is read.
#[tokio::test]
async fn b79_a_refusal_does_not_wait_for_the_body() {
    let host = Host::shared();
    for (wire, path) in [(Wire::Chat, "/v1/chat/completions"), (Wire::Claude, "/v1/messages")] {
        let mut client = Raw::connect(host.address).await;
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\nauthorization: Bearer tg-no\r\n");
        client.write(format!("{head}\r\n{{")).await;
        let answer = client.read_until("invalid_api_key").await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{wire:?}: {answer}");
    }
}

/// B70: the path that is parsed decides, in its one spelling, and nothing that a caller may say about itself.
#[tokio::test]
async fn b70_the_admin_surface_is_closed_however_it_is_addressed() {
    let stage = Stage::new(Wire::Chat).await;
    for path in [
        "/admin/api/export",
        "/admin/api/status",
        "/admin/api/usage",
        "/api/status",
        "//admin/api/export",
        "/ADMIN/api/export",
        "/admin/%61pi/export",
        "/v1/../admin/api/export",
        "/admin/api/export/",
        "/admin/api",
        "/admin",
    ] {
        for key in [None, Some(stage.key.as_str()), Some("tga-wrong"), Some("")] {
            let call = stage.host.get(path).header("x-forwarded-for", "127.0.0.1").header("x-original-url", "/health");
            let reply = key.map_or(call.clone(), |key| call.key(key)).send().await;
            // A gateway key may learn that there is nothing at a path that leads nowhere. Runtimes may resolve dots.
            let is_known = key == Some(&stage.key);
            let is_route =
                ["/admin/api/export", "/admin/api/status", "/admin/api/usage", "/api/status"].contains(&path);
            let expected: &[u16] = match (is_known && !is_route, path.contains("..")) {
                (true, true) => &[401, 404],
                (true, false) => &[404],
                (false, _) => &[401],
            };
            assert!(expected.contains(&reply.status), "{path} with {key:?}: {} {}", reply.status, reply.text());
            assert!(!reply.text().contains(&stage.provider), "{path}");
        }
    }
    let import = stage.host.post("/admin/api/import", "{}").header("host", "gateway.example/#@x").send().await;
    match kind() {
        Kind::Native => drop(check::admin_error(&import, 401, "invalid_admin_token")),
        // The runtime makes no request of it at all.
        Kind::Worker => assert!(import.status >= 400, "{}", import.text()),
    }
}

/// Whatever is added to the table is closed to strangers unless it says that it is open.
#[tokio::test]
async fn every_route_but_the_open_ones_refuses_strangers() {
    let open = ["/", "/health", "/healthz", "/api/hello"];
    for route in &ROUTES {
        assert_eq!(route.access == Access::Open, open.contains(&route.path), "{} is open to everybody", route.path);
        let path = route.path.replace("{*rest}", "some/model:generateContent");
        for key in [None, Some("tg-wrong-0123456789abcdef"), Some("tga-wrong-0123456789abcdef")] {
            let call = Host::shared().call(route.method.clone(), path.clone()).json("{}");
            let reply = key.map_or(call.clone(), |key| call.key(key)).send().await;
            let expected = if route.access == Access::Open { 200 } else { 401 };
            assert_eq!(reply.status, expected, "{} {path} with {key:?}", route.method);
        }
    }
}

#[tokio::test]
async fn an_admin_token_is_taken_where_a_key_is() {
    let host = Host::shared();
    for (name, value) in ways(ADMIN_TOKEN) {
        let reply = host.get("/admin/api/status").header(name, &value).send().await;
        assert_eq!(reply.status, 200, "{name}");
    }
    let refused = host.get("/admin/api/status").key("tga-wrong").send().await;
    let message = check::admin_error(&refused, 401, "invalid_admin_token");
    let expected = json!({"error": {"code": "invalid_admin_token", "message": message}}).to_string();
    assert_eq!(refused.text(), expected);
}

#[tokio::test]
async fn model_lists_need_a_key() {
    let host = Host::shared();
    for (path, wire) in [
        ("/v1/models", Wire::Chat),
        ("/v1/models/a/b", Wire::Chat),
        ("/v1beta/models", Wire::Gemini),
        ("/v1beta/models/a%2Fb", Wire::Gemini),
    ] {
        for method in [Method::GET, Method::HEAD] {
            assert_eq!(host.call(method, path).send().await.status, 401, "{path}");
        }
        check::error(&host.get(path).key("tg-no").send().await, wire, 401, "invalid_api_key");
    }
    let claude = host.get("/v1/models").header("anthropic-version", "2026-10-21").send().await;
    check::error(&claude, Wire::Claude, 401, "invalid_api_key");
    let gemini = host.get("/v1/models").header("x-goog-api-key", "tg-no").send().await;
    check::error(&gemini, Wire::Gemini, 401, "invalid_api_key");
}

/// Only Gemini's clients bring their key in the query, so a refusal of it has Gemini's envelope.
#[tokio::test]
async fn a_wrong_key_in_the_query_is_refused_in_geminis_envelope() {
    for path in ["/v1/models?key=tg-no", "/v1beta/models?key=tg-no", "/v1/models/a/b?key=tg-no"] {
        check::error(&Host::shared().get(path).send().await, Wire::Gemini, 401, "invalid_api_key");
    }
}
