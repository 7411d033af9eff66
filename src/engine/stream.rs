//! What happens to the bytes of an answer on their way to the client.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use super::classify;
use super::settle::Settlement;
use crate::platform::body::{BodyError, Editor, Ending, Observer, Pulse};
use crate::platform::clock::Timestamp;
use crate::platform::tasks::Tasks;
use crate::protocol::convert::editor::StreamEditor;
use crate::protocol::convert::{Losses, StreamFault};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::Failure;
use crate::protocol::meter::{Meter, Outcome};
use crate::protocol::openai_chat::stream::UsageChunkRemover;
use crate::protocol::sse::heartbeat;

/// The status of an answer that went wrong later.
const OK: u16 = 200;

/// Reads usage on the side, ends a stream that breaks off with the dialect's error event, and settles.
pub(super) struct Metered {
    meter: Meter,
    dialect: Dialect,
    events: bool,
    heartbeat: Option<Duration>,
    conversion: Option<Conversion>,
    /// Where the rest is read when the client has left, if it is.
    drain: Option<Rc<dyn Tasks>>,
    /// Whether the client has left, and the rest is read for its figures.
    was_left: bool,
    /// When the client's own time is up.
    deadline: Option<Timestamp>,
    settlement: Settlement,
}

impl Metered {
    /// Watches an answer in `dialect`; `events` when it is a stream of events, which then gets a heartbeat when it is quiet.
    pub(super) fn new(dialect: Dialect, events: bool, heartbeat: Option<Duration>, settlement: Settlement) -> Self {
        Self {
            meter: Meter::new(dialect, events),
            dialect,
            events,
            heartbeat: heartbeat.filter(|_| events),
            conversion: None,
            drain: None,
            was_left: false,
            deadline: None,
            settlement,
        }
    }

    /// Also records what `conversion` loses of the answer.
    pub(super) fn converted(self, conversion: Conversion) -> Self {
        Self { conversion: Some(conversion), ..self }
    }

    /// Holds an end that comes after `deadline` for the client's own doing.
    pub(super) fn until(self, deadline: Option<Timestamp>) -> Self {
        Self { deadline, ..self }
    }

    /// Lets the answer be read to its end when the client has left.
    pub(super) fn drain(&mut self) {
        self.drain = Some(self.settlement.tasks());
    }
}

impl Observer for Metered {
    fn chunk(&mut self, chunk: &Bytes) {
        self.meter.chunk(chunk);
        self.settlement.saw(chunk);
    }

    fn has_ended(&self) -> bool {
        self.meter.has_ended()
    }

    fn pulse(&self) -> Option<Pulse> {
        self.heartbeat.map(|period| Pulse { period, clock: self.settlement.clock() })
    }

    fn heartbeat(&self) -> Option<Bytes> {
        self.meter.at_border().then(|| heartbeat(self.dialect))
    }

    fn may_append(&self) -> bool {
        self.events
    }

    fn reader_left(&mut self) -> Option<Rc<dyn Tasks>> {
        // What has been said to its end has been read to its end.
        if self.meter.has_ended() {
            return None;
        }
        self.was_left = self.drain.is_some();
        self.drain.take()
    }

    fn end(self: Box<Self>, ending: Ending) -> Option<Bytes> {
        let Self { meter, dialect, events, conversion, mut settlement, was_left, deadline, .. } = *self;
        // A stream that ends within an event, without breaking, would pass for a whole one.
        let at_border = meter.at_border();
        let is_late = ending == Ending::Broken(BodyError::Timeout);
        let may_append = events && (at_border || is_late || ending == Ending::Complete);
        let (reading, fault) = meter.finish_with_fault();
        if was_left {
            settlement.answer_ended("client_closed", &reading, None);
            return None;
        }
        let outcome = match (&ending, reading.outcome) {
            (_, Outcome::Failed) => "upstream_failed",
            // Once the end is said, it does not matter how the connection closes, nor whether the client waits for it.
            (_, Outcome::Finished) => "ok",
            (Ending::Abandoned, Outcome::Unfinished) => "client_closed",
            (Ending::Complete | Ending::Broken(_), Outcome::Unfinished) => "upstream_cut",
        };
        let epilogue = match reading.outcome {
            Outcome::Finished | Outcome::Failed => Some(Bytes::new()),
            Outcome::Unfinished if may_append => {
                let end = if is_late { timed_out() } else { cut_off() };
                let event = end.event(dialect, settlement.request_id());
                Some(if at_border { event } else { [&b"\n\n"[..], &event].concat().into() })
            }
            Outcome::Unfinished => None,
        };
        if let Some(conversion) = conversion {
            let has_all = ending != Ending::Abandoned && reading.outcome != Outcome::Unfinished;
            conversion.settle(has_all, &mut settlement);
        }
        let is_out_of_time = is_late && deadline.is_some_and(|deadline| deadline <= settlement.clock().now());
        let failure = match (outcome, fault, &ending) {
            ("upstream_cut", ..) if is_out_of_time => {
                Some(super::failure::Failure { status: OK, ..classify::out_of_time() })
            }
            ("upstream_failed", Some(fault), _) => Some(classify::of_fault(&fault).0),
            ("upstream_failed", None, _) => Some(classify::of_fault(&StreamFault::unreadable()).0),
            ("upstream_cut", _, Ending::Broken(error)) => Some(classify::of_body(OK, error)),
            ("upstream_cut", ..) => Some(classify::of_body(OK, &BodyError::Broken(String::new()))),
            _ => None,
        };
        settlement.answer_ended(outcome, &reading, failure.as_ref());
        epilogue.filter(|_| events)
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

fn timed_out() -> Failure {
    Failure {
        status: StatusCode::GATEWAY_TIMEOUT,
        code: "upstream_timeout",
        message: "the answer did not end in time; what came so far is incomplete, repeat the request or ask for less"
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

/// A stream that is put into the client's dialect: shared by what converts it and what settles it, since its losses are known at its end.
#[derive(Clone)]
pub(super) struct Conversion {
    editor: Rc<RefCell<StreamEditor>>,
    /// What the request has lost.
    losses: Losses,
}

impl Conversion {
    /// A conversion by `editor`, of the answer to a request that has lost `losses`.
    pub(super) fn new(editor: StreamEditor, losses: Losses) -> Self {
        Self { editor: Rc::new(RefCell::new(editor)), losses }
    }

    /// Tells `settlement` what was lost; some of it is known only when the source has ended.
    fn settle(mut self, has_all: bool, settlement: &mut Settlement) {
        let mut editor = self.editor.borrow_mut();
        if has_all {
            editor.end();
        }
        if !editor.losses().is_empty() {
            self.losses.append(editor.losses().clone());
            settlement.converted_with(&self.losses.text());
        }
    }
}

impl Editor for Conversion {
    fn edit(&mut self, chunk: Bytes) -> Bytes {
        self.editor.borrow_mut().feed(&chunk)
    }

    fn finish(&mut self) -> Bytes {
        self.editor.borrow_mut().finish()
    }
}
