//! Answers, and what becomes of an upstream's error on its way to the client.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};

use super::error::EngineError;
use super::trace::Trace;
use crate::platform::body::Body;
use crate::platform::clock::Timestamp;
use crate::protocol::convert::StreamFault;
use crate::protocol::dialect::Dialect;
use crate::protocol::error::{self, Failure};
use crate::protocol::headers;
use crate::protocol::rate_limits;

/// Longest body of an upstream's error that is read.
pub const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Shortest piece of a secret that must not be shown.
const SECRET_PIECE: usize = 8;

/// An answer for the client, in its dialect.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
    /// The provider that gave it.
    pub provider: Arc<str>,
    /// What a conversion could not carry over, on one line; empty where nothing was lost.
    pub losses: String,
    /// What it took until it began.
    pub trace: Trace,
}

impl Answer {
    fn of_error(status: StatusCode, headers: HeaderMap, body: Bytes, provider: &Arc<str>) -> Self {
        let (body, provider) = (Body::Whole(body), provider.clone());
        Self { status, headers, body, provider, losses: String::new(), trace: Trace::default() }
    }
}

/// An upstream's error answer.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamError<'a> {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body.
    pub body: &'a [u8],
    /// When it came.
    pub at: Timestamp,
}

/// Turns an upstream's error answer into one for the client.
///
/// What concerns the gateway's own account becomes an error of the gateway: the client's key is not at fault, and the text
/// is about somebody else's account. Everything else keeps its status and its text, since clients act on it: byte for byte if
/// it is an error of the dialect, else in the dialect's envelope; a web page or a fragment is replaced. Pieces of `secret` are
/// taken out.
pub fn from_upstream_error(
    upstream: &UpstreamError<'_>,
    dialect: Dialect,
    request_id: &str,
    secret: Option<&str>,
    provider: &Arc<str>,
) -> Result<Answer, EngineError> {
    let UpstreamError { status, headers: upstream_headers, body, at } = *upstream;
    if matches!(status.as_u16(), 401..=403) {
        return Err(EngineError::CredentialRefused { status: status.as_u16() });
    }
    if !status.is_client_error() && !status.is_server_error() {
        return Err(EngineError::Redirected);
    }
    let mut headers = headers::to_client(upstream_headers);
    headers.remove(CONTENT_ENCODING);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let text = std::str::from_utf8(body).map(|text| redact(text, secret.unwrap_or_default())).unwrap_or_default();
    let retry_after = rate_limits::seconds(upstream_headers, &text, at.0);
    if let (Some(seconds), false) = (retry_after, headers.contains_key(RETRY_AFTER)) {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    let body = if error::is_envelope(dialect, &text) {
        text.into()
    } else {
        let message = error::message_in(status, &text)
            .unwrap_or_else(|| format!("the provider answered with status {} and no readable error", status.as_u16()));
        // Some say it by the code alone.
        let is_overflow = status.is_client_error() && error::is_context_overflow(&text);
        let code = if is_overflow { "context_length_exceeded" } else { "upstream_error" };
        let fault = StreamFault { status: status.as_u16(), code: code.into(), message: message.into() };
        failure(status, &fault, retry_after, dialect).envelope(dialect, request_id)
    };
    Ok(Answer::of_error(status, headers, body, provider))
}

/// An upstream's failure as clients of `dialect` know it.
fn failure(status: StatusCode, fault: &StreamFault<'_>, retry_after: Option<u64>, dialect: Dialect) -> Failure {
    let fault = fault.for_client(dialect);
    let code = match &*fault.code {
        "context_length_exceeded" => "context_length_exceeded",
        "upstream_cut" => "upstream_cut",
        "upstream_timeout" => "upstream_timeout",
        _ => "upstream_error",
    };
    Failure { status, code, message: fault.message.into_owned(), retry_after }
}

/// Turns an error that stood in a stream, which a client without a stream is waiting for, into an answer for it.
pub fn from_stream_fault(
    status: StatusCode,
    fault: &StreamFault<'_>,
    dialect: Dialect,
    request_id: &str,
    secret: Option<&str>,
    provider: &Arc<str>,
) -> Result<Answer, EngineError> {
    if matches!(status.as_u16(), 401..=403) {
        return Err(EngineError::CredentialRefused { status: status.as_u16() });
    }
    let message = redact(&fault.message, secret.unwrap_or_default());
    let failure = failure(status, &StreamFault { message: message.into(), ..fault.clone() }, None, dialect);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(Answer::of_error(status, headers, failure.envelope(dialect, request_id), provider))
}

/// Replaces every word that shares a piece with the secret, and the names of accounts.
fn redact(text: &str, secret: &str) -> String {
    let pieces: HashSet<&[u8]> = secret.as_bytes().windows(SECRET_PIECE).collect();
    let tells = |word: &str| {
        word.as_bytes().windows(SECRET_PIECE).any(|piece| pieces.contains(piece))
            || ["org-", "org_", "proj_"].iter().any(|prefix| {
                word.strip_prefix(prefix)
                    .is_some_and(|rest| rest.len() >= 12 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
            })
    };
    let is_word =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '+' | '/' | '=');
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (gap, tail) = rest.split_at(rest.find(is_word).unwrap_or(rest.len()));
        let (word, tail) = tail.split_at(tail.find(|character| !is_word(character)).unwrap_or(tail.len()));
        redacted.push_str(gap);
        redacted.push_str(if tells(word) { "[redacted]" } else { word });
        rest = tail;
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "sk-proj-0123456789abcdef";

    fn error(status: u16, body: &str) -> Result<Answer, EngineError> {
        let status = StatusCode::from_u16(status).unwrap();
        let headers = HeaderMap::new();
        let upstream = UpstreamError { status, headers: &headers, body: body.as_bytes(), at: Timestamp::default() };
        from_upstream_error(&upstream, Dialect::Claude, "r", Some(SECRET), &"p".into())
    }

    fn text(answer: Answer) -> String {
        match answer.body {
            Body::Whole(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Body::Stream(_) => panic!("an error is whole"),
        }
    }

    #[test]
    fn a_readable_error_keeps_its_bytes() {
        let body = r#"{"type":"error", "error":{"type":"invalid_request_error","message":"messages: Unexpected role \"system\""}}"#;
        let answer = error(429, body).ok().unwrap();
        assert_eq!(answer.status, 429);
        assert_eq!(text(answer), body);
    }

    /// B40: the pool's credential is no fault of the client's.
    #[test]
    fn a_refused_credential_is_the_gateways_own_trouble() {
        for status in [401, 402, 403] {
            let refused = error(status, r#"{"error":{"message":"Incorrect API key"}}"#).err();
            assert_eq!(refused, Some(EngineError::CredentialRefused { status }));
        }
    }

    #[test]
    fn an_error_in_another_envelope_keeps_its_words() {
        for body in
            [r#"{"error":{"message":"too long","code":"x"}}"#, r#"{"error":"too long"}"#, r#"{"message":"too long"}"#]
        {
            let answer = text(error(400, body).ok().unwrap());
            assert!(
                answer.starts_with(r#"{"type":"error","error":{"type":"invalid_request_error","message":"too long""#)
            );
        }
    }

    #[test]
    fn what_is_not_an_error_of_the_dialect_is_replaced() {
        for body in ["<html>", "", "{\"error\":", "[]", "{\"error\":{}}", "{\"error\":7}"] {
            let answer = text(error(500, body).ok().unwrap());
            assert!(answer.contains(r#""error""#) && answer.contains("status 500"), "{answer}");
            assert!(!answer.contains("html"));
        }
        assert_eq!(error(302, "").err(), Some(EngineError::Redirected));
    }

    /// B68: no piece of a secret, and no account's name.
    #[test]
    fn secrets_are_taken_out() {
        let body = format!(
            r#"{{"type":"error","error":{{"type":"api_error","message":"key {SECRET} ({}…) of org-AbCdEf123456 is over its limit, see a.b/c-d"}}}}"#,
            SECRET.get(..12).unwrap()
        );
        let answer = text(error(429, &body).ok().unwrap());
        assert_eq!(
            answer,
            r#"{"type":"error","error":{"type":"api_error","message":"key [redacted] ([redacted]…) of [redacted] is over its limit, see a.b/c-d"}}"#
        );
    }
}
