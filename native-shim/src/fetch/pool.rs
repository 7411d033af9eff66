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
/// How long a connection may be idle. Shorter than what servers allow, so that few close under a request.
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
    /// One connection serves many requests at once.
    http2: Option<http2::SendRequest<Outgoing>>,
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

    /// The HTTP/2 connection to `origin`, if there is a good one.
    pub(super) fn http2(&self, origin: &Origin) -> Option<http2::SendRequest<Outgoing>> {
        let upstreams = self.upstreams.borrow();
        upstreams.get(origin)?.http2.clone().filter(|sender| !sender.is_closed())
    }

    /// Keeps an HTTP/2 connection.
    pub(super) fn keep_http2(&self, origin: &Rc<Origin>, sender: http2::SendRequest<Outgoing>) {
        self.upstreams.borrow_mut().entry(origin.clone()).or_default().http2 = Some(sender);
    }

    /// Closes what has been idle for long.
    pub(super) fn sweep(&self) {
        self.upstreams.borrow_mut().retain(|_, upstream| {
            upstream.idle.retain(|connection| connection.used_at.elapsed() < IDLE_TIMEOUT);
            upstream.http2.take_if(|sender| sender.is_closed());
            !upstream.idle.is_empty() || upstream.http2.is_some()
        });
    }
}
