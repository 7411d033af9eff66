//! What whole answers and streams share: usage, reasons for the end, probabilities, calls.

use serde_json::json;
use tollgate_macros::Read;

use super::calls::arguments;
use crate::protocol::convert::media::{data_url, standard_base64};
use crate::protocol::convert::names::CUSTOM_INPUT;
use crate::protocol::few::Few;
use crate::protocol::gemini::wire::content::{Blob, FunctionCall, Part};
use crate::protocol::gemini::wire::grounding::{
    GroundingChunk, GroundingMetadata, GroundingSupport, LogprobsResult, Segment, TokenCandidate, TopCandidates,
    WebChunk,
};
use crate::protocol::gemini::wire::proto::{Count, Number};
use crate::protocol::gemini::wire::request::{Modality, ServiceTier};
use crate::protocol::gemini::wire::response::{FinishReason as TargetReason, ModalityTokenCount, UsageMetadata};
use crate::protocol::openai_chat::wire::content::Part as SourcePart;
use crate::protocol::openai_chat::wire::response::{
    Annotation, FinishReason, Logprobs, TokenLogprob, TopLogprob, UrlCitation,
};
use crate::protocol::openai_chat::wire::usage::CompletionUsage;
use crate::protocol::wire::{Raw, Text, kind};

/// What an answer took. Gemini counts thoughts beside the answer and not within it.
pub(super) fn usage(usage: &CompletionUsage, tier: Option<&str>) -> UsageMetadata<'static> {
    let prompt = usage.prompt_tokens_details.unwrap_or_default();
    let completion = usage.completion_tokens_details.unwrap_or_default();
    let thoughts = completion.reasoning_tokens.unwrap_or(0);
    let candidates = usage.completion_tokens.saturating_sub(thoughts);
    let cached = prompt.cached_tokens.or(usage.prompt_cache_hit_tokens).unwrap_or(0);
    let total = usage.prompt_tokens.saturating_add(candidates).saturating_add(thoughts);
    UsageMetadata {
        prompt_token_count: Some(Count(usage.prompt_tokens)),
        cached_content_token_count: positive(Some(cached.min(usage.prompt_tokens))),
        candidates_token_count: Some(Count(candidates)),
        thoughts_token_count: positive(Some(thoughts)),
        total_token_count: Some(Count(total)),
        prompt_tokens_details: details([
            (Modality::Text, prompt.text_tokens),
            (Modality::Image, prompt.image_tokens),
            (Modality::Audio, prompt.audio_tokens),
        ]),
        candidates_tokens_details: details([
            (Modality::Text, completion.text_tokens),
            (Modality::Audio, completion.audio_tokens),
        ]),
        service_tier: tier.and_then(service_tier),
        ..UsageMetadata::default()
    }
}

fn positive(count: Option<u64>) -> Option<Count> {
    count.filter(|count| *count > 0).map(Count)
}

fn details<const N: usize>(counts: [(Modality<'static>, Option<u64>); N]) -> Few<ModalityTokenCount<'static>> {
    let counts = counts.into_iter().filter_map(|(modality, count)| {
        Some(ModalityTokenCount { modality: Some(modality), token_count: Some(positive(count)?) })
    });
    counts.collect()
}

fn service_tier(tier: &str) -> Option<ServiceTier<'static>> {
    match tier {
        "default" => Some(ServiceTier::Standard),
        "flex" => Some(ServiceTier::Flex),
        "priority" => Some(ServiceTier::Priority),
        _ => None,
    }
}

/// Why an answer ended. Gemini has no word of its own for calls.
pub(super) fn finish_reason(reason: &FinishReason<'_>) -> TargetReason<'static> {
    match reason {
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::FunctionCall => TargetReason::Stop,
        FinishReason::Length => TargetReason::MaxTokens,
        FinishReason::ContentFilter => TargetReason::Safety,
        FinishReason::Other(word) => match &**word {
            "max_tokens" | "model_length" => TargetReason::MaxTokens,
            "safety" | "refusal" | "sensitive" => TargetReason::Safety,
            "error" | "insufficient_system_resource" | "network_error" | "abort" => TargetReason::Unspecific,
            _ => TargetReason::Stop,
        },
    }
}

/// A call; `None` if its arguments are no JSON object, which is all that Gemini can say. `id` may be empty.
pub(super) fn call<'a>(id: &'a str, name: &'a str, text: &'a str) -> Option<Part<'a>> {
    let args = arguments(text)?;
    let id = (!id.is_empty()).then(|| id.into());
    let call = FunctionCall { id, name: Some(name.into()), args: Some(args) };
    Some(Part { function_call: Some(call), ..Part::default() })
}

/// A call of a custom tool, whose input becomes an argument.
pub(super) fn custom_call<'a>(id: &'a str, name: &'a str, input: &str) -> Part<'a> {
    let id = (!id.is_empty()).then(|| id.into());
    let args = Raw::of(&json!({ CUSTOM_INPUT: input })).ok();
    Part { function_call: Some(FunctionCall { id, name: Some(name.into()), args }), ..Part::default() }
}

/// An image that the model has made, as compatible vendors show it.
pub(super) fn image<'a>(part: &'a SourcePart<'a>) -> Option<Part<'a>> {
    let SourcePart::ImageUrl(part) = part else { return None };
    let image = data_url(&part.image_url.url)?;
    let blob = Blob {
        mime_type: Some(image.media_type.into()),
        data: Some(Text(standard_base64(image.data))),
        display_name: None,
    };
    Some(Part { inline_data: Some(blob), ..Part::default() })
}

/// What is said of a call whose arguments cannot be read.
pub(super) fn malformed(name: &str, text: &str) -> Text<'static> {
    format!("Malformed function call: {name}({text})").into()
}

/// The thoughts in a part of a content, as Mistral's reasoning models send them: `thinking` with texts.
pub(super) fn thoughts_of_part(raw: &Raw<'_>) -> Option<String> {
    #[derive(Read)]
    struct Thinking<'a> {
        #[serde(borrow, default)]
        thinking: Vec<Piece<'a>>,
    }
    #[derive(Read)]
    struct Piece<'a> {
        #[serde(borrow, default)]
        text: Option<Text<'a>>,
    }
    if kind(&raw.0).ok()? != "thinking" {
        return None;
    }
    let thinking = raw.read::<Thinking<'_>>().ok()?;
    Some(thinking.thinking.iter().filter_map(|piece| piece.text.as_deref()).collect())
}

/// How probable the tokens were.
pub(super) fn logprobs<'a>(logprobs: &'a Logprobs<'a>) -> Option<LogprobsResult<'a>> {
    let tokens = logprobs.content.as_ref().or(logprobs.refusal.as_ref()).filter(|tokens| !tokens.is_empty())?;
    let has_top = tokens.iter().any(|token| !token.top_logprobs.is_empty());
    Some(LogprobsResult {
        log_probability_sum: Some(Number(tokens.iter().map(|token| token.logprob).sum())),
        chosen_candidates: tokens.iter().map(chosen).collect(),
        top_candidates: if has_top { tokens.iter().map(top).collect() } else { vec![] },
    })
}

fn chosen<'a>(token: &'a TokenLogprob<'a>) -> TokenCandidate<'a> {
    TokenCandidate { token: Some(token.token.by_ref()), token_id: None, log_probability: Some(Number(token.logprob)) }
}

fn top<'a>(token: &'a TokenLogprob<'a>) -> TopCandidates<'a> {
    let candidate = |top: &'a TopLogprob<'a>| TokenCandidate {
        token: Some(top.token.by_ref()),
        token_id: None,
        log_probability: Some(Number(top.logprob)),
    };
    TopCandidates { candidates: token.top_logprobs.iter().map(candidate).collect() }
}

/// Pages that a text comes from. OpenAI counts characters where Gemini counts bytes.
pub(super) fn grounding<'a>(annotations: &'a [Annotation<'a>], text: &str) -> Option<GroundingMetadata<'a>> {
    let mut grounding = GroundingMetadata::default();
    for annotation in annotations {
        let Annotation::UrlCitation(annotation) = annotation else { continue };
        let citation = &annotation.url_citation;
        let place = chunk(citation, &mut grounding);
        let Some(end) = citation.end_index else { continue };
        let (start, end) = (byte_index(text, citation.start_index.unwrap_or(0)), byte_index(text, end));
        let segment = Segment {
            part_index: None,
            start_index: positive(Some(start as u64)),
            end_index: Some(Count(end as u64)),
            text: text.get(start..end).map(|text| text.to_owned().into()),
        };
        grounding.grounding_supports.push(GroundingSupport {
            segment: Some(segment),
            grounding_chunk_indices: vec![Count(place as u64)],
            ..GroundingSupport::default()
        });
    }
    (!grounding.grounding_chunks.is_empty()).then_some(grounding)
}

/// The place of the page among those that were found.
fn chunk<'a>(citation: &'a UrlCitation<'a>, grounding: &mut GroundingMetadata<'a>) -> usize {
    let has_url =
        |chunk: &GroundingChunk<'_>| chunk.web.as_ref().is_some_and(|web| web.uri.as_deref() == Some(&*citation.url));
    let chunks = &mut grounding.grounding_chunks;
    chunks.iter().position(has_url).unwrap_or_else(|| {
        let web = WebChunk {
            uri: Some(citation.url.by_ref()),
            title: citation.title.as_ref().map(Text::by_ref),
            domain: None,
        };
        chunks.push(GroundingChunk { web: Some(web), ..GroundingChunk::default() });
        chunks.len() - 1
    })
}

fn byte_index(text: &str, characters: u64) -> usize {
    let characters = usize::try_from(characters).unwrap_or(usize::MAX);
    text.char_indices().nth(characters).map_or(text.len(), |(index, _)| index)
}
