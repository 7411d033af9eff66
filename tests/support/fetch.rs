//! Vendors that answer as they are told, within this process.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, pending};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::oneshot;
use tollgate::plain_byte_stream;
use tollgate::platform::body::{Body, BodyError, ByteStream};
use tollgate::platform::fetch::{Fetch, FetchError, FetchErrorKind, UpstreamRequest, UpstreamResponse};

use super::world::Journal;

/// What a vendor does with a request.
pub enum FakeAnswer {
    /// It answers.
    Respond(u16, &'static str, Vec<Piece>),
    /// It cannot be asked.
    Fail(FetchErrorKind),
    /// It never answers.
    Never,
}

/// A piece of an answer's body.
pub enum Piece {
    /// Bytes.
    Bytes(Bytes),
    /// Waits until the other end is used or dropped.
    Wait(oneshot::Receiver<()>),
    /// The connection breaks.
    Break,
    /// Nothing more, and no end either.
    Silence,
}

impl FakeAnswer {
    /// A document of JSON.
    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self::Respond(status, "application/json", vec![Piece::Bytes(body.into())])
    }

    /// A stream of events, each in a piece of its own.
    pub fn sse<E: Into<Bytes>>(events: impl IntoIterator<Item = E>) -> Self {
        Self::pieces(events.into_iter().map(|event| Piece::Bytes(event.into())).collect())
    }

    /// A stream of events in pieces that may be trouble.
    pub fn pieces(pieces: Vec<Piece>) -> Self {
        Self::Respond(200, "text/event-stream", pieces)
    }
}

/// A vendor with a mind of its own.
type Vendor = Box<dyn Fn(&UpstreamRequest) -> FakeAnswer>;

/// All vendors.
#[derive(Clone)]
pub struct FakeFetch(Rc<State>);

struct State {
    script: RefCell<VecDeque<FakeAnswer>>,
    requests: RefCell<Vec<UpstreamRequest>>,
    vendor: RefCell<Option<Vendor>>,
    cancelled: Cell<usize>,
    journal: Journal,
}

impl FakeFetch {
    pub fn new(journal: Journal) -> Self {
        Self(Rc::new(State {
            script: RefCell::default(),
            requests: RefCell::default(),
            vendor: RefCell::default(),
            cancelled: Cell::new(0),
            journal,
        }))
    }

    /// Answers one of the coming requests, in the order of these calls.
    pub fn answer(&self, answer: FakeAnswer) {
        self.0.script.borrow_mut().push_back(answer);
    }

    /// Has every request for which there is no other answer answered by `vendor`.
    pub fn always(&self, vendor: impl Fn(&UpstreamRequest) -> FakeAnswer + 'static) {
        *self.0.vendor.borrow_mut() = Some(Box::new(vendor));
    }

    /// Forgets the answers that nobody has asked for.
    pub fn forget_answers(&self) {
        self.0.script.borrow_mut().clear();
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<UpstreamRequest> {
        self.0.requests.borrow().clone()
    }

    /// How many answers were dropped before their ends.
    pub fn cancelled(&self) -> usize {
        self.0.cancelled.get()
    }
}

impl Fetch for FakeFetch {
    fn fetch(&self, request: UpstreamRequest) -> LocalBoxFuture<'static, Result<UpstreamResponse, FetchError>> {
        self.0.journal.note("fetch");
        let scripted = self.0.script.borrow_mut().pop_front();
        let answer = scripted.or_else(|| self.0.vendor.borrow().as_ref().map(|vendor| vendor(&request)));
        self.0.requests.borrow_mut().push(request);
        let watch = Watch { state: self.0.clone(), ended: false };
        Box::pin(async move {
            match answer {
                Some(FakeAnswer::Respond(status, content_type, pieces)) => {
                    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
                    let body = Body::Stream(Box::new(ScriptedBody { pieces: pieces.into(), watch }));
                    let status = StatusCode::from_u16(status).expect("a status");
                    Ok(UpstreamResponse { status, headers, body })
                }
                Some(FakeAnswer::Fail(kind)) => {
                    let mut watch = watch;
                    watch.ended = true;
                    Err(FetchError::new(kind, "the test wants it so"))
                }
                Some(FakeAnswer::Never) => {
                    let _watch = watch;
                    pending().await
                }
                None => panic!("nothing is scripted for this request"),
            }
        })
    }
}

/// Notices that an answer is dropped before its end.
struct Watch {
    state: Rc<State>,
    ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.ended {
            self.state.cancelled.set(self.state.cancelled.get() + 1);
        }
    }
}

struct ScriptedBody {
    pieces: VecDeque<Piece>,
    watch: Watch,
}

impl ByteStream for ScriptedBody {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            match self.pieces.front_mut() {
                None => {
                    self.watch.ended = true;
                    return Poll::Ready(None);
                }
                Some(Piece::Silence) => return Poll::Pending,
                Some(Piece::Wait(released)) => {
                    let _ = std::task::ready!(Pin::new(released).poll(context));
                    self.pieces.pop_front();
                }
                Some(Piece::Break) => {
                    self.watch.ended = true;
                    self.pieces.clear();
                    return Poll::Ready(Some(Err(BodyError::Broken("the test wants it so".to_owned()))));
                }
                Some(Piece::Bytes(bytes)) => {
                    let bytes = bytes.clone();
                    self.pieces.pop_front();
                    return Poll::Ready(Some(Ok(bytes)));
                }
            }
        }
    }

    plain_byte_stream!();
}
