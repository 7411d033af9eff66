//! The request, the answer and the stream of Chat Completions
//! (<https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create>), by the types of the
//! Python SDK `openai` 3.57.0, and what compatible vendors add: reasoning that is shown, its signatures, borders of the prompt cache.

mod lenient;
pub mod content;
pub mod message;
pub mod tools;
pub mod request;
pub mod usage;
pub mod response;
pub mod stream;

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::content::{Content, Part};
    use super::message::{FunctionToolCall, ReasoningDetail, Role, ThinkingBlock, ToolCall};
    use super::request::{ReasoningEffort, Request, Stop};
    use super::response::{FinishReason, Response};
    use super::stream::Chunk;
    use super::tools::{NamedToolChoice, ToolChoice, ToolChoiceMode};
    use crate::protocol::golden::{check_documents, check_streams};

    #[test]
    fn requests_survive() {
        check_documents("openai_chat/request", 40, &|text| {
            serde_json::to_string(&serde_json::from_str::<Request<'_>>(text)?)
        });
    }

    #[test]
    fn responses_survive() {
        check_documents("openai_chat/response", 25, &|text| {
            serde_json::to_string(&serde_json::from_str::<Response<'_>>(text)?)
        });
    }

    #[test]
    fn streams_survive() {
        check_streams("openai_chat/stream", 25, &|text| {
            serde_json::to_string(&serde_json::from_str::<Chunk<'_>>(text)?)
        });
    }

    fn request(members: &str) -> String {
        format!(r#"{{"model":"m","messages":[]{members}}}"#)
    }

    #[test]
    fn null_is_absent() {
        let text = request(
            r#","tools":null,"tool_choice":null,"stop":null,"temperature":null,"max_tokens":null,"metadata":null,
            "response_format":null,"reasoning_effort":null,"stream_options":null"#,
        );
        let read: Request<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, Request { model: "m".into(), ..Request::default() });
        assert_eq!(serde_json::to_string(&read).unwrap(), request(""));
    }

    #[test]
    fn an_answer_of_nulls_is_empty() {
        let read: Response<'_> =
            serde_json::from_str(r#"{"id":null,"object":null,"created":null,"model":null,"choices":null}"#).unwrap();
        assert_eq!(read, Response::default());
        assert_eq!(serde_json::from_str::<Response<'_>>("{}").unwrap(), Response::default());
        let read: Response<'_> =
            serde_json::from_str(r#"{"choices":[{"message":null,"finish_reason":null}]}"#).unwrap();
        assert_eq!(read.choices, [Default::default()]);
    }

    #[test]
    fn what_is_always_there_is_written_as_null() {
        let read: Response<'_> = serde_json::from_str(r#"{"choices":[{"message":{}}]}"#).unwrap();
        let written = serde_json::to_string(&read.choices).unwrap();
        assert_eq!(
            written,
            r#"[{"index":0,"message":{"content":null,"refusal":null},"finish_reason":null,"logprobs":null}]"#
        );
    }

    #[test]
    fn content_is_a_string_or_a_list_and_borrows() {
        let text = r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"a\n"},
            {"role":"user","content":[{"text":"b","type":"text"},{"type":"video_url","video_url":{"url":"v"}}]}]}"#;
        let read: Request<'_> = serde_json::from_str(text).unwrap();
        let contents: Vec<_> = read.messages.iter().map(|message| message.content.as_ref().unwrap()).collect();
        assert!(matches!(contents[0], Content::Text(text) if matches!(text.0, Cow::Borrowed("a"))));
        assert!(matches!(contents[1], Content::Text(text) if *text == "a\n"));
        let Content::Parts(parts) = contents[2] else { panic!("{:?}", contents[2]) };
        assert!(matches!(&parts[0], Part::Text(part) if matches!(part.text.0, Cow::Borrowed("b"))));
        assert!(matches!(&parts[1], Part::Other(raw) if raw.get().contains("video_url")));
    }

    #[test]
    fn content_that_is_neither_is_refused() {
        for (content, fault) in [
            ("7", "a string, or a list or object"),
            (r#"{"type":"text"}"#, "expected a sequence"),
            (r#"["a"]"#, "an object is expected"),
            (r#"[{"type":"text"}]"#, "missing field `text` in an object of type `text`"),
        ] {
            let text = format!(r#"{{"model":"m","messages":[{{"role":"user","content":{content}}}]}}"#);
            let error = serde_json::from_str::<Request<'_>>(&text).unwrap_err().to_string();
            assert!(error.contains(fault), "{error}");
        }
    }

    #[test]
    fn an_image_may_be_its_address_alone() {
        let part: Part<'_> =
            serde_json::from_str(r#"{"type":"image_url","image_url":"https://a.test/i.png"}"#).unwrap();
        let written = serde_json::to_string(&part).unwrap();
        assert_eq!(written, r#"{"type":"image_url","image_url":{"url":"https://a.test/i.png"}}"#);
    }

    #[test]
    fn stop_is_a_string_or_a_list() {
        let read =
            |text: &str| serde_json::from_str::<Request<'_>>(&request(text)).map(|request| request.stop.is_some());
        assert!(read(r#","stop":"END""#).unwrap() && read(r#","stop":["a","b"]"#).unwrap());
        assert!(read(r#","stop":1"#).is_err());
        let stop: Stop<'_> = serde_json::from_str(r#"["a"]"#).unwrap();
        assert_eq!(stop, Stop::Sequences(vec!["a".into()]));
    }

    #[test]
    fn numbers_may_be_fractions_or_negative() {
        let text = request(r#","max_tokens":1024.0,"max_completion_tokens":-1,"temperature":1"#);
        let read: Request<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!((read.max_tokens, read.max_completion_tokens, read.temperature), (Some(1024), Some(0), Some(1.0)));
    }

    #[test]
    fn arguments_are_text_whatever_they_are() {
        for (member, arguments) in [
            (r#","arguments":"""#, ""),
            (r#","arguments":null"#, ""),
            ("", ""),
            (r#","arguments":"{\"p\":1}""#, r#"{"p":1}"#),
            (r#","arguments":{"p": 1.50}"#, r#"{"p": 1.50}"#),
        ] {
            let text = format!(r#"{{"id":"c","type":"function","function":{{"name":"f"{member}}}}}"#);
            let call: ToolCall<'_> = serde_json::from_str(&text).unwrap();
            assert!(matches!(call, ToolCall::Function(call) if call.function.arguments == arguments));
        }
    }

    #[test]
    fn a_call_without_a_type_is_one_of_a_function() {
        let call: ToolCall<'_> =
            serde_json::from_str(r#"{"id":"c","function":{"name":"f","arguments":"{}"}}"#).unwrap();
        assert!(matches!(&call, ToolCall::Function(FunctionToolCall { id, .. }) if *id == "c"));
        assert!(serde_json::to_string(&call).unwrap().starts_with(r#"{"type":"function","#));
        let call: ToolCall<'_> = serde_json::from_str(r#"{"id":null,"type":null,"function":{"name":"f"}}"#).unwrap();
        assert!(matches!(&call, ToolCall::Function(call) if call.id.is_empty()));
        let text = r#"{"type":"mcp","id":"c"}"#;
        let call: ToolCall<'_> = serde_json::from_str(text).unwrap();
        assert!(matches!(&call, ToolCall::Other(_)));
        assert_eq!(serde_json::to_string(&call).unwrap(), text);
        let error = serde_json::from_str::<ToolCall<'_>>(r#"{"id":"c"}"#).unwrap_err().to_string();
        assert!(error.starts_with("missing field `function` in an object of type `function`"), "{error}");
    }

    #[test]
    fn a_tool_choice_is_a_word_or_an_object() {
        let read = |text| serde_json::from_str::<ToolChoice<'_>>(text).unwrap();
        assert_eq!(read(r#""required""#), ToolChoice::Mode(ToolChoiceMode::Required));
        assert_eq!(read(r#""any""#), ToolChoice::Mode(ToolChoiceMode::Other("any".into())));
        let named = read(r#"{"type":"function","function":{"name":"f"}}"#);
        assert!(matches!(named, ToolChoice::Tools(NamedToolChoice::Function(choice)) if choice.function.name == "f"));
        assert!(serde_json::from_str::<ToolChoice<'_>>("[]").is_err());
    }

    #[test]
    fn unknown_words_are_kept() {
        for word in ["\"stop\"", "\"insufficient_system_resource\""] {
            let reason: FinishReason<'_> = serde_json::from_str(word).unwrap();
            assert_eq!(serde_json::to_string(&reason).unwrap(), word);
        }
        assert_eq!(serde_json::from_str::<Role<'_>>("\"latest_reminder\"").unwrap().as_str(), "latest_reminder");
        assert_eq!(serde_json::from_str::<ReasoningEffort<'_>>("\"xhigh\"").unwrap(), ReasoningEffort::Xhigh);
    }

    #[test]
    fn chunks_without_choices_are_read() {
        let chunk: Chunk<'_> = serde_json::from_str(r#"{"choices":[{"delta":null}]}"#).unwrap();
        assert_eq!(*chunk.choices.unwrap(), [Default::default()]);
        for choices in ["", r#","choices":null"#, r#","choices":[]"#] {
            let text = format!(r#"{{"id":"c","usage":{{"prompt_tokens":7,"completion_tokens":null}}{choices}}}"#);
            let chunk: Chunk<'_> = serde_json::from_str(&text).unwrap();
            assert!(chunk.choices.unwrap_or_default().is_empty());
            let usage = chunk.usage.unwrap();
            assert_eq!((usage.prompt_tokens, usage.completion_tokens), (7, 0));
        }
    }

    #[test]
    fn an_error_in_a_stream_is_an_object_or_a_string() {
        for error in [r#"{"message":"m","code":503}"#, r#""overloaded""#] {
            let text = format!(r#"{{"error":{error}}}"#);
            let chunk: Chunk<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(chunk.error.as_ref().unwrap().get(), error);
            assert_eq!(serde_json::to_string(&chunk).unwrap(), text);
        }
        assert_eq!(serde_json::from_str::<Chunk<'_>>(r#"{"error":null}"#).unwrap(), Chunk::default());
    }

    #[test]
    fn fragments_are_borrowed() {
        let text = r#"{"choices":[{"index":0,"delta":{"content":"Hi","reasoning_content":"h"}}]}"#;
        let chunk: Chunk<'_> = serde_json::from_str(text).unwrap();
        let delta = &chunk.choices.as_ref().unwrap()[0].delta;
        assert!(matches!(&delta.content, Some(Content::Text(text)) if matches!(text.0, Cow::Borrowed("Hi"))));
        assert!(matches!(delta.reasoning_content.as_ref().unwrap().0, Cow::Borrowed("h")));
    }

    #[test]
    fn a_fragment_may_be_a_signature_alone() {
        let text = r#"{"choices":[{"delta":{"thinking_blocks":[{"type":"thinking","signature":"s"}],
            "reasoning_details":[{"type":"reasoning.text","signature":"s"},{"type":"reasoning.new"}]}}]}"#;
        let chunk: Chunk<'_> = serde_json::from_str(text).unwrap();
        let delta = &chunk.choices.as_ref().unwrap()[0].delta;
        let blocks = delta.thinking_blocks.as_ref().unwrap();
        assert!(matches!(&blocks[0], ThinkingBlock::Thinking(block) if block.thinking.is_none()));
        let details = delta.reasoning_details.as_ref().unwrap();
        assert!(matches!(details[..], [ReasoningDetail::Text(_), ReasoningDetail::Other(_)]));
    }
}
