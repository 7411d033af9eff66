//! How converted streams end when something goes wrong, and that quiet ones stay alive.

use std::time::Duration;

use super::{call, minimal, pairs, stage, stage_on};
use crate::heartbeat;
use crate::support::client::End;
use crate::support::corpus::events;
use crate::support::script::{Answer, Ending, Gate};
use crate::support::vendors::Wire;

/// Whether a stream claims to have gone well.
fn claims_success(client: Wire, events: &[(String, String)]) -> bool {
    let marks: &[&str] = match client {
        Wire::Chat => &["\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\""],
        Wire::Responses => &["response.completed", "response.incomplete"],
        Wire::Claude => &["message_stop"],
        Wire::Gemini => &["\"finishReason\":"],
    };
    events.iter().any(|(_, data)| marks.iter().any(|mark| data.contains(mark)))
}

/// Whether a stream tells of an error in its dialect's way.
fn tells_error(client: Wire, events: &[(String, String)]) -> bool {
    let is_error = |(name, data): &(String, String)| match client {
        Wire::Chat | Wire::Gemini => data.starts_with("{\"error\":"),
        Wire::Responses => name == "error" || name == "response.failed",
        Wire::Claude => name == "error",
    };
    events.iter().any(is_error)
}

#[track_caller]
fn check_failed(client: Wire, vendor: Wire, body: &[u8]) {
    let events = events(body);
    let shown = String::from_utf8_lossy(body);
    assert!(tells_error(client, &events), "{vendor:?} for {client:?}: {shown}");
    assert!(!claims_success(client, &events), "{vendor:?} for {client:?}: {shown}");
}

/// The beginning of a text, without its end.
fn beginning(vendor: Wire) -> String {
    let stream = vendor.case("stream", if vendor == Wire::Chat { "text-with-usage" } else { "text" });
    let end = stream.rfind(match vendor {
        Wire::Chat => "\"finish_reason\":\"stop\"",
        Wire::Responses => "event: response.output_text.done",
        Wire::Claude => "event: content_block_stop",
        Wire::Gemini => "\"finishReason\"",
    });
    let (head, _) = stream.split_at(end.expect("an end"));
    let whole = head.rfind("\n\n").map_or(0, |at| at + 2);
    head[..whole].to_owned()
}

/// B28: a break is an error, never an end.
#[tokio::test]
async fn b28_a_stream_that_breaks_off_ends_with_an_error() {
    for (client, vendor) in pairs() {
        for ending in [Ending::Proper, Ending::Closed] {
            let stage = stage(vendor).await;
            stage.upstream.answer(Answer::events().piece(beginning(vendor)).ending(ending));
            let mut answer = call(&stage, client, minimal(client), true).open().await;
            let (body, end) = answer.rest().await;
            assert_eq!(end, End::Complete, "{vendor:?} for {client:?}");
            check_failed(client, vendor, &body);
            let total = stage.usage(1).await;
            assert_eq!(total["failed_calls"], 1, "{total}");
        }
    }
}

/// An event that is too long to keep is missing, and what misses something has not gone well.
#[tokio::test]
async fn an_event_beyond_the_bound_is_an_error() {
    let stage = stage(Wire::Claude).await;
    let head = beginning(Wire::Claude);
    let tail = Wire::Claude.case("stream", "text")[head.len()..].to_owned();
    let text = "x".repeat(17 << 20);
    let long = format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
    );
    stage.upstream.answer(Answer::events().piece(head).piece(long).piece(tail));
    let mut answer = call(&stage, Wire::Chat, minimal(Wire::Chat), true).open().await;
    let (body, _) = answer.rest().await;
    check_failed(Wire::Chat, Wire::Claude, &body);
}

/// B29: the vendor's own error inside a stream, in the client's words.
#[tokio::test]
async fn b29_an_error_in_a_stream_becomes_one_of_the_client() {
    for (client, vendor) in pairs() {
        let stage = stage(vendor).await;
        let name = match vendor {
            Wire::Chat => "b28-error-after-text",
            Wire::Responses => "failed-after-text",
            Wire::Claude => "error-overloaded-midway",
            Wire::Gemini => "error-midway",
        };
        stage.upstream.answer(Answer::events().piece(vendor.case("stream", name)));
        let mut answer = call(&stage, client, minimal(client), true).open().await;
        let (body, end) = answer.rest().await;
        assert_eq!(end, End::Complete);
        check_failed(client, vendor, &body);
    }
}

/// B31: a quiet vendor, and one that only pings, look alive to every client.
#[tokio::test]
async fn b31_a_quiet_stream_gets_signs_of_life() {
    let host = heartbeat::host().await;
    for (client, vendor) in pairs() {
        let stage = stage_on(host, vendor, serde_json::json!({})).await;
        let gate = Gate::new();
        let stream = vendor.case("stream", if vendor == Wire::Chat { "text-with-usage" } else { "text" });
        let head = beginning(vendor);
        let tail = stream[head.len()..].to_owned();
        let pings = Answer::events().piece(head).pause(Duration::from_millis(100)).wait(&gate).piece(tail);
        stage.upstream.answer(pings);
        let mut answer = call(&stage, client, minimal(client), true).open().await;
        let alive = heartbeat::heartbeat(client);
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).ends_with(&format!("\n\n{}", alive.repeat(2))) {
            seen.extend_from_slice(&answer.next().await.expect("a sign of life").expect("no break"));
        }
        gate.open();
        let (_, end) = answer.rest().await;
        assert_eq!(end, End::Complete);
    }
}

#[tokio::test]
async fn a_vendors_ping_is_a_sign_of_life_in_the_clients_words() {
    for client in Wire::Claude.others() {
        let stage = stage(Wire::Claude).await;
        let gate = Gate::new();
        let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
        let head = beginning(Wire::Claude);
        stage.upstream.answer(Answer::events().piece(head).pause(Duration::from_millis(200)).piece(ping).wait(&gate));
        let mut answer = call(&stage, client, minimal(client), true).open().await;
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).ends_with(&format!("\n\n{}", heartbeat::heartbeat(client))) {
            seen.extend_from_slice(&answer.next().await.expect("a sign of life").expect("no break"));
        }
        gate.open();
        answer.rest().await;
    }
}
