//! The way to the vendors.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use http::{HeaderMap, Method, StatusCode};

use super::body::Body;

/// Sends requests to upstreams.
///
/// A port follows no redirect, adds no credential and no cookie of its own, offers no content coding, and undoes the
/// codings that it understands: where it has decoded a body, `content-encoding` and `content-length` are gone. It keeps
/// the private network out of reach unless the request says otherwise, at connect time where it resolves names itself.
pub trait Fetch {
    /// Sends `request` and resolves when the head of the answer is there. Dropping the future or the body cancels.
    fn fetch(&self, request: UpstreamRequest) -> LocalBoxFuture<'static, Result<UpstreamResponse, FetchError>>;
}

/// A request to an upstream.
#[derive(Debug, Clone)]
pub struct UpstreamRequest {
    /// The method.
    pub method: Method,
    /// Where to.
    pub origin: Rc<Origin>,
    /// Path and query, percent-encoded, beginning with a slash.
    pub path: String,
    /// The headers, without `host` and `content-length`, which the port sets.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// Whether the answer is to be passed on as it comes, even if it is no stream of events.
    pub streamed: bool,
    /// How long to wait.
    pub limits: FetchLimits,
}

/// How long a port waits for an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Until the connection is open, where the platform lets one tell.
    pub connect: Duration,
    /// From the request to the answer's head, and to the first piece of its body.
    pub head: Duration,
    /// Between two pieces of the answer's body.
    pub idle: Duration,
    /// From the request to the last piece of the answer's body.
    pub total: Option<Duration>,
}

/// Scheme, host and port of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `https`, or `http` where that is allowed.
    pub tls: bool,
    /// A domain name or an address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Which addresses the host may have.
    pub network: Network,
}

impl Origin {
    /// Host and, where it is not the scheme's own, port, as in the `host` header.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.tls { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", if self.tls { "https" } else { "http" }, self.authority())
    }
}

/// Which addresses an upstream may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// Only addresses that are reachable from the whole Internet.
    Public,
    /// Loopback, private and link-local addresses too: an administrator's explicit choice.
    Private,
}

/// An upstream's answer.
pub struct UpstreamResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it arrives.
    pub body: Body,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchError {
    /// What sort of failure it is.
    pub kind: FetchErrorKind,
    /// The platform's own words; for logs, never for clients.
    pub message: String,
}

/// The sorts of failure between us and an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchErrorKind {
    /// The address is not one that the provider may use.
    Forbidden,
    /// No connection: name resolution, refusal, TLS.
    Connect,
    /// It took longer than the limit.
    Timeout,
    /// The connection broke before the head of the answer.
    Broken,
}

impl FetchError {
    /// An error of `kind` with the platform's words.
    pub fn new(kind: FetchErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string() }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for FetchError {}
