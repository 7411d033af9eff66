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
use tollgate::platform::fetch::Origin;

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
    idle: IdleLimit,
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
        idle: Duration,
    ) -> Self {
        let carrier = Some(Carrier { connection, pool, origin });
        Self { incoming, carrier, _stream: None, idle: IdleLimit::new(idle), state: State::Reading }
    }

    pub(super) fn http2(incoming: Incoming, stream: Rc<()>, idle: Duration) -> Self {
        Self { incoming, carrier: None, _stream: Some(stream), idle: IdleLimit::new(idle), state: State::Reading }
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
            Poll::Pending if self.idle.is_exceeded(context) => return self.fail(BodyError::Timeout),
            Poll::Pending => return Poll::Pending,
        };
        self.idle.touch();
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

/// Watches that something arrives now and then. The timer is only looked at when it rings, not set anew for each piece.
struct IdleLimit {
    limit: Duration,
    last: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl IdleLimit {
    fn new(limit: Duration) -> Self {
        Self { limit, last: Instant::now(), timer: None }
    }

    fn touch(&mut self) {
        self.last = Instant::now();
    }

    fn is_exceeded(&mut self, context: &mut Context<'_>) -> bool {
        loop {
            let deadline = self.last + self.limit;
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
