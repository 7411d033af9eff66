//! What went wrong, in terms that each dialect can put into its own envelope.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;
use serde_json::value::RawValue;
use tollgate_macros::Read;

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

/// Whether `text` is an error as clients of `dialect` read it. Gemini wraps those of some streams in an array.
pub fn is_envelope(dialect: Dialect, text: &str) -> bool {
    #[derive(Read)]
    struct Envelope<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<Cow<'a, str>>,
        #[serde(borrow)]
        error: Members<'a>,
    }
    #[derive(Read)]
    struct Members<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<&'a RawValue>,
        message: Option<Cow<'a, str>>,
        #[serde(borrow)]
        code: Option<&'a RawValue>,
        status: Option<Cow<'a, str>>,
    }
    let text = text.trim();
    let inner = match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) if dialect == Dialect::Gemini => inner,
        _ => text,
    };
    let Ok(Envelope { kind, error }) = serde_json::from_str(inner) else { return false };
    if error.message.is_none() {
        return false;
    }
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            kind.is_none()
                && error.status.is_none()
                && error.code.is_none_or(|code| !code.get().starts_with(|first: char| first.is_ascii_digit()))
        }
        Dialect::Claude => {
            kind.as_deref() == Some("error") && error.kind.is_some_and(|kind| kind.get().starts_with('"'))
        }
        Dialect::Gemini => error.code.is_some_and(|code| code.get().parse::<u16>().is_ok()) && error.status.is_some(),
    }
}

/// Whether an error says that the prompt is longer than the model takes. Agents shorten their history when they read that.
pub fn is_context_overflow(text: &str) -> bool {
    const WORDS: [&str; 5] = [
        "context_length_exceeded",
        "prompt is too long",
        "maximum context length",
        "exceeds the maximum number of tokens",
        "exceed context limit",
    ];
    WORDS.iter().any(|words| text.contains(words))
}

/// The words of an error in any of the shapes that vendors have. Those that are no envelope are only taken when they are
/// about the request; what a server says of itself may be meant for nobody.
pub fn message_in(status: StatusCode, text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let value = value.get(0).unwrap_or(&value);
    let places: &[&str] = if status.is_client_error() {
        &["/error/message", "/error", "/message", "/detail"]
    } else {
        &["/error/message", "/error"]
    };
    places
        .iter()
        .find_map(|place| value.pointer(place)?.as_str())
        .filter(|message| !message.is_empty())
        .map(str::to_owned)
}
