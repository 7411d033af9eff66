//! The wire types of GenerateContent (<https://ai.google.dev/api/generate-content>), after google-genai 3.6.1 for Python. Of Vertex
//! AI's members only a few are here.
//!
//! Reading is as [lenient](proto) as the API is; what is written is canonical.

pub mod proto;
pub mod schema;
pub mod tools;
pub mod content;
pub mod request;
pub mod grounding;
pub mod response;

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::fs;
    use std::path::Path;

    use serde_json::json;

    use super::content::{Part, Role};
    use super::proto::{Count, Int, Number};
    use super::request::{GenerateContentRequest, GenerationConfig, ThinkingLevel};
    use super::response::{Candidate, FinishReason, GenerateContentResponse, UsageMetadata};
    use super::schema::{Schema, Type};
    use super::tools::{FunctionCallingMode, Tool, ToolConfig};
    use crate::protocol::golden;

    fn request(text: &str) -> GenerateContentRequest<'_> {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn requests_survive() {
        golden::check_documents("gemini/request", 80, &|text| {
            serde_json::to_string(&serde_json::from_str::<GenerateContentRequest<'_>>(text)?)
        });
    }

    #[test]
    fn responses_survive() {
        golden::check_documents("gemini/response", 50, &|text| {
            serde_json::to_string(&serde_json::from_str::<GenerateContentResponse<'_>>(text)?)
        });
    }

    #[test]
    fn streams_survive() {
        golden::check_streams("gemini/stream", 40, &|text| {
            serde_json::to_string(&serde_json::from_str::<GenerateContentResponse<'_>>(text)?)
        });
    }

    /// The documents of `request-spelling` are those of `request` as clients may spell them.
    #[test]
    fn any_spelling_is_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/gemini");
        let mut count = 0;
        for entry in fs::read_dir(folder.join("request-spelling")).unwrap() {
            let name = entry.unwrap().file_name();
            let [spelled, canonical] = ["request-spelling", "request"]
                .map(|subject| fs::read_to_string(folder.join(subject).join(&name)).unwrap());
            assert_eq!(request(&spelled), request(&canonical), "{name:?}");
            count += 1;
        }
        assert!(count >= 10);
    }

    #[test]
    fn texts_are_borrowed() {
        let text = r#"{"contents":[{"parts":[{"text":"plain"},{"text":"with \"escape\""}]}]}"#;
        let request = request(text);
        let texts: Vec<_> = request.contents[0].parts.iter().map(|part| part.text.as_ref().unwrap()).collect();
        assert!(matches!(texts[0].0, Cow::Borrowed("plain")));
        assert!(matches!(&texts[1].0, Cow::Owned(text) if text == "with \"escape\""));
        // Without brackets too.
        let config: GenerationConfig<'_> = serde_json::from_str(r#"{"stopSequences":"END"}"#).unwrap();
        assert!(matches!(config.stop_sequences[0].0, Cow::Borrowed("END")));
    }

    #[test]
    fn one_may_stand_for_a_list_of_one() {
        let bare =
            r#"{"contents":{"parts":{"functionCall":{"name":"f","args":{"x":1.50}}}},"tools":{"google_search":{}}}"#;
        let listed = r#"{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"x":1.50}}}]}],"tools":[{"googleSearch":{}}]}"#;
        assert_eq!(serde_json::to_string(&request(bare)).unwrap(), listed);
    }

    #[test]
    fn null_and_empty_lists_are_absent() {
        let text =
            r#"{"contents":null,"tools":[],"toolConfig":null,"generationConfig":{"stopSequences":null,"topK":null}}"#;
        assert_eq!(serde_json::to_string(&request(text)).unwrap(), r#"{"generationConfig":{}}"#);
        assert_eq!(request("{}"), GenerateContentRequest::default());
    }

    #[test]
    fn empty_objects_stay() {
        for text in [r#"{"codeExecution":{}}"#, r#"{"urlContext":{}}"#, r#"{"googleSearch":{}}"#] {
            let tool: Tool<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&tool).unwrap(), text);
        }
        let schema: Schema<'_> = serde_json::from_str(r#"{"type":"OBJECT","properties":{}}"#).unwrap();
        assert!(schema.properties.is_some_and(|properties| properties.0.is_empty()));
    }

    #[test]
    fn numbers_are_read_in_any_spelling() {
        let text = r#"{"topK":64.0,"topP":"0.95","temperature":1,"maxOutputTokens":"4096","seed":-7.0,
            "thinkingConfig":{"thinkingBudget":-1}}"#;
        let config: GenerationConfig<'_> = serde_json::from_str(text).unwrap();
        assert_eq!((config.top_k, config.top_p), (Some(Number(64.0)), Some(Number(0.95))));
        assert_eq!((config.max_output_tokens, config.seed), (Some(Count(4096)), Some(Int(-7))));
        let written = json!({"topK": 64, "topP": 0.95, "temperature": 1, "maxOutputTokens": 4096, "seed": -7,
            "thinkingConfig": {"thinkingBudget": -1}});
        assert_eq!(serde_json::to_value(&config).unwrap(), written);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            r#"{"maxOutputTokens":1.5}"#,
            r#"{"maxOutputTokens":-1}"#,
            r#"{"maxOutputTokens":-1.0}"#,
            r#"{"maxOutputTokens":1e300}"#,
            r#"{"maxOutputTokens":"many"}"#,
            r#"{"maxOutputTokens":true}"#,
            r#"{"seed":18446744073709551615}"#,
            r#"{"temperature":"warm"}"#,
            r#"{"stopSequences":[1]}"#,
            r#"{"stopSequences":1}"#,
        ] {
            assert!(serde_json::from_str::<GenerationConfig<'_>>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_are_read_in_any_case_and_kept_when_unknown() {
        let schema: Schema<'_> = serde_json::from_str(r#"{"type":"object","items":{"type":"FILE"}}"#).unwrap();
        assert_eq!(schema.r#type, Some(Type::Object));
        assert_eq!(schema.items.unwrap().r#type, Some(Type::Other("FILE".into())));
        let config: ToolConfig<'_> = serde_json::from_str(r#"{"function_calling_config":{"mode":"any"}}"#).unwrap();
        assert_eq!(config.function_calling_config.unwrap().mode, Some(FunctionCallingMode::Any));
        let candidate: Candidate<'_> = serde_json::from_str(r#"{"finishReason":"NEW_ONE"}"#).unwrap();
        assert_eq!(candidate.finish_reason, Some(FinishReason::Other("NEW_ONE".into())));
        assert_eq!(serde_json::to_string(&ThinkingLevel::Xhigh).unwrap(), r#""XHIGH""#);
        assert_eq!(Role::Model.as_str(), "model");
    }

    #[test]
    fn members_of_schemas_keep_their_order() {
        let text =
            r#"{"type":"OBJECT","properties":{"z":{"type":"STRING"},"type":{"type":"NULL"},"a":{"enum":["1"]}}}"#;
        let schema: Schema<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&schema).unwrap(), text);
    }

    #[test]
    fn carried_json_is_not_touched() {
        let text = r#"{"functionCall":{"name":"f","args":{"big": 12345678901234567890123, "x":1.50}}}"#;
        let part: Part<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&part).unwrap(), text);
    }

    #[test]
    fn unknown_members_are_read_over() {
        let text = r#"{"text":"a","new":{"x":[1]},"thought":true}"#;
        let part: Part<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&part).unwrap(), r#"{"text":"a","thought":true}"#);
    }

    #[test]
    fn an_error_in_a_stream_is_seen() {
        let text = r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#;
        let event: GenerateContentResponse<'_> = serde_json::from_str(text).unwrap();
        let error = event.error.unwrap();
        assert_eq!((error.code, error.status), (Some(Count(503)), Some("UNAVAILABLE".into())));
    }

    #[test]
    fn citations_under_their_other_name() {
        let text = r#"{"citationMetadata":{"citations":[{"uri":"u","endIndex":3}]}}"#;
        let candidate: Candidate<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(candidate.citation_metadata.unwrap().citation_sources[0].end_index, Some(Count(3)));
    }

    #[test]
    fn usage_without_what_is_zero() {
        let usage: UsageMetadata<'_> = serde_json::from_str(r#"{"promptTokenCount":9,"totalTokenCount":9}"#).unwrap();
        assert_eq!((usage.prompt_token_count, usage.candidates_token_count), (Some(Count(9)), None));
    }
}
