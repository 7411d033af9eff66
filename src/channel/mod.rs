//! Upstreams: one channel for each kind, with its address, its authentication and its manners.
//!
//! A channel prepares requests and does no I/O. It knows neither the engine that chose it nor the store that its
//! configuration came from. What only some upstreams can do is a trait of its own beside [`Channel`], such as [`Refresh`], so that
//! one vendor's peculiarity does not enter everyone's contract.

pub mod claude;
pub mod custom;
pub mod echo;
pub mod endpoint;
pub mod gemini;
pub mod oauth;
pub mod openai;
mod vendor;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::platform::clock::Timestamp;
use crate::platform::fetch::{UpstreamRequest, UpstreamResponse};
use crate::protocol::dialect::Dialect;
use crate::protocol::operation::Operation;
use endpoint::Endpoint;
use oauth::Tokens;

/// A kind of upstream.
pub trait Channel {
    /// The name in configuration.
    fn id(&self) -> &'static str;

    /// Where the vendor is, unless the provider says otherwise; `None` when it has to say, or there is nowhere to go.
    fn default_base_url(&self) -> Option<&'static str>;

    /// The dialects that the vendor speaks; empty when the provider has to say.
    fn dialects(&self) -> &'static [Dialect];

    /// Whether a provider of this kind is useless without a credential.
    fn needs_credential(&self) -> bool;

    /// Turns a call into what is to be sent. `secret` is the credential's, and stays in headers.
    fn prepare(&self, endpoint: &Endpoint, secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError>;
}

/// Credentials that end and are made anew.
pub trait Refresh {
    /// How long before its end an access token is made anew.
    fn margin(&self) -> Duration;

    /// Whether an upstream that answers with `status` may mean that the access token has ended.
    fn may_have_ended(&self, status: u16) -> bool;

    /// The request for new tokens.
    fn request(&self, tokens: &Tokens, client_secret: Option<&str>) -> UpstreamRequest;

    /// Reads what it is answered with. `former` are the tokens that it was made of.
    fn read(&self, former: &Tokens, status: StatusCode, body: &[u8], now: Timestamp) -> Result<Tokens, RefreshError>;
}

/// Why there are no new tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefreshError {
    /// The refresh token is of no more use: somebody has to log in again.
    Rejected,
    /// The token endpoint cannot help at the moment, or not as it is configured; for the log, without anything secret.
    Unavailable(String),
}

/// All channels.
pub static CHANNELS: [&(dyn Channel + Sync); 5] =
    [&openai::OpenAi, &claude::Claude, &gemini::Gemini, &custom::Custom, &echo::Echo];

/// The channel named `id`.
pub fn by_id(id: &str) -> Option<&'static (dyn Channel + Sync)> {
    CHANNELS.iter().copied().find(|channel| channel.id() == id)
}

/// A call in the dialect that the upstream speaks.
#[derive(Debug)]
pub struct Call<'a> {
    /// The dialect.
    pub dialect: Dialect,
    /// What is asked for.
    pub operation: Operation,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The model as the upstream names it.
    pub model: &'a str,
    /// The version in the path of a Gemini client, `v1` or `v1beta`.
    pub version: Option<&'a str>,
    /// The client's query string, without credentials.
    pub query: Option<&'a str>,
    /// The headers that may go on to this upstream.
    pub headers: &'a HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Our id of the request.
    pub request_id: &'a str,
    /// The time.
    pub now: Timestamp,
}

/// What a channel makes of a call.
pub enum Dispatch {
    /// A request to be sent.
    Upstream(UpstreamRequest),
    /// An answer that needs no upstream.
    Answer(UpstreamResponse),
}

/// Why a call cannot be prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelError {
    /// The upstream has no such operation.
    Unsupported {
        /// The dialect of the call.
        dialect: Dialect,
        /// Its operation.
        operation: Operation,
    },
    /// The provider's address or the credential's secret cannot be used in a request.
    Misconfigured(&'static str),
    /// The request is not one that the channel can answer.
    Invalid(String),
}

impl fmt::Display for ChannelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { dialect, operation } => {
                write!(formatter, "{dialect} has no {}", operation.name())
            }
            Self::Misconfigured(what) => formatter.write_str(what),
            Self::Invalid(message) => formatter.write_str(message),
        }
    }
}

impl std::error::Error for ChannelError {}
