//! How an answer ended and what it took.

use crate::protocol::claude::error::status_of;
use crate::protocol::claude::wire::response::{ErrorObject, StopDetails, StopReason};
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::StreamFault;
use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::{FinishReason, UsageMetadata};

/// Why an answer ended, and the same in words where the reason alone does not tell it.
pub(super) fn finish_reason(
    reason: Option<&StopReason<'_>>,
    details: Option<&StopDetails<'_>>,
) -> (FinishReason<'static>, Option<String>) {
    let told = |message: &str| Some(message.to_owned());
    match reason {
        None | Some(StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence) => (FinishReason::Stop, None),
        Some(StopReason::MaxTokens) => (FinishReason::MaxTokens, None),
        Some(StopReason::ModelContextWindowExceeded) => {
            (FinishReason::MaxTokens, told("The context window of the model is full."))
        }
        Some(StopReason::Refusal) => (FinishReason::Safety, refusal(details)),
        Some(StopReason::PauseTurn) => {
            (FinishReason::Unspecific, told("The model paused; send its answer back to let it go on."))
        }
        Some(StopReason::Compaction) => (FinishReason::Unspecific, told("The conversation was compacted.")),
        Some(StopReason::Other(word)) => (FinishReason::Stop, told(word)),
    }
}

fn refusal(details: Option<&StopDetails<'_>>) -> Option<String> {
    let details = details?;
    match (&details.explanation, &details.category) {
        (Some(explanation), _) => Some(explanation.to_string()),
        (None, Some(category)) => Some(format!("Refused: {}", &**category)),
        (None, None) => None,
    }
}

/// B37: Gemini's prompt includes what was read from the cache and written to it, its candidates are without thoughts.
pub(super) fn usage(usage: &Usage<'_>) -> UsageMetadata<'static> {
    let cached = usage.cache_read_input_tokens.unwrap_or(0);
    let written = usage.cache_creation_input_tokens.unwrap_or(0);
    let prompt = usage.input_tokens.unwrap_or(0).saturating_add(cached).saturating_add(written);
    let output = usage.output_tokens.unwrap_or(0);
    let thoughts = usage.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens).unwrap_or(0);
    let unless_zero = |count: u64| (count > 0).then_some(Count(count));
    UsageMetadata {
        prompt_token_count: Some(Count(prompt)),
        cached_content_token_count: unless_zero(cached),
        candidates_token_count: Some(Count(output.saturating_sub(thoughts))),
        thoughts_token_count: unless_zero(thoughts),
        total_token_count: Some(Count(prompt.saturating_add(output))),
        ..UsageMetadata::default()
    }
}

/// The error of a stream (<https://platform.claude.com/docs/en/api/errors>).
pub(super) fn fault<'a>(error: &'a ErrorObject<'a>) -> StreamFault<'a> {
    let status = match status_of(&error.kind) {
        // Google's word for being overloaded.
        529 => 503,
        status => status,
    };
    StreamFault { status, code: (&*error.kind).into(), message: (&*error.message).into() }
}
