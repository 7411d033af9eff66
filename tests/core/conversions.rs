//! What a conversion leaves in the records, and what it costs.

use http::Method;
use serde_json::json;

use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{KEY, Whole, World};

/// A seed is nothing that Claude could be asked for.
const SEEDED: &str = r#"{"model":"claude/claude-sonnet-4-5","seed":7,"messages":[{"role":"user","content":"Hi"}]}"#;

#[tokio::test]
async fn a_loss_stands_in_the_record() {
    let world = World::configured().await;
    let isolate = world.isolate();
    for (body, expected) in [(SEEDED.to_owned(), true), (SEEDED.replace("\"seed\":7,", ""), false)] {
        world.store.run("DELETE FROM usage");
        world.fetch.answer(FakeAnswer::json(200, Wire::Claude.answer()));
        let answer = Whole::of(isolate.send(Method::POST, "/v1/chat/completions", KEY, body).await).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let rows = world
            .store
            .run("SELECT conversion_loss IS NOT NULL AND conversion_loss LIKE 'seed: %', dialect FROM usage");
        assert_eq!(rows, [[i64::from(expected).into(), "openai_chat".into()]]);
    }
}

/// A stream's losses are known when its headers are long sent, and some only when the source has ended: they stand in the record, after
/// those of the request.
#[tokio::test]
async fn losses_of_a_stream_stand_in_the_record() {
    const STOPPED: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m","model":"m","usage":{"input_tokens":1}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tomorrow"},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

"#;
    const UNENDED: &str = r#"data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"TOMORROW"}]}"#;
    let world = World::configured().await;
    let isolate = world.isolate();
    for (model, stream, expected) in [
        ("claude/claude-sonnet-4-5", STOPPED, "stop_reason: is not known"),
        ("gemini/gemini-3-pro", UNENDED, "candidates[0].finishReason: has no counterpart"),
    ] {
        for seed in [true, false] {
            world.store.run("DELETE FROM usage");
            world.fetch.answer(FakeAnswer::sse([stream]));
            let mut body = json!({"model": model, "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
            if seed {
                body["logit_bias"] = json!({"1": 1});
            }
            let answer = isolate.send(Method::POST, "/v1/chat/completions", KEY, body.to_string()).await;
            let told =
                answer.headers().get("x-gateway-conversion-loss").map(|losses| losses.to_str().unwrap().to_owned());
            assert_eq!(told.is_some(), seed, "{told:?}");
            let answer = Whole::of(answer).await;
            assert!(answer.text.ends_with("data: [DONE]\n\n"), "{}", answer.text);
            let recorded = told.map_or_else(|| expected.to_owned(), |told| format!("{told}; {expected}"));
            assert_eq!(world.store.run("SELECT conversion_loss FROM usage"), [[recorded.as_str().into()]]);
        }
    }
}

/// A converted call takes as many round trips as one that passes.
#[tokio::test]
async fn a_conversion_takes_no_further_round_trip() {
    let world = World::configured().await;
    let isolate = world.isolate();
    isolate.status().await;
    world.fetch.answer(FakeAnswer::json(200, Wire::Claude.answer()));
    world.journal.take();
    Whole::of(isolate.send(Method::POST, "/v1/chat/completions", KEY, SEEDED).await).await;
    let journal = world.journal.take();
    let batches: Vec<&String> = journal.iter().filter(|line| !line.starts_with("fetch")).collect();
    assert_eq!(batches, ["read 2", "deferred 1"], "{journal:?}");
}

/// What a strict client is refused for reaches nobody and is settled as such.
#[tokio::test]
async fn a_refused_conversion_is_settled_without_a_call() {
    let world = World::configured().await;
    let isolate = world.isolate();
    let body = json!({"model": "claude/claude-sonnet-4-5", "n": 2, "messages": [{"role": "user", "content": "Hi"}]});
    let answer = Whole::of(isolate.send(Method::POST, "/v1/chat/completions", KEY, body.to_string()).await).await;
    assert_eq!(answer.json()["error"]["code"], "conversion_unsupported");
    let rows = world.store.run("SELECT outcome, response_error, provider_id IS NULL FROM usage");
    assert_eq!(rows, [["failed".into(), "conversion_unsupported".into(), 1.into()]]);
    assert!(world.fetch.requests().is_empty());
}
