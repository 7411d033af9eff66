//! Counting tokens. It costs nothing, so nothing but the call is counted.

use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::Wire;

#[tokio::test]
async fn token_counts_pass_and_are_not_charged() {
    for (wire, target, body, sent, answer) in [
        (
            Wire::Claude,
            "/v1/messages/count_tokens?beta=true",
            r#"{"messages":[{"role":"user","content":"a"}],"model":"MODEL"}"#,
            r#"{"messages":[{"role":"user","content":"a"}],"model":"vendor-model"}"#,
            r#"{"input_tokens": 123,"context_management":{"original_input_tokens":130}}"#,
        ),
        (
            Wire::Responses,
            "/v1/responses/input_tokens",
            r#"{"model":"MODEL","input":"a"}"#,
            r#"{"model":"vendor-model","input":"a"}"#,
            r#"{"object":"response.input_tokens","input_tokens":123}"#,
        ),
        (
            Wire::Gemini,
            "/v1beta/models/MODEL:countTokens",
            r#"{"contents":[{"parts":[{"text":"a"}]}]}"#,
            r#"{"contents":[{"parts":[{"text":"a"}]}]}"#,
            r#"{"totalTokens":123,"promptTokensDetails":[{"modality":"TEXT","tokenCount":123}]}"#,
        ),
        (
            Wire::Gemini,
            "/v1/models/MODEL:countTokens",
            r#"{"generateContentRequest":{"contents":[],"model":"models/MODEL"}}"#,
            r#"{"generateContentRequest":{"contents":[],"model":"models/vendor-model"}}"#,
            r#"{"totalTokens":123}"#,
        ),
    ] {
        let stage = Stage::new(wire).await;
        let model = stage.model();
        stage.upstream.answer(Answer::json(200, answer));
        let reply = stage.post(&target.replace("MODEL", &model), body.replace("MODEL", &model)).send().await;
        assert_eq!((reply.status, reply.text()), (200, answer));
        let recorded = stage.recorded();
        assert_eq!(recorded.target, target.replace("MODEL", "vendor-model"));
        assert_eq!(recorded.text(), sent);
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1)]);
    }
}
