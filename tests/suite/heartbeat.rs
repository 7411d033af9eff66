//! Signs of life for the clients of quiet streams.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::OnceCell;

use crate::support::client::End;
use crate::support::host::Host;
use crate::support::script::{Answer, Ending, Gate};
use crate::support::setup::Setup;
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, sse};

/// How long a stream may be quiet at [`host`].
const PERIOD: Duration = Duration::from_millis(400);

/// A gateway whose streams may not be quiet for long, and whose responses do not wait for contents for long.
pub async fn host() -> &'static Host {
    static HOST: OnceCell<Host> = OnceCell::const_new();
    HOST.get_or_init(|| async {
        let host = Host::start(Setup::default().one_isolate());
        host.import(&json!({"settings": {"stream": {"heartbeat_ms": PERIOD.as_millis() as u32, "read_ahead_ms": 50}}}))
            .await;
        host
    })
    .await
}

/// What a dialect has that its clients read over.
pub fn heartbeat(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat | Wire::Responses => ": keep-alive\n\n",
        Wire::Claude => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        Wire::Gemini => "\n",
    }
}

/// Clients time out on silence, so a vendor that thinks for long must not look like one that is gone.
#[tokio::test]
async fn a_quiet_stream_gets_signs_of_life() {
    for wire in Wire::ALL {
        let stage = Stage::on(host().await, wire).await;
        let gate = Gate::new();
        let mut events = wire.events();
        let first = events.remove(0);
        let mut stream = stage.streamed(Answer::sse([first.clone()]).wait(&gate).pieces(events)).await;
        stream.expect(&first).await;
        let started = Instant::now();
        stream.expect(heartbeat(wire)).await;
        stream.expect(heartbeat(wire)).await;
        assert!(started.elapsed() >= PERIOD, "{wire:?}: that was no silence");
        gate.open();
        let (text, end) = stream.rest_text().await;
        let rest = sse(wire.events_for_client().into_iter().skip(1));
        assert_eq!(
            (text.replace(heartbeat(wire), ""), end),
            (rest.replace(heartbeat(wire), ""), End::Complete),
            "{wire:?}"
        );
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}

/// Within an event a sign of life would break it.
#[tokio::test]
async fn an_event_is_not_torn_by_a_sign_of_life() {
    for wire in Wire::ALL {
        let stage = Stage::on(host().await, wire).await;
        let text = sse(wire.events());
        let (head, tail) = text.split_at(wire.events()[0].len() / 2);
        let answer = Answer::sse([head.to_owned()]).pause(3 * PERIOD).piece(tail.to_owned());
        let (text, end) = stage.streamed(answer).await.rest_text().await;
        assert_eq!((text, end), (sse(wire.events_for_client()), End::Complete), "{wire:?}");
    }
}

/// A vendor that leaves its connection open after the end of the stream keeps nobody waiting.
#[tokio::test]
async fn a_stream_that_has_said_its_end_is_over() {
    // Gemini's has no mark of its end, so there the vendor has the last word.
    for wire in [Wire::Chat, Wire::Responses, Wire::Claude] {
        let stage = Stage::on(host().await, wire).await;
        let mut stream = stage.streamed(Answer::sse(wire.events()).ending(Ending::Silent)).await;
        assert_eq!(stream.rest_text().await, (sse(wire.events_for_client()), End::Complete), "{wire:?}");
        check_counts(&stage.usage(1).await, &[("requests", 1), ("calls", 1), ("input", 11), ("output", 5)]);
    }
}
