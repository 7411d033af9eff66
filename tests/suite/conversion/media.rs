//! Files by URL, for vendors that want the bytes.

use serde_json::json;

use super::{call, stage, stage_on};
use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::upstream::Upstream;
use crate::support::vendors::Wire;

fn with_image(url: &str) -> String {
    json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]}]})
    .to_string()
}

/// B67: whoever has a key does not choose what the gateway asks in its own network.
#[tokio::test]
async fn b67_a_private_address_is_not_asked() {
    let server = Upstream::start().await;
    let port = server.address.port();
    let stage = stage(Wire::Gemini).await;
    for url in [
        format!("http://127.0.0.1:{port}/a.png"),
        format!("http://localhost:{port}/a.png"),
        format!("http://[::ffff:127.0.0.1]:{port}/a.png"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://2130706433/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let reply = call(&stage, Wire::Chat, &with_image(&url), false).send().await;
        assert_eq!(reply.status, 400, "{url}: {}", reply.text());
    }
    assert!(stage.upstream.requests().is_empty());
    // These Gemini fetches by itself.
    stage.upstream.always(Answer::json(200, Wire::Gemini.case("response", "text")));
    let url = format!("https://127.0.0.1:{port}/a.png");
    call(&stage, Wire::Chat, &with_image(&url), false).send().await.expect(200);
    assert!(stage.recorded().text().contains(&url));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_file_is_fetched_where_the_operator_allows_its_address() {
    let host = Host::start(Setup::default().one_isolate());
    host.import(&json!({"settings": {"media": {"private_network": true, "max_bytes": 100}}})).await;
    let server = Upstream::start().await;
    let stage = stage_on(&host, Wire::Gemini, json!({})).await;
    stage.upstream.always(Answer::json(200, Wire::Gemini.case("response", "text")));
    server.answer(Answer::new(200).header("content-type", "image/png").piece("PNG"));
    let url = server.url("/a.png?size=1");
    call(&stage, Wire::Chat, &with_image(&url), false).send().await.expect(200);
    let asked = server.request();
    assert_eq!((asked.method.as_str(), asked.target.as_str()), ("GET", "/a.png?size=1"));
    assert_eq!((asked.header("authorization"), asked.header("x-goog-api-key")), (None, None));
    let sent = stage.recorded().json();
    let data = json!({"mimeType": "image/png", "data": "UE5H"});
    assert!(sent["contents"][0]["parts"].as_array().unwrap().iter().any(|part| part["inlineData"] == data), "{sent}");
    for answer in [
        Answer::new(404),
        Answer::new(302).header("location", "http://127.0.0.1/"),
        Answer::new(200).header("content-type", "text/javascript-no").piece("x").header("x", "y"),
        Answer::new(200).header("content-type", "application/json").piece("{}"),
        Answer::new(200).header("content-type", "image/png").piece("x".repeat(101)),
    ] {
        server.answer(answer);
        let reply = call(&stage, Wire::Chat, &with_image(&url), false).send().await;
        if reply.status != 200 {
            let message = check::error(&reply, Wire::Chat, 400, "media_unavailable");
            assert!(message.contains("/a.png") && !message.contains("size=1"), "{message}");
        }
    }
    assert_eq!(stage.upstream.requests().len(), 2);
}
