//! How an answer ends, well or not.

use crate::protocol::claude::wire::response::{ErrorObject, StopDetails, StopReason};
use crate::protocol::convert::StreamFault;
use crate::protocol::openai_responses::wire::response::IncompleteReason;
use crate::protocol::wire::Text;

/// Why the answer is incomplete; `None` if it is whole.
///
/// A turn that Claude's vendor has paused is cut as well: a client of Responses has no way to send it back, but asks for more.
pub(super) fn incomplete<'a>(reason: Option<&StopReason<'_>>) -> Option<IncompleteReason<'a>> {
    match reason? {
        StopReason::MaxTokens | StopReason::ModelContextWindowExceeded | StopReason::PauseTurn => {
            Some(IncompleteReason::MaxOutputTokens)
        }
        StopReason::Refusal => Some(IncompleteReason::ContentFilter),
        StopReason::EndTurn
        | StopReason::StopSequence
        | StopReason::ToolUse
        | StopReason::Compaction
        | StopReason::Other(_) => None,
    }
}

/// What the vendor says about a refusal.
pub(super) fn explanation<'a>(details: Option<&'a StopDetails<'a>>) -> Option<&'a Text<'a>> {
    details?.explanation.as_ref().filter(|explanation| !explanation.is_empty())
}

/// An error of Claude with the word that clients of OpenAI know for it: they tell from it whether to try again.
pub(super) fn fault<'a>(error: &'a ErrorObject<'a>) -> StreamFault<'a> {
    let is_too_long = error.message.contains("prompt is too long") || error.message.contains("context window");
    let (status, code) = match &*error.kind {
        "invalid_request_error" | "request_too_large" if is_too_long => (400, "context_length_exceeded"),
        "invalid_request_error" => (400, "invalid_prompt"),
        "authentication_error" => (401, "invalid_api_key"),
        "billing_error" => (402, "insufficient_quota"),
        "permission_error" => (403, "permission_error"),
        "not_found_error" => (404, "model_not_found"),
        "request_too_large" => (413, "request_too_large"),
        "rate_limit_error" => (429, "rate_limit_exceeded"),
        "api_error" => (500, "server_error"),
        "overloaded_error" => (529, "server_is_overloaded"),
        "timeout_error" => (504, "timeout"),
        other => (502, other),
    };
    StreamFault { status, code: code.into(), message: (&*error.message).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B29: the client learns why, in words that it knows.
    #[test]
    fn errors_have_the_words_of_openai() {
        for (kind, message, code) in [
            ("overloaded_error", "Overloaded", "server_is_overloaded"),
            ("rate_limit_error", "slow", "rate_limit_exceeded"),
            ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_length_exceeded"),
            ("future_error", "x", "future_error"),
        ] {
            let error = ErrorObject { kind: kind.into(), message: message.into(), details: None };
            assert_eq!((fault(&error).code, fault(&error).message), (code.into(), message.into()));
        }
    }
}
