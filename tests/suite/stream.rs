//! Streams that arrive oddly, and streams that do not arrive whole.

use std::time::Duration;

use serde_json::json;

use crate::check;
use crate::support::client::{End, Stream};
use crate::support::host::breaks_responses_off;
use crate::support::script::{Answer, Ending, Framing, Gate};
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, chat, claude, data, gemini, message_of, responses, sse};

/// Long enough for bytes to go through the gateway before what follows them.
const A_MOMENT: Duration = Duration::from_millis(50);

/// B19: a byte at a time is a stream like any other, and figures are read from it just as well.
#[tokio::test]
async fn b19_a_stream_may_drip_a_byte_at_a_time() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let events = wire.events();
        let text = sse(events.clone()).replace("Hello", "北🌍é");
        let mut stream = stage.streamed(Answer::events().drip(&text)).await;
        let expected = sse(wire.events_for_client()).replace("Hello", "北🌍é");
        assert_eq!(stream.rest_text().await, (expected, End::Complete), "{wire:?}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

/// B19: wherever the network cuts, the client gets the same bytes and the same figures are read.
#[tokio::test]
async fn b19_every_cut_gives_the_same_stream() {
    let stage = Stage::new(Wire::Chat).await;
    let usage = data(r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#);
    let events = [data(r#"{"choices":[{"delta":{"content":"北🌍"}}]}"#), usage, chat::DONE.to_owned()];
    let text = sse(events.clone());
    let expected = sse([&events[0], &events[2]]);
    for cut in 1..text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        let mut stream = stage.streamed(Answer::events().pieces([head.to_vec(), tail.to_vec()])).await;
        assert_eq!(stream.rest_text().await, (expected.clone(), End::Complete), "cut at {cut}");
    }
    let requests = text.len() as i64 - 1;
    let expected = [("requests", requests), ("calls", requests), ("input", requests), ("output", 2 * requests)];
    check_counts(&stage.usage(requests).await, &expected);
}

/// B20: carriage returns, comments, missing spaces and data in several lines are passed on as they are and understood.
#[tokio::test]
async fn b20_odd_line_ends_and_comments_pass() {
    let chat = ": hi\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"},\r\ndata:\"finish_reason\":null}]}\r\n\r\n\
                data:{\"choices\":[],\r\ndata: \"usage\":{\"prompt_tokens\":11,\"completion_tokens\":5}}\r\n\r\ndata:[DONE]\r\n\r\n";
    let claude = ": hi\r\nevent:message_start\r\ndata:{\"message\":{\"usage\":{\"input_tokens\":11}}}\r\n\r\n\
                  id: 7\r\nretry: 10\r\nevent:message_delta\r\ndata:{\"delta\":{},\r\ndata: \"usage\":{\"output_tokens\":5}}\r\n\r\n\
                  event:message_stop\r\ndata:{}\r\n\r\n";
    let gemini = "data:{\"candidates\":[{\"finishReason\":\"STOP\"}],\r\ndata:\"usageMetadata\":{\"promptTokenCount\":11,\"candidatesTokenCount\":5}}\r\n\r\n";
    for (wire, text) in [(Wire::Claude, claude), (Wire::Gemini, gemini)] {
        let stage = Stage::new(wire).await;
        let mut stream = stage.streamed(Answer::sse([text])).await;
        assert_eq!(stream.rest_text().await, (text.to_owned(), End::Complete), "{wire:?}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
    let stage = Stage::new(Wire::Chat).await;
    stage.upstream.answer(Answer::sse([chat]));
    let body = format!(r#"{{"model":"{}","stream":true,"stream_options":{{"include_usage":true}}}}"#, stage.model());
    let mut stream = stage.post("/v1/chat/completions", body).open().await;
    assert_eq!(stream.rest_text().await, (chat.to_owned(), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// B20, B35: the usage chunk that nobody asked for is found in any spelling of an event.
#[tokio::test]
async fn b20_an_unasked_usage_chunk_is_taken_out_in_any_spelling() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
    for event in [
        format!("data:{usage}\n\n"),
        format!("data: {usage}\r\n\r\n"),
        format!("event: chunk\ndata: {usage}\n\n"),
        format!(": a comment\ndata: {usage}\n\n"),
        format!("id: 1\ndata: {usage}\n\n"),
        usage.split_once(',').map(|(head, tail)| format!("data: {head},\ndata: {tail}\n\n")).unwrap(),
    ] {
        let stage = Stage::new(Wire::Chat).await;
        let events = [chat::delta("a"), chat::finish("stop"), event.clone(), chat::DONE.to_owned()];
        let mut stream = stage.streamed(Answer::sse(events)).await;
        let (text, end) = stream.rest_text().await;
        assert!(!text.contains("prompt_tokens"), "{event:?} reached a client that did not ask: {text}");
        assert!(text.ends_with(chat::DONE), "{text}");
        assert_eq!(end, End::Complete);
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 7), ("output", 3)]);
    }
}

/// B34: nulls and zeros do not count, figures are not summed, the last that says anything stands.
#[tokio::test]
async fn b34_the_last_figures_that_count_anything_stand() {
    let chunk = |usage: &str| {
        data(&format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}},"finish_reason":null}}],"usage":{usage}}}"#
        ))
    };
    let zeros = chat::usage_object(0, 0);
    let stage = Stage::new(Wire::Chat).await;
    let events = [
        chunk("null"),
        chunk(&zeros),
        chunk(&chat::usage_object(7, 1)),
        chat::usage(7, 3),
        chunk(&zeros),
        chat::finish("stop"),
        chat::DONE.to_owned(),
    ];
    let mut stream = stage.streamed(Answer::sse(events)).await;
    assert_eq!(stream.rest().await.1, End::Complete);
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 7), ("output", 3)]);
}

/// B34: without any figure an estimate is recorded, and marked.
#[tokio::test]
async fn b34_without_figures_there_is_a_marked_estimate() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let events = match wire {
            Wire::Chat => vec![chat::delta("a"), chat::delta("b"), chat::finish("stop"), chat::DONE.to_owned()],
            Wire::Responses => vec![
                responses::delta(0, "a"),
                data(r#"{"type":"response.completed","response":{"status":"completed","usage":null}}"#),
            ],
            Wire::Claude => vec![claude::delta("a"), claude::message_stop()],
            Wire::Gemini => vec![data(r#"{"candidates":[{"content":{},"finishReason":"STOP"}]}"#)],
        };
        let mut stream = stage.streamed(Answer::sse(events)).await;
        assert_eq!(stream.rest().await.1, End::Complete);
        let total = stage.usage(1).await;
        assert_eq!((&total["estimated_calls"], &total["failed_calls"]), (&json!(1), &json!(0)), "{wire:?}: {total}");
        assert!(total["input"].as_i64() > Some(0) && total["output"].as_i64() > Some(0), "{wire:?}: {total}");
    }
}

/// The first events of a stream, none of which is its end.
fn beginning(wire: Wire) -> Vec<String> {
    match wire {
        Wire::Chat => vec![chat::role(), chat::delta("Hel")],
        Wire::Responses => vec![responses::created(), responses::delta(1, "Hel")],
        Wire::Claude => vec![claude::message_start(11, 1), claude::block_start(), claude::delta("Hel")],
        Wire::Gemini => vec![data(&gemini::chunk("Hel", "", &gemini::usage_object(11, 0)))],
    }
}

/// Checks that a broken stream ends with the dialect's own event of failure and with no mark of success.
async fn check_broken(wire: Wire, stream: &mut Stream, what: &str) {
    let request_id = stream.headers["x-gateway-request-id"].to_str().unwrap().to_owned();
    let (text, end) = stream.rest_text().await;
    let sent = sse(beginning(wire));
    let rest = text.strip_prefix(&sent).unwrap_or_else(|| panic!("{wire:?}, {what}: {text}"));
    let last = rest.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_else(|| panic!("{what}: {rest:?}"));
    let message = message_of(&serde_json::from_str(last).unwrap()).to_owned();
    assert_eq!(rest, wire.error_event(502, "upstream_cut", &message, &request_id), "{wire:?}, {what}");
    assert_eq!(end, End::Complete, "{wire:?}, {what}");
}

/// B28, B29: a stream that breaks off between two events is told to be broken, in the client's dialect.
#[tokio::test]
async fn b28_a_broken_stream_ends_with_an_error_event() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        for (framing, ending, what) in [
            (Framing::Chunked, Ending::Closed, "closed within chunks"),
            (Framing::Chunked, Ending::Reset, "reset within chunks"),
            (Framing::Chunked, Ending::Proper, "ended in HTTP, not in the dialect"),
            (Framing::UntilClose, Ending::Proper, "closed without framing"),
            (Framing::Claimed(100_000), Ending::Closed, "shorter than it claimed"),
        ] {
            let answer = Answer::sse(beginning(wire)).framing(framing).ending(ending);
            // A reset may overtake bytes that were sent before it.
            let answer = if ending == Ending::Reset { answer.pause(A_MOMENT) } else { answer };
            let mut stream = stage.streamed(answer).await;
            check_broken(wire, &mut stream, what).await;
        }
        let total = stage.usage(5).await;
        assert_eq!((&total["calls"], &total["failed_calls"]), (&json!(5), &json!(5)), "{wire:?}: {total}");
        let figures_came = matches!(wire, Wire::Claude | Wire::Gemini);
        assert_eq!(total["estimated_calls"], if figures_came { 0 } else { 5 }, "{wire:?}: {total}");
    }
}

/// B28: within an event nothing can be put in, so the client sees the stream break, where the host can do that; else the event is
/// ended where it is, and an error follows.
#[tokio::test]
async fn b28_a_stream_that_breaks_within_an_event_breaks_for_the_client() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let mut events = beginning(wire);
        let half = wire.events().swap_remove(1);
        events.push(half[..half.len() / 2].to_owned());
        let answer = Answer::sse(events).pause(A_MOMENT).ending(Ending::Closed);
        let (text, end) = stage.streamed(answer).await.rest_text().await;
        assert!(text.starts_with(&sse(beginning(wire))), "{wire:?}: {text}");
        let is_told = text.rsplit_once("\n\n").is_some_and(|(text, _)| text.to_lowercase().contains("upstream_cut"));
        let expected = if breaks_responses_off() { (End::Broken, false) } else { (End::Complete, true) };
        assert_eq!((end, is_told), expected, "{wire:?}: {text}");
        assert_eq!(stage.usage(1).await["failed_calls"], 1);
    }
}

/// B28: a proper end of the connection within an event is no proper end of the stream.
#[tokio::test]
async fn b28_a_stream_that_ends_within_an_event_is_told_to_be_broken() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let mut events = beginning(wire);
        let half = wire.events().swap_remove(1);
        events.push(half[..half.len() / 2].to_owned());
        let (text, end) = stage.streamed(Answer::sse(events).framing(Framing::UntilClose)).await.rest_text().await;
        assert!(text.starts_with(&sse(beginning(wire))), "{wire:?}: {text}");
        assert!(text.to_lowercase().contains("upstream_cut") && text.ends_with("\n\n"), "{wire:?}: {text}");
        assert_eq!(end, End::Complete, "{wire:?}");
        assert_eq!(stage.usage(1).await["failed_calls"], 1);
    }
}

/// B28: a break after the end changes nothing for the client, whether it comes at once or later.
#[tokio::test]
async fn b28_a_break_after_the_end_is_no_failure() {
    for (wire, pause) in Wire::ALL.into_iter().flat_map(|wire| [(wire, A_MOMENT), (wire, Duration::ZERO)]) {
        let stage = Stage::new(wire).await;
        stage.upstream.answer(Answer::sse(wire.events()).pause(pause).ending(Ending::Closed));
        let opened = stage.call(true).try_open().await;
        let mut stream = opened.unwrap_or_else(|error| panic!("{wire:?} after {pause:?}: the answer is lost: {error}"));
        let (text, _) = stream.rest_text().await;
        assert_eq!(text, sse(wire.events_for_client()), "{wire:?} after {pause:?}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

/// B28: what the vendor has sent before a break reaches the client, even when both arrive in one go.
#[tokio::test]
async fn b28_what_came_before_a_break_is_delivered() {
    let stage = Stage::new(Wire::Claude).await;
    let events = beginning(Wire::Claude);
    let bytes = sse(events.clone()) + "event: content_block_delta\ndata: {";
    // Whether the break is seen with the bytes or after them is the network's choice.
    for _ in 0..40 {
        stage.upstream.answer(Answer::sse([bytes.clone()]).ending(Ending::Closed));
        let opened = stage.call(true).try_open().await;
        let mut stream = opened.unwrap_or_else(|error| panic!("what came is lost: {error}"));
        let (text, end) = stream.rest_text().await;
        assert!(text.starts_with(&sse(events.clone())), "{text}");
        assert_eq!(end, if breaks_responses_off() { End::Broken } else { End::Complete });
    }
}

/// B28: nothing was sent yet, so another provider may still answer, and the client never learns of the first.
#[tokio::test]
async fn b28_a_stream_that_breaks_before_its_first_event_fails_over() {
    for wire in Wire::ALL {
        let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
        let route = format!("route-{}", first.provider);
        let member = |stage: &Stage<'_>, tier: u32| json!({"provider": stage.provider, "model": "m", "tier": tier});
        let members = [member(&first, 0), member(&second, 1)];
        first.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
        first.upstream.answer(Answer::events().ending(Ending::Closed));
        second.upstream.answer(Answer::sse(wire.events()));
        let mut stream = first.post(&wire.target(&route, true), wire.request(&route, true)).open().await;
        let expected = (sse(wire.events_for_client()), End::Complete);
        assert_eq!(stream.rest_text().await, expected, "{wire:?}");
    }
}

/// A buffered answer that breaks off is no answer: nothing of it has reached the client, who gets an error, or what another
/// provider answers.
#[tokio::test]
async fn b28_a_broken_buffered_answer_is_not_made_whole() {
    for (framing, ending) in [
        (Framing::Chunked, Ending::Closed),
        (Framing::Claimed(100_000), Ending::Closed),
        (Framing::Claimed(100_000), Ending::Reset),
    ] {
        let stage = Stage::new(Wire::Chat).await;
        let body = Wire::Chat.answer();
        let half = body[..body.len() / 2].to_owned();
        stage.upstream.answer(Answer::json(200, half).framing(framing).ending(ending).pause(A_MOMENT));
        let reply = stage.call(false).send().await;
        check::error(&reply, Wire::Chat, 502, "upstream_unreachable");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("failed_calls", 1)]);
    }
}

/// B80: thousands of small events pass whole and are counted right.
#[tokio::test]
async fn b80_thousands_of_events_pass() {
    let stage = Stage::new(Wire::Chat).await;
    let words: Vec<String> = (0..4000).map(|number| format!("w{number} ")).collect();
    let pieces: Vec<&str> = words.iter().map(String::as_str).collect();
    let events = chat::events(&pieces, 11, 4000);
    let expected = sse(events.iter().filter(|event| !event.contains("\"choices\":[]")));
    let mut stream = stage.streamed(Answer::sse(events)).await;
    let (text, end) = stream.rest_text().await;
    assert!(text == expected, "the stream is not the same");
    assert_eq!(end, End::Complete);
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 4000)]);
}

/// B79: a line without an end fills no memory and does not stop what follows it.
#[tokio::test]
async fn b79_an_event_longer_than_any_limit_passes() {
    let stage = Stage::new(Wire::Claude).await;
    let long = claude::delta(&"x".repeat(20_000_000));
    let mut events = vec![claude::message_start(11, 1), long];
    events.extend([claude::message_delta(5), claude::message_stop()]);
    let expected = sse(events.clone());
    let mut stream = stage.streamed(Answer::sse(events)).await;
    let (text, end) = stream.rest_text().await;
    assert!(text == expected, "the stream is not the same");
    assert_eq!(end, End::Complete);
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// B19: bytes that are no text do not stop the stream.
#[tokio::test]
async fn b19_invalid_bytes_pass() {
    let stage = Stage::new(Wire::Chat).await;
    let mut bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n".to_vec();
    let answer = Answer::events().piece(bytes.clone()).piece(chat::usage(11, 5)).piece(chat::DONE);
    let mut stream = stage.streamed(answer).await;
    bytes.extend_from_slice(chat::DONE.as_bytes());
    let (body, end) = stream.rest().await;
    assert_eq!((&body[..], end), (&bytes[..], End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// Several choices finish one by one, and figures come last: nothing is over before its mark.
#[tokio::test]
async fn a_choice_that_finishes_ends_nothing() {
    let stage = Stage::new(Wire::Chat).await;
    let chunk = |index: u32, reason: &str| {
        data(&format!(r#"{{"choices":[{{"index":{index},"delta":{{"content":"a"}},"finish_reason":{reason}}}]}}"#))
    };
    let pause = Duration::from_millis(1300);
    let events =
        [chunk(0, "\"stop\""), chunk(1, "null"), chunk(1, "\"length\""), chat::usage(11, 5), chat::DONE.to_owned()];
    let mut answer = Answer::events();
    for event in &events {
        answer = answer.piece(event.clone()).pause(pause);
    }
    let mut stream = stage.streamed(answer).await;
    let expected = sse(events.iter().filter(|event| !event.contains("\"choices\":[]")).cloned());
    assert_eq!(stream.rest_text().await, (expected, End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// Gemini's stream without `alt=sse` is one array, and comes piece by piece like any other.
#[tokio::test]
async fn a_gemini_array_is_not_held_back() {
    let stage = Stage::new(Wire::Gemini).await;
    let gate = Gate::new();
    let part = gemini::chunk("Hel", "", &gemini::usage_object(11, 0));
    let last = gemini::chunk("lo", r#","finishReason":"STOP""#, &gemini::usage_object(11, 5));
    let answer = Answer::new(200).header("content-type", "application/json").framing(Framing::Chunked);
    stage.upstream.answer(answer.piece(format!("[{part}")).wait(&gate).piece(format!(",{last}]")));
    let target = format!("/v1beta/models/{}:streamGenerateContent", stage.model());
    let mut stream = stage.post(&target, r#"{"contents":[{"parts":[{"text":"Hello?"}]}]}"#).open().await;
    stream.expect(&format!("[{part}")).await;
    gate.open();
    assert_eq!(stream.rest_text().await, (format!(",{last}]"), End::Complete));
    check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
}

/// A client that does not read holds its vendor up; what it has not read does not pile up in the gateway.
#[tokio::test]
async fn what_a_slow_client_has_not_read_waits_at_the_vendor() {
    for (answer, stream) in [(Answer::events(), true), (Answer::new(200).framing(Framing::UntilClose), false)] {
        let stage = Stage::new(Wire::Claude).await;
        let piece = claude::delta(&"x".repeat(256 << 10));
        // 100 MiB in two seconds and more; a vendor behind a network is no faster.
        let answer = (0..400).fold(answer, |answer, _| answer.piece(piece.clone()).pause(Duration::from_millis(5)));
        stage
            .upstream
            .answer(answer.header("content-type", if stream { "text/event-stream" } else { "application/json" }));
        let slow = stage.call(stream).open().await;
        // Long enough for all of it, if anybody took it.
        tokio::time::sleep(Duration::from_secs(5)).await;
        let sent = stage.upstream.sent_bytes();
        assert!(sent < 50 << 20, "the vendor got rid of {sent} bytes that nobody has read; streamed: {stream}");
        drop(slow);
    }
}
