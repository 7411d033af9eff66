//! Claude's error envelope (<https://platform.claude.com/docs/en/api/errors>).

use bytes::Bytes;
use serde_json::{Value, json};

use crate::protocol::error::Failure;
use crate::protocol::sse;

/// `error.type` for a status.
pub fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 | 405 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// The status that an error of this type has; an error that is not known is the vendor's.
pub fn status_of(error_type: &str) -> u16 {
    match error_type {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "overloaded_error" => 529,
        "timeout_error" => 504,
        _ => 500,
    }
}

/// The body of an HTTP error.
pub fn envelope(failure: &Failure, request_id: &str) -> Bytes {
    body(failure, request_id).to_string().into()
}

/// The `error` event that ends a stream; no `message_stop` follows it.
pub fn event(failure: &Failure, request_id: &str) -> Bytes {
    sse::event(Some("error"), &body(failure, request_id))
}

fn body(failure: &Failure, request_id: &str) -> Value {
    let details = match failure.code {
        // The SDK's tool runner goes on without a thread only when it is told so in this way.
        code @ "thread_unsupported_request" => json!({"error_code": code, "unsupported": ["thread"]}),
        code => json!({"error_code": code}),
    };
    json!({
        "type": "error",
        "error": {
            "type": error_type(failure.status.as_u16()),
            "message": failure.message,
            "details": details,
        },
        "request_id": request_id,
    })
}
