//! What a model thought, in the members that vendors have for it: the same in whole messages and in deltas.

use tollgate_macros::Read;

use crate::protocol::convert::seal::{Family, seal};
use crate::protocol::openai_chat::wire::message::{ReasoningDetail, ThinkingBlock};
use crate::protocol::wire::{Raw, Text};

/// A piece of thinking.
#[derive(Debug, PartialEq)]
pub(super) enum Thought<'b> {
    /// What can be read.
    Text(&'b str),
    /// What the vendor wants back with the thinking before it, marked with whose it is.
    Seal(String),
}

/// The members.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Members<'b> {
    pub(super) reasoning_content: Option<&'b Text<'b>>,
    pub(super) reasoning: Option<&'b Text<'b>>,
    pub(super) reasoning_details: Option<&'b [ReasoningDetail<'b>]>,
    pub(super) thinking_blocks: Option<&'b [ThinkingBlock<'b>]>,
}

impl<'b> Members<'b> {
    /// Tells `take` each thought, in order. Where members say the same, the one with the signatures counts.
    pub(super) fn each(self, mut take: impl FnMut(Thought<'b>)) {
        let blocks = self.thinking_blocks.unwrap_or_default();
        let details = self.reasoning_details.filter(|_| blocks.is_empty()).unwrap_or_default();
        let has_text = blocks.iter().any(block_has_text) || details.iter().any(detail_has_text);
        if !has_text {
            let shown = self.reasoning_content.filter(|text| !text.is_empty());
            text(shown.or(self.reasoning), &mut take);
        }
        for block in blocks {
            match block {
                ThinkingBlock::Thinking(block) => {
                    text(block.thinking.as_ref(), &mut take);
                    sealed(Family::Claude, block.signature.as_ref(), &mut take);
                }
                ThinkingBlock::RedactedThinking(block) => {
                    sealed(Family::ClaudeRedacted, Some(&block.data), &mut take);
                }
                ThinkingBlock::Other(_) => {}
            }
        }
        for detail in details {
            match detail {
                ReasoningDetail::Text(detail) => {
                    text(detail.text.as_ref(), &mut take);
                    if let Some(family @ (Family::Claude | Family::Gemini)) = family(detail.format.as_ref()) {
                        sealed(family, detail.signature.as_ref(), &mut take);
                    }
                }
                ReasoningDetail::Summary(detail) => text(Some(&detail.summary), &mut take),
                ReasoningDetail::Encrypted(detail) => {
                    let family = match family(detail.format.as_ref()) {
                        Some(Family::Claude) => Family::ClaudeRedacted,
                        Some(family) => family,
                        None => continue,
                    };
                    sealed(family, Some(&detail.data), &mut take);
                }
                ReasoningDetail::Other(_) => {}
            }
        }
    }
}

fn block_has_text(block: &ThinkingBlock<'_>) -> bool {
    matches!(block, ThinkingBlock::Thinking(block) if block.thinking.as_ref().is_some_and(|text| !text.is_empty()))
}

fn detail_has_text(detail: &ReasoningDetail<'_>) -> bool {
    match detail {
        ReasoningDetail::Text(detail) => detail.text.is_some(),
        ReasoningDetail::Summary(_) => true,
        ReasoningDetail::Encrypted(_) | ReasoningDetail::Other(_) => false,
    }
}

fn text<'b>(text: Option<&'b Text<'b>>, take: &mut dyn FnMut(Thought<'b>)) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        take(Thought::Text(text));
    }
}

fn sealed<'b>(family: Family, secret: Option<&Text<'_>>, take: &mut dyn FnMut(Thought<'b>)) {
    if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
        take(Thought::Seal(seal(family, secret)));
    }
}

/// Whose thinking it is, by OpenRouter's word.
fn family(format: Option<&Text<'_>>) -> Option<Family> {
    let format = format?;
    [("anthropic-claude", Family::Claude), ("openai-responses", Family::OpenAi), ("google-gemini", Family::Gemini)]
        .into_iter()
        .find(|(prefix, _)| format.starts_with(prefix))
        .map(|(_, family)| family)
}

/// Gemini's signature in a vendor's additions, sealed.
pub(super) fn gemini_signature(extra_content: Option<&Raw<'_>>) -> Option<String> {
    #[derive(Read)]
    struct ExtraContent<'a> {
        #[serde(borrow)]
        google: Option<Google<'a>>,
    }
    #[derive(Read)]
    struct Google<'a> {
        #[serde(borrow)]
        thought_signature: Option<Text<'a>>,
    }
    let extra_content: ExtraContent<'_> = extra_content?.read().ok()?;
    let signature = extra_content.google?.thought_signature.filter(|signature| !signature.is_empty())?;
    Some(seal(Family::Gemini, &signature))
}

/// The thinking in a part of Mistral's, which has parts itself or is a text.
pub(super) fn mistral_thinking(part: &Raw<'_>) -> Option<String> {
    #[derive(Read)]
    struct Thinking<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
        #[serde(borrow)]
        thinking: Raw<'a>,
    }
    #[derive(Read)]
    struct Piece<'a> {
        #[serde(borrow, default)]
        text: Option<Text<'a>>,
    }
    let part: Thinking<'_> = part.read().ok().filter(|part: &Thinking<'_>| part.kind == "thinking")?;
    if let Ok(text) = part.thinking.read::<Text<'_>>() {
        return Some(text.to_string());
    }
    let pieces: Vec<Piece<'_>> = part.thinking.read().ok()?;
    Some(pieces.iter().filter_map(|piece| piece.text.as_deref()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::openai_chat::wire::response::ResponseMessage;

    fn thoughts(message: &str) -> Vec<String> {
        let message: ResponseMessage<'_> = serde_json::from_str(message).unwrap();
        let mut all = vec![];
        let members = Members {
            reasoning_content: message.reasoning_content.as_ref(),
            reasoning: message.reasoning.as_ref(),
            reasoning_details: message.reasoning_details.as_deref(),
            thinking_blocks: message.thinking_blocks.as_deref(),
        };
        members.each(|thought| {
            all.push(match thought {
                Thought::Text(text) => text.to_owned(),
                Thought::Seal(seal) => seal,
            });
        });
        all
    }

    #[test]
    fn what_is_said_twice_is_thought_once() {
        assert_eq!(thoughts(r#"{"reasoning_content":"a","reasoning":"a"}"#), ["a"]);
        assert_eq!(
            thoughts(
                r#"{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s","format":"anthropic-claude-v1"},
                {"type":"reasoning.encrypted","data":"e","format":"openai-responses-v1"},{"type":"reasoning.encrypted","data":"?"}]}"#
            ),
            ["a", "tollgate-claude:s", "tollgate-openai:e"]
        );
        assert_eq!(
            thoughts(
                r#"{"reasoning_content":"a","thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"redacted_thinking","data":"r"}]}"#
            ),
            ["a", "tollgate-claude:s", "tollgate-claude-redacted:r"]
        );
    }

    #[test]
    fn vendors_own_forms_are_read() {
        let extra = Raw::parse(r#"{"google":{"thought_signature":"c2ln"}}"#).unwrap();
        assert_eq!(gemini_signature(Some(&extra)).unwrap(), "tollgate-gemini:c2ln");
        let part =
            Raw::parse(r#"{"type":"thinking","thinking":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#);
        assert_eq!(mistral_thinking(&part.unwrap()).unwrap(), "ab");
    }
}
