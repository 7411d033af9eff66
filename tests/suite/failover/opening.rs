//! Streams until their first content: as long as there is none, others can be asked.

use std::time::Instant;

use serde_json::{Value, json};

use super::{ask, route_over};
use crate::support::client::End;
use crate::support::script::{Answer, Ending, Framing, Gate};
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, chat, claude, data, event, gemini, responses, sse};
use crate::{check, conversion, heartbeat};

/// What comes before the first content.
fn opening(wire: Wire) -> Vec<String> {
    match wire {
        Wire::Chat => vec![": hello\n\n".to_owned(), chat::role()],
        Wire::Responses => vec![responses::created()],
        Wire::Claude => vec![claude::message_start(11, 1), event("ping", ""), claude::block_start()],
        Wire::Gemini => vec![data(&gemini::chunk("", "", &gemini::usage_object(11, 0)))],
    }
}

/// An event that says that the vendor has too much to do.
fn overload(wire: Wire) -> String {
    match wire {
        Wire::Chat => data(r#"{"error":{"message":"busy","type":"overloaded_error"}}"#),
        Wire::Responses => {
            event("error", r#""code":"server_is_overloaded","message":"busy","param":null,"sequence_number":1"#)
        }
        Wire::Claude => event("error", r#""error":{"type":"overloaded_error","message":"busy"}"#),
        Wire::Gemini => data(r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#),
    }
}

fn with_last(mut events: Vec<String>, last: String) -> Vec<String> {
    events.push(last);
    events
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_content_is_passed_over() {
    for client in Wire::ALL {
        for wire in Wire::ALL {
            for bad in [
                Answer::sse(with_last(opening(wire), overload(wire))),
                Answer::sse(opening(wire)),
                Answer::sse(opening(wire)).ending(Ending::Closed),
            ] {
                // What has failed may rest for a while.
                let (first, second) = (conversion::stage(wire).await, conversion::stage(client).await);
                let model = route_over(&[&first, &second], json!({})).await;
                first.upstream.answer(bad);
                second.upstream.answer(Answer::sse(client.events()));
                let mut body: Value = serde_json::from_str(conversion::minimal(client)).unwrap();
                if client != Wire::Gemini {
                    (body["model"], body["stream"]) = (model.as_str().into(), true.into());
                }
                let mut stream = first.post(&client.target(&model, true), body.to_string()).open().await;
                let attempts = stream.headers["x-gateway-attempts"].clone();
                let expected = (sse(client.events_for_client()), End::Complete);
                assert_eq!(stream.rest_text().await, expected, "{wire:?} for {client:?}");
                assert_eq!(attempts, "2", "{wire:?} for {client:?}");
            }
        }
    }
}

/// Where nobody else is left, the error has the status that it stands for.
#[tokio::test]
async fn an_error_before_the_first_content_is_an_error_answer() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        stage.upstream.answer(Answer::sse(with_last(opening(wire), overload(wire))));
        let reply = stage.call(true).send().await;
        assert!([503, 529].contains(&reply.status), "{wire:?}: {}", reply.text());
        assert!(reply.text().contains("busy"), "{}", reply.text());
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("failed_calls", 1)]);
        let stage = Stage::new(wire).await;
        stage.upstream.answer(Answer::sse(opening(wire)));
        check::error(&stage.call(true).send().await, wire, 502, "upstream_unreachable");
    }
}

/// After the first content nobody else is asked.
#[tokio::test]
async fn an_error_after_the_first_content_ends_the_stream() {
    for wire in Wire::ALL {
        let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
        let model = route_over(&[&first, &second], json!({})).await;
        let events = with_last(wire.events()[..3].to_vec(), overload(wire));
        first.upstream.answer(Answer::sse(events.clone()));
        let mut stream = first.post(&wire.target(&model, true), wire.request(&model, true)).open().await;
        assert_eq!(stream.rest_text().await, (sse(events), End::Complete), "{wire:?}");
        assert!(second.upstream.requests().is_empty());
        assert_eq!(first.usage(1).await["failed_calls"], 1);
    }
}

/// Gemini's stream as an array is looked at in the same way.
#[tokio::test]
async fn a_gemini_array_that_fails_before_its_first_content_is_passed_over() {
    let (first, second) = (Stage::new(Wire::Gemini).await, Stage::new(Wire::Gemini).await);
    let model = route_over(&[&first, &second], json!({})).await;
    let array = |text: &str| {
        let answer = Answer::new(200).header("content-type", "application/json").framing(Framing::Chunked);
        answer.piece(text.to_owned())
    };
    let good = format!("[{}]", gemini::chunk("Hi", r#","finishReason":"STOP""#, &gemini::usage_object(11, 5)));
    first.upstream.answer(array(r#"[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]"#));
    second.upstream.answer(array(&good));
    let target = format!("/v1beta/models/{model}:streamGenerateContent");
    let reply = first.post(&target, r#"{"contents":[{"parts":[{"text":"Hello?"}]}]}"#).send().await;
    assert_eq!((reply.status, reply.text()), (200, good.as_str()));
}

/// B31: a vendor that thinks for long keeps nobody waiting for a head, and the stream goes on as it comes.
#[tokio::test]
async fn b31_a_quiet_vendor_does_not_hold_the_head_back() {
    for wire in Wire::ALL {
        let stage = Stage::on(heartbeat::host().await, wire).await;
        let gate = Gate::new();
        let (opening, rest) = (opening(wire), wire.events());
        stage.upstream.answer(Answer::sse(opening.clone()).wait(&gate).pieces(rest));
        let started = Instant::now();
        let mut stream = stage.call(true).open().await;
        stream.expect(&sse(opening)).await;
        stream.expect(heartbeat::heartbeat(wire)).await;
        assert!(started.elapsed().as_secs() < 5, "{wire:?}: {:?}", started.elapsed());
        gate.open();
        let (text, end) = stream.rest_text().await;
        let text = text.replace(heartbeat::heartbeat(wire), "");
        let expected = sse(wire.events_for_client()).replace(heartbeat::heartbeat(wire), "");
        assert_eq!((text, end), (expected, End::Complete), "{wire:?}");
    }
}

/// Even before the vendor has said anything.
#[tokio::test]
async fn b31_a_silent_vendor_does_not_hold_the_head_back() {
    let stage = Stage::on(heartbeat::host().await, Wire::Claude).await;
    let gate = Gate::new();
    stage.upstream.answer(Answer::sse(Wire::Claude.events()).wait_first(&gate));
    let mut stream = stage.call(true).open().await;
    stream.expect(heartbeat::heartbeat(Wire::Claude)).await;
    gate.open();
    let (text, end) = stream.rest_text().await;
    assert!(text.ends_with(&sse(Wire::Claude.events())), "{text}");
    assert_eq!(end, End::Complete);
}

/// A client without a stream, of a provider that always streams.
#[tokio::test]
async fn a_stream_that_is_read_whole_fails_over_as_well() {
    let first = Stage::with(Wire::Claude, json!({"streaming": "always"})).await;
    let second = Stage::new(Wire::Claude).await;
    let model = route_over(&[&first, &second], json!({})).await;
    first.upstream.answer(Answer::sse(with_last(Wire::Claude.events()[..3].to_vec(), overload(Wire::Claude))));
    second.upstream.answer(Answer::json(200, Wire::Claude.answer()));
    ask(&first, &model, false).await.expect(200);
}
