//! Embeddings between OpenAI and Gemini.

use serde_json::json;

use super::stage;
use crate::support::script::Answer;
use crate::support::vendors::Wire;

#[tokio::test]
async fn an_openai_client_gets_geminis_embeddings() {
    for (format, expected) in
        [(None, json!([1.0, -2.5])), (Some("float"), json!([1.0, -2.5])), (Some("base64"), json!("AACAPwAAIMA="))]
    {
        let stage = stage(Wire::Gemini).await;
        stage.upstream.answer(Answer::json(200, r#"{"embeddings":[{"values":[1.0,-2.5]},{"values":[0.5]}]}"#));
        let mut body = json!({"model": stage.model(), "input": ["a", "b"], "dimensions": 2});
        if let Some(format) = format {
            body["encoding_format"] = format.into();
        }
        let reply = stage.post("/v1/embeddings", body.to_string()).send().await.expect(200).json();
        assert_eq!((&reply["object"], &reply["data"][0]["embedding"]), (&json!("list"), &expected));
        assert_eq!((&reply["data"][1]["index"], &reply["data"][1]["object"]), (&json!(1), &json!("embedding")));
        let sent = stage.recorded();
        assert_eq!(sent.target, "/v1beta/models/vendor-model:batchEmbedContents");
        let request = |text: &str| json!({"model": "models/vendor-model", "content": {"parts": [{"text": text}]}, "outputDimensionality": 2});
        assert_eq!(sent.json(), json!({"requests": [request("a"), request("b")]}));
    }
}

#[tokio::test]
async fn a_gemini_client_gets_openais_embeddings() {
    let stage = stage(Wire::Chat).await;
    let answer = json!({"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [1.0, -2.5]}],
        "usage": {"prompt_tokens": 3, "total_tokens": 3}});
    stage.upstream.always(Answer::json(200, answer.to_string()));
    let path = |action: &str| format!("/v1beta/models/{}:{action}", stage.model());
    let one = json!({"content": {"parts": [{"text": "a"}]}});
    let reply = stage.post(&path("embedContent"), one.to_string()).send().await.expect(200).json();
    assert_eq!(reply["embedding"]["values"], json!([1.0, -2.5]));
    let batch = json!({"requests": [one]});
    let reply = stage.post(&path("batchEmbedContents"), batch.to_string()).send().await.expect(200).json();
    assert_eq!(reply["embeddings"], json!([{"values": [1.0, -2.5]}]));
    let sent = stage.upstream.requests();
    assert_eq!(sent[0].target, "/v1/embeddings");
    assert_eq!(sent[0].json(), json!({"model": "vendor-model", "input": ["a"], "encoding_format": "float"}));
    assert_eq!(stage.usage(2).await["input"], 6);
}

#[tokio::test]
async fn nobody_embeds_at_claude() {
    let stage = stage(Wire::Claude).await;
    let body = json!({"model": stage.model(), "input": "a"});
    let reply = stage.post("/v1/embeddings", body.to_string()).send().await;
    crate::check::error(&reply, Wire::Chat, 400, "dialect_unsupported");
}
