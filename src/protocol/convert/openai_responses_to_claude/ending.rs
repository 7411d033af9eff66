//! How an answer ends, and what it took.

use crate::protocol::claude::wire::response::{StopDetails, StopReason};
use crate::protocol::claude::wire::usage::{OutputTokensDetails, Usage as Target};
use crate::protocol::openai_responses::wire::response::{IncompleteReason, Response, Status, Usage};

/// Why the answer ended, as far as the response tells it; what it holds may say more.
pub(super) fn stop_reason<'a>(response: &Response<'_>) -> StopReason<'a> {
    let reason = response.incomplete_details.as_ref().and_then(|details| details.reason.as_ref());
    match (&response.status, reason) {
        (_, Some(IncompleteReason::ContentFilter)) => StopReason::Refusal,
        (_, Some(IncompleteReason::MaxOutputTokens | IncompleteReason::MaxMessages)) => StopReason::MaxTokens,
        (Some(Status::Incomplete), _) => StopReason::MaxTokens,
        _ => StopReason::EndTurn,
    }
}

/// What there is to say about a refusal.
pub(super) fn refusal_details<'a>(explanation: Option<String>) -> StopDetails<'a> {
    StopDetails {
        kind: "refusal".into(),
        category: None,
        explanation: explanation.map(Into::into),
        recommended_model: None,
        fallback_credit_token: None,
        fallback_has_prefill_claim: None,
    }
}

/// The usage as Claude tells it: the input leaves out what was read from and written to the cache.
pub(super) fn usage<'a>(usage: &Usage) -> Target<'a> {
    let details = usage.input_tokens_details.as_ref();
    let read = details.map_or(0, |details| details.cached_tokens);
    let written = details.and_then(|details| details.cache_write_tokens).unwrap_or(0);
    let thinking = usage.output_tokens_details.as_ref().map(|details| details.reasoning_tokens);
    Target {
        input_tokens: Some(usage.input_tokens.saturating_sub(read).saturating_sub(written)),
        cache_creation_input_tokens: Some(written),
        cache_read_input_tokens: Some(read),
        output_tokens: Some(usage.output_tokens),
        output_tokens_details: thinking
            .filter(|tokens| *tokens > 0)
            .map(|tokens| OutputTokensDetails { thinking_tokens: Some(tokens) }),
        ..Target::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B37: each token of the input in one place.
    #[test]
    fn cached_tokens_are_taken_out_of_the_input() {
        let text = r#"{"input_tokens":1200,"input_tokens_details":{"cached_tokens":1024,"cache_write_tokens":128},
            "output_tokens":340,"output_tokens_details":{"reasoning_tokens":256},"total_tokens":1540}"#;
        let usage = usage(&serde_json::from_str(text).unwrap());
        assert_eq!((usage.input_tokens, usage.cache_read_input_tokens), (Some(48), Some(1024)));
        assert_eq!((usage.cache_creation_input_tokens, usage.output_tokens), (Some(128), Some(340)));
        assert_eq!(usage.output_tokens_details.unwrap().thinking_tokens, Some(256));
    }
}
