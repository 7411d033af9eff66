//! Loss is never silent.

use serde_json::json;

use super::{call, stage};
use crate::support::script::Answer;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

/// A request that no Claude model can be asked as it is.
const SEEDED: &str = r#"{"seed":7,"messages":[{"role":"user","content":"Hi"}]}"#;

async fn claude() -> Stage<'static> {
    let stage = stage(Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.case("response", "text")));
    stage
}

#[tokio::test]
async fn a_loss_is_told_in_a_header() {
    let stage = claude().await;
    let reply = call(&stage, Wire::Chat, SEEDED, false).send().await.expect(200);
    let losses = reply.header("x-gateway-conversion-loss").expect("a loss").to_owned();
    assert!(losses.contains("seed: "), "{losses}");
    let reply = call(&stage, Wire::Chat, super::minimal(Wire::Chat), false).send().await.expect(200);
    assert_eq!(reply.header("x-gateway-conversion-loss"), None);
}

#[tokio::test]
async fn a_loss_is_told_before_a_stream() {
    let stage = stage(Wire::Claude).await;
    stage.upstream.always(Answer::events().piece(Wire::Claude.case("stream", "text")));
    let answer = call(&stage, Wire::Chat, SEEDED, true).open().await;
    assert!(answer.headers["x-gateway-conversion-loss"].to_str().unwrap().contains("seed: "));
}

#[tokio::test]
async fn a_strict_client_is_refused_before_anybody_is_asked() {
    let stage = claude().await;
    let reply = call(&stage, Wire::Chat, SEEDED, false).header("x-gateway-strict", "1").send().await;
    let message = crate::check::error(&reply, Wire::Chat, 400, "conversion_lossy");
    assert!(message.contains("seed: "), "{message}");
    assert!(stage.upstream.requests().is_empty());
    call(&stage, Wire::Chat, super::minimal(Wire::Chat), false)
        .header("x-gateway-strict", "1")
        .send()
        .await
        .expect(200);
}

/// A mark for a cache cannot change the answer, so even a strict client is answered.
#[tokio::test]
async fn a_hint_is_told_but_refuses_nobody() {
    let stage = stage(Wire::Gemini).await;
    stage.upstream.always(Answer::json(200, Wire::Gemini.case("response", "text")));
    let body = r#"{"max_tokens":9000,"messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}]}"#;
    let reply = call(&stage, Wire::Claude, body, false).header("x-gateway-strict", "1").send().await.expect(200);
    assert!(reply.header("x-gateway-conversion-loss").expect("a hint").contains("cache_control"));
}

#[tokio::test]
async fn a_route_can_be_strict_and_can_refuse_foreign_tools() {
    let stage = claude().await;
    let (strict, refusing) = (format!("strict-{}", unique()), format!("refusing-{}", unique()));
    let members = json!([{"provider": stage.provider, "model": "vendor-model"}]);
    stage
        .host
        .import(&json!({"routes": [
            {"name": strict, "strict": true, "members": members},
            {"name": refusing, "server_tools": "refuse", "members": members},
        ]}))
        .await;
    let chat = json!({"model": strict, "seed": 7, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = stage.post("/v1/chat/completions", chat.to_string()).send().await;
    crate::check::error(&reply, Wire::Chat, 400, "conversion_lossy");
    // Claude has no image generation.
    let mut responses = json!({"model": refusing, "input": "Hi", "tools": [{"type": "image_generation"}]});
    let reply = stage.post("/v1/responses", responses.to_string()).send().await;
    let message = crate::check::error(&reply, Wire::Responses, 400, "conversion_unsupported");
    assert!(message.contains("image_generation"), "{message}");
    assert!(stage.upstream.requests().is_empty());
    responses["model"] = stage.model().into();
    let reply = stage.post("/v1/responses", responses.to_string()).send().await.expect(200);
    assert!(reply.header("x-gateway-conversion-loss").expect("a loss").contains("tools[0]"));
}

/// The next member is asked where one cannot be without a loss.
#[tokio::test]
async fn a_member_that_can_do_without_a_loss_is_asked_instead() {
    let (first, second) = (claude().await, stage(Wire::Responses).await);
    let chat = stage(Wire::Chat).await;
    chat.upstream.always(Answer::json(200, Wire::Chat.case("response", "text")));
    let route = format!("route-{}", unique());
    let member = |stage: &Stage<'_>, tier| json!({"provider": stage.provider, "model": "m", "tier": tier});
    let members = json!([member(&first, 0), member(&second, 1), member(&chat, 2)]);
    first.host.import(&json!({"routes": [{"name": route, "strict": true, "members": members}]})).await;
    let body = json!({"model": route, "seed": 7, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = first.post("/v1/chat/completions", body.to_string()).send().await.expect(200);
    assert_eq!(reply.header("x-provider"), Some(chat.provider.as_str()));
    assert!(first.upstream.requests().is_empty() && second.upstream.requests().is_empty());
}

/// Claude's SDK goes on without a thread when it reads this.
#[tokio::test]
async fn a_thread_is_refused_as_claudes_sdk_expects_it() {
    let stage = stage(Wire::Gemini).await;
    let body = r#"{"max_tokens":9000,"thread":{"type":"create"},"messages":[{"role":"user","content":"Hi"}]}"#;
    let reply = call(&stage, Wire::Claude, body, false).send().await;
    assert_eq!(reply.status, 400);
    let error = reply.json()["error"].clone();
    assert_eq!(error["type"], "invalid_request_error");
    assert_eq!(error["details"], json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]}));
}
