//! HTTP/1.1 and HTTP/2 cleartext on accepted connections.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};
use tollgate::app::Gateway;
use tollgate::plain_byte_stream;
use tollgate::platform::Scope;
use tollgate::platform::body::{Body, BodyError, ByteStream};

use crate::cli::Options;
use crate::local::LocalExecutor;

/// Where hyper stops reading a head, roughly: it may read as much again in one go. The core counts exactly.
const HEAD_BUFFER_BYTES: usize = 64 * 1024;
/// Most streams on one HTTP/2 connection.
const MAX_CONCURRENT_STREAMS: u32 = 256;

/// The connections that may finish what they are at; nothing when it is time to end.
pub type OpenConnections = Rc<RefCell<Option<GracefulShutdown>>>;

/// Serves the connections of one isolate.
pub struct Server {
    gateway: Rc<Gateway>,
    scope: Rc<Scope>,
    http1: http1::Builder,
    http2: http2::Builder<LocalExecutor>,
    header_timeout: Duration,
    body_timeout: Duration,
    connections: RefCell<JoinSet<()>>,
}

impl Server {
    /// A server without connections yet.
    pub fn new(gateway: Rc<Gateway>, scope: Rc<Scope>, options: &Options) -> Self {
        let header_timeout = Duration::from_secs(options.header_timeout_seconds);
        let mut http1 = http1::Builder::new();
        http1.timer(TokioTimer::new()).header_read_timeout(header_timeout).max_buf_size(HEAD_BUFFER_BYTES);
        let mut http2 = http2::Builder::new(LocalExecutor);
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
            .max_header_list_size(HEAD_BUFFER_BYTES as u32)
            .keep_alive_interval(header_timeout)
            .keep_alive_timeout(header_timeout);
        let body_timeout = Duration::from_secs(options.body_timeout_seconds);
        Self { gateway, scope, http1, http2, header_timeout, body_timeout, connections: RefCell::default() }
    }

    /// Serves one connection to its end, beside all others.
    pub fn serve(&self, stream: TcpStream, open: &OpenConnections) {
        // Without it the system holds small writes back, which delays each event of a fast stream.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was gone at once");
            return;
        }
        let (gateway, scope, body_timeout) = (self.gateway.clone(), self.scope.clone(), self.body_timeout);
        let service = service_fn(move |request| answer(gateway.clone(), scope.clone(), request, body_timeout));
        let (http1, http2, open) = (self.http1.clone(), self.http2.clone(), open.clone());
        let limit = self.header_timeout;
        let mut connections = self.connections.borrow_mut();
        while connections.try_join_next().is_some() {}
        connections.spawn_local(async move {
            let Ok(Some(version)) = tokio::time::timeout(limit, version_of(&stream)).await else { return };
            // A connection on which nothing was said does not hold the end.
            let Some(open) = open.borrow().as_ref().map(GracefulShutdown::watcher) else { return };
            let stream = TokioIo::new(stream);
            let result = match version {
                Version::Http1 => open.watch(http1.serve_connection(stream, service)).await,
                Version::Http2 => open.watch(http2.serve_connection(stream, service)).await,
            };
            if let Err(error) = result {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }

    /// Drops the connections that are still there, and with them the answers under way.
    pub async fn drop_connections(&self) {
        let mut connections = self.connections.take();
        connections.shutdown().await;
    }
}

enum Version {
    Http1,
    Http2,
}

/// What the client begins to speak, looked at without taking it; `None` when it goes away.
///
/// Clients that know that we understand HTTP/2 without TLS begin with its preface; no method of HTTP/1.1 begins like it.
async fn version_of(stream: &TcpStream) -> Option<Version> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const PAUSE: Duration = Duration::from_millis(5);
    let mut seen = [0; PREFACE.len()];
    loop {
        let count = stream.peek(&mut seen).await.ok()?;
        let begin = seen.get(..count)?;
        if begin.is_empty() {
            return None;
        }
        if !PREFACE.starts_with(begin) {
            return Some(Version::Http1);
        }
        if begin.len() == PREFACE.len() {
            return Some(Version::Http2);
        }
        // What was looked at stays there and would be ready at once; the rest comes in its own time.
        tokio::time::sleep(PAUSE).await;
    }
}

async fn answer(
    gateway: Rc<Gateway>,
    scope: Rc<Scope>,
    request: Request<Incoming>,
    body_timeout: Duration,
) -> Result<Response<OutgoingBody>, Infallible> {
    let request = request.map(|incoming| {
        if http_body::Body::is_end_stream(&incoming) {
            Body::empty()
        } else {
            Body::Stream(Box::new(IncomingBody::new(incoming, body_timeout)))
        }
    });
    let response = tollgate::http::handle(&gateway, &scope, request).await;
    Ok(response.map(|body| match body {
        Body::Whole(bytes) => OutgoingBody::Whole(bytes),
        Body::Stream(stream) => OutgoingBody::Stream { stream, broken: None },
    }))
}

/// A request's body, read no slower than allowed.
struct IncomingBody {
    /// `None` when it is at its end.
    incoming: Option<Incoming>,
    limit: Duration,
    deadline: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

/// How many pauses of the longest allowed length a body may take in all, so that one that drips has an end too.
const MAX_PAUSES: u32 = 20;

impl IncomingBody {
    fn new(incoming: Incoming, limit: Duration) -> Self {
        Self { incoming: Some(incoming), limit, deadline: Instant::now() + limit * MAX_PAUSES, timer: None }
    }
}

impl ByteStream for IncomingBody {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
            match http_body::Body::poll_frame(Pin::new(incoming), context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => {
                        self.timer = None;
                        return Poll::Ready(Some(Ok(data)));
                    }
                    _ => {}
                },
                Poll::Ready(Some(Err(error))) => {
                    self.incoming = None;
                    return Poll::Ready(Some(Err(BodyError::Broken(error.to_string()))));
                }
                Poll::Ready(None) => self.incoming = None,
                Poll::Pending => {
                    let end = self.deadline.min(Instant::now() + self.limit);
                    let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
                    std::task::ready!(timer.as_mut().poll(context));
                    self.incoming = None;
                    return Poll::Ready(Some(Err(BodyError::Timeout)));
                }
            }
        }
    }

    fn length(&self) -> Option<u64> {
        self.incoming.as_ref().map_or(Some(0), |incoming| http_body::Body::size_hint(incoming).exact())
    }

    plain_byte_stream!();
}

/// Most bytes and the longest time of a refused body that are read all the same.
const DRAINED_BYTES: usize = 64 * 1024 * 1024;
const DRAINED_TIME: Duration = Duration::from_secs(5);

impl Drop for IncomingBody {
    /// Many clients do not look for an answer before they have sent everything, and take a closed connection for a broken one. So
    /// what is refused is read on for a while, to nowhere.
    fn drop(&mut self) {
        let Some(mut incoming) = self.incoming.take().filter(|incoming| !http_body::Body::is_end_stream(incoming))
        else {
            return;
        };
        tokio::task::spawn_local(tokio::time::timeout(DRAINED_TIME, async move {
            let mut drained = 0;
            while let Some(Ok(frame)) = incoming.frame().await {
                drained += frame.data_ref().map_or(0, Bytes::len);
                if drained > DRAINED_BYTES {
                    return;
                }
            }
        }));
    }
}

/// A response's body.
enum OutgoingBody {
    Whole(Bytes),
    Stream {
        stream: Box<dyn ByteStream>,
        /// A break that is told with the next poll.
        broken: Option<BodyError>,
    },
}

impl http_body::Body for OutgoingBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream { stream, broken } => {
                if let Some(error) = broken.take() {
                    return Poll::Ready(Some(Err(error)));
                }
                match stream.poll_next(context) {
                    // hyper drops a connection at once when its body fails. Told one poll later, it has written what came
                    // before, which may be all that the client wanted.
                    Poll::Ready(Some(Err(error))) => {
                        *broken = Some(error);
                        context.waker().wake_by_ref();
                        Poll::Pending
                    }
                    polled => polled.map(|piece| piece.map(|piece| piece.map(Frame::data))),
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream { stream, .. } => stream.length().map(SizeHint::with_exact).unwrap_or_default(),
        }
    }
}
