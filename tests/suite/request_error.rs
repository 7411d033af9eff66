//! Requests that make no sense.

use std::io::Write;

use crate::check;
use crate::support::host::{Kind, kind};
use crate::support::raw::Raw;
use crate::support::script::Answer;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// Most bytes that a body may have by default: the memory of a Worker is smaller than that of a process.
fn max_body_bytes() -> usize {
    match kind() {
        Kind::Native => 50 << 20,
        Kind::Worker => 32 << 20,
    }
}

#[tokio::test]
async fn b40_malformed_bodies_are_refused_in_the_clients_envelope() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let model = stage.model();
        for body in [
            &b""[..],
            b" ",
            b"null",
            b"7",
            b"\"text\"",
            b"[]",
            b"[{\"model\":\"a\"}]",
            b"{",
            b"{\"model\":\"a\"",
            b"{\"model\":\"a\",}",
            b"{\"model\":\"a\"} {}",
            b"{'model':'a'}",
            b"{\"model\":\"\xff\"}",
            b"{\"a\":\"\x01\"}",
            b"{\"a\":nan}",
            b"\xef\xbb\xbf{\"model\":\"a\"}",
            b"model=a&stream=true",
        ] {
            for stream in [false, true] {
                let reply = stage.post(&wire.target(&model, stream), body).send().await;
                check::error(&reply, wire, 400, "invalid_request");
            }
        }
        assert!(stage.upstream.requests().is_empty(), "{wire:?}");
    }
}

#[tokio::test]
async fn a_missing_or_odd_model_is_refused() {
    for wire in [Wire::Chat, Wire::Responses, Wire::Claude] {
        let stage = Stage::new(wire).await;
        for body in [
            "{}",
            r#"{"Model":"a"}"#,
            r#"{"model":null}"#,
            r#"{"model":""}"#,
            r#"{"model":7}"#,
            r#"{"model":["a"]}"#,
            r#"{"model":{"id":"a"}}"#,
        ] {
            let reply = stage.post(&wire.target("", false), body).send().await;
            let message = check::error(&reply, wire, 400, "invalid_request");
            assert!(message.contains("`model`"), "{wire:?}, {body}: {message}");
        }
    }
}

/// Of two members of one name the gateway and the vendor might read different ones, so nobody does.
#[tokio::test]
async fn members_that_are_there_twice_are_refused() {
    let stage = Stage::new(Wire::Chat).await;
    let model = stage.model();
    for (body, name) in [
        (format!(r#"{{"model":"{model}","model":"other"}}"#), "`model`"),
        (format!(r#"{{"model":"{model}","mod\u0065l":"other"}}"#), "`model`"),
        (format!(r#"{{"model":"{model}","stream":false,"stream":true}}"#), "`stream`"),
        (
            format!(r#"{{"model":"{model}","stream":true,"stream_options":{{}},"stream_options":{{}}}}"#),
            "`stream_options`",
        ),
    ] {
        let reply = stage.post("/v1/chat/completions", body).send().await;
        let message = check::error(&reply, Wire::Chat, 400, "invalid_request");
        assert!(message.contains(name), "{message}");
    }
    assert!(stage.upstream.requests().is_empty());
}

#[tokio::test]
async fn wrong_types_of_what_the_gateway_reads_are_named() {
    let stage = Stage::new(Wire::Chat).await;
    let model = stage.model();
    for (members, name) in [
        (r#""stream":"yes""#, "`stream`"),
        (r#""stream":1"#, "`stream`"),
        (r#""stream":true,"stream_options":[]"#, "`stream_options`"),
        (r#""stream":true,"stream_options":"usage""#, "`stream_options`"),
        (r#""stream":true,"stream_options":{"include_usage":1,"include_usage":2}"#, "`include_usage`"),
    ] {
        let body = format!(r#"{{"model":"{model}",{members}}}"#);
        let reply = stage.post("/v1/chat/completions", body).send().await;
        let message = check::error(&reply, Wire::Chat, 400, "invalid_request");
        assert!(message.contains(name), "{members}: {message}");
    }
    assert!(stage.upstream.requests().is_empty());
}

/// `null` is as good as nothing.
#[tokio::test]
async fn a_stream_of_null_is_no_stream() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let body = |model: &str| format!(r#"{{"model":"{model}","stream":null}}"#);
    stage.post("/v1/chat/completions", body(&stage.model())).send().await.expect(200);
    assert_eq!(stage.recorded().text(), body("vendor-model"));
}

#[tokio::test]
async fn an_unknown_model_is_told_with_what_to_do() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for model in ["unknown-model", "nobody/model", &format!("{}/", stage.provider), &stage.provider] {
            for stream in [false, true] {
                let reply = stage.post(&wire.target(model, stream), wire.request(model, stream)).send().await;
                let message = check::error(&reply, wire, 404, "model_not_found");
                assert!(message.contains(model) && message.contains("/v1/models"), "{message}");
            }
        }
        assert!(stage.upstream.requests().is_empty(), "{wire:?}");
    }
}

/// B76: depth is the vendor's to judge, and no danger here.
#[tokio::test]
async fn b76_deep_nesting_is_no_danger() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for depth in [10_000, 500_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let body = |model: &str| format!(r#"{{"model":"{model}","x":{deep}}}"#);
        let reply = stage.post("/v1/chat/completions", body(&stage.model())).send().await;
        match reply.status {
            200 => assert!(stage.upstream.requests().pop().unwrap().text() == body("vendor-model")),
            _ => drop(check::error(&reply, Wire::Chat, 400, "invalid_request")),
        }
    }
    stage.call(false).send().await.expect(200);
}

/// B76: names and numbers that are odd in any way do no harm.
#[tokio::test]
async fn b76_odd_model_names_do_no_harm() {
    let stage = Stage::new(Wire::Claude).await;
    for model in ["🌍/北京", r"a\u0000b", r"\ud83d", &"x".repeat(100_000), r#"\"\\/"#, "../..", "a\u{200b}/b"] {
        let reply = stage.post("/v1/messages", format!(r#"{{"model":"{model}","max_tokens":1e999}}"#)).send().await;
        assert!([400, 404].contains(&reply.status), "{}", reply.text());
        let code = if reply.status == 400 { "invalid_request" } else { "model_not_found" };
        check::error(&reply, Wire::Claude, reply.status, code);
    }
}

/// B76: header values and queries that are no text do no harm.
#[tokio::test]
async fn b76_odd_headers_and_queries_do_no_harm() {
    let stage = Stage::new(Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    let body = Wire::Claude.request(&stage.model(), false);
    let key = &stage.key;
    for (query, header, status) in [
        ("", "authorization: Bearer \u{ff}\r\n".to_owned(), 401),
        ("", "authorization: \u{ff}\r\nx-api-key: \u{ff}\r\n".to_owned(), 401),
        ("?key=%ff", String::new(), 401),
        ("?key=%", String::new(), 401),
        ("?key", String::new(), 401),
        ("?&&=&", format!("x-api-key: {key}\r\n"), 200),
        ("?%ff=%zz", format!("x-api-key: {key}\r\n"), 200),
        ("", format!("x-api-key: {key}\r\nanthropic-beta: a\u{ff}\r\nanthropic-beta: b\r\n"), 200),
        ("", format!("x-api-key: {key}\r\ncontent-encoding: \u{ff}\r\n"), 415),
        ("", format!("x-api-key: {key}\r\nx-stainless-timeout: NOT_GIVEN\r\n"), 200),
    ] {
        let mut client = Raw::connect(stage.host.address).await;
        let length = body.len();
        let head = format!("POST /v1/messages{query} HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n");
        // One byte for U+00FF, which is no UTF-8.
        let head: Vec<u8> = format!("{head}{header}\r\n").chars().map(|character| character as u8).collect();
        client.write([head, body.clone().into_bytes()].concat()).await;
        let answer = client.read_until("\r\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{query:?} {header:?}: {answer}");
    }
}

/// B79: what claims to be too long is refused at once.
#[tokio::test]
async fn b79_a_body_that_claims_too_much_is_refused_before_it_comes() {
    let stage = Stage::new(Wire::Claude).await;
    let mut client = Raw::connect(stage.host.address).await;
    let length = max_body_bytes() + 1;
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\nauthorization: Bearer {}\r\n\r\n{{",
        stage.key
    );
    client.write(head).await;
    let answer = client.read_until("body_too_large").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains(r#""type":"request_too_large""#), "{answer}");
}

/// B79: what does not say how long it is gets counted while it is read.
#[tokio::test]
async fn b79_a_chunked_body_is_counted_while_it_is_read() {
    let stage = Stage::new(Wire::Chat).await;
    let mut client = Raw::connect(stage.host.address).await;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\nauthorization: Bearer {}\r\n\r\n",
        stage.key
    );
    client.write(head).await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for _ in 0..51 {
        client.write(&chunk).await;
    }
    let answer = client.read_until("body_too_large").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(stage.upstream.requests().is_empty());
}

/// B79: what comes out of a compressed body counts.
#[tokio::test]
async fn b79_a_compressed_body_is_counted_as_it_grows() {
    let stage = Stage::new(Wire::Gemini).await;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..52 {
        encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let target = Wire::Gemini.target(&stage.model(), false);
    let reply = stage.post(&target, bomb).header("content-encoding", "gzip").send().await;
    let message = check::error(&reply, Wire::Gemini, 413, "body_too_large");
    assert!(message.contains(&max_body_bytes().to_string()), "{message}");
}

/// What is longer than vendors take is theirs to judge.
#[tokio::test]
async fn b79_a_body_below_the_limit_passes() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let filling = "x".repeat(30 << 20);
    let body = |model: &str| format!(r#"{{"model":"{model}","x":"{filling}"}}"#);
    stage.post("/v1/chat/completions", body(&stage.model())).send().await.expect(200);
    assert!(stage.recorded().text() == body("vendor-model"), "the body is not the same");
}

/// Requests follow each other on one connection, well or badly formed.
#[tokio::test]
async fn a_connection_survives_refusals() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    let mut client = Raw::connect(stage.host.address).await;
    let good = Wire::Chat.request(&stage.model(), false);
    for (body, status, end) in [("{", 400, "invalid_request\"}}"), (&good, 200, "x_cost\":0.10}")] {
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\nauthorization: Bearer {}\r\n\r\n",
            body.len(),
            stage.key
        );
        client.write(head + body).await;
        let answer = client.read_until(end).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

/// A name is repeated in errors and kept in the record, so it has a limit.
#[tokio::test]
async fn b76_an_endless_model_name_is_refused() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let model = "m".repeat(2000);
        let reply = stage.post(&wire.target(&model, false), wire.request(&model, false)).send().await;
        let message = check::error(&reply, wire, 400, "invalid_request");
        assert!(message.contains("longer than 512 bytes"), "{message}");
        assert!(stage.upstream.requests().is_empty());
    }
}
