//! The body of an upstream's answer.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::Sleep;
use tollgate::plain_byte_stream;
use tollgate::platform::body::{BodyError, ByteStream};
use tollgate::platform::fetch::{FetchLimits, Origin};

use super::exchange::Http1;
use super::pool::Pool;

/// Pieces that are there already are joined up to this size, so that they leave in one write.
const JOINED_BYTES: usize = 16 * 1024;

/// The body of an answer as it arrives. Dropped before its end, it closes the connection or resets the stream, which
/// cancels the upstream.
pub(super) struct UpstreamBody {
    incoming: Incoming,
    /// The connection that the body comes on, where this body has to drive it.
    carrier: Option<Carrier>,
    /// Counts as a request under way on its HTTP/2 connection.
    _stream: Option<Rc<()>>,
    patience: Patience,
    state: State,
}

struct Carrier {
    connection: Box<Http1>,
    pool: Rc<Pool>,
    origin: Rc<Origin>,
}

#[derive(PartialEq)]
enum State {
    Reading,
    /// An error came after bytes that had to be passed on first.
    Failed(BodyError),
    Ended,
}

impl UpstreamBody {
    pub(super) fn http1(
        incoming: Incoming,
        connection: Box<Http1>,
        pool: Rc<Pool>,
        origin: Rc<Origin>,
        patience: Patience,
    ) -> Self {
        let carrier = Some(Carrier { connection, pool, origin });
        Self { incoming, carrier, _stream: None, patience, state: State::Reading }
    }

    pub(super) fn http2(incoming: Incoming, stream: Rc<()>, patience: Patience) -> Self {
        Self { incoming, carrier: None, _stream: Some(stream), patience, state: State::Reading }
    }

    /// The next piece that hyper has, after letting the connection read if it has none.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let mut polled = Pin::new(&mut self.incoming).poll_frame(context);
            if let (Poll::Pending, Some(carrier)) = (&polled, &mut self.carrier) {
                carrier.connection.drive(context);
                polled = Pin::new(&mut self.incoming).poll_frame(context);
            }
            match std::task::ready!(polled) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Poll::Ready(Some(Ok(data))),
                    // Trailers, which no dialect uses.
                    _ => {}
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(BodyError::Broken(error.to_string())))),
                None => return Poll::Ready(None),
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
        if let Some(Carrier { connection, pool, origin }) = self.carrier.take() {
            pool.keep(&origin, connection);
        }
    }

    fn fail(&mut self, error: BodyError) -> Poll<Option<Result<Bytes, BodyError>>> {
        self.state = State::Ended;
        self.carrier = None;
        Poll::Ready(Some(Err(error)))
    }
}

impl ByteStream for UpstreamBody {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        match std::mem::replace(&mut self.state, State::Reading) {
            State::Reading => {}
            State::Failed(error) => return self.fail(error),
            State::Ended => {
                self.state = State::Ended;
                return Poll::Ready(None);
            }
        }
        let first = match self.poll_piece(context) {
            Poll::Ready(Some(Ok(piece))) => piece,
            Poll::Ready(Some(Err(error))) => return self.fail(error),
            Poll::Ready(None) => {
                self.end();
                return Poll::Ready(None);
            }
            Poll::Pending if self.patience.is_exhausted(context) => return self.fail(BodyError::Timeout),
            Poll::Pending => return Poll::Pending,
        };
        if !self.patience.touch() {
            return self.fail(BodyError::Timeout);
        }
        let mut joined: Option<BytesMut> = None;
        let mut length = first.len();
        while length < JOINED_BYTES {
            match self.poll_piece(context) {
                Poll::Ready(Some(Ok(piece))) => {
                    length += piece.len();
                    joined
                        .get_or_insert_with(|| {
                            let mut joined = BytesMut::with_capacity(JOINED_BYTES / 4);
                            joined.extend_from_slice(&first);
                            joined
                        })
                        .extend_from_slice(&piece);
                }
                Poll::Ready(Some(Err(error))) => {
                    self.state = State::Failed(error);
                    break;
                }
                Poll::Ready(None) => {
                    self.end();
                    break;
                }
                Poll::Pending => break,
            }
        }
        Poll::Ready(Some(Ok(joined.map_or(first, BytesMut::freeze))))
    }

    fn length(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }

    plain_byte_stream!();
}

/// Watches that the answer arrives in time. The timer is only looked at when it rings, not set anew for each piece.
pub(super) struct Patience {
    idle: Duration,
    /// When the next piece is due.
    due: Instant,
    /// When all has to be there.
    end: Option<Instant>,
    has_begun: bool,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// For a request that is sent now.
    pub(super) fn new(limits: &FetchLimits) -> Self {
        let now = Instant::now();
        let end = limits.total.and_then(|total| now.checked_add(total));
        Self { idle: limits.idle, due: later(now, limits.head), end, has_begun: false, timer: None }
    }

    /// Notes that a piece has come; `false` when it comes too late.
    fn touch(&mut self) -> bool {
        let now = Instant::now();
        self.due = later(now, self.idle);
        if !std::mem::replace(&mut self.has_begun, true) {
            // What is due next may be due sooner than the first piece was.
            self.timer = None;
        }
        self.end.is_none_or(|end| now < end)
    }

    fn is_exhausted(&mut self, context: &mut Context<'_>) -> bool {
        loop {
            let deadline = self.end.map_or(self.due, |end| end.min(self.due));
            let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline.into())));
            if timer.as_mut().poll(context).is_pending() {
                return false;
            }
            if Instant::now() >= deadline {
                return true;
            }
            timer.as_mut().reset(deadline.into());
        }
    }
}

/// `now` and `duration`; a time that nobody lives to see where that is beyond what can be told.
fn later(now: Instant, duration: Duration) -> Instant {
    now.checked_add(duration).unwrap_or_else(|| now + Duration::from_secs(365 * 86_400))
}
