//! How an answer ended and what it took.

use crate::protocol::claude::wire::response::{StopDetails, StopReason};
use crate::protocol::claude::wire::usage::{OutputTokensDetails, Usage};
use crate::protocol::convert::StreamFault;
use crate::protocol::convert::from_gemini::usage::{Counts, counts};
use crate::protocol::gemini::wire::response::{Candidate, End, FinishReason, PromptFeedback, UsageMetadata};
use crate::protocol::wire::Text;

/// How an answer ended.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    /// Like this. Where the answer has calls, a natural end is one for them.
    Stop(StopReason<'static>, Option<StopDetails<'static>>),
    /// It failed, though the vendor calls that an end: what the model wrote is no answer. The vendor's word for it, and words.
    Failure(StreamFault<'static>),
}

/// B50: how a candidate ended.
pub(super) fn of_candidate(reason: &FinishReason<'_>, message: Option<&str>) -> Ending {
    match reason.end() {
        End::Whole => Ending::Stop(StopReason::EndTurn, None),
        End::Limit => Ending::Stop(StopReason::MaxTokens, None),
        End::Filtered | End::Unexplained => refusal(reason.as_str(), message),
        End::Failed => {
            let (reason, separator) = (reason.as_str(), if message.is_some() { ": " } else { "" });
            let message = message.unwrap_or_default();
            Ending::Failure(StreamFault {
                status: 502,
                code: reason.to_ascii_lowercase().into(),
                message: format!(
                    "the model's answer cannot be used, repeat the request ({reason}{separator}{message})"
                )
                .into(),
            })
        }
    }
}

/// How an answer without candidates ended; `None` if nothing tells that the prompt was blocked.
pub(super) fn of_prompt(feedback: Option<&PromptFeedback<'_>>) -> Option<Ending> {
    let feedback = feedback?;
    let reason = feedback.block_reason.as_ref()?;
    let message = feedback.block_reason_message.as_deref().unwrap_or("The prompt was blocked.");
    Some(refusal(reason.as_str(), Some(message)))
}

fn refusal(reason: &str, message: Option<&str>) -> Ending {
    let explanation = match message {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    };
    let details = StopDetails {
        kind: "refusal".into(),
        category: None,
        explanation: Some(explanation.into()),
        recommended_model: None,
        fallback_credit_token: None,
        fallback_has_prefill_claim: None,
    };
    Ending::Stop(StopReason::Refusal, Some(details))
}

/// B37, B38: Claude's input is without what came from the cache and with what tools found, its output is with the thoughts.
pub(super) fn usage(usage: &UsageMetadata<'_>) -> Usage<'static> {
    let Counts { prompt, cached, output, thoughts } = counts(usage);
    Usage {
        input_tokens: Some(prompt.saturating_sub(cached)),
        cache_creation_input_tokens: Some(0),
        cache_read_input_tokens: Some(cached),
        output_tokens: Some(output),
        output_tokens_details: (thoughts > 0).then_some(OutputTokensDetails { thinking_tokens: Some(thoughts) }),
        ..Usage::default()
    }
}

/// The first of the answers: Claude gives one.
pub(super) fn first<'b, 'a>(candidates: &'b [Candidate<'a>]) -> Option<&'b Candidate<'a>> {
    candidates.iter().find(|candidate| candidate.index.is_none_or(|index| index.0 == 0))
}

/// What the model is called, and the answer.
pub(super) fn message_id(response_id: Option<&Text<'_>>, request: &str) -> String {
    format!("msg_{}", response_id.map_or(request, |id| id))
}
