//! GenerateContent.

use crate::support::client::End;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, gemini, sse};

/// google-genai asks under `/v1`, others under `/v1beta`; the vendor is asked under the client's version.
#[tokio::test]
async fn both_versions_are_passed_on() {
    for version in ["v1", "v1beta"] {
        let stage = Stage::new(Wire::Gemini).await;
        stage.upstream.answer(Answer::json(200, Wire::Gemini.answer()));
        let target = format!("/{version}/models/{}:generateContent", stage.model());
        let call = stage.host.post(target, gemini::request()).header("x-goog-api-key", &stage.key);
        let reply = call.header("x-goog-api-client", "google-genai-sdk/3.6.1 gl-python/3.11.7").send().await;
        assert_eq!((reply.status, reply.text()), (200, Wire::Gemini.answer().as_str()));
        let sent = stage.recorded();
        assert_eq!(sent.target, format!("/{version}/models/vendor-model:generateContent"));
        assert_eq!(sent.text(), gemini::request());
        assert_eq!(sent.header("x-goog-api-client"), Some("google-genai-sdk/3.6.1 gl-python/3.11.7"));
    }
}

/// Without `alt=sse` the vendor streams one JSON array, whose last element has the final figures.
#[tokio::test]
async fn a_stream_may_be_an_array() {
    let stage = Stage::new(Wire::Gemini).await;
    let array = format!("[{}\n]\n", gemini::chunks(&["a", "b"], 11, 5).join("\n,\r\n"));
    let answer = Answer::json(200, "").framing(crate::support::script::Framing::Chunked);
    stage.upstream.answer(answer.drip(&array));
    let target = format!("/v1beta/models/{}:streamGenerateContent", stage.model());
    let reply = stage.post(&target, gemini::request()).send().await;
    assert_eq!((reply.status, reply.text()), (200, array.as_str()));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(stage.recorded().target, "/v1beta/models/vendor-model:streamGenerateContent");
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// A stream in which nothing is wrong has no mark at its end, and a prompt that is blocked is an answer.
#[tokio::test]
async fn a_blocked_prompt_is_an_answer() {
    let stage = Stage::new(Wire::Gemini).await;
    let blocked = crate::support::vendors::data(
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}"#,
    );
    let mut stream = stage.streamed(Answer::sse([blocked.clone()])).await;
    assert_eq!(stream.rest_text().await, (sse([blocked]), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 9)]);
}

#[tokio::test]
async fn an_error_frame_is_passed_on_and_counted_as_failed() {
    let stage = Stage::new(Wire::Gemini).await;
    let events = [
        gemini::events(&["a"], 11, 5).swap_remove(1),
        crate::support::vendors::data(r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#),
    ];
    let mut stream = stage.streamed(Answer::sse(events.clone())).await;
    assert_eq!(stream.rest_text().await, (sse(events), End::Complete));
    let total = stage.usage(1).await;
    assert_eq!((&total["failed_calls"], &total["input"]), (&1.into(), &11.into()), "{total}");
}
