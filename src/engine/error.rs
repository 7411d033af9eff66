//! Why the engine has no answer.

use std::fmt;
use std::sync::Arc;

use crate::platform::fetch::FetchErrorKind;
use crate::protocol::dialect::Dialect;
use crate::protocol::operation::Operation;

/// How much is told at most of why nobody fits.
const MAX_REASONS_CHARS: usize = 1500;

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
    /// Caller: each of the targets is unfit for the request, for a reason of its own.
    NobodyFits(Vec<EngineError>),
    /// Caller: a file that the request names by its URL cannot be had.
    MediaUnavailable(String),
    /// Configuration: a provider's rewrite rules make more of the request than can be sent.
    Rewriting,
    /// Configuration: no provider in the plan has a usable credential.
    NoCredential,
    /// Upstream: its token endpoint gives no new token for one that has ended; the details are in the log.
    NotRefreshed,
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
    /// This instance: as many calls are under way as the accounts may have.
    Busy,
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
            Self::NobodyFits(reasons) => reasons.first().map_or("conversion_unsupported", Self::code),
            Self::MediaUnavailable(_) => "media_unavailable",
            Self::Rewriting => "rewrite_failed",
            Self::NoCredential => "no_credential",
            Self::NotRefreshed => "token_refresh_failed",
            Self::Misconfigured => "provider_misconfigured",
            Self::CredentialRefused { .. } => "upstream_credential_refused",
            Self::Blocked => "upstream_blocked",
            Self::Redirected => "upstream_redirected",
            Self::NoAnswer => "upstream_error",
            Self::Unreachable(FetchErrorKind::Timeout) => "upstream_timeout",
            Self::Unreachable(FetchErrorKind::Forbidden) => "upstream_address_forbidden",
            Self::Unreachable(FetchErrorKind::Connect | FetchErrorKind::Broken) => "upstream_unreachable",
            Self::NoHealthyProvider { .. } | Self::Busy => "no_healthy_provider",
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
            Self::NobodyFits(reasons) => {
                formatter.write_str("no provider of this model can be asked this")?;
                let mut left = MAX_REASONS_CHARS;
                for reason in reasons {
                    let text = reason.to_string();
                    let text = text.char_indices().nth(left).and_then(|(end, _)| text.get(..end)).unwrap_or(&text);
                    left = left.saturating_sub(text.chars().count());
                    if !text.is_empty() {
                        write!(formatter, "; {text}")?;
                    }
                }
                Ok(())
            }
            Self::MediaUnavailable(message) => formatter.write_str(message),
            Self::Rewriting => formatter.write_str(
                "the rewrite rules of the provider make more of this request than the gateway can send; the operator has to \
                 correct them",
            ),
            Self::NoCredential => formatter
                .write_str("no provider of this model has a usable credential; the operator has to add or enable one"),
            Self::NotRefreshed => formatter.write_str(
                "the gateway's access to the provider has ended and could not be renewed just now; retry in a moment, the operator \
                 finds the reason in the log",
            ),
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
            Self::Busy => formatter.write_str(
                "the accounts of this model's providers have as many calls under way as they may; retry in a moment, the operator can \
                 raise max_concurrency or add accounts",
            ),
            Self::DeadlineExceeded => formatter.write_str(
                "there was no answer within the time that x-gateway-timeout-ms gives; give more, or ask for less",
            ),
        }
    }
}

impl std::error::Error for EngineError {}
