//! Why the engine has no answer.

use std::fmt;
use std::sync::Arc;

use crate::platform::fetch::FetchErrorKind;
use crate::protocol::dialect::Dialect;
use crate::protocol::operation::Operation;

/// A failure between an admitted request and its answer. Which side it is on decides about failover and status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// Caller: the request is not one that the upstream can be asked.
    InvalidRequest(String),
    /// Configuration: no target speaks the client's dialect, or none has the operation.
    Unsupported {
        /// The client's dialect.
        dialect: Dialect,
        /// What was asked for.
        operation: Operation,
        /// The providers that were considered.
        providers: Vec<Arc<str>>,
    },
    /// Caller: an upstream of another dialect has nothing like what is asked for.
    Inconvertible {
        /// The upstream's dialect.
        dialect: Dialect,
        /// The provider.
        provider: Arc<str>,
        /// The member of the request.
        path: String,
        /// What is the matter with it.
        message: String,
    },
    /// Caller: the request can only be converted with losses, and it or its route is strict. The losses, on one line.
    Lossy(String),
    /// Caller: a file that the request names by its URL cannot be had.
    MediaUnavailable(String),
    /// Configuration: no provider in the plan has a usable credential.
    NoCredential,
    /// Configuration: an upstream cannot be addressed; the details are in the log.
    Misconfigured,
    /// Upstream: it refused the credential that the gateway has for it.
    CredentialRefused {
        /// Its status: 401, 402 or 403.
        status: u16,
    },
    /// Upstream: what stands before its API refuses the gateway, whatever the credential.
    Blocked,
    /// Upstream: it wants the gateway to go elsewhere, which would carry the credential along.
    Redirected,
    /// Upstream: it says that all is well, with something that is no answer, such as a web page.
    NoAnswer,
    /// Upstream: it did not answer.
    Unreachable(FetchErrorKind),
    /// This instance: all of the model's providers rest after failures.
    NoHealthyProvider {
        /// Seconds until the first of them can be tried again, if that is known.
        retry_after: Option<u64>,
    },
    /// Caller: the time that it gave the request is up.
    DeadlineExceeded,
}

impl EngineError {
    /// The stable word for programs and records.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::Unsupported { .. } => "dialect_unsupported",
            // Claude's SDK goes on without a thread when it reads this.
            Self::Inconvertible { path, .. } if path == "thread" => "thread_unsupported_request",
            Self::Inconvertible { .. } => "conversion_unsupported",
            Self::Lossy(_) => "conversion_lossy",
            Self::MediaUnavailable(_) => "media_unavailable",
            Self::NoCredential => "no_credential",
            Self::Misconfigured => "provider_misconfigured",
            Self::CredentialRefused { .. } => "upstream_credential_refused",
            Self::Blocked => "upstream_blocked",
            Self::Redirected => "upstream_redirected",
            Self::NoAnswer => "upstream_error",
            Self::Unreachable(FetchErrorKind::Timeout) => "upstream_timeout",
            Self::Unreachable(FetchErrorKind::Forbidden) => "upstream_address_forbidden",
            Self::Unreachable(FetchErrorKind::Connect | FetchErrorKind::Broken) => "upstream_unreachable",
            Self::NoHealthyProvider { .. } => "no_healthy_provider",
            Self::DeadlineExceeded => "deadline_exceeded",
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidRequest(message) => formatter.write_str(message),
            Self::Unsupported { dialect, operation, providers } => write!(
                formatter,
                "none of the providers of this model ({}) speaks {dialect} for {}; use a client of a dialect that one \
                 of them speaks, or another model",
                providers.join(", "),
                operation.name(),
            ),
            Self::Inconvertible { dialect, provider, path, message } => {
                let place = if path.is_empty() { "the request" } else { path };
                write!(formatter, "{place}: {message} (the provider {provider} speaks {dialect})")
            }
            Self::Lossy(losses) => write!(
                formatter,
                "the request cannot be converted for this model's providers without a loss, and strictness is asked for; leave \
                 out what is lost, or ask without x-gateway-strict: {losses}"
            ),
            Self::MediaUnavailable(message) => formatter.write_str(message),
            Self::NoCredential => formatter
                .write_str("no provider of this model has a usable credential; the operator has to add or enable one"),
            Self::Misconfigured => formatter.write_str(
                "the provider of this model is not configured properly; the operator finds the reason in the log",
            ),
            Self::CredentialRefused { status } => write!(
                formatter,
                "the provider refused the gateway's own credential (status {status}); your key is fine, the operator \
                 has to look after the provider's account",
            ),
            Self::Blocked => formatter.write_str(
                "the provider's network refused the gateway before the provider's API saw the request; the credential is not at \
                 fault, the operator has to reach the provider from another network or by another base URL",
            ),
            Self::Redirected => formatter.write_str(
                "the provider answered with a redirect, which the gateway does not follow; the operator has to correct \
                 the provider's base URL",
            ),
            Self::NoAnswer => formatter.write_str(
                "the provider answered with something that is no answer of its API; the operator has to check the \
                 provider's base URL",
            ),
            Self::Unreachable(FetchErrorKind::Timeout) => {
                formatter.write_str("the provider did not answer in time; retry, or ask for a shorter answer")
            }
            Self::Unreachable(FetchErrorKind::Forbidden) => formatter
                .write_str("the provider's address is in a private network, which the operator has not allowed for it"),
            Self::Unreachable(FetchErrorKind::Connect | FetchErrorKind::Broken) => {
                formatter.write_str("the provider could not be reached; retry in a moment")
            }
            Self::NoHealthyProvider { retry_after } => {
                formatter.write_str("all providers of this model rest after failures")?;
                match retry_after {
                    Some(seconds) => write!(formatter, "; the first can be tried again in {seconds} seconds"),
                    None => formatter.write_str("; the operator has to look after them"),
                }
            }
            Self::DeadlineExceeded => formatter.write_str(
                "there was no answer within the time that x-gateway-timeout-ms gives; give more, or ask for less",
            ),
        }
    }
}

impl std::error::Error for EngineError {}
