//! What a mock vendor does with a request: a head, and pieces of a body with pauses between them, ended well or badly.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;

/// An answer, to be played back byte for byte.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub framing: Framing,
    pub steps: Vec<Step>,
    pub ending: Ending,
}

/// How a body says where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `content-length`, the right one.
    Length,
    /// `content-length`, whatever the body has.
    Claimed(usize),
    /// Each piece is a chunk.
    Chunked,
    /// It ends with the connection.
    UntilClose,
    /// The first piece is the head as well: bytes without any framing.
    Raw,
}

/// A step of an answer.
#[derive(Clone)]
pub enum Step {
    /// Writes a piece of the body.
    Piece(Bytes),
    /// Waits a while.
    Pause(Duration),
    /// Waits for the test.
    Wait(Gate),
}

/// What comes after the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The end that the framing wants.
    Proper,
    /// The connection is closed without it.
    Closed,
    /// The connection is reset.
    Reset,
    /// Nothing ever.
    Silent,
}

impl Answer {
    /// An answer without a body.
    pub fn new(status: u16) -> Self {
        Self { status, headers: vec![], framing: Framing::Length, steps: vec![], ending: Ending::Proper }
    }

    /// An answer of JSON.
    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(status).header("content-type", "application/json").piece(body)
    }

    /// A stream of events without any event yet.
    pub fn events() -> Self {
        Self::new(200).header("content-type", "text/event-stream; charset=utf-8").framing(Framing::Chunked)
    }

    /// A stream of events, each in a piece of its own.
    pub fn sse<E: Into<Bytes>>(events: impl IntoIterator<Item = E>) -> Self {
        Self::events().pieces(events)
    }

    /// Bytes instead of an HTTP answer.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::new(0).framing(Framing::Raw).piece(bytes)
    }

    /// No answer at all, not even a head.
    pub fn none(ending: Ending) -> Self {
        Self::new(0).framing(Framing::Raw).ending(ending)
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Says how the body is framed.
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Writes a piece. An empty one is none: as a chunk it would be the end.
    pub fn piece(mut self, piece: impl Into<Bytes>) -> Self {
        let piece = piece.into();
        if !piece.is_empty() {
            self.steps.push(Step::Piece(piece));
        }
        self
    }

    /// Writes pieces, each by itself.
    pub fn pieces<E: Into<Bytes>>(self, pieces: impl IntoIterator<Item = E>) -> Self {
        pieces.into_iter().fold(self, Self::piece)
    }

    /// Writes `text` a byte at a time.
    pub fn drip(self, text: &str) -> Self {
        self.pieces(text.bytes().map(|byte| Bytes::copy_from_slice(&[byte])))
    }

    /// Waits a while.
    pub fn pause(mut self, duration: Duration) -> Self {
        self.steps.push(Step::Pause(duration));
        self
    }

    /// Waits for the test.
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// Waits for the test before the first piece.
    pub fn wait_first(mut self, gate: &Gate) -> Self {
        self.steps.insert(0, Step::Wait(gate.clone()));
        self
    }

    /// Says how it ends.
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The head, as bytes.
    pub(super) fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Status\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match self.framing {
            Framing::Raw => return String::new(),
            Framing::Length => head.push_str(&format!("content-length: {}\r\n", self.body_length())),
            Framing::Claimed(length) => head.push_str(&format!("content-length: {length}\r\n")),
            Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
            Framing::UntilClose => head.push_str("connection: close\r\n"),
        }
        head + "\r\n"
    }

    fn body_length(&self) -> usize {
        let length = |step: &Step| if let Step::Piece(piece) = step { piece.len() } else { 0 };
        self.steps.iter().map(length).sum()
    }
}

/// Holds an answer until the test lets it go on. One that is opened ahead does not hold.
#[derive(Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    /// A closed one.
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets one wait pass.
    pub fn open(&self) {
        self.0.add_permits(1);
    }

    /// Waits for [`Gate::open`].
    pub async fn passed(&self) {
        self.0.acquire().await.expect("gates are never removed").forget();
    }
}
