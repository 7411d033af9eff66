//! What whole answers and streams share: usage, reasons for the end, probabilities.

use std::borrow::Cow;

use crate::protocol::convert::StreamFault;
use crate::protocol::convert::from_gemini::usage::{Counts, counts};
use crate::protocol::convert::media::standard_base64;
use crate::protocol::gemini::wire::content::{FunctionCall, Part};
use crate::protocol::gemini::wire::grounding::{LogprobsResult, TokenCandidate, TopCandidates};
use crate::protocol::gemini::wire::proto::{Count, Number};
use crate::protocol::gemini::wire::request::{Modality, ServiceTier};
use crate::protocol::gemini::wire::response::{End, FinishReason, ModalityTokenCount, UsageMetadata};
use crate::protocol::json;
use crate::protocol::openai_chat::wire::content::{ImagePart, ImageUrl, Part as TargetPart};
use crate::protocol::openai_chat::wire::response::{FinishReason as TargetReason, Logprobs, TokenLogprob, TopLogprob};
use crate::protocol::openai_chat::wire::usage::{CompletionTokensDetails, CompletionUsage, PromptTokensDetails};

/// What an answer took. OpenAI counts thoughts within the answer, and what tools found as part of the prompt.
pub(super) fn usage(usage: &UsageMetadata<'_>) -> CompletionUsage {
    let Counts { prompt, cached, output, thoughts } = counts(usage);
    let of = |details: &[ModalityTokenCount<'_>], modality: &Modality<'_>| {
        let detail = details.iter().find(|detail| detail.modality.as_ref() == Some(modality))?;
        detail.token_count.map(|Count(count)| count)
    };
    let (prompt_details, candidate_details) = (&usage.prompt_tokens_details, &usage.candidates_tokens_details);
    CompletionUsage {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt.saturating_add(output),
        prompt_tokens_details: Some(PromptTokensDetails {
            cached_tokens: Some(cached),
            audio_tokens: of(prompt_details, &Modality::Audio),
            image_tokens: of(prompt_details, &Modality::Image),
            text_tokens: of(prompt_details, &Modality::Text),
            ..PromptTokensDetails::default()
        }),
        completion_tokens_details: Some(CompletionTokensDetails {
            reasoning_tokens: Some(thoughts),
            audio_tokens: of(candidate_details, &Modality::Audio),
            text_tokens: of(candidate_details, &Modality::Text),
            ..CompletionTokensDetails::default()
        }),
        ..CompletionUsage::default()
    }
}

/// The tier that was used.
pub(super) fn service_tier(usage: &UsageMetadata<'_>) -> Option<&'static str> {
    match usage.service_tier.as_ref()? {
        ServiceTier::Standard => Some("default"),
        ServiceTier::Flex => Some("flex"),
        ServiceTier::Priority => Some("priority"),
        ServiceTier::Other(_) => None,
    }
}

/// Whether the part is an image.
pub(super) fn is_image(part: &Part<'_>) -> bool {
    part.inline_data.as_ref().is_some_and(|blob| {
        blob.data.is_some() && blob.mime_type.as_deref().is_some_and(|media_type| media_type.starts_with("image/"))
    })
}

/// An image that the model has made, as compatible vendors show it.
pub(super) fn image<'a>(part: &Part<'_>) -> Option<TargetPart<'a>> {
    let blob = part.inline_data.as_ref()?;
    let media_type = blob.mime_type.as_deref().filter(|media_type| media_type.starts_with("image/"))?;
    let data = standard_base64(blob.data.as_deref()?);
    let image_url = ImageUrl { url: format!("data:{media_type};base64,{data}").into(), detail: None };
    Some(TargetPart::ImageUrl(ImagePart { image_url, prompt_cache_breakpoint: None, cache_control: None }))
}

/// The arguments of a call on one line, as clients expect them: whole answers of Gemini are indented.
pub(super) fn arguments<'a>(call: &'a FunctionCall<'a>) -> Cow<'a, str> {
    call.args.as_ref().map_or(Cow::Borrowed("{}"), |args| json::compact(args.get()))
}

/// Why an answer ended, for which Gemini has no word of its own where there are calls; `None` if the model failed, for which Chat
/// Completions has no reason: it would look like an answer.
pub(super) fn finish_reason(reason: &FinishReason<'_>, has_calls: bool) -> Option<TargetReason<'static>> {
    Some(match reason.end() {
        End::Whole if has_calls => TargetReason::ToolCalls,
        End::Whole => TargetReason::Stop,
        End::Limit => TargetReason::Length,
        End::Filtered | End::Unexplained => TargetReason::ContentFilter,
        End::Failed => return None,
    })
}

/// What is said of an answer whose model failed.
pub(super) fn failure(reason: &FinishReason<'_>, message: Option<&str>) -> StreamFault<'static> {
    let reason = reason.as_str();
    let message = message.unwrap_or("the model wrote something that is no answer");
    StreamFault {
        status: 502,
        code: reason.to_ascii_lowercase().into(),
        message: format!("the model failed with {reason}: {message}; repeat the request").into(),
    }
}

/// How probable the tokens were.
pub(super) fn logprobs<'a>(result: &'a LogprobsResult<'a>) -> Option<Logprobs<'a>> {
    let mut tops = result.top_candidates.iter();
    let tokens: Vec<_> = result.chosen_candidates.iter().map(|chosen| token(chosen, tops.next())).collect();
    (!tokens.is_empty()).then_some(Logprobs { content: Some(tokens), refusal: None })
}

fn token<'a>(chosen: &'a TokenCandidate<'a>, top: Option<&'a TopCandidates<'a>>) -> TokenLogprob<'a> {
    let one = top_logprob(chosen);
    let tops = top.map(|top| top.candidates.iter().map(top_logprob).collect());
    TokenLogprob { token: one.token, logprob: one.logprob, bytes: one.bytes, top_logprobs: tops.unwrap_or_default() }
}

fn top_logprob<'a>(candidate: &'a TokenCandidate<'a>) -> TopLogprob<'a> {
    let token = candidate.token.as_deref().unwrap_or_default();
    let logprob = candidate.log_probability.map_or(0.0, |Number(logprob)| logprob);
    TopLogprob { token: token.into(), logprob, bytes: Some(token.as_bytes().to_vec()) }
}
