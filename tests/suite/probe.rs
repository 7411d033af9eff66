//! What clients and load balancers ask before they trust an address.

use http::Method;

use crate::check;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

const HELLO: &str = concat!(r#"{"name":"tollgate","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);
const HEALTHY: &str = concat!(r#"{"name":"tollgate","version":""#, env!("CARGO_PKG_VERSION"), r#"","status":"ok"}"#);

#[tokio::test]
async fn probes_need_no_credential() {
    for (path, body) in [("/", HELLO), ("/api/hello", HELLO), ("/health", HEALTHY), ("/healthz", HEALTHY)] {
        let reply = Host::shared().get(path).send().await.expect(200);
        assert_eq!(reply.text(), body, "{path}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        let head = Host::shared().call(Method::HEAD, path).send().await.expect(200);
        assert_eq!(head.text(), "", "{path}");
        assert_ne!(head.request_id(), reply.request_id());
    }
}

#[tokio::test]
async fn a_query_or_a_wrong_credential_changes_nothing() {
    let host = Host::shared();
    assert_eq!(host.get("/?utm=1").send().await.expect(200).text(), HELLO);
    assert_eq!(host.get("/health").key("tg-nonsense").send().await.expect(200).text(), HEALTHY);
}

#[tokio::test]
async fn a_wrong_method_is_told_to_those_who_may_know() {
    let stage = Stage::new(Wire::Chat).await;
    for (method, path, allowed) in [
        (Method::POST, "/", "GET"),
        (Method::DELETE, "/v1/chat/completions", "POST"),
        (Method::GET, "/v1/messages", "POST"),
        (Method::PUT, "/admin/api/import", "POST"),
        (Method::PATCH, "/v1/models/some/model", "POST, GET"),
    ] {
        let refused = stage.host.call(method.clone(), path).send().await;
        check::error(&refused, Wire::Chat, 401, "invalid_api_key");
        for key in [&stage.key, ADMIN_TOKEN] {
            let reply = stage.host.call(method.clone(), path).key(key).send().await;
            let message = check::error(&reply, Wire::Chat, 405, "no_such_method");
            let allow = reply.header("allow").expect("allow");
            let same = |text: &str| {
                let mut methods: Vec<_> = text.split(", ").collect();
                methods.sort_unstable();
                methods.join(" ")
            };
            assert_eq!(same(allow), same(allowed), "{path}");
            assert!(message.contains(allow), "{message}");
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_told_to_those_who_may_know() {
    let stage = Stage::new(Wire::Chat).await;
    for path in ["/v1/completions", "/v1/chat/completions/", "/chat/completions", "/v2/messages", "/favicon.ico"] {
        let call = || stage.host.call(Method::POST, path).header("anthropic-version", "2023-06-01");
        check::error(&call().send().await, Wire::Claude, 401, "invalid_api_key");
        let message = check::error(&call().key(&stage.key).send().await, Wire::Claude, 404, "no_such_path");
        assert!(message.contains(path), "{message}");
    }
}
