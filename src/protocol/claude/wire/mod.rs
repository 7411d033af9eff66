//! Wire types of Claude Messages: requests, answers and the events of a stream.
//!
//! Facts are those of <https://platform.claude.com/docs/en/api/messages> and of the SDKs `anthropic` 2.14.0 (Python) and
//! `@anthropic-ai/sdk` 1.14.0, of both API versions, `2023-06-01` and `2026-10-21`. Beta members are marked so.

pub mod request;
pub mod content;
pub mod document;
pub mod citation;
pub mod server_tools;
pub mod tools;
pub mod response;
pub mod usage;
pub mod stream;

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde::{Deserialize, Serialize};

    use super::content::ContentBlock;
    use super::request::{Effort, MessagesRequest, Role};
    use super::response::{ErrorResponse, Message, StopReason, TokensCount};
    use super::server_tools::WebSearchContent;
    use super::stream::{Delta, StreamEvent};
    use super::tools::Tool;
    use crate::protocol::golden;
    use crate::protocol::wire::TextOr;

    fn again<'a, T: Deserialize<'a> + Serialize>(text: &'a str) -> Result<String, serde_json::Error> {
        serde_json::to_string(&serde_json::from_str::<T>(text)?)
    }

    #[test]
    fn requests_survive() {
        golden::check_documents("claude/request", 40, &|text| again::<MessagesRequest<'_>>(text));
    }

    #[test]
    fn responses_survive() {
        golden::check_documents("claude/response", 25, &|text| again::<Message<'_>>(text));
    }

    #[test]
    fn streams_survive() {
        golden::check_streams("claude/stream", 25, &|text| {
            let event = StreamEvent::parse(text)?;
            assert_eq!(event, serde_json::from_str(text)?, "both ways of reading have to agree");
            let value: serde_json::Value = serde_json::from_str(text)?;
            assert!(event.name().is_none_or(|name| value["type"] == name), "{text}");
            serde_json::to_string(&event)
        });
    }

    #[test]
    fn null_reads_as_absent() {
        let text = r#"{"model":"m","max_tokens":null,"messages":[],"system":null,"tools":null,"thinking":null,
            "metadata":{"user_id":null},"output_config":{"effort":null,"format":null},"stop_sequences":null}"#;
        let request: MessagesRequest<'_> = serde_json::from_str(text).unwrap();
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(written, r#"{"model":"m","messages":[],"output_config":{},"metadata":{}}"#);
    }

    #[test]
    fn a_text_stands_for_a_block_and_borrows_unless_escaped() {
        let text = r#"{"model":"m","messages":[{"role":"user","content":"plain"},{"role":"user","content":"a\nb"},
            {"role":"user","content":[{"type":"text","text":"c"}]}]}"#;
        let request: MessagesRequest<'_> = serde_json::from_str(text).unwrap();
        let contents: Vec<_> = request.messages.iter().map(|message| message.content.as_ref().unwrap()).collect();
        assert!(matches!(contents[0], TextOr::Text(text) if matches!(text.0, Cow::Borrowed("plain"))));
        assert!(matches!(contents[1], TextOr::Text(text) if *text == "a\nb"));
        assert!(matches!(contents[2], TextOr::Structured(blocks) if matches!(&blocks[0], ContentBlock::Text(_))));
        let fault = serde_json::from_str::<TextOr<'_, Vec<ContentBlock<'_>>>>("5").unwrap_err().to_string();
        assert!(fault.contains("expected a string, a list or an object"), "{fault}");
    }

    #[test]
    fn carried_json_keeps_its_spelling_within_lists_and_objects() {
        let text = r#"[{"type":"tool_use","id":"t","name":"f","input":{"n":1.50,"big":12345678901234567890}},
            {"type":"tool_result","tool_use_id":"t","content":[{"type":"future","x":1.50}]}]"#;
        let content: TextOr<'_, Vec<ContentBlock<'_>>> = serde_json::from_str(text).unwrap();
        let written = serde_json::to_string(&content).unwrap();
        assert!(written.contains(r#""input":{"n":1.50,"big":12345678901234567890}"#), "{written}");
        assert!(written.contains(r#"[{"type":"future","x":1.50}]"#), "{written}");
    }

    #[test]
    fn blocks_within_blocks_exhaust_neither_stack_nor_time() {
        let deep = |open: &str, close: &str| open.repeat(10_000) + "[]" + &close.repeat(10_000);
        for text in [
            deep(r#"[{"type":"tool_result","tool_use_id":"t","content":"#, "}]"),
            deep(r#"[{"type":"document","source":{"type":"content","content":"#, "}}]"),
            deep(r#"[{"type":"search_result","source":"s","title":"t","content":"#, "}]"),
            deep(r#"[{"type":"web_fetch_tool_result","tool_use_id":"t","content":"#, "}]"),
            deep(r#"[{"type":"future","content":"#, "}]"),
        ] {
            let _ = serde_json::from_str::<TextOr<'_, Vec<ContentBlock<'_>>>>(&text);
        }
    }

    #[test]
    fn tools_are_told_by_their_family() {
        let text = r#"[{"name":"a","input_schema":{}},{"type":null,"name":"b","input_schema":{}},
            {"type":"custom","name":"c","input_schema":{}},{"type":"web_search_20991231","name":"web_search"},
            {"type":"computer_toolset_20260801"},{"type":"future_20300101","n":1}]"#;
        let tools: Vec<Tool<'_>> = serde_json::from_str(text).unwrap();
        assert!(tools[..3].iter().all(|tool| matches!(tool, Tool::Custom(_))));
        assert!(matches!(tools[3], Tool::WebSearch(_)));
        assert!(matches!(tools[4], Tool::Toolset(_)));
        assert!(matches!(tools[5], Tool::Other(_)));
        let written = serde_json::to_string(&tools[..3]).unwrap();
        assert_eq!(
            written,
            r#"[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}},{"type":"custom","name":"c","input_schema":{}}]"#
        );
        let fault = serde_json::from_str::<Tool<'_>>(r#"{"name":"a"}"#).unwrap_err().to_string();
        assert!(fault.starts_with("missing field `input_schema` in an object of type `custom`"), "{fault}");
        assert!(serde_json::from_str::<Tool<'_>>("[]").is_err());
    }

    #[test]
    fn a_search_gives_a_list_or_an_error() {
        let results = r#"[{"type":"web_search_result","url":"u","title":"t","encrypted_content":"e"}]"#;
        let error = r#"{"type":"web_search_tool_result_error","error_code":"unavailable"}"#;
        assert!(matches!(serde_json::from_str(results).unwrap(), WebSearchContent::Results(pages) if pages.len() == 1));
        assert!(matches!(serde_json::from_str(error).unwrap(), WebSearchContent::Error(_)));
    }

    #[test]
    fn unknown_words_are_kept() {
        assert_eq!(serde_json::from_str::<Effort<'_>>(r#""xhigh""#).unwrap(), Effort::Xhigh);
        let reason: StopReason<'_> = serde_json::from_str(r#""future_reason""#).unwrap();
        assert_eq!(reason, StopReason::Other("future_reason".into()));
        assert_eq!(serde_json::to_string(&reason).unwrap(), r#""future_reason""#);
        assert_eq!(serde_json::from_str::<Role<'_>>(r#""us\u0065r""#).unwrap(), Role::User);
    }

    #[test]
    fn a_message_has_its_nulls() {
        let text = r#"{"id":"msg_1","model":"m","content":[]}"#;
        assert_eq!(
            again::<Message<'_>>(text).unwrap(),
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null}"#
        );
    }

    #[test]
    fn counts_and_errors_survive() {
        let count = r#"{"input_tokens":2095,"context_management":{"original_input_tokens":70000}}"#;
        assert_eq!(again::<TokensCount<'_>>(count).unwrap(), count);
        let error =
            r#"{"type":"error","error":{"type":"t","message":"m","details":{"error_code":"c"}},"request_id":"req_1"}"#;
        assert_eq!(again::<ErrorResponse<'_>>(error).unwrap(), error);
    }

    #[test]
    fn events_that_are_new_or_odd() {
        let parse = |text| StreamEvent::parse(text);
        assert!(matches!(parse(r#"{"type":"future","delta":"x","index":"y"}"#).unwrap(), StreamEvent::Other(_)));
        let event =
            parse(r#"{"type":"content_block_delta","index":0,"delta":{"type":"future_delta","text":5}}"#).unwrap();
        assert!(matches!(event, StreamEvent::ContentBlockDelta(event) if matches!(event.delta, Delta::Other(_))));
        // The members in another order, escapes, members that are new.
        let event =
            parse(r#"{"delta":{"new":{},"text":"\u00e9","type":"text_delta"},"index":1,"type":"content_block_delta"}"#);
        let StreamEvent::ContentBlockDelta(event) = event.unwrap() else { panic!("a delta") };
        assert!(event.index == 1 && matches!(event.delta, Delta::Text(delta) if delta.text == "é"));
        let fault = parse(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}"#).unwrap_err();
        assert!(fault.to_string().starts_with("missing field `text` in an object of type `text_delta`"), "{fault}");
    }
}
