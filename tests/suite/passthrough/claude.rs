//! Messages.

use crate::support::client::End;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, claude, sse};

/// What Claude Code sends comes through whole, its query as well.
#[tokio::test]
async fn a_claude_code_request_keeps_its_bytes() {
    let stage = Stage::new(Wire::Claude).await;
    let body = format!(
        r#"{{"model":"{}","max_tokens":32000,"stream":true,"thinking":{{"type":"adaptive","display":"omitted"}},"output_config":{{"effort":"high"}},"context_management":{{"edits":[{{"type":"clear_thinking_20251015","keep":"all"}}]}},"system":[{{"type":"text","text":"x-anthropic-billing-header: cc_version=2;"}},{{"type":"text","text":"b","cache_control":{{"type":"ephemeral"}}}}],"messages":[{{"role":"user","content":"a"}},{{"role":"system","content":"b"}},{{"role":"assistant","content":[{{"type":"thinking","thinking":"","signature":"c2ln"}}]}}],"thread":{{"type":"continue","previous_message_id":"msg_0"}}}}"#,
        stage.model()
    );
    stage.upstream.answer(Answer::sse(Wire::Claude.events()));
    let call = stage.post("/v1/messages?beta=true", body.clone()).header("accept", "application/json");
    let mut stream = call.header("user-agent", "claude-cli/2.1.332 (external, sdk-cli)").open().await;
    assert_eq!(stream.rest_text().await, (sse(Wire::Claude.events()), End::Complete));
    let sent = stage.recorded();
    assert_eq!(sent.target, "/v1/messages?beta=true");
    assert_eq!(sent.text(), super::for_vendor(&stage, &body));
    assert_eq!(sent.header("user-agent"), Some("claude-cli/2.1.332 (external, sdk-cli)"));
}

#[tokio::test]
async fn the_clients_version_is_passed_on_and_a_missing_one_is_set() {
    for (sent, expected) in
        [(Some("2026-10-21"), "2026-10-21"), (Some("2023-06-01"), "2023-06-01"), (None, "2023-06-01")]
    {
        let stage = Stage::new(Wire::Claude).await;
        stage.upstream.answer(Answer::json(200, Wire::Claude.answer()));
        let call = stage.call(false);
        let call = sent.map_or(call.clone(), |version| call.header("anthropic-version", version));
        call.send().await.expect(200);
        assert_eq!(stage.recorded().header("anthropic-version"), Some(expected));
    }
}

/// B31: the vendor's pings are the client's.
#[tokio::test]
async fn b31_pings_are_passed_on_as_they_come() {
    let stage = Stage::new(Wire::Claude).await;
    let mut events = Wire::Claude.events();
    for place in [1, 3, 5] {
        events.insert(place, claude::PING.to_owned());
    }
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// A member that a later usage leaves out, or says nothing of, keeps its former value.
#[tokio::test]
async fn usage_of_a_stream_is_the_start_overlaid_with_the_deltas() {
    let stage = Stage::new(Wire::Claude).await;
    let start = crate::support::vendors::event(
        "message_start",
        r#""message":{"id":"msg_1","usage":{"input_tokens":12,"cache_read_input_tokens":100,"cache_creation_input_tokens":30,"output_tokens":1}}"#,
    );
    let delta = |usage: &str| crate::support::vendors::event("message_delta", &format!(r#""usage":{usage}"#));
    let events = [
        start,
        delta(r#"{"output_tokens":4}"#),
        delta(r#"{"input_tokens":null,"cache_read_input_tokens":120,"output_tokens":9}"#),
        claude::message_stop(),
    ];
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    check_counts(
        &stage.usage(1).await,
        &[("requests", 1), ("calls", 1), ("input", 12), ("cache_read", 120), ("cache_write_short", 30), ("output", 9)],
    );
}

/// An error inside a stream is the vendor's own event, with the status 200 that went before it.
#[tokio::test]
async fn an_error_event_is_passed_on_and_counted_as_failed() {
    let stage = Stage::new(Wire::Claude).await;
    let error =
        crate::support::vendors::event("error", r#""error":{"type":"overloaded_error","message":"Overloaded"}"#);
    let events = [claude::message_start(11, 1), claude::delta("Hel"), error];
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    let total = stage.usage(1).await;
    assert_eq!((&total["failed_calls"], &total["input"]), (&1.into(), &11.into()), "{total}");
}
