//! Tests of the stream writer.

use serde_json::{Value, json};

use super::*;

fn writer(as_array: bool) -> StreamWriter {
    StreamWriter::new(&Reply { id: "r1".to_owned(), model: "m".to_owned(), as_array, ..Reply::default() })
}

/// The events of a stream in either framing.
fn events(as_array: bool, out: &[u8]) -> Vec<Value> {
    if as_array {
        return serde_json::from_slice(out).unwrap();
    }
    let text = std::str::from_utf8(out).unwrap().strip_suffix("\n\n").unwrap();
    text.split("\n\n").map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap()).collect()
}

/// What is written in both framings, which has to be the same.
fn write(steps: impl Fn(&mut StreamWriter, &mut Vec<u8>)) -> Vec<Value> {
    let [sse, array] = [false, true].map(|as_array| {
        let (mut writer, mut out) = (writer(as_array), Vec::new());
        steps(&mut writer, &mut out);
        writer.finish(&mut out);
        let length = out.len();
        writer.text("late", &mut out);
        writer.finish(&mut out);
        writer.fault(&StreamFault::cut_off(), &mut out);
        writer.function_call(9, None, "late", &mut out);
        writer.arguments(9, "{}", &mut out);
        assert!(writer.is_over() && out.len() == length, "nothing follows the end");
        events(as_array, &out)
    });
    assert_eq!(sse, array);
    sse
}

/// The parts of the first candidate, and the last event.
fn parts(mut events: Vec<Value>) -> (Vec<Value>, Value) {
    let last = events.pop().unwrap();
    let part = |event: Value| {
        assert_eq!((&event["modelVersion"], &event["responseId"]), (&json!("m"), &json!("r1")));
        let candidate = &event["candidates"][0];
        assert_eq!((&candidate["finishReason"], &candidate["content"]["role"]), (&Value::Null, &json!("model")));
        assert_eq!(candidate["content"]["parts"].as_array().unwrap().len(), 1);
        candidate["content"]["parts"][0].clone()
    };
    (events.into_iter().map(part).collect(), last)
}

#[test]
fn text_and_thoughts_stream_and_the_end_tells_the_rest() {
    let (parts, last) = parts(write(|writer, out| {
        writer.thought("hm\n", out);
        writer.text("a\"", out);
        writer.text("", out);
        writer.text("b", out);
        writer.usage(&UsageMetadata { total_token_count: Some(3.into()), ..UsageMetadata::default() });
    }));
    assert_eq!(parts, [json!({"text": "hm\n", "thought": true}), json!({"text": "a\""}), json!({"text": "b"})]);
    let expected = json!({
        "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"totalTokenCount": 3},
        "modelVersion": "m",
        "responseId": "r1",
    });
    assert_eq!(last, expected);
}

/// Calls come whole and in their order, however their pieces come.
#[test]
fn calls_come_whole_and_in_order() {
    let (parts, last) = parts(write(|writer, out| {
        writer.signature("c2ln", out);
        writer.function_call(0, Some("c0"), "f", out);
        writer.function_call(1, None, "g", out);
        writer.arguments(0, "{\"a\":\n", out);
        writer.arguments(1, "{}", out);
        assert!(out.is_empty());
        writer.arguments(0, "1}", out);
        assert!(!out.is_empty());
        writer.arguments(0, " ", out);
        writer.function_call(2, Some(""), "now", out);
        writer.call_end(2, out);
        writer.text("done", out);
        writer.function_call(2, None, "again", out);
    }));
    let expected = [
        json!({"functionCall": {"id": "c0", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}),
        json!({"functionCall": {"name": "g", "args": {}}}),
        json!({"functionCall": {"name": "now", "args": {}}}),
        json!({"text": "done"}),
        json!({"functionCall": {"name": "again", "args": {}}}),
    ];
    assert_eq!(parts, expected);
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
}

/// Arguments that were cut are not made up, and the end is no success.
#[test]
fn a_call_that_was_cut_is_no_success() {
    let cut = |reason: Option<FinishReason<'static>>| {
        parts(write(|writer, out| {
            writer.function_call(0, None, "f", out);
            writer.arguments(0, r#"{"a":"#, out);
            if let Some(reason) = &reason {
                writer.finish_reason(reason.clone(), None);
            }
        }))
    };
    for reason in [None, Some(FinishReason::Stop)] {
        let (parts, last) = cut(reason);
        assert!(parts.is_empty());
        let expected = json!({
            "finishReason": "MALFORMED_FUNCTION_CALL",
            "finishMessage": "Malformed function call: f({\"a\":)",
            "index": 0,
        });
        assert_eq!(last["candidates"][0], expected);
    }
    assert_eq!(cut(Some(FinishReason::MaxTokens)).1["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[test]
fn signatures_find_their_parts() {
    let (parts, last) = parts(write(|writer, out| {
        writer.signature("s1", out);
        writer.thought("t", out);
        writer.text("a", out);
        writer.signature("s2", out);
        writer.signature("s3", out);
        writer.part(&Part { inline_data: Some(Default::default()), ..Part::default() }, out);
        writer.signature("s4", out);
    }));
    let expected = [
        json!({"text": "t", "thought": true}),
        json!({"text": "a", "thoughtSignature": "s1"}),
        json!({"text": "", "thoughtSignature": "s2"}),
        json!({"inlineData": {}, "thoughtSignature": "s3"}),
    ];
    assert_eq!(parts, expected);
    assert_eq!(last["candidates"][0]["content"]["parts"], json!([{"text": "", "thoughtSignature": "s4"}]));
}

#[test]
fn several_answers_end_together() {
    let events = write(|writer, out| {
        writer.start("id-2", "gemini-x");
        writer.candidate(1);
        writer.text("b", out);
        writer.start("late", "late");
        writer.candidate(0);
        writer.text("a", out);
        writer.finish_reason(FinishReason::MaxTokens, None);
        writer.candidate(usize::MAX);
        writer.candidate(1);
        writer.grounding(&GroundingMetadata { web_search_queries: vec!["q".into()], ..GroundingMetadata::default() });
    });
    assert_eq!(events[0]["candidates"][0]["index"], 1);
    let last = events.last().unwrap();
    assert_eq!((&last["responseId"], &last["modelVersion"]), (&json!("id-2"), &json!("gemini-x")));
    let candidates = last["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), &candidates[0]["finishReason"]), (128, &json!("MAX_TOKENS")));
    assert_eq!(candidates[1]["groundingMetadata"], json!({"webSearchQueries": ["q"]}));
}

#[test]
fn an_error_is_the_last_event_and_an_array_stays_valid() {
    for as_array in [false, true] {
        for has_text in [false, true] {
            let (mut writer, mut out) = (writer(as_array), Vec::new());
            if has_text {
                writer.text("Hel", &mut out);
            }
            writer.fault(&StreamFault { status: 429, code: "rate-limit".into(), message: "slow".into() }, &mut out);
            writer.finish(&mut out);
            let events = events(as_array, &out);
            assert_eq!(events.len(), 1 + usize::from(has_text));
            let error = &events.last().unwrap()["error"];
            assert_eq!((&error["code"], &error["status"]), (&json!(429), &json!("RESOURCE_EXHAUSTED")));
            assert_eq!(error["details"][0]["reason"], "RATE_LIMIT");
        }
    }
}
