//! Clients that send too much, or too slowly, or no HTTP.

use std::time::{Duration, Instant};

use super::{setup, shared};
use crate::check;
use crate::support::host::Host;
use crate::support::raw::Raw;
use crate::support::script::Answer;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// After a limit of one second something has to happen within this time.
const IN_TIME: Duration = Duration::from_secs(4);

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let host = shared();
    let cookie = "x".repeat(70_000);
    let mut client = Raw::connect(host.address).await;
    client.write(format!("GET /health HTTP/1.1\r\nhost: a\r\nx-long: {cookie}\r\n\r\n")).await;
    let answer = client.read_until("head_too_large").await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    // A long one is a usual one with some proxies.
    let mut client = Raw::connect(host.address).await;
    client.write(format!("GET /health HTTP/1.1\r\nhost: a\r\nx-long: {}\r\n\r\n", &cookie[..30_000])).await;
    let answer = client.read_until("\"ok\"}").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let host = shared();
    for bytes in [
        "nonsense\r\n\r\n",
        "GET /health\r\n\r\n",
        "GET /health HTTP/1.1\r\nhost a\r\n\r\n",
        "GET /health HTTP/1.1\r\nx: a\0b\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n",
    ] {
        let mut client = Raw::connect(host.address).await;
        client.write(bytes).await;
        let answer = client.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{bytes:?}: {answer}");
    }
    host.get("/health").send().await.expect(200);
}

/// A message whose length is told in two ways is not taken for two messages.
#[tokio::test]
async fn a_request_is_not_smuggled_in_a_body() {
    let host = shared();
    let mut client = Raw::connect(host.address).await;
    client
        .write(
            "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n\
             25\r\nGET /health HTTP/1.1\r\nhost: smuggled\r\n\r\n0\r\n\r\n",
        )
        .await;
    let answer = client.read_for(Duration::from_millis(500)).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    assert!(!answer.contains("\"ok\""), "{answer}");
}

#[tokio::test]
async fn a_slow_head_is_cut_off() {
    let host = Host::start(setup().argument("--header-timeout-seconds", 1));
    let mut client = Raw::connect(host.address).await;
    let started = Instant::now();
    client.write("GET /health HTTP/1.1\r\nhost: a\r\nx-slow: ").await;
    let answer = client.read_to_end().await;
    assert!(!answer.contains(" 200 "), "{answer}");
    assert!(started.elapsed() < IN_TIME);
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let host = Host::start(setup().argument("--header-timeout-seconds", 1));
    for opening in ["G", "GET /health HTTP/1.1\r\nhost: a\r\n\r\n"] {
        let mut client = Raw::connect(host.address).await;
        let started = Instant::now();
        client.write(opening).await;
        let answer = client.read_to_end().await;
        assert_eq!(answer.matches("HTTP/1.1 200").count(), usize::from(opening.len() > 1), "{answer}");
        assert!(started.elapsed() < IN_TIME, "{opening:?}");
    }
}

/// Nor does one live for ever on which nothing was ever sent.
#[tokio::test]
async fn a_connection_without_a_byte_is_closed() {
    let host = Host::start(setup().argument("--header-timeout-seconds", 1));
    let mut client = Raw::connect(host.address).await;
    let closed = tokio::time::timeout(IN_TIME, client.read_to_end()).await;
    assert!(closed.is_ok(), "the connection is still open");
}

/// A client that stops within its body is told; one that is only slow is not.
#[tokio::test]
async fn a_body_that_stops_is_told() {
    let host = Host::start(setup().argument("--body-timeout-seconds", 1));
    let stage = Stage::on(&host, Wire::Claude).await;
    let body = Wire::Claude.request(&stage.model(), false);
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\nauthorization: Bearer {}\r\n\r\n",
        body.len(),
        stage.key
    );
    let mut client = Raw::connect(host.address).await;
    let started = Instant::now();
    client.write(format!("{head}{}", &body[..10])).await;
    let answer = client.read_until("body_timeout").await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("\"type\":\"error\""), "{answer}");
    assert!(started.elapsed() < IN_TIME);
    assert!(stage.upstream.requests().is_empty());

    stage.upstream.answer(Answer::json(200, Wire::Claude.answer()));
    let mut client = Raw::connect(host.address).await;
    client.write(head).await;
    for piece in body.as_bytes().chunks(body.len() / 4) {
        tokio::time::sleep(Duration::from_millis(400)).await;
        client.write(piece).await;
    }
    let answer = client.read_until("x_new").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn the_limit_of_a_body_can_be_set() {
    let host = Host::start(setup().argument("--max-body-bytes", 1000));
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let frame = format!(r#"{{"model":"{}","x":""}}"#, stage.model()).len();
    let body = |length: usize| format!(r#"{{"model":"{}","x":"{}"}}"#, stage.model(), "x".repeat(length - frame));
    stage.post("/v1/chat/completions", body(1000)).send().await.expect(200);
    for http2 in [false, true] {
        let call = stage.post("/v1/chat/completions", body(1001));
        let reply = if http2 { call.http2() } else { call }.send().await;
        let message = check::error(&reply, Wire::Chat, 413, "body_too_large");
        assert!(message.contains("1000"), "{message}");
    }
}

/// A client that does not read holds up nobody else.
#[tokio::test]
async fn a_client_that_does_not_read_holds_up_nobody() {
    let host = Host::start(setup().one_isolate());
    let stage = Stage::on(&host, Wire::Chat).await;
    let long = crate::support::vendors::chat::answer(&"x".repeat(8_000_000), 1, 2);
    stage.upstream.answer(Answer::json(200, long));
    let body = Wire::Chat.request(&stage.model(), false);
    let mut lazy = Raw::connect(host.address).await;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\nauthorization: Bearer {}\r\n\r\n",
        body.len(),
        stage.key
    );
    lazy.write(head + &body).await;
    stage.upstream.received(1).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for _ in 0..10 {
        stage.call(false).send().await.expect(200);
    }
}

/// A client that looks for the answer only when it has sent everything gets it.
#[tokio::test]
async fn a_refusal_reaches_a_client_that_sends_on() {
    let stage = Stage::on(shared(), Wire::Claude).await;
    let length = 60 << 20;
    let mut client = Raw::connect(stage.host.address).await;
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\nauthorization: Bearer {}\r\n\r\n",
        stage.key
    );
    client.write(head).await;
    let piece = " ".repeat(1 << 20);
    for _ in 0..length >> 20 {
        client.write(&piece).await;
    }
    let answer = client.read_until("body_too_large").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}
