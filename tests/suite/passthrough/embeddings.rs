//! Embeddings: OpenAI's one endpoint and Gemini's two.

use crate::check;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::Wire;

#[tokio::test]
async fn openai_embeddings_pass_and_are_counted() {
    let stage = Stage::new(Wire::Chat).await;
    let answer = r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPwAAAAA="}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}"#;
    stage.upstream.answer(Answer::json(200, answer));
    let body = |model: &str| {
        format!(r#"{{"input":["a",[1,2]],"model":"{model}","encoding_format":"base64","dimensions":2.0}}"#)
    };
    let reply = stage.post("/v1/embeddings", body(&stage.model())).send().await;
    assert_eq!((reply.status, reply.text()), (200, answer));
    let sent = stage.recorded();
    assert_eq!((sent.target.as_str(), sent.text()), ("/v1/embeddings", body("vendor-model").as_str()));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 8)]);
}

/// `stream` means nothing here, and no chat option is put in.
#[tokio::test]
async fn openai_embeddings_are_not_taken_for_a_stream() {
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.answer(Answer::json(200, r#"{"data":[],"usage":{"prompt_tokens":1,"total_tokens":1}}"#));
    let body = |model: &str| format!(r#"{{"model":"{model}","input":"a","stream":true}}"#);
    stage.post("/v1/embeddings", body(&stage.model())).send().await.expect(200);
    assert_eq!(stage.recorded().text(), body("vendor-model"));
}

#[tokio::test]
async fn gemini_embeddings_pass_with_their_models() {
    for (action, body, sent, answer, input) in [
        (
            "embedContent",
            r#"{"model":"models/MODEL","content":{"parts":[{"text":"a"}]},"outputDimensionality":2.0}"#,
            r#"{"model":"models/vendor-model","content":{"parts":[{"text":"a"}]},"outputDimensionality":2.0}"#,
            r#"{"embedding":{"values":[0.10,-1e-3]}}"#,
            None,
        ),
        (
            "batchEmbedContents",
            r#"{"requests":[{"model":"models/MODEL","content":{}},{"content":{}, "model" : "MODEL"}]}"#,
            r#"{"requests":[{"model":"models/vendor-model","content":{}},{"content":{}, "model" : "models/vendor-model"}]}"#,
            r#"{"embeddings":[{"values":[1]},{"values":[2]}],"usageMetadata":{"promptTokenCount":6,"totalTokenCount":6}}"#,
            Some(6),
        ),
    ] {
        let stage = Stage::new(Wire::Gemini).await;
        let model = stage.model();
        stage.upstream.answer(Answer::json(200, answer));
        let reply = stage.post(&format!("/v1beta/models/{model}:{action}"), body.replace("MODEL", &model)).send().await;
        assert_eq!((reply.status, reply.text()), (200, answer));
        let recorded = stage.recorded();
        assert_eq!(recorded.target, format!("/v1beta/models/vendor-model:{action}"));
        assert_eq!(recorded.text(), sent);
        let total = stage.usage(1).await;
        match input {
            Some(input) => check_counts(&total, &[("requests", 1), ("calls", 1), ("input", input)]),
            None => assert_eq!(total["estimated_calls"], 1, "{total}"),
        }
    }
}

#[tokio::test]
async fn malformed_embeddings_are_refused_in_the_clients_envelope() {
    let stage = Stage::new(Wire::Gemini).await;
    let model = stage.model();
    for body in ["", "[]", r#"{"requests":3}"#, r#"{"requests":["a"]}"#, r#"{"requests":[{"model":1,"model":2}]}"#] {
        let reply = stage.post(&format!("/v1beta/models/{model}:batchEmbedContents"), body).send().await;
        check::error(&reply, Wire::Gemini, 400, "invalid_request");
    }
    for body in ["", "[]", "{}", r#"{"input":"a"}"#, r#"{"model":3,"input":"a"}"#] {
        check::error(&stage.post("/v1/embeddings", body).send().await, Wire::Chat, 400, "invalid_request");
    }
    assert!(stage.upstream.requests().is_empty());
}
