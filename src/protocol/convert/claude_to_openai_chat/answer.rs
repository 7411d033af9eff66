//! What whole answers and streams have in common: reasons for the end, counts, citations, thinking.

use crate::protocol::claude::wire::citation::Citation;
use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::claude::wire::usage::Usage;
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::openai_chat::wire::message::{RedactedThinking, Thinking, ThinkingBlock};
use crate::protocol::openai_chat::wire::response::{Annotation, FinishReason, UrlCitation, UrlCitationAnnotation};
use crate::protocol::openai_chat::wire::usage::{CompletionTokensDetails, CompletionUsage, PromptTokensDetails};
use crate::protocol::wire::Text;

/// Why an answer ended. What a client of this dialect cannot continue is told as a limit.
pub fn finish_reason(reason: &StopReason<'_>) -> FinishReason<'static> {
    match reason {
        StopReason::EndTurn | StopReason::StopSequence | StopReason::Other(_) => FinishReason::Stop,
        StopReason::MaxTokens
        | StopReason::ModelContextWindowExceeded
        | StopReason::PauseTurn
        | StopReason::Compaction => FinishReason::Length,
        StopReason::ToolUse => FinishReason::ToolCalls,
        StopReason::Refusal => FinishReason::ContentFilter,
    }
}

/// What an answer took. OpenAI's total has what was read from the cache and written to it.
pub fn usage(usage: &Usage<'_>) -> CompletionUsage {
    let (read, written) = (usage.cache_read_input_tokens, usage.cache_creation_input_tokens);
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let prompt_tokens = usage.input_tokens.unwrap_or(0).saturating_add(cached);
    let completion_tokens = usage.output_tokens.unwrap_or(0);
    let thinking_tokens = usage.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens);
    CompletionUsage {
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens.saturating_add(completion_tokens),
        prompt_tokens_details: (read.is_some() || written.is_some()).then_some(PromptTokensDetails {
            cached_tokens: Some(read.unwrap_or(0)),
            cache_write_tokens: Some(written.unwrap_or(0)),
            ..PromptTokensDetails::default()
        }),
        completion_tokens_details: thinking_tokens.map(|tokens| CompletionTokensDetails {
            reasoning_tokens: Some(tokens),
            ..CompletionTokensDetails::default()
        }),
        ..CompletionUsage::default()
    }
}

/// The tier, in OpenAI's words.
pub fn service_tier(tier: Option<&Text<'_>>) -> Option<&'static str> {
    match tier.map(|tier| &**tier)? {
        "priority" => Some("priority"),
        "standard" => Some("default"),
        _ => None,
    }
}

/// A page that the text between two characters comes from; `None` for what is no page.
pub fn annotation<'a>(citation: &'a Citation<'a>, start: u64, end: u64) -> Option<Annotation<'a>> {
    let (url, title, cited) = match citation {
        Citation::WebSearchResultLocation(place) => (&place.url, &place.title, &place.cited_text),
        Citation::SearchResultLocation(place) if place.source.starts_with("http") => {
            (&place.source, &place.title, &place.cited_text)
        }
        _ => return None,
    };
    Some(Annotation::UrlCitation(UrlCitationAnnotation {
        url_citation: UrlCitation {
            url: url.by_ref(),
            // OpenAI always has one.
            title: Some(title.as_ref().map(Text::by_ref).unwrap_or_default()),
            start_index: Some(start),
            end_index: Some(end),
            content: (!cited.is_empty()).then(|| cited.by_ref()),
        },
    }))
}

/// Thinking with Claude's signature, which the client is to send back.
pub fn signed<'a>(thinking: &'a str, signature: &str) -> ThinkingBlock<'a> {
    ThinkingBlock::Thinking(Thinking {
        thinking: Some(Text::from(thinking)),
        signature: Some(seal(Family::Claude, signature).into()),
        cache_control: None,
    })
}

/// Thinking that only Claude can read.
pub fn redacted(data: &str) -> ThinkingBlock<'static> {
    ThinkingBlock::RedactedThinking(RedactedThinking { data: seal(Family::ClaudeRedacted, data).into() })
}

/// How many characters a text has, which is what OpenAI counts.
pub fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B37: the prompt's total has what was cached, once.
    #[test]
    fn each_token_is_counted_once() {
        let text = r#"{"input_tokens":12,"cache_creation_input_tokens":2000,"cache_read_input_tokens":50000,
            "cache_creation":{"ephemeral_5m_input_tokens":1500,"ephemeral_1h_input_tokens":500},"output_tokens":80}"#;
        let usage = usage(&serde_json::from_str(text).unwrap());
        assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (52_012, 80, 52_092));
        let details = usage.prompt_tokens_details.unwrap();
        assert_eq!((details.cached_tokens, details.cache_write_tokens), (Some(50_000), Some(2000)));
    }
}
