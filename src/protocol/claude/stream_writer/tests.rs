//! Tests of the stream writer.

use super::*;

fn reply() -> Reply {
    Reply { id: "r1".to_owned(), model: "m".to_owned(), ..Reply::default() }
}

/// The events, each as its name, its block's place and what it brings; checks the frames.
fn events(out: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(out).unwrap();
    let event = |frame: &str| {
        let (name, data) = frame.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        let value: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(value["type"], name);
        assert!(StreamEvent::parse(data).unwrap().name().is_some());
        let place = value["index"].as_u64().map(|index| format!(" {index}")).unwrap_or_default();
        let delta = &value["delta"];
        let members = ["text", "thinking", "signature", "partial_json", "stop_reason"];
        let text = members.iter().find_map(|member| delta[member].as_str()).unwrap_or_default();
        let kind = value["content_block"]["type"].as_str().unwrap_or(text);
        format!("{}{place} {kind}", name.replace("content_block_", "")).trim_end().to_owned()
    };
    text.strip_suffix("\n\n").unwrap_or_default().split("\n\n").map(event).collect()
}

fn write(steps: impl FnOnce(&mut StreamWriter, &mut Vec<u8>)) -> Vec<String> {
    let (mut writer, mut out) = (StreamWriter::new(&reply()), Vec::new());
    steps(&mut writer, &mut out);
    writer.finish(&mut out);
    let length = out.len();
    writer.finish(&mut out);
    writer.text("late", &mut out);
    writer.fault(&StreamFault::cut_off(), &mut out);
    assert!(writer.is_over() && out.len() == length, "nothing follows the end");
    events(&out)
}

/// B22: one start, blocks one after another, each delta in a block of its kind.
#[test]
fn thinking_and_text_alternate_in_blocks_of_their_own() {
    let written = write(|writer, out| {
        writer.start("chatcmpl-1", "m", None, out);
        writer.start("again", "m", None, out);
        writer.thinking("a", out);
        writer.thinking("b", out);
        writer.text("X", out);
        writer.text("", out);
        writer.text("Y", out);
        writer.thinking("c", out);
        writer.text("Z", out);
    });
    let expected = [
        "message_start",
        "start 0 thinking",
        "delta 0 a",
        "delta 0 b",
        "stop 0",
        "start 1 text",
        "delta 1 X",
        "delta 1 Y",
        "stop 1",
        "start 2 thinking",
        "delta 2 c",
        "stop 2",
        "start 3 text",
        "delta 3 Z",
        "stop 3",
        "message_delta end_turn",
        "message_stop",
    ];
    assert_eq!(written, expected);
}

#[test]
fn a_signature_ends_its_block_or_has_one_of_its_own() {
    let written = write(|writer, out| {
        writer.thinking("a", out);
        writer.signature("s1", out);
        writer.thinking("b", out);
        writer.signature("s2", out);
        writer.signature("s3", out);
        writer.redacted_thinking("r", out);
    });
    let expected = [
        "message_start",
        "start 0 thinking",
        "delta 0 a",
        "delta 0 s1",
        "stop 0",
        "start 1 thinking",
        "delta 1 b",
        "delta 1 s2",
        "stop 1",
        "start 2 thinking",
        "delta 2 s3",
        "stop 2",
        "start 3 redacted_thinking",
        "stop 3",
        "message_delta end_turn",
        "message_stop",
    ];
    assert_eq!(written, expected);
}

/// Calls that come side by side are written one after another, what comes first at once.
#[test]
fn calls_side_by_side_come_one_after_another() {
    let written = write(|writer, out| {
        writer.tool_use(0, "c0", "f", out);
        writer.tool_use(1, "c1", "g", out);
        writer.input_json(0, r#"{"a":"#, out);
        assert!(events(out).last().unwrap().starts_with("delta 0"), "the first call is not held back");
        writer.input_json(1, r#"{"b""#, out);
        writer.text("after", out);
        writer.input_json(0, r#"1}"#, out);
        writer.input_json(1, r#":2}"#, out);
        writer.tool_use(2, "c2", "h", out);
    });
    let expected = [
        "message_start",
        "start 0 tool_use",
        r#"delta 0 {"a":"#,
        "delta 0 1}",
        "stop 0",
        "start 1 tool_use",
        r#"delta 1 {"b""#,
        "delta 1 :2}",
        "stop 1",
        "start 2 text",
        "delta 2 after",
        "stop 2",
        "start 3 tool_use",
        "stop 3",
        "message_delta tool_use",
        "message_stop",
    ];
    assert_eq!(written, expected);
}

/// B08: a call without arguments has no deltas; and one that never gets complete loses nothing.
#[test]
fn calls_without_or_with_broken_arguments_end_with_the_stream() {
    let written = write(|writer, out| {
        writer.tool_use(7, "c0", "f", out);
        writer.tool_use(8, "c1", "g", out);
        writer.input_json(8, r#"{"b"#, out);
        writer.signature("s", out);
        writer.tool_use(8, "c2", "g", out);
        writer.input_json(8, "{}", out);
        writer.block(&serde_json::from_str(r#"{"type":"text","text":"x"}"#).unwrap(), out);
        writer.stop(StopReason::MaxTokens, None, None);
    });
    let expected = [
        "message_start",
        "start 0 tool_use",
        "stop 0",
        "start 1 tool_use",
        r#"delta 1 {"b"#,
        "stop 1",
        "start 2 thinking",
        "delta 2 s",
        "stop 2",
        "start 3 tool_use",
        "delta 3 {}",
        "stop 3",
        "start 4 text",
        "delta 4 x",
        "stop 4",
        "message_delta max_tokens",
        "message_stop",
    ];
    assert_eq!(written, expected);
}

/// B28: an error ends the stream and nothing looks like success.
#[test]
fn a_fault_is_the_last_event() {
    let (mut writer, mut out) = (StreamWriter::new(&reply()), Vec::new());
    writer.text("Hel", &mut out);
    writer.fault(&StreamFault::cut_off(), &mut out);
    writer.finish(&mut out);
    assert!(writer.is_over());
    let written = events(&out);
    assert_eq!(written, ["message_start", "start 0 text", "delta 0 Hel", "error"]);
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(r#""type":"api_error""#) || text.contains(r#""type":"overloaded_error""#), "{text}");
    assert!(text.contains(r#""details":{"error_code":"upstream_cut"}"#), "{text}");
}

/// What was held back when the stream failed is not written any more.
#[test]
fn nothing_that_was_held_back_follows_a_fault() {
    let (mut writer, mut out) = (StreamWriter::new(&reply()), Vec::new());
    writer.tool_use(0, "c0", "f", &mut out);
    writer.tool_use(1, "c1", "g", &mut out);
    writer.text("x", &mut out);
    writer.fault(&StreamFault::cut_off(), &mut out);
    let length = out.len();
    writer.call_end(0, &mut out);
    writer.call_end(1, &mut out);
    writer.finish(&mut out);
    assert_eq!(out.len(), length);
}

#[test]
fn the_start_and_the_end_tell_what_is_known() {
    let (mut writer, mut out) = (StreamWriter::new(&reply()), Vec::new());
    writer.usage(&Usage { input_tokens: Some(9), ..Usage::default() });
    writer.text("\"\n", &mut out);
    writer.usage(&Usage { output_tokens: Some(4), ..Usage::default() });
    writer.stop(StopReason::StopSequence, Some("END"), None);
    writer.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    for part in [
        r#""id":"msg_r1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null"#,
        r#""usage":{"input_tokens":9,"output_tokens":0}}"#,
        r#""delta":{"type":"text_delta","text":"\"\n"}}"#,
        r#""delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"input_tokens":9,"output_tokens":4}}"#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
