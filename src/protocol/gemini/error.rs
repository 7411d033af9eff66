//! Google's error envelope (<https://cloud.google.com/apis/design/errors>). `error.code` is the HTTP status as a number:
//! the SDK compares it.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::protocol::error::Failure;
use crate::protocol::sse;

/// `error.status` for an HTTP status.
pub fn status_name(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        402 | 429 => "RESOURCE_EXHAUSTED",
        403 => "PERMISSION_DENIED",
        404 | 405 => "NOT_FOUND",
        409 => "ABORTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        502 | 503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

/// The body of an HTTP error.
pub fn envelope(failure: &Failure) -> Bytes {
    body(failure).to_string().into()
}

/// The frame that ends a stream.
pub fn event(failure: &Failure) -> Bytes {
    sse::event(None, &body(failure))
}

fn body(failure: &Failure) -> Value {
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": failure.code.to_ascii_uppercase(),
        "domain": "tollgate",
    })];
    if let Some(seconds) = failure.retry_after {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{seconds}s"),
        }));
    }
    json!({"error": {
        "code": failure.status.as_u16(),
        "message": failure.message,
        "status": status_name(failure.status.as_u16()),
        "details": details,
    }})
}
