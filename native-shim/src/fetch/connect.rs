//! Opening connections: names, addresses, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::client::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tollgate::channel::endpoint::is_public;
use tollgate::platform::fetch::{FetchError, FetchErrorKind, Network, Origin};

use super::exchange::Http1;
use super::pool::Http2;
use crate::local::LocalExecutor;

/// What was agreed on with the upstream.
pub(super) enum Protocol {
    /// One request at a time.
    Http1(Box<Http1>),
    /// Many at once; a task of its own drives the connection.
    Http2(Http2),
}

/// Opens connections.
pub(super) struct Connector {
    tls: TlsConnector,
}

impl Connector {
    pub(super) fn new() -> Self {
        let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let mut config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self { tls: TlsConnector::from(Arc::new(config)) }
    }

    /// Connects to `origin` within `limit`.
    pub(super) async fn connect(&self, origin: &Origin, limit: Duration) -> Result<Protocol, FetchError> {
        match tokio::time::timeout(limit, self.connect_unlimited(origin)).await {
            Ok(result) => result,
            Err(_) => Err(FetchError::new(FetchErrorKind::Timeout, format!("no connection to {origin} in time"))),
        }
    }

    async fn connect_unlimited(&self, origin: &Origin) -> Result<Protocol, FetchError> {
        let stream = open(origin).await?;
        if !origin.tls {
            return Ok(Protocol::Http1(Http1::handshake(Transport::Plain(stream)).await?));
        }
        let refused = |error: &dyn std::fmt::Display| {
            FetchError::new(FetchErrorKind::Connect, format!("TLS with {origin}: {error}"))
        };
        let name = ServerName::try_from(origin.host.clone()).map_err(|error| refused(&error))?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| refused(&error))?;
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Ok(Protocol::Http1(Http1::handshake(Transport::Tls(Box::new(stream))).await?));
        }
        let (sender, connection) = http2::Builder::new(LocalExecutor)
            .timer(TokioTimer::new())
            .keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20))
            .handshake(TokioIo::new(Transport::Tls(Box::new(stream))))
            .await
            .map_err(|error| refused(&error))?;
        tokio::task::spawn_local(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "an HTTP/2 connection to an upstream ended");
            }
        });
        Ok(Protocol::Http2(Http2::new(sender)))
    }
}

/// How long one of several addresses is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens a TCP connection to one of the host's addresses that the origin may have. The addresses are checked after the name
/// is resolved, so that no name can lead into a private network.
async fn open(origin: &Origin) -> Result<TcpStream, FetchError> {
    let unreachable = |error: io::Error| FetchError::new(FetchErrorKind::Connect, format!("{origin}: {error}"));
    let addresses: Vec<SocketAddr> = match origin.host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, origin.port)],
        Err(_) => tokio::net::lookup_host((origin.host.as_str(), origin.port)).await.map_err(unreachable)?.collect(),
    };
    let mut last = FetchError::new(FetchErrorKind::Connect, format!("{origin}: the name has no address"));
    for (number, address) in addresses.iter().enumerate() {
        if origin.network == Network::Public && !is_public(address.ip()) {
            last =
                FetchError::new(FetchErrorKind::Forbidden, format!("{origin} is {}, a private address", address.ip()));
            continue;
        }
        // One that does not answer leaves time for the others; the last has all that is left.
        let patience = if number + 1 < addresses.len() { PATIENCE } else { Duration::MAX };
        let connected = tokio::time::timeout(patience, TcpStream::connect(address)).await;
        match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(unreachable)?;
                return Ok(stream);
            }
            Err(error) => last = unreachable(error),
        }
    }
    Err(last)
}

/// A connection with or without TLS.
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
