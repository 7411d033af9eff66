//! Chat Completions.

use serde_json::json;

use crate::support::client::End;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, chat, data, sse};

/// What the vendor gets for what the client sends, in a stream.
async fn check_sent(options: &str, expected: &str) {
    let stage = Stage::new(Wire::Chat).await;
    let body = |model: &str, options: &str| format!(r#"{{{options}"model":"{model}","stream":true, "n":1.0}}"#);
    stage.upstream.answer(Answer::sse(Wire::Chat.events()));
    let call = stage.post("/v1/chat/completions", body(&stage.model(), options));
    call.send().await.expect(200);
    assert_eq!(stage.recorded().text(), body("vendor-model", expected));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// B35: the vendor is always asked for usage, and nothing else of the request changes.
#[tokio::test]
async fn b35_usage_is_asked_for_whatever_the_client_says() {
    let asked = r#""stream_options":{"include_usage":true},"#;
    for (sent, expected) in [
        ("", asked),
        (r#""stream_options":null,"#, asked),
        (r#""stream_options":{},"#, asked),
        (r#""stream_options": { } ,"#, r#""stream_options": {"include_usage":true} ,"#),
        (r#""stream_options":{"include_usage":false},"#, asked),
        (r#""stream_options":{"include_usage":null},"#, asked),
        (asked, asked),
        (
            r#""stream_options":{"include_obfuscation":false},"#,
            r#""stream_options":{"include_usage":true,"include_obfuscation":false},"#,
        ),
        (
            r#""stream_options":{"include_usage" : false, "x":1e0},"#,
            r#""stream_options":{"include_usage" : true, "x":1e0},"#,
        ),
    ] {
        check_sent(sent, expected).await;
    }
}

/// B35: the usage chunk reaches the client that asked for it, and no other.
#[tokio::test]
async fn b35_usage_chunk_only_for_who_asked() {
    for (options, wanted) in [
        ("", false),
        (r#","stream_options":{"include_usage":false}"#, false),
        (r#","stream_options":{"include_usage":true}"#, true),
    ] {
        let stage = Stage::new(Wire::Chat).await;
        stage.upstream.answer(Answer::sse(Wire::Chat.events()));
        let body = format!(r#"{{"model":"{}","stream":true{options}}}"#, stage.model());
        let mut stream = stage.post("/v1/chat/completions", body).open().await;
        let expected = if wanted { Wire::Chat.events() } else { Wire::Chat.events_for_client() };
        assert_eq!(stream.rest_text().await, (sse(expected), End::Complete), "{options}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

/// B35: no shape of the usage chunk harms the reading of it or the rest of the stream.
#[tokio::test]
async fn b35_usage_chunks_without_choices_are_read() {
    for choices in [r#""choices":[],"#, r#""choices":null,"#, ""] {
        let stage = Stage::new(Wire::Chat).await;
        let usage = data(&format!(r#"{{"id":"c",{choices}"usage":{}}}"#, chat::usage_object(7, 3)));
        let events = [chat::delta("a"), chat::finish("stop"), usage, chat::DONE.to_owned()];
        let mut stream = stage.streamed(Answer::sse(events.clone())).await;
        let expected = sse([&events[0], &events[1], &events[3]]);
        assert_eq!(stream.rest_text().await, (expected, End::Complete), "{choices}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 7), ("output", 3)]);
    }
}

/// Figures that stand on a chunk with content are the client's to see.
#[tokio::test]
async fn usage_on_a_chunk_with_content_stays() {
    let stage = Stage::new(Wire::Chat).await;
    let last = data(&format!(
        r#"{{"choices":[{{"index":0,"delta":{{"content":"b"}},"finish_reason":"stop"}}],"usage":{}}}"#,
        chat::usage_object(7, 3)
    ));
    let events = [chat::delta("a"), last, chat::DONE.to_owned()];
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 7), ("output", 3)]);
}

#[tokio::test]
async fn a_vendor_that_refuses_stream_options_is_not_asked() {
    let stage = Stage::with(Wire::Chat, json!({"refuses_stream_options": true})).await;
    let events = [chat::role(), chat::delta("a"), chat::delta("b"), chat::finish("stop"), chat::DONE.to_owned()];
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    let sent = stage.recorded();
    assert_eq!(sent.text(), super::for_vendor(&stage, &Wire::Chat.request(&stage.model(), true)));
    let total = stage.usage(1).await;
    assert_eq!((&total["estimated_calls"], &total["failed_calls"]), (&json!(1), &json!(0)), "{total}");
    assert!(total["input"].as_i64() > Some(0) && total["output"].as_i64() > Some(0), "{total}");
}

/// A model's name is replaced where the client wrote it and nowhere else.
#[tokio::test]
async fn only_the_top_level_model_is_replaced() {
    let stage = Stage::new(Wire::Chat).await;
    let model = stage.model();
    let escaped = model.replace('/', r"\/");
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"\"model\":\"{model}\""}}],"metadata":{{"model":"{model}"}},"model":"{escaped}"}}"#
    );
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    stage.post("/v1/chat/completions", body.clone()).send().await.expect(200);
    assert_eq!(stage.recorded().text(), body.replace(&format!("\"{escaped}\""), "\"vendor-model\""));
}

/// B67: no member of a body chooses where the request goes or with which key.
#[tokio::test]
async fn b67_a_body_does_not_choose_the_address() {
    let stage = Stage::new(Wire::Chat).await;
    let evil = crate::support::upstream::Upstream::start().await;
    let url = evil.url("/v1");
    let body = format!(
        r#"{{"model":"{}","api_base":"{url}","base_url":"{url}","api_key":"sk-x","messages":[]}}"#,
        stage.model()
    );
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    stage.post("/v1/chat/completions", body.clone()).send().await.expect(200);
    assert_eq!(stage.recorded().text(), super::for_vendor(&stage, &body));
    assert_eq!(evil.connections(), 0);
}
