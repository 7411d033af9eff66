//! How an answer ends, and what it took.

use crate::protocol::convert::StreamFault;
use crate::protocol::convert::from_gemini::usage::{Counts, counts};
use crate::protocol::gemini::wire::response::{
    Candidate, End, FinishReason, GenerateContentResponse, Status, UsageMetadata,
};
use crate::protocol::openai_responses::wire::response::{
    IncompleteReason, InputTokensDetails, OutputTokensDetails, Usage,
};

/// How an answer ends.
#[derive(Debug)]
pub(super) enum Ending {
    /// It is whole.
    Completed,
    /// It was stopped.
    Incomplete(IncompleteReason<'static>),
    /// It is of no use.
    Failed(StreamFault<'static>),
}

/// B50: how a candidate with a finish reason ends.
pub(super) fn of_candidate(candidate: &Candidate<'_>) -> Option<Ending> {
    let reason = candidate.finish_reason.as_ref()?;
    Some(match reason.end() {
        End::Whole => Ending::Completed,
        End::Limit => Ending::Incomplete(IncompleteReason::MaxOutputTokens),
        End::Filtered => Ending::Incomplete(IncompleteReason::ContentFilter),
        End::Unexplained | End::Failed => Ending::Failed(failure(reason, candidate.finish_message.as_deref())),
    })
}

/// How an answer ends that has no candidate: the prompt was blocked, or nothing is known.
pub(super) fn without_candidate(response: &GenerateContentResponse<'_>) -> Option<Ending> {
    let feedback = response.prompt_feedback.as_ref()?;
    feedback.block_reason.as_ref().map(|_| Ending::Incomplete(IncompleteReason::ContentFilter))
}

fn failure(reason: &FinishReason<'_>, message: Option<&str>) -> StreamFault<'static> {
    let message = match message {
        Some(message) => format!("the model stopped with {}: {message}", reason.as_str()),
        None => format!("the model stopped with {}; repeat the request", reason.as_str()),
    };
    StreamFault { status: 502, code: "server_error".into(), message: message.into() }
}

/// The error that a body or an event of Gemini tells, with the code that clients of Responses know.
pub(super) fn fault(status: &Status<'_>) -> StreamFault<'static> {
    let code = status.code.and_then(|code| u16::try_from(code.0).ok()).unwrap_or(500);
    let word = match code {
        429 => "rate_limit_exceeded",
        400..=499 => "invalid_prompt",
        _ => "server_error",
    };
    let message = status.message.as_deref().unwrap_or("the provider reported an error").to_owned();
    StreamFault { status: code, code: word.into(), message: message.into() }
}

/// The member `usage` (B38): thoughts are output, and what tools found is input.
pub(super) fn usage(usage: &UsageMetadata<'_>) -> Usage {
    let Counts { prompt, cached, output, thoughts } = counts(usage);
    Usage {
        input_tokens: prompt,
        input_tokens_details: Some(InputTokensDetails { cached_tokens: cached, ..InputTokensDetails::default() }),
        output_tokens: output,
        output_tokens_details: Some(OutputTokensDetails { reasoning_tokens: thoughts }),
        total_tokens: prompt.saturating_add(output),
    }
    .with_all_details()
}
