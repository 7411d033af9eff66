//! Thoughts in a conversation: what a vendor made goes back to its models, and to nobody else.

use serde_json::json;

use super::messages::joined;
use crate::protocol::convert::Notes;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::gemini::wire::content::Part;
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::message::{Message, RedactedThinking, Thinking, ThinkingBlock};
use crate::protocol::wire::{Raw, Text};

/// The thoughts of a turn of the model.
#[derive(Default)]
pub(super) struct Thoughts<'a> {
    texts: Vec<Text<'a>>,
    /// Claude's, with what makes them its own.
    blocks: Vec<ThinkingBlock<'a>>,
    /// How many of `texts` stand in a block.
    signed: usize,
    /// Gemini's signature of what the turn says.
    signature: Option<Text<'a>>,
    is_foreign: bool,
}

impl<'a> Thoughts<'a> {
    /// A part with thoughts. A stream tells them in pieces, and their signature after them.
    pub(super) fn thought(&mut self, part: &'a Part<'a>) {
        self.texts.extend(part.text.as_ref().filter(|text| !text.is_empty()).map(Text::by_ref));
        let Some(signature) = part.thought_signature.as_deref().filter(|signature| !signature.is_empty()) else {
            return;
        };
        match unseal(signature) {
            Some((Family::Claude, signature)) => {
                let texts = self.texts.get(self.signed..).unwrap_or_default().to_vec();
                self.signed = self.texts.len();
                self.blocks.push(ThinkingBlock::Thinking(Thinking {
                    thinking: Some(joined(texts, "").unwrap_or_default()),
                    signature: Some(Text(signature)),
                    ..Thinking::default()
                }));
            }
            Some((Family::ClaudeRedacted, data)) => {
                self.blocks.push(ThinkingBlock::RedactedThinking(RedactedThinking { data: Text(data) }));
            }
            Some(_) | None => self.is_foreign = true,
        }
    }

    /// A part of what the turn says, which may bring a signature.
    pub(super) fn text(&mut self, part: &'a Part<'a>) {
        self.signature = gemini_signature(part).or(self.signature.take());
    }

    /// What Google's own Chat dialect has on a call (<https://ai.google.dev/gemini-api/docs/thought-signatures#openai>).
    pub(super) fn extra_content(&mut self, part: &'a Part<'a>, model: &str) -> Option<Raw<'a>> {
        let signature = gemini_signature(part)?;
        if !is_gemini(model) {
            self.is_foreign = true;
            return None;
        }
        signed(&signature)
    }

    /// Adds the thoughts to the message of the turn, as far as the model is to see them.
    pub(super) fn tell(self, message: &mut Message<'a>, model: &str, capabilities: Capabilities, notes: &mut Notes) {
        let is_claude = model.contains("claude");
        if is_gemini(model) {
            message.extra_content = self.signature.as_deref().and_then(signed);
        } else if self.is_foreign || self.signature.is_some() {
            notes.losses.hint_once("contents", "signatures of Gemini's thoughts are of no use to another model");
        }
        if !self.blocks.is_empty() && is_claude {
            message.thinking_blocks = Some(self.blocks);
        }
        if self.texts.is_empty() {
            return;
        }
        if capabilities.openai {
            notes.losses.hint_once("contents", "earlier thoughts are not told again");
        } else {
            message.reasoning_content = joined(self.texts, "");
        }
    }
}

fn is_gemini(model: &str) -> bool {
    model.contains("gemini")
}

/// The signature that Gemini gave the part, if it has one.
fn gemini_signature<'a>(part: &'a Part<'a>) -> Option<Text<'a>> {
    let signature = part.thought_signature.as_ref().filter(|signature| !signature.is_empty())?;
    match unseal(signature) {
        None => Some(signature.by_ref()),
        Some((Family::Gemini, signature)) => Some(Text(signature)),
        Some(_) => None,
    }
}

/// An `extra_content` with a signature.
pub(super) fn signed(signature: &str) -> Option<Raw<'static>> {
    Raw::of(&json!({"google": {"thought_signature": signature}})).ok()
}
