//! What happens to the bytes of an answer on their way to the client.

use bytes::Bytes;
use http::StatusCode;

use super::settle::Settlement;
use crate::platform::body::{Editor, Ending, Observer};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::Failure;
use crate::protocol::meter::{Meter, Outcome};
use crate::protocol::openai_chat::stream::UsageChunkRemover;

/// Reads usage on the side, ends a stream that breaks off with the dialect's error event, and settles.
pub(super) struct Metered {
    meter: Meter,
    dialect: Dialect,
    events: bool,
    settlement: Settlement,
}

impl Metered {
    /// Watches an answer in `dialect`; `events` when it is a stream of events.
    pub(super) fn new(dialect: Dialect, events: bool, settlement: Settlement) -> Self {
        Self { meter: Meter::new(dialect, events), dialect, events, settlement }
    }
}

impl Observer for Metered {
    fn chunk(&mut self, chunk: &Bytes) {
        self.meter.chunk(chunk);
    }

    fn may_append(&self) -> bool {
        self.events
    }

    fn end(self: Box<Self>, ending: Ending) -> Bytes {
        let Self { meter, dialect, events, settlement } = *self;
        let may_append = events && meter.at_border();
        let reading = meter.finish();
        let outcome = match (&ending, reading.outcome) {
            (_, Outcome::Failed) => "upstream_failed",
            // A client that has read the end may leave without waiting for the connection to close.
            (Ending::Complete | Ending::Abandoned, Outcome::Finished) => "ok",
            (Ending::Abandoned, Outcome::Unfinished) => "client_closed",
            (Ending::Complete | Ending::Broken(_), _) => "upstream_cut",
        };
        let epilogue = if outcome == "upstream_cut" && may_append && reading.outcome == Outcome::Unfinished {
            cut_off().event(dialect, settlement.request_id())
        } else {
            Bytes::new()
        };
        settlement.answer_ended(outcome, &reading);
        epilogue
    }
}

fn cut_off() -> Failure {
    Failure {
        status: StatusCode::BAD_GATEWAY,
        code: "upstream_cut",
        message: "the provider broke the answer off before its end; what came so far is incomplete, repeat the request"
            .to_owned(),
        retry_after: None,
    }
}

/// Takes the usage chunk out again that only the gateway asked for.
#[derive(Default)]
pub(super) struct WithoutUsageChunk(UsageChunkRemover);

impl Editor for WithoutUsageChunk {
    fn edit(&mut self, chunk: Bytes) -> Bytes {
        self.0.feed(chunk)
    }

    fn finish(&mut self) -> Bytes {
        self.0.finish()
    }
}
