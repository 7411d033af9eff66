//! Which headers cross the gateway, in both directions.

use std::io::{Read, Write};

use http::{HeaderMap, Method};

use crate::support::client::{Call, End, Reply};
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::upstream::Recorded;
use crate::support::vendors::{Wire, sse};

/// What clients send about themselves; the vendor must not see any of it.
fn with_baggage(call: Call) -> Call {
    [
        ("cookie", "a=b"),
        ("te", "trailers"),
        ("proxy-authorization", "Basic eDp5"),
        ("x-forwarded-for", "10.0.0.1"),
        ("forwarded", "for=10.0.0.1"),
        ("x-stainless-lang", "python"),
        ("x-stainless-timeout", "NOT_GIVEN"),
        ("x-codex-window-id", "w"),
        ("session-id", "s"),
        ("thread-id", "t"),
        ("originator", "codex_exec"),
        ("x-app", "cli"),
        ("x-claude-code-session-id", "c"),
        ("anthropic-dangerous-direct-browser-access", "true"),
        ("sec-fetch-mode", "cors"),
        ("accept-language", "*"),
        ("accept-encoding", "gzip, br, zstd"),
        ("x-gateway-request-id", "mine"),
    ]
    .into_iter()
    .fold(call, |call, (name, value)| call.header(name, value))
}

async fn sent(wire: Wire, call: impl Fn(Call) -> Call) -> Recorded {
    let stage = Stage::new(wire).await;
    stage.upstream.answer(Answer::json(200, wire.answer()));
    call(stage.call(false)).send().await.expect(200);
    stage.recorded()
}

#[tokio::test]
async fn what_clients_say_about_themselves_stays_here() {
    for wire in Wire::ALL {
        let recorded = sent(wire, with_baggage).await;
        let names: Vec<&str> = recorded.headers.iter().map(|header| header.0.as_str()).collect();
        for name in ["accept-language", "anthropic-dangerous-direct-browser-access", "x-forwarded-for"] {
            assert!(!names.contains(&name), "{wire:?}: {name} in {names:?}");
        }
        assert_eq!(recorded.header("content-type"), Some("application/json"));
        assert_eq!(recorded.header("content-length"), Some(recorded.body.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn a_vendor_gets_the_headers_that_it_defines_and_no_others() {
    let all = [
        ("openai-organization", "org-1", [true, true, false, false]),
        ("openai-project", "proj-1", [true, true, false, false]),
        ("openai-beta", "assistants=v2", [true, true, false, false]),
        ("x-client-request-id", "id-1", [true, true, false, false]),
        ("idempotency-key", "key-1", [true, true, true, false]),
        ("anthropic-version", "2026-10-21", [false, false, true, false]),
        ("anthropic-beta", "a-1", [false, false, true, false]),
        ("anthropic-user-profile-id", "u-1", [false, false, true, false]),
        ("anthropic-workspace-id", "w-1", [false, false, true, false]),
        ("x-goog-api-client", "sdk/1", [false, false, false, true]),
        ("x-server-timeout", "60", [false, false, false, true]),
        ("accept", "application/json", [true; 4]),
        ("user-agent", "agent/1", [true; 4]),
    ];
    for (place, wire) in Wire::ALL.into_iter().enumerate() {
        let recorded = sent(wire, |call| all.iter().fold(call, |call, header| call.header(header.0, header.1))).await;
        for (name, value, passes) in all {
            let expected = passes[place].then_some(value);
            assert_eq!(recorded.header(name), expected, "{wire:?}: {name}");
        }
    }
}

/// B55: the client's tokens pass, merged and each once, and none is invented.
#[tokio::test]
async fn b55_betas_are_merged_and_passed_to_claude_only() {
    let betas = |call: Call| {
        call.header("anthropic-beta", "interleaved-thinking-2025-05-14,made-up-2030-01-01, oauth-2025-04-20")
            .header("anthropic-beta", "made-up-2030-01-01,claude-code-20250219")
    };
    let merged = "interleaved-thinking-2025-05-14,made-up-2030-01-01,oauth-2025-04-20,claude-code-20250219";
    assert_eq!(sent(Wire::Claude, betas).await.header("anthropic-beta"), Some(merged));
    for wire in [Wire::Chat, Wire::Responses, Wire::Gemini] {
        assert_eq!(sent(wire, betas).await.header("anthropic-beta"), None, "{wire:?}");
    }
    assert_eq!(sent(Wire::Claude, |call| call).await.header("anthropic-beta"), None);
}

#[tokio::test]
async fn extra_headers_of_a_provider_are_added() {
    let members = serde_json::json!({"headers": {"api-key": "{secret}", "x-team": "red", "user-agent": "ours"}});
    let stage = Stage::with(Wire::Chat, members).await;
    stage.answered(Answer::json(200, Wire::Chat.answer())).await.expect(200);
    let recorded = stage.recorded();
    assert_eq!(recorded.header("api-key"), Some(stage.secret.as_str()));
    assert_eq!(recorded.header("authorization"), None);
    assert_eq!((recorded.header("x-team"), recorded.header("user-agent")), (Some("red"), Some("ours")));
}

#[tokio::test]
async fn limits_and_ids_reach_the_client_and_account_names_do_not() {
    let kept = [
        ("retry-after", "3"),
        ("retry-after-ms", "3000"),
        ("x-should-retry", "true"),
        ("x-request-id", "req_1"),
        ("request-id", "req_2"),
        ("x-ratelimit-remaining-tokens", "9"),
        ("x-ratelimit-reset-requests", "6m0s"),
        ("anthropic-ratelimit-tokens-reset", "2026-11-30T00:00:00Z"),
        ("openai-processing-ms", "12"),
        ("openai-version", "2020-10-01"),
        ("server-timing", "gfet4t7; dur=1"),
        ("x-of-tomorrow", "1"),
    ];
    let dropped = [
        ("set-cookie", "a=b"),
        ("openai-organization", "org-1"),
        ("openai-project", "proj-1"),
        ("anthropic-organization-id", "o"),
        ("anthropic-workspace-id", "w"),
        ("access-control-allow-origin", "*"),
        ("cf-ray", "1"),
        ("alt-svc", "h3"),
        ("strict-transport-security", "max-age=1"),
        ("www-authenticate", "Bearer"),
        ("proxy-authenticate", "Basic"),
        ("authorization", "Bearer leak"),
        ("x-api-key", "leak"),
        ("x-goog-api-key", "leak"),
    ];
    for wire in Wire::ALL {
        for status in [200, 429] {
            let stage = Stage::new(wire).await;
            let body = if status == 200 { wire.answer() } else { wire.vendor_error(status, "slow down") };
            let answer = kept
                .iter()
                .chain(&dropped)
                .fold(Answer::json(status, body.clone()), |answer, (name, value)| answer.header(name, value));
            let answer = answer.header("x-gateway-request-id", "theirs").header("x-provider", "theirs");
            let reply = stage.answered(answer).await;
            assert_eq!((reply.status, reply.text()), (status, body.as_str()));
            for (name, value) in kept {
                let reply_value = reply.header(name);
                // The gateway adds its own time.
                let is_kept = reply_value == Some(value)
                    || (name == "server-timing" && reply_value.is_some_and(|told| told.starts_with(value)));
                assert!(is_kept, "{wire:?} {status}: {name}: {reply_value:?}");
            }
            for (name, value) in dropped {
                assert_ne!(reply.header(name), Some(value), "{wire:?} {status}: {name}");
            }
            assert_eq!(reply.header("x-provider"), Some(stage.provider.as_str()));
            assert_ne!(reply.request_id(), "theirs");
        }
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// What a client makes of a body that may be compressed.
fn plain(headers: &HeaderMap, body: &[u8]) -> String {
    let mut text = String::new();
    match headers.get("content-encoding").map(|coding| coding.to_str().unwrap()) {
        None => text.push_str(std::str::from_utf8(body).expect("a body without a label is plain")),
        Some("gzip") => {
            flate2::read::GzDecoder::new(body).read_to_string(&mut text).expect("a label that is right");
        }
        Some(other) => panic!("the coding {other} is nobody's"),
    }
    text
}

/// B53: a body that was decoded is not labelled, one that was not is; on success and on errors.
#[tokio::test]
async fn b53_the_label_of_a_coding_is_right() {
    for status in [200, 404] {
        let stage = Stage::new(Wire::Claude).await;
        let body = if status == 200 { Wire::Claude.answer() } else { Wire::Claude.vendor_error(404, "no such model") };
        let answer = Answer::json(status, gzip(&body)).header("content-encoding", "gzip");
        let reply = stage.answered(answer).await;
        assert_eq!((reply.status, plain(&reply.headers, &reply.body)), (status, body));
        if let Some(length) = reply.header("content-length") {
            assert_eq!(length, reply.body.len().to_string());
        }
        if status == 200 {
            check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
        }
    }
}

/// B53: a stream as well, however its compressed bytes are cut.
#[tokio::test]
async fn b53_a_compressed_stream_is_read_as_it_comes() {
    let stage = Stage::new(Wire::Claude).await;
    let mut answer = Answer::events().header("content-encoding", "gzip");
    for piece in gzip(&sse(Wire::Claude.events())).chunks(7) {
        answer = answer.piece(piece.to_vec());
    }
    let mut stream = stage.streamed(answer).await;
    let (body, end) = stream.rest().await;
    assert_eq!((plain(&stream.headers, &body), end), (sse(Wire::Claude.events()), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// B53: what the gateway cannot decode is not touched, and keeps its label.
#[tokio::test]
async fn b53_a_coding_that_is_not_understood_passes_with_its_label() {
    let stage = Stage::new(Wire::Chat).await;
    let bytes: &[u8] = b"\x28\xb5\x2f\xfd\x00not really zstd";
    let reply = stage.answered(Answer::json(200, bytes).header("content-encoding", "zstd")).await;
    assert_eq!((reply.status, &reply.body[..]), (200, bytes));
    assert_eq!(reply.header("content-encoding"), Some("zstd"));
    assert_eq!(stage.usage(1).await["estimated_calls"], 1);
}

/// B53: an error in a coding that is not understood cannot be shown, so it is replaced and not labelled.
#[tokio::test]
async fn b53_an_error_in_an_unknown_coding_is_replaced() {
    let stage = Stage::new(Wire::Chat).await;
    let bytes: &[u8] = b"\x28\xb5\x2f\xfd\x00not really zstd";
    let reply = stage.answered(Answer::json(404, bytes).header("content-encoding", "zstd")).await;
    assert_eq!(reply.header("content-encoding"), None);
    crate::check::error(&reply, Wire::Chat, 404, "upstream_error");
}

/// B53: a request may be compressed; the vendor gets it plain.
#[tokio::test]
async fn b53_a_compressed_request_is_decoded() {
    let stage = Stage::new(Wire::Chat).await;
    let body = Wire::Chat.request(&stage.model(), false);
    for coding in ["gzip", "GZIP", "x-gzip", "identity", ""] {
        stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
        let bytes = if coding.to_lowercase().contains("gzip") { gzip(&body) } else { body.clone().into_bytes() };
        stage.post("/v1/chat/completions", bytes).header("content-encoding", coding).send().await.expect(200);
        let recorded = stage.upstream.requests().pop().unwrap();
        assert_eq!(recorded.text(), body.replace(&stage.model(), "vendor-model"), "{coding}");
        assert_eq!(recorded.header("content-encoding"), None);
    }
}

#[tokio::test]
async fn b53_other_codings_and_damaged_bodies_are_refused() {
    let stage = Stage::new(Wire::Claude).await;
    let body = Wire::Claude.request(&stage.model(), false);
    for coding in ["br", "zstd", "deflate", "gzip, gzip", "nonsense"] {
        let reply = stage.post("/v1/messages", body.clone()).header("content-encoding", coding).send().await;
        let message = crate::check::error(&reply, Wire::Claude, 415, "unsupported_coding");
        assert!(message.contains("gzip"), "{message}");
    }
    let whole = gzip(&body);
    for damaged in [&b"not gzip"[..], &whole[..whole.len() / 2]] {
        let reply = stage.post("/v1/messages", damaged.to_vec()).header("content-encoding", "gzip").send().await;
        crate::check::error(&reply, Wire::Claude, 400, "body_broken");
    }
    assert!(stage.upstream.requests().is_empty());
}

#[tokio::test]
async fn every_response_has_a_request_id_of_its_own() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(500, Wire::Chat.vendor_error(500, "no")));
    let host = Host::shared();
    let admin = crate::support::host::ADMIN_TOKEN;
    let calls = [
        host.get("/"),
        host.get("/nowhere"),
        host.call(Method::PUT, "/v1/messages"),
        host.get("/v1/models"),
        host.get("/v1/models").key(&stage.key),
        stage.call(false),
        stage.call(true),
        stage.post("/v1/chat/completions", "{"),
        host.get("/admin/api/status"),
        host.get("/admin/api/status").key(admin),
        host.get("/admin/api/usage?group_by=nonsense").key(admin),
    ];
    let mut ids: Vec<String> = Vec::new();
    for call in calls {
        let reply: Reply = call.header("x-gateway-request-id", "mine").send().await;
        ids.push(reply.request_id().to_owned());
    }
    assert!(ids.iter().all(|id| id.len() >= 16), "{ids:?}");
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

/// Answers of the gateway itself are not for caches.
#[tokio::test]
async fn the_gateways_own_answers_are_not_to_be_stored() {
    let host = Host::shared();
    for call in [host.get("/health"), host.get("/v1/models"), host.get("/admin/api/status")] {
        assert_eq!(call.send().await.header("cache-control"), Some("no-store"));
    }
}
