//! Responses.

use crate::support::client::End;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, data, responses, sse};

/// What Codex sends comes through whole: tools inside the input, ids on every item, fields that no SDK lists.
#[tokio::test]
async fn a_codex_request_keeps_its_bytes() {
    let stage = Stage::new(Wire::Responses).await;
    let body = format!(
        r#"{{"model":"{}","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{{"effort":"low","context":"all_turns"}},"client_metadata":{{"k":"v"}},"input":[{{"type":"additional_tools","role":"developer","tools":[{{"type":"namespace","tools":[{{"type":"custom","format":{{"type":"grammar","syntax":"lark"}}}}]}}]}},{{"type":"message","id":"msg_1","role":"user","content":[{{"type":"input_text","text":"hi"}}]}}]}}"#,
        stage.model()
    );
    stage.upstream.answer(Answer::sse(Wire::Responses.events()));
    let mut stream = stage.post("/v1/responses", body.clone()).header("accept", "text/event-stream").open().await;
    assert_eq!(stream.rest_text().await, (sse(Wire::Responses.events()), End::Complete));
    let sent = stage.recorded();
    assert_eq!(sent.text(), super::for_vendor(&stage, &body));
    assert_eq!(sent.header("accept"), Some("text/event-stream"));
}

/// An answer that stops at a limit is an answer, and one without event names is understood.
#[tokio::test]
async fn an_incomplete_response_is_a_proper_end() {
    let stage = Stage::new(Wire::Responses).await;
    let last = format!(
        r#"{{"type":"response.incomplete","response":{{"status":"incomplete","usage":{}}}}}"#,
        responses::usage_object(9, 4)
    );
    let events = [responses::created(), data(&last)];
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 9), ("output", 4)]);
}

/// B29: a failure of the vendor's keeps its form, and no mark of another dialect follows it.
#[tokio::test]
async fn b29_a_failed_response_is_passed_on_and_counted_as_failed() {
    let failed = crate::support::vendors::event(
        "response.failed",
        r#""sequence_number":1,"response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"too long"},"usage":{"input_tokens":8,"output_tokens":0}}"#,
    );
    let error = format!("event: error\n{}", data(&responses::error("rate_limit_exceeded", "slow down").to_string()));
    for (last, tokens) in [(failed, 8), (error, 0)] {
        let stage = Stage::new(Wire::Responses).await;
        let events = [responses::created(), responses::delta(1, "a"), last];
        let mut stream = stage.streamed(Answer::sse(events.clone())).await;
        assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
        let total = stage.usage(1).await;
        assert_eq!(total["failed_calls"], 1, "{total}");
        if tokens > 0 {
            assert_eq!((&total["input"], &total["estimated_calls"]), (&tokens.into(), &0.into()), "{total}");
        }
    }
}
