//! One HTTP/1.1 connection, driven by whoever uses it.
//!
//! hyper gives a connection as two halves, one to send on and one that does the I/O, and expects the second to run as a
//! task. Here both are polled by the request that uses them, which saves a task switch and its wake-ups for every read and
//! write. Nobody polls an idle connection; whether it is still good is seen when it is taken up again.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tollgate::platform::fetch::{FetchError, FetchErrorKind};

use super::Outgoing;
use super::connect::Transport;

/// A connection that is free, or whose answer is being read.
pub(super) struct Http1 {
    sender: SendRequest<Outgoing>,
    connection: Connection<TokioIo<Transport>, Outgoing>,
    /// When it was last used.
    pub(super) used_at: Instant,
}

impl Http1 {
    /// Speaks HTTP/1.1 on an open transport.
    pub(super) async fn handshake(transport: Transport) -> Result<Box<Self>, FetchError> {
        let (sender, connection) = hyper::client::conn::http1::Builder::new()
            .handshake(TokioIo::new(transport))
            .await
            .map_err(|error| FetchError::new(FetchErrorKind::Connect, error))?;
        Ok(Box::new(Self { sender, connection, used_at: Instant::now() }))
    }

    /// Lets the connection read and write what it can.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        // Its result is seen in the response or in the body.
        let _ = Pin::new(&mut self.connection).poll(context);
    }

    /// Whether another request can be sent. Reads what has come meanwhile, such as the other side's farewell.
    pub(super) async fn is_usable(&mut self) -> bool {
        poll_fn(|context| Poll::Ready(Pin::new(&mut self.connection).poll(context).is_pending())).await
            && self.sender.is_ready()
    }

    /// Sends a request and waits for the head of the answer. A request of which nothing was sent comes back.
    pub(super) async fn send(
        &mut self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, (FetchError, Option<Request<Outgoing>>)> {
        let Self { sender, connection, .. } = self;
        let mut sending = pin!(sender.try_send_request(request));
        let result = poll_fn(|context| {
            // The request is handed over first, then written; an answer that has come is seen at once.
            if let Poll::Ready(result) = sending.as_mut().poll(context) {
                return Poll::Ready(result);
            }
            let _ = Pin::new(&mut *connection).poll(context);
            sending.as_mut().poll(context)
        })
        .await;
        result.map_err(|mut error| {
            let unsent = error.take_message();
            (FetchError::new(FetchErrorKind::Broken, error.into_error()), unsent)
        })
    }
}
