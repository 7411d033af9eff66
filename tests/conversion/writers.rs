//! The writers of streams, told anything in any order: what they write has to be a valid stream, and nothing may be lost.

use proptest::prelude::*;
use serde_json::Value;
use tollgate::protocol::claude;
use tollgate::protocol::claude::wire::response::StopReason;
use tollgate::protocol::convert::Reply;
use tollgate::protocol::dialect::Dialect;
use tollgate::protocol::gemini;
use tollgate::protocol::gemini::wire::response::FinishReason;

use crate::validate;

/// What a writer is told.
#[derive(Debug, Clone)]
enum Step {
    Text(String),
    Thinking(String),
    Signature,
    Redacted,
    Open(usize),
    Arguments(usize, &'static str),
    Close(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let piece = prop::sample::select(vec!["{", "{\"a\":", "\"}\"", "1}", "}", "{}", "", " ", "x"]);
    prop_oneof![
        "[a-c\"\n]{0,3}".prop_map(Step::Text),
        "[d-f]{0,3}".prop_map(Step::Thinking),
        Just(Step::Signature),
        Just(Step::Redacted),
        (0..3usize).prop_map(Step::Open),
        (0..3usize, piece).prop_map(|(key, piece)| Step::Arguments(key, piece)),
        (0..3usize).prop_map(Step::Close),
    ]
}

/// All texts that `take` finds in steps.
fn all(steps: &[Step], take: fn(&Step) -> &str) -> String {
    steps.iter().map(take).collect()
}

fn text(step: &Step) -> &str {
    if let Step::Text(text) = step { text } else { "" }
}

fn thinking(step: &Step) -> &str {
    if let Step::Thinking(text) = step { text } else { "" }
}

/// The data of the events.
fn data(out: &[u8]) -> (Vec<(String, String)>, Vec<Value>) {
    let events = validate::events(std::str::from_utf8(out).unwrap());
    let data = events.iter().map(|(_, data)| serde_json::from_str(data).unwrap()).collect();
    (events, data)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn claudes_streams_are_valid_and_whole(steps in proptest::collection::vec(step(), 0..25)) {
        let mut writer = claude::stream_writer::StreamWriter::new(&Reply { id: "r".into(), model: "m".into(), ..Reply::default() });
        let mut out = Vec::new();
        for step in &steps {
            match step {
                Step::Text(text) => writer.text(text, &mut out),
                Step::Thinking(text) => writer.thinking(text, &mut out),
                Step::Signature => writer.signature("c2ln", &mut out),
                Step::Redacted => writer.redacted_thinking("ZGF0YQ==", &mut out),
                Step::Open(key) => writer.tool_use(*key, "toolu_1", "f", &mut out),
                Step::Arguments(key, piece) => writer.input_json(*key, piece, &mut out),
                Step::Close(key) => writer.call_end(*key, &mut out),
            }
        }
        // After this reason arguments may be cut.
        writer.stop(StopReason::MaxTokens, None, None);
        writer.finish(&mut out);
        let (events, data) = data(&out);
        prop_assert_eq!(validate::stream(Dialect::Claude, &events), Vec::<String>::new());
        let joined = |member: &str| data.iter().filter_map(|event| event["delta"][member].as_str()).collect::<String>();
        prop_assert_eq!(joined("text"), all(&steps, text));
        prop_assert_eq!(joined("thinking"), all(&steps, thinking));
        let calls = data.iter().filter(|event| event["content_block"]["type"] == "tool_use").count();
        prop_assert_eq!(calls, steps.iter().filter(|step| matches!(step, Step::Open(_))).count());
    }

    #[test]
    fn geminis_streams_are_valid_and_whole(steps in proptest::collection::vec(step(), 0..25)) {
        let mut writer = gemini::stream_writer::StreamWriter::new(&Reply { id: "r".into(), model: "m".into(), ..Reply::default() });
        let mut out = Vec::new();
        for step in &steps {
            match step {
                Step::Text(text) => writer.text(text, &mut out),
                Step::Thinking(text) => writer.thought(text, &mut out),
                Step::Signature | Step::Redacted => writer.signature("c2ln", &mut out),
                Step::Open(key) => writer.function_call(*key, None, "f", &mut out),
                Step::Arguments(key, piece) => writer.arguments(*key, piece, &mut out),
                Step::Close(key) => writer.call_end(*key, &mut out),
            }
        }
        writer.finish_reason(FinishReason::MaxTokens, None);
        writer.finish(&mut out);
        let (events, data) = data(&out);
        prop_assert_eq!(validate::stream(Dialect::Gemini, &events), Vec::<String>::new());
        let parts: Vec<&Value> =
            data.iter().filter_map(|event| event["candidates"][0]["content"]["parts"].as_array()).flatten().collect();
        let joined = |is_thought: bool| {
            let of_kind = parts.iter().filter(|part| (part["thought"] == true) == is_thought);
            of_kind.filter_map(|part| part["text"].as_str()).collect::<String>()
        };
        prop_assert_eq!(joined(false), all(&steps, text));
        prop_assert_eq!(joined(true), all(&steps, thinking));
    }
}
