//! The wire types of Responses: what a converter reads and writes.
//!
//! <https://developers.openai.com/api/reference/resources/responses>; the facts are those of openai (Python) 3.57.0 and of Codex 0.171.0.
//! Members that are absent or null are `None`. Unknown members are read over.

mod common;
pub mod request;
pub mod item;
pub mod content;
pub mod context;
pub mod hosted;
pub mod local;
pub mod tools;
pub mod choice;
pub mod response;
pub mod stream;
pub mod event;

pub use common::Bare;

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::choice::{ToolChoice, ToolChoiceMode, ToolChoiceTool};
    use super::content::{InputText, Part};
    use super::event::DeltaEvent;
    use super::item::{InputItem, Item, Role};
    use super::request::{Effort, Request};
    use super::response::{CompactedResponse, IncompleteReason, InputTokens, Response, Status};
    use super::stream::Event;
    use super::tools::Tool;
    use crate::protocol::golden;
    use crate::protocol::wire::TextOr;

    fn request(text: &str) -> Request<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn requests_survive() {
        golden::check_documents("openai_responses/request", 40, &|text| serde_json::to_string(&request(text)));
    }

    #[test]
    fn responses_survive() {
        golden::check_documents("openai_responses/response", 25, &|text| {
            serde_json::to_string(&serde_json::from_str::<Response<'_>>(text)?)
        });
    }

    #[test]
    fn streams_survive() {
        golden::check_streams("openai_responses/stream", 25, &|text| serde_json::to_string(&Event::read(text)?));
    }

    #[test]
    fn events_are_the_same_when_they_are_members() {
        golden::check_streams("openai_responses/stream", 25, &|text| {
            serde_json::to_string(&serde_json::from_str::<Event<'_>>(text)?)
        });
    }

    /// Else the corpus would prove nothing: what is unknown is written as it was read.
    #[test]
    fn nothing_in_the_corpus_is_unknown_but_by_its_name() {
        let is_known = |text: &str, read: String| {
            assert_eq!(read.contains("Other(Raw("), text.contains("\"future_"), "{read}");
            Ok(text.to_owned())
        };
        golden::check_documents("openai_responses/request", 40, &|text| {
            is_known(text, format!("{:?}", Request { tool_choice: None, ..request(text) }))
        });
        golden::check_documents("openai_responses/response", 25, &|text| {
            is_known(text, format!("{:?}", serde_json::from_str::<Response<'_>>(text)?))
        });
        golden::check_streams("openai_responses/stream", 25, &|text| {
            let event = Event::read(text)?;
            assert_eq!(event.kind().is_none(), text.contains("response.future.thing"), "{text}");
            Ok(text.to_owned())
        });
    }

    #[test]
    fn null_is_absent() {
        let read = request(
            r#"{"model":"m","input":null,"tools":null,"tool_choice":null,"text":{"format":null},"stream":null}"#,
        );
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"model":"m","text":{}}"#);
        let text =
            r#"{"id":"r","created_at":1.9,"output":null,"usage":{"input_tokens":null,"output_tokens":2},"error":null}"#;
        let read: Response<'_> = serde_json::from_str(text).unwrap();
        assert_eq!((read.created_at, read.output.len(), read.usage.unwrap().output_tokens), (Some(1), 0, 2));
    }

    #[test]
    fn strings_are_borrowed_unless_they_have_escapes() {
        let text = r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"plain"},{"type":"input_text","text":"a\nb"}]}]}"#;
        let read = request(text);
        let Some(TextOr::Structured(items)) = &read.input else { panic!("{read:?}") };
        let InputItem::Message(message) = &items[0] else { panic!("{items:?}") };
        let TextOr::Structured(parts) = &message.content else { panic!("{message:?}") };
        let cows: Vec<_> = parts
            .iter()
            .map(|part| match part {
                Part::InputText(InputText { text, .. }) => matches!(text.0, Cow::Borrowed(_)),
                _ => panic!("{part:?}"),
            })
            .collect();
        assert_eq!(cows, [true, false]);
    }

    #[test]
    fn items_are_told_apart_without_their_type() {
        let text = concat!(
            r#"{"input":[{"role":"user","content":"a"},{"id":"msg_1"},{"type":null,"id":"msg_2"},"#,
            r#"{"type":"message","role":"user","content":"a"}]}"#
        );
        let Some(TextOr::Structured(items)) = request(text).input else { panic!("no list") };
        assert!(matches!(&items[0], InputItem::Message(message) if message.role == Role::User));
        assert!(matches!(&items[1..3], [InputItem::Reference(_), InputItem::Reference(_)]));
        assert!(matches!(&items[3], InputItem::Typed(Item::Message(_))));
        for (input, fault) in [
            (r#"[1]"#, "an object is expected"),
            (r#"7"#, "expected a string, a list or an object"),
            (
                r#"[{"type":"function_call","name":"f"}]"#,
                "missing field `call_id` in an object of type `function_call`",
            ),
        ] {
            let error = serde_json::from_str::<Request<'_>>(&format!(r#"{{"input":{input}}}"#)).unwrap_err();
            assert!(error.to_string().contains(fault), "{error}");
        }
    }

    #[test]
    fn arguments_may_be_missing() {
        for text in [
            r#"{"type":"function_call","call_id":"c","name":"f","arguments":null}"#,
            r#"{"type":"function_call","call_id":"c","name":"f"}"#,
        ] {
            let Item::FunctionCall(call) = serde_json::from_str(text).unwrap() else { panic!("{text}") };
            assert_eq!(call.arguments, "");
        }
    }

    #[test]
    fn choices_are_words_or_objects() {
        let choice = |text| serde_json::from_str::<ToolChoice<'_>>(text).unwrap();
        assert_eq!(choice(r#""required""#), ToolChoice::Mode(ToolChoiceMode::Required));
        assert_eq!(choice(r#""new""#), ToolChoice::Mode(ToolChoiceMode::Other("new".into())));
        assert!(matches!(choice(r#"{"type":"function","name":"f"}"#), ToolChoice::Tool(ToolChoiceTool::Function(_))));
        assert!(matches!(choice(r#"{"type":"file_search"}"#), ToolChoice::Tool(ToolChoiceTool::Other(_))));
        assert!(serde_json::from_str::<ToolChoice<'_>>("1").is_err());
    }

    #[test]
    fn unknown_words_and_kinds_are_kept() {
        let text = r#"{"tools":[{"type":"brand_new","x":1.50}],"reasoning":{"effort":"ultra"}}"#;
        let read = request(text);
        assert!(matches!(read.tools.as_deref(), Some([Tool::Other(_)])));
        assert_eq!(read.reasoning.as_ref().unwrap().effort, Some(Effort::Other("ultra".into())));
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let text = r#"{"id":"r","status":"paused","incomplete_details":{"reason":"content_filter"}}"#;
        let read: Response<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(read.status, Some(Status::Other("paused".into())));
        assert_eq!(read.incomplete_details.unwrap().reason, Some(IncompleteReason::ContentFilter));
    }

    #[test]
    fn events_are_read_wherever_their_type_stands() {
        for text in [
            r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}"#,
            " { \"type\" : \"response.output_text.delta\", \"delta\":\"a\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0}",
            r#"{"delta":"a","item_id":"m","output_index":0,"content_index":0,"type":"response.output_text.delta"}"#,
            r#"{"type":"response.output_text\u002edelta","delta":"a","item_id":"m","output_index":0,"content_index":0}"#,
        ] {
            let expected = DeltaEvent {
                item_id: Some("m".into()),
                output_index: Some(0),
                content_index: Some(0),
                delta: "a".into(),
                ..DeltaEvent::default()
            };
            assert_eq!(Event::read(text).unwrap(), Event::OutputTextDelta(expected), "{text}");
        }
        let error = Event::read(r#"{"type":"response.output_text.delta"}"#).unwrap_err().to_string();
        assert_eq!(error, "missing field `delta` in an object of type `response.output_text.delta`");
        for text in ["[]", "{}", "[DONE]", r#"{"type":"x"} y"#] {
            assert!(Event::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn codes_of_errors_may_be_numbers() {
        for (code, expected) in [("\"a\"", Some("a")), ("502", Some("502")), ("null", None)] {
            let text = format!(r#"{{"type":"error","code":{code},"message":"m"}}"#);
            let Event::Error(error) = Event::read(&text).unwrap() else { panic!("{text}") };
            assert_eq!(error.code.as_deref(), expected);
        }
    }

    #[test]
    fn the_other_endpoints_answers_survive() {
        let text = concat!(
            r#"{"id":"resp_1","object":"response.compaction","created_at":1,"output":[{"type":"message","role":"user","#,
            r#""content":[{"type":"input_text","text":"a"}]},{"type":"compaction","id":"cmp_1","encrypted_content":"g"}]}"#
        );
        assert_eq!(serde_json::to_string(&serde_json::from_str::<CompactedResponse<'_>>(text).unwrap()).unwrap(), text);
        let text = r#"{"object":"response.input_tokens","input_tokens":11}"#;
        assert_eq!(serde_json::to_string(&serde_json::from_str::<InputTokens<'_>>(text).unwrap()).unwrap(), text);
    }
}
