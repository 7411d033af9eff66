//! Errors inside a stream, and those that a response has.

use super::wire::event::ErrorEvent;
use super::wire::response::{Response, ResponseError, Status};
use crate::protocol::convert::StreamFault;
use crate::protocol::openai_chat::fault::{Parts, fault};

/// What an `error` event says.
pub fn of_event(event: &ErrorEvent<'_>) -> StreamFault<'static> {
    let nested = event.error.as_ref();
    fault(&Parts {
        code: event.code.as_deref().or_else(|| nested?.code.as_deref()),
        kind: nested.and_then(|error| error.r#type.as_deref()),
        message: event.message.as_deref().or_else(|| nested?.message.as_deref()),
        status: event.status,
    })
}

/// Why there is no answer: it failed, was cancelled, or is not there yet.
pub fn of_unfinished(response: &Response<'_>) -> Option<StreamFault<'static>> {
    let (code, message) = match &response.status {
        Some(Status::Failed) => return Some(of_response(response)),
        Some(Status::Cancelled) => {
            ("response_cancelled", "the answer was cancelled at the provider; repeat the request")
        }
        Some(Status::Queued | Status::InProgress) => (
            "response_not_ready",
            "the provider works on the answer in the background, which cannot be waited for; repeat the request",
        ),
        _ => return response.error.is_some().then(|| of_response(response)),
    };
    Some(fault(&Parts { code: Some(code), message: Some(message), ..Parts::default() }))
}

/// Why a response failed, or was cancelled.
pub fn of_response(response: &Response<'_>) -> StreamFault<'static> {
    response.error.as_ref().map_or_else(|| fault(&Parts::default()), of_error)
}

fn of_error(error: &ResponseError<'_>) -> StreamFault<'static> {
    fault(&Parts {
        code: error.code.as_deref(),
        kind: error.r#type.as_deref(),
        message: Some(&error.message),
        status: None,
    })
}
