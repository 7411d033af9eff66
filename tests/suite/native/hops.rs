//! What belongs to the connection between two hops and goes no further. The Workers runtime sees to it by itself, and speaks
//! neither HTTP/1.0 nor `100 Continue`.

use super::shared;
use crate::support::raw::Raw;
use crate::support::script::{Answer, Framing};
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

#[tokio::test]
async fn headers_of_a_clients_connection_stay_here() {
    let stage = Stage::on(shared(), Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let call = stage.call(false).header("connection", "keep-alive, x-hop, user-agent").header("x-hop", "1");
    let call = call.header("keep-alive", "timeout=5").header("upgrade", "websocket").header("te", "trailers");
    call.header("accept", "application/json").send().await.expect(200);
    let recorded = stage.recorded();
    for name in ["connection", "keep-alive", "upgrade", "te", "x-hop"] {
        assert_eq!(recorded.header(name), None, "{name}");
    }
}

#[tokio::test]
async fn headers_of_a_vendors_connection_stay_here() {
    let stage = Stage::on(shared(), Wire::Chat).await;
    for status in [200, 429] {
        let body = if status == 200 { Wire::Chat.answer() } else { Wire::Chat.vendor_error(429, "slow down") };
        let answer = Answer::json(status, body).header("connection", "x-hop, X-Other").header("x-hop", "1");
        let answer = answer.header("x-other", "2").header("keep-alive", "timeout=5").header("trailer", "x-hop");
        let reply = stage.answered(answer.header("x-request-id", "req_1")).await.expect(status);
        for name in ["connection", "keep-alive", "trailer", "x-hop", "x-other"] {
            assert_eq!(reply.header(name), None, "{name}");
        }
        assert_eq!(reply.header("x-request-id"), Some("req_1"));
    }
}

/// A client of HTTP/1.0 gets an answer that ends with its connection or its length, not one in chunks.
#[tokio::test]
async fn a_client_of_http_1_0_is_answered() {
    let stage = Stage::on(shared(), Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, "").framing(Framing::Chunked).piece(Wire::Chat.answer()));
    let body = Wire::Chat.request(&stage.model(), false);
    let mut client = Raw::connect(stage.host.address).await;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n",
        stage.key,
        body.len()
    );
    client.write(head + &body).await;
    let answer = client.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    assert!(answer.ends_with(&format!("\r\n\r\n{}", Wire::Chat.answer())), "{answer}");
}

/// A client that asks whether it may send is told before it does.
#[tokio::test]
async fn a_client_that_waits_for_leave_gets_it() {
    let stage = Stage::on(shared(), Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let body = Wire::Chat.request(&stage.model(), false);
    let head = |key: &str| {
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: {}\r\nauthorization: Bearer {key}\r\n\r\n",
            body.len()
        )
    };
    let mut client = Raw::connect(stage.host.address).await;
    client.write(head(&stage.key)).await;
    assert_eq!(client.read_until("\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.write(&body).await;
    let answer = client.read_until("x_cost").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let mut client = Raw::connect(stage.host.address).await;
    client.write(head("tg-no")).await;
    let answer = client.read_until("invalid_api_key").await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}
