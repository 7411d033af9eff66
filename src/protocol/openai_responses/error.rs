//! Errors inside a Responses stream. Outside of one the envelope is that of Chat Completions.

use bytes::Bytes;
use serde_json::json;

use crate::protocol::error::Failure;
use crate::protocol::sse;

/// The `error` event, whose members are not nested.
///
/// Its `sequence_number` should follow the last one of the stream. Who forwards a stream without reading it does not know
/// that number; the SDKs do not check it.
pub fn event(failure: &Failure) -> Bytes {
    sse::event(
        Some("error"),
        &json!({
            "type": "error",
            "code": failure.code,
            "message": failure.message,
            "param": null,
            "sequence_number": 0,
        }),
    )
}
