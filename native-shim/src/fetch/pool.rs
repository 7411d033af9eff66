//! Connections that are kept for the next request.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hyper::client::conn::http2;
use tollgate::platform::fetch::Origin;

use super::Outgoing;
use super::exchange::Http1;

/// Most idle connections to one upstream.
const MAX_IDLE: usize = 256;
/// Most requests at once on one HTTP/2 connection. Servers are asked to allow no fewer (RFC 9113, section 6.5.2), and many allow no
/// more; what is beyond would wait in vain.
const MAX_STREAMS: usize = 100;
/// How long a connection may be idle. Many servers close after 60 seconds, so few close under a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(55);

/// The connections of one isolate.
#[derive(Default)]
pub(super) struct Pool {
    upstreams: RefCell<HashMap<Rc<Origin>, Upstream>>,
}

#[derive(Default)]
struct Upstream {
    /// The most recently used one last.
    #[expect(clippy::vec_box, reason = "a connection is large and moves often")]
    idle: Vec<Box<Http1>>,
    /// Each serves many requests at once.
    http2: Vec<Http2>,
}

/// An HTTP/2 connection, which a task of its own drives.
#[derive(Clone)]
pub(super) struct Http2 {
    pub(super) sender: http2::SendRequest<Outgoing>,
    /// There are as many of these as requests are under way, beside the pool's own.
    streams: Rc<()>,
}

impl Http2 {
    pub(super) fn new(sender: http2::SendRequest<Outgoing>) -> Self {
        Self { sender, streams: Rc::new(()) }
    }

    /// What the body of an answer holds until it ends.
    pub(super) fn into_stream(self) -> Rc<()> {
        self.streams
    }
}

impl Pool {
    /// A connection to `origin` that is free and good.
    pub(super) async fn take(&self, origin: &Origin) -> Option<Box<Http1>> {
        loop {
            let mut connection = self.upstreams.borrow_mut().get_mut(origin)?.idle.pop()?;
            if connection.used_at.elapsed() < IDLE_TIMEOUT && connection.is_usable().await {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection for the next request.
    pub(super) fn keep(&self, origin: &Rc<Origin>, mut connection: Box<Http1>) {
        connection.used_at = Instant::now();
        let mut upstreams = self.upstreams.borrow_mut();
        let idle = match upstreams.get_mut(origin) {
            Some(upstream) => &mut upstream.idle,
            None => &mut upstreams.entry(origin.clone()).or_default().idle,
        };
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }

    /// An HTTP/2 connection to `origin` that is good and takes one more request.
    pub(super) fn http2(&self, origin: &Origin) -> Option<Http2> {
        let upstreams = self.upstreams.borrow();
        let mut connections = upstreams.get(origin)?.http2.iter();
        connections.find(|http2| !http2.sender.is_closed() && Rc::strong_count(&http2.streams) <= MAX_STREAMS).cloned()
    }

    /// Keeps an HTTP/2 connection.
    pub(super) fn keep_http2(&self, origin: &Rc<Origin>, connection: Http2) {
        let mut upstreams = self.upstreams.borrow_mut();
        let known = &mut upstreams.entry(origin.clone()).or_default().http2;
        known.retain(|http2| !http2.sender.is_closed());
        known.push(connection);
    }

    /// Closes what has been idle for long.
    pub(super) fn sweep(&self) {
        self.upstreams.borrow_mut().retain(|_, upstream| {
            upstream.idle.retain(|connection| connection.used_at.elapsed() < IDLE_TIMEOUT);
            upstream.http2.retain(|http2| !http2.sender.is_closed());
            !upstream.idle.is_empty() || !upstream.http2.is_empty()
        });
    }
}
