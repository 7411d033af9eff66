//! What whole answers and streams have in common: reasons for the end, counts, thinking.

use std::borrow::Cow;

use tollgate_macros::Read;

use crate::protocol::claude::wire::response::StopReason;
use crate::protocol::claude::wire::usage::{OutputTokensDetails, Usage};
use crate::protocol::convert::StreamFault;
use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::openai_chat::wire::message::{ReasoningDetail, ThinkingBlock};
use crate::protocol::openai_chat::wire::response::FinishReason;
use crate::protocol::openai_chat::wire::usage::CompletionUsage;
use crate::protocol::wire::{Raw, Text};

/// Why an answer ended. An end that is none is a fault: the answer must not look complete.
pub fn stop_reason(reason: &FinishReason<'_>) -> Result<StopReason<'static>, StreamFault<'static>> {
    Ok(match reason {
        FinishReason::Stop => StopReason::EndTurn,
        FinishReason::Length => StopReason::MaxTokens,
        FinishReason::ToolCalls | FinishReason::FunctionCall => StopReason::ToolUse,
        FinishReason::ContentFilter => StopReason::Refusal,
        FinishReason::Other(word) => match &**word {
            "max_tokens" | "model_length" => StopReason::MaxTokens,
            "tool_use" => StopReason::ToolUse,
            "safety" | "refusal" | "sensitive" => StopReason::Refusal,
            "error" | "insufficient_system_resource" | "network_error" | "abort" => {
                return Err(StreamFault {
                    status: 502,
                    code: "upstream_error".into(),
                    message: format!(
                        "the provider gave the answer up before its end ({:?}); repeat the request",
                        &**word
                    )
                    .into(),
                });
            }
            _ => StopReason::EndTurn,
        },
    })
}

/// Whether there are counts at all: some vendors begin with zeros.
pub fn has_counts(usage: &CompletionUsage) -> bool {
    usage.prompt_tokens > 0 || usage.completion_tokens > 0
}

/// What an answer took. Claude's input is without what was read from the cache or written to it.
pub fn usage(usage: &CompletionUsage) -> Usage<'static> {
    let details = usage.prompt_tokens_details.unwrap_or_default();
    let read = details.cached_tokens.or(usage.prompt_cache_hit_tokens);
    let written = details.cache_write_tokens;
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let thinking_tokens = usage.completion_tokens_details.unwrap_or_default().reasoning_tokens;
    Usage {
        input_tokens: Some(usage.prompt_tokens.saturating_sub(cached)),
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens: Some(usage.completion_tokens),
        output_tokens_details: thinking_tokens.map(|tokens| OutputTokensDetails { thinking_tokens: Some(tokens) }),
        ..Usage::default()
    }
}

/// The tier, in Claude's words.
pub fn service_tier(tier: Option<&Text<'_>>) -> Option<Text<'static>> {
    match tier.map(|tier| &**tier)? {
        "priority" => Some("priority".into()),
        "default" => Some("standard".into()),
        _ => None,
    }
}

/// What a message or a fragment has of thinking, in the members of all vendors.
#[derive(Debug, Clone, Copy)]
pub struct Thinking<'a> {
    /// `reasoning_content`.
    pub reasoning_content: Option<&'a Text<'a>>,
    /// `reasoning`.
    pub reasoning: Option<&'a Text<'a>>,
    /// `reasoning_details`.
    pub details: Option<&'a [ReasoningDetail<'a>]>,
    /// `thinking_blocks`.
    pub blocks: Option<&'a [ThinkingBlock<'a>]>,
}

/// A piece of thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, which belongs to the signature after it.
    Text(&'a str),
    /// Claude's signature on it.
    Signature(&'a str),
    /// Sealed thinking of Claude's.
    Redacted(&'a str),
}

impl<'a> Thinking<'a> {
    /// The pieces in order. Vendors say the same in several members: the one that says most counts.
    pub fn pieces(self) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        for block in self.blocks.unwrap_or_default() {
            match block {
                ThinkingBlock::Thinking(block) => {
                    pieces.extend(block.thinking.as_deref().map(Piece::Text));
                    pieces.extend(block.signature.as_deref().map(Piece::Signature));
                }
                ThinkingBlock::RedactedThinking(block) => pieces.push(Piece::Redacted(&block.data)),
                ThinkingBlock::Other(_) => {}
            }
        }
        if pieces.is_empty() {
            self.details.unwrap_or_default().iter().for_each(|detail| add_detail(detail, &mut pieces));
        }
        pieces.retain(|piece| !matches!(piece, Piece::Text("") | Piece::Signature("")));
        let is_told = pieces.iter().any(|piece| matches!(piece, Piece::Text(_)));
        let plain = [self.reasoning_content, self.reasoning].into_iter().flatten().find(|text| !text.is_empty());
        if let Some(text) = plain.filter(|_| !is_told) {
            pieces.insert(0, Piece::Text(text));
        }
        pieces
    }
}

fn add_detail<'a>(detail: &'a ReasoningDetail<'a>, pieces: &mut Vec<Piece<'a>>) {
    let is_claude = |format: &Option<Text<'_>>| format.as_ref().is_some_and(|format| format.starts_with("anthropic-"));
    match detail {
        ReasoningDetail::Text(detail) => {
            pieces.extend(detail.text.as_deref().map(Piece::Text));
            if is_claude(&detail.format) {
                pieces.extend(detail.signature.as_deref().map(Piece::Signature));
            }
        }
        ReasoningDetail::Summary(detail) => pieces.push(Piece::Text(&detail.summary)),
        ReasoningDetail::Encrypted(detail) if is_claude(&detail.format) => pieces.push(Piece::Redacted(&detail.data)),
        ReasoningDetail::Encrypted(_) | ReasoningDetail::Other(_) => {}
    }
}

/// Gemini's signature among a vendor's additions, sealed, so that it comes back as Gemini's
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
pub fn gemini_signature(extra_content: Option<&Raw<'_>>) -> Option<String> {
    #[derive(Read)]
    struct Extra<'a> {
        #[serde(borrow)]
        google: Option<Google<'a>>,
    }
    #[derive(Read)]
    struct Google<'a> {
        #[serde(borrow)]
        thought_signature: Option<Cow<'a, str>>,
    }
    let extra: Extra<'_> = extra_content?.read().ok()?;
    let signature = extra.google?.thought_signature?;
    (!signature.is_empty()).then(|| seal(Family::Gemini, &signature))
}

/// The texts in a part of a kind that Mistral's models have: `{"type":"thinking","thinking":[{"type":"text","text":"…"}]}`.
pub fn thinking_part(part: &Raw<'_>) -> Option<String> {
    #[derive(Read)]
    struct Part<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
        #[serde(borrow)]
        thinking: Option<Vec<Piece<'a>>>,
    }
    #[derive(Read)]
    struct Piece<'a> {
        #[serde(borrow)]
        text: Option<Text<'a>>,
    }
    let part: Part<'_> = part.read().ok().filter(|part: &Part<'_>| part.kind == "thinking")?;
    Some(part.thinking?.iter().filter_map(|piece| piece.text.as_deref()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B37: what is cached is in OpenAI's total and not in Claude's input.
    #[test]
    fn each_token_is_in_one_count() {
        let text = r#"{"prompt_tokens":52012,"completion_tokens":80,"total_tokens":52092,
            "prompt_tokens_details":{"cached_tokens":50000,"cache_write_tokens":2000}}"#;
        let converted = usage(&serde_json::from_str(text).unwrap());
        let wanted = r#"{"input_tokens":12,"cache_creation_input_tokens":2000,"cache_read_input_tokens":50000,"output_tokens":80}"#;
        assert_eq!(serde_json::to_string(&converted).unwrap(), wanted);
    }
}
