//! OpenAI's error envelope (<https://developers.openai.com/api/docs/guides/error-codes>), which both of its dialects use.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::protocol::error::Failure;
use crate::protocol::sse;

/// `error.type` for a status.
pub fn error_type(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        403 => "permission_error",
        402 => "insufficient_quota",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// The body of an HTTP error.
pub fn envelope(failure: &Failure) -> Bytes {
    body(failure).to_string().into()
}

/// The frame that ends a stream: it has a top-level `error`, which the SDKs raise.
pub fn event(failure: &Failure) -> Bytes {
    sse::event(None, &body(failure))
}

fn body(failure: &Failure) -> Value {
    json!({"error": {
        "message": failure.message,
        "type": error_type(failure.status.as_u16()),
        "param": null,
        "code": failure.code,
    }})
}
