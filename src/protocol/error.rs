//! What went wrong, in terms that each dialect can put into its own envelope.

use bytes::Bytes;
use http::StatusCode;

use super::dialect::Dialect;
use super::{claude, gemini, openai_chat, openai_responses};

/// A failure as a client is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status.
    pub status: StatusCode,
    /// A stable word for programs, listed in `docs/errors.md`.
    pub code: &'static str,
    /// What is wrong and what to do about it.
    pub message: String,
    /// Seconds after which a retry makes sense.
    pub retry_after: Option<u64>,
}

impl Failure {
    /// The body of an HTTP error in `dialect`.
    pub fn envelope(&self, dialect: Dialect, request_id: &str) -> Bytes {
        match dialect {
            Dialect::OpenAiChat | Dialect::OpenAiResponses => openai_chat::error::envelope(self),
            Dialect::Claude => claude::error::envelope(self, request_id),
            Dialect::Gemini => gemini::error::envelope(self),
        }
    }

    /// The event that ends a stream of `dialect` with this failure.
    pub fn event(&self, dialect: Dialect, request_id: &str) -> Bytes {
        match dialect {
            Dialect::OpenAiChat => openai_chat::error::event(self),
            Dialect::OpenAiResponses => openai_responses::error::event(self),
            Dialect::Claude => claude::error::event(self, request_id),
            Dialect::Gemini => gemini::error::event(self),
        }
    }
}

/// An SSE event with an optional name.
pub(super) fn sse_event(name: Option<&str>, data: &serde_json::Value) -> Bytes {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n").into()
}
