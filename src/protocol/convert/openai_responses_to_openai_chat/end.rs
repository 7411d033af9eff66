//! How an answer ended, and what it took.

use crate::protocol::openai_chat::wire::response::FinishReason;
use crate::protocol::openai_chat::wire::usage::{CompletionTokensDetails, CompletionUsage, PromptTokensDetails};
use crate::protocol::openai_responses::wire::response::{IncompleteReason, Response, Status, Usage};

/// Why an answer ended. One that has calls is whole, too; the caller says so.
pub(super) fn finish_reason(response: &Response<'_>) -> FinishReason<'static> {
    if response.status != Some(Status::Incomplete) {
        return FinishReason::Stop;
    }
    match response.incomplete_details.as_ref().and_then(|details| details.reason.as_ref()) {
        Some(IncompleteReason::ContentFilter) => FinishReason::ContentFilter,
        // Whatever the reason, the answer is not whole.
        _ => FinishReason::Length,
    }
}

/// The usage; the totals include their details in both dialects.
pub(super) fn usage(usage: &Usage) -> CompletionUsage {
    let input = usage.input_tokens_details.clone().unwrap_or_default();
    let total = if usage.total_tokens > 0 {
        usage.total_tokens
    } else {
        usage.input_tokens.saturating_add(usage.output_tokens)
    };
    CompletionUsage {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        total_tokens: total,
        prompt_tokens_details: Some(PromptTokensDetails {
            cached_tokens: Some(input.cached_tokens),
            cache_write_tokens: input.cache_write_tokens,
            ..PromptTokensDetails::default()
        }),
        completion_tokens_details: Some(CompletionTokensDetails {
            reasoning_tokens: Some(usage.output_tokens_details.as_ref().map_or(0, |details| details.reasoning_tokens)),
            ..CompletionTokensDetails::default()
        }),
        ..CompletionUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::openai_responses::fault::of_unfinished;

    fn read(text: &str) -> Response<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn each_end_has_its_reason() {
        for (members, reason) in [
            (r#""status":"completed""#, FinishReason::Stop),
            (r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#, FinishReason::Length),
            (r#""status":"incomplete","incomplete_details":{"reason":"content_filter"}"#, FinishReason::ContentFilter),
            (r#""status":"incomplete""#, FinishReason::Length),
            (r#""output":[]"#, FinishReason::Stop),
        ] {
            let text = format!(r#"{{"id":"r",{members}}}"#);
            let response = read(&text);
            assert!(of_unfinished(&response).is_none());
            assert_eq!(finish_reason(&response), reason, "{members}");
        }
    }

    /// B29: a failure is no answer.
    #[test]
    fn failures_keep_their_words() {
        let failed = r#"{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down."}}"#;
        let fault = of_unfinished(&read(failed)).unwrap();
        assert_eq!((fault.status, &*fault.code, &*fault.message), (429, "rate_limit_exceeded", "Slow down."));
        for status in ["cancelled", "queued", "in_progress"] {
            assert!(of_unfinished(&read(&format!(r#"{{"id":"r","status":"{status}"}}"#))).is_some());
        }
    }
}
