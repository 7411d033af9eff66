//! What becomes of a vendor's error on its way to the client.

use serde_json::json;

use crate::check;
use crate::support::host::Host;
use crate::support::script::{Answer, Ending, Framing};
use crate::support::stage::{Stage, check_counts, new_key};
use crate::support::upstream::Upstream;
use crate::support::vendors::Wire;

/// Clients read a vendor's words and act on them, so they arrive as they are: with a real status, streamed or not.
#[tokio::test]
async fn b40_a_vendors_error_keeps_its_status_and_its_words() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for status in [400, 404, 408, 409, 413, 422, 429, 500, 503, 529] {
            for stream in [false, true] {
                let body = wire.vendor_error(status, r#"messages: Unexpected role "system""#);
                stage.upstream.answer(Answer::json(status, body.clone()));
                let reply = stage.call(stream).send().await;
                assert_eq!((reply.status, reply.text()), (status, body.as_str()), "{wire:?}");
                assert_eq!(reply.header("content-type"), Some("application/json"));
            }
        }
        check_counts(&stage.usage(20).await, &[("requests", 20), ("calls", 20), ("failed_calls", 20)]);
    }
}

/// B40: that the pool's credential is refused is no fault of the client's, whose own key is fine.
#[tokio::test]
async fn b40_a_refused_credential_is_not_the_clients_fault() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for status in [401, 402, 403] {
            for stream in [false, true] {
                stage
                    .upstream
                    .answer(Answer::json(status, wire.vendor_error(status, "Incorrect API key sk-… of org-1")));
                let reply = stage.call(stream).send().await;
                let message = check::error(&reply, wire, 502, "upstream_credential_refused");
                assert!(!message.contains("sk-") && !message.contains("org-1"), "{message}");
                stage.make_well().await;
            }
        }
        check_counts(&stage.usage(6).await, &[("requests", 6), ("calls", 6), ("failed_calls", 6)]);
    }
}

/// B40: a web page or a fragment is replaced by an error of the dialect, with the vendor's status.
#[tokio::test]
async fn b40_what_is_no_error_of_the_dialect_is_replaced() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for (status, body) in [
            (500, "<html><body>502 Bad Gateway nginx</body></html>"),
            (404, "not found"),
            (429, ""),
            (400, "{\"error\":"),
            (503, "[]"),
            (500, "{\"message\":\"internal\"}"),
            (500, "\u{fffd}\u{0}"),
        ] {
            let mut answer = Answer::new(status).header("content-type", "text/html").piece(body);
            // Gemini's clients are told it in the error as well; `b41_the_waiting_time_is_understood_and_told` has that.
            if wire != Wire::Gemini {
                answer = answer.header("retry-after", "7");
            }
            let reply = stage.answered(answer).await;
            let message = check::error(&reply, wire, status, "upstream_error");
            assert!(message.contains(&status.to_string()), "{message}");
            assert!(!message.contains("nginx") && !message.contains("internal"), "{message}");
            assert_eq!(reply.header("retry-after"), (wire != Wire::Gemini).then_some("7"));
        }
    }
}

/// B40: an error in another dialect's envelope would be misread, so it is put into the client's.
#[tokio::test]
async fn b40_an_error_in_another_envelope_is_put_into_the_clients() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for other in Wire::ALL.into_iter().filter(|other| other.channel() != wire.channel()) {
            let reply = stage.answered(Answer::json(400, other.vendor_error(400, "the words of a proxy"))).await;
            assert_eq!(reply.status, 400);
            let error = reply.json();
            let right = match wire {
                Wire::Chat | Wire::Responses => error["error"]["type"].is_string() && error["type"].is_null(),
                Wire::Claude => error["type"] == "error" && error["error"]["type"].is_string(),
                Wire::Gemini => error["error"]["code"] == 400 && error["error"]["status"].is_string(),
            };
            assert!(right, "{wire:?} got {error}");
        }
    }
}

/// B41: what a vendor says about when to come back reaches the client.
#[tokio::test]
async fn b41_retry_after_is_kept() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for (name, value) in
            [("retry-after", "40"), ("retry-after", "Mon, 30 Nov 2026 12:00:00 GMT"), ("retry-after-ms", "1500")]
        {
            let answer = Answer::json(429, wire.vendor_error(429, "slow down")).header(name, value);
            let reply = stage.answered(answer).await.expect(429);
            assert_eq!(reply.header(name), Some(value), "{wire:?}");
        }
    }
    let stage = Stage::new(Wire::Gemini).await;
    let body = r#"[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12.5s"}]}}]"#;
    let reply = stage.answered(Answer::json(429, body)).await;
    assert_eq!((reply.status, reply.text()), (429, body));
}

/// B76: a vendor's headers that nobody would write do no harm.
#[tokio::test]
async fn b76_odd_headers_of_a_vendor_do_no_harm() {
    let stage = Stage::new(Wire::Chat).await;
    for (name, value) in [
        ("retry-after", "99999999999999999999"),
        ("retry-after", "-1"),
        ("retry-after", ""),
        ("content-type", "nonsense"),
        ("content-type", ""),
        ("x-odd", "caf\u{e9}"),
        ("connection", ",,x-request-id,"),
    ] {
        for status in [200, 429] {
            let body = if status == 200 { Wire::Chat.answer() } else { Wire::Chat.vendor_error(429, "no") };
            let reply = stage.answered(Answer::new(status).header(name, value).piece(body.clone())).await;
            assert_eq!((reply.status, reply.text()), (status, body.as_str()), "{name}: {value}");
        }
    }
}

/// B68: no piece of a secret and no account's name reaches the client, or the log.
#[tokio::test]
async fn b68_secrets_in_a_vendors_words_are_taken_out() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let words = format!(
            "Incorrect API key provided: {} ({}...) in organization org-AbCdEfGhIjKl123 proj_0123456789abcdef, see a.b/c",
            stage.secret,
            &stage.secret[..14]
        );
        let reply = stage.answered(Answer::json(429, wire.vendor_error(429, &words))).await;
        let expected =
            "Incorrect API key provided: [redacted] ([redacted]...) in organization [redacted] [redacted], see a.b/c";
        let expected = wire.vendor_error(429, expected);
        assert!(
            reply.text() == expected || reply.text() == expected.replace("...)", ")"),
            "{wire:?}: {} instead of {expected}",
            reply.text()
        );
        assert!(!stage.host.stderr().contains(&stage.secret[..14]));
    }
}

/// B67: a redirect is not followed, least of all with the credential.
#[tokio::test]
async fn b67_a_redirect_is_not_followed() {
    for status in [301, 302, 307, 308] {
        let elsewhere = Upstream::start().await;
        let stage = Stage::new(Wire::Chat).await;
        let reply =
            stage.answered(Answer::new(status).header("location", &elsewhere.url("/v1/chat/completions"))).await;
        check::error(&reply, Wire::Chat, 502, "upstream_redirected");
        assert_eq!(reply.header("location"), None);
        assert_eq!(elsewhere.connections(), 0);
        assert_eq!(stage.upstream.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_vendor_that_cannot_be_reached_is_told() {
    for wire in Wire::ALL {
        // A port on which nobody listens any more.
        let closed = Upstream::start().await.url(wire.base_path());
        let stage = Stage::with(wire, json!({"base_url": closed})).await;
        for stream in [false, true] {
            let message = check::error(&stage.call(stream).send().await, wire, 502, "upstream_unreachable");
            assert!(!message.contains("127.0.0.1") && !message.contains("os error"), "{message}");
        }
        check_counts(&stage.usage(2).await, &[("requests", 2), ("calls", 2), ("failed_calls", 2)]);
    }
}

#[tokio::test]
async fn a_vendor_that_breaks_off_before_its_answer_is_told() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for answer in [
            Answer::none(Ending::Closed),
            Answer::none(Ending::Reset),
            Answer::raw("HTTP/1.1 200 OK\r\ncontent-le").ending(Ending::Closed),
            Answer::raw("not http at all\r\n\r\n"),
            Answer::raw("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nhello"),
        ] {
            check::error(&stage.answered(answer).await, wire, 502, "upstream_unreachable");
        }
        // What may have been carried out is not sent again.
        assert_eq!(stage.upstream.requests().len(), 5);
        check_counts(&stage.usage(5).await, &[("requests", 5), ("calls", 5), ("failed_calls", 5)]);
    }
}

/// An error whose body breaks off, or never ends, is an error all the same.
#[tokio::test]
async fn an_error_without_a_whole_body_keeps_its_status() {
    let stage = Stage::new(Wire::Claude).await;
    let half = Answer::json(500, "{\"error\":{").framing(Framing::Claimed(500)).ending(Ending::Closed);
    check::error(&stage.answered(half).await, Wire::Claude, 500, "upstream_error");
    // B79: the bodies of errors are bounded.
    let long = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "x".repeat(1 << 20));
    check::error(&stage.answered(Answer::json(500, long)).await, Wire::Claude, 500, "upstream_error");
}

/// An error of the vendor's that is a stream is read as an error, not passed on as a stream.
#[tokio::test]
async fn an_error_in_a_streams_clothes_is_an_error() {
    let stage = Stage::new(Wire::Chat).await;
    let body = Wire::Chat.vendor_error(429, "slow down");
    let answer = Answer::new(429).header("content-type", "text/event-stream").piece(body.clone());
    let reply = stage.answered(answer).await;
    assert_eq!((reply.status, reply.text()), (429, body.as_str()));
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn an_operation_that_no_provider_has_is_told() {
    let stage = Stage::new(Wire::Claude).await;
    let model = stage.model();
    for (wire, target, body) in [
        (Wire::Chat, "/v1/embeddings".to_owned(), format!(r#"{{"model":"{model}","input":"a"}}"#)),
        (Wire::Gemini, format!("/v1beta/models/{model}:embedContent"), r#"{"content":{"parts":[]}}"#.to_owned()),
    ] {
        let reply = stage.post(&target, body).send().await;
        let message = check::error(&reply, wire, 400, "dialect_unsupported");
        assert!(message.contains(&stage.provider) && message.contains(wire.dialect()), "{message}");
    }
    assert!(stage.upstream.requests().is_empty());
    check_counts(&stage.usage(2).await, &[("requests", 2)]);
}

/// B67: an address in a private network is refused unless the provider is allowed to have one.
#[tokio::test]
async fn b67_a_private_address_has_to_be_allowed() {
    let host = Host::shared();
    let upstream = Upstream::start().await;
    let port = upstream.address.port();
    for url in [
        format!("http://127.0.0.1:{port}"),
        format!("https://127.0.0.1:{port}"),
        format!("https://localhost:{port}"),
        format!("https://[::1]:{port}"),
        format!("https://[::ffff:127.0.0.1]:{port}"),
        format!("https://2130706433:{port}"),
        format!("https://0x7f.1:{port}"),
        "https://169.254.169.254".to_owned(),
        "https://user@example.com".to_owned(),
        "ftp://example.com".to_owned(),
        "example.com".to_owned(),
    ] {
        let provider = json!({"name": "private", "channel": "claude", "base_url": url});
        let document = json!({"providers": [provider], "keys": [{"name": "private", "key": new_key()}]});
        let reply = host.try_import("", &document).await;
        let message = check::admin_error(&reply, 422, "invalid_document");
        assert!(message.contains("providers[0]"), "{url}: {message}");
    }
    assert_eq!(upstream.connections(), 0);
}
