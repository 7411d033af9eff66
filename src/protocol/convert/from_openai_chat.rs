//! What the three pairs from Chat Completions have in common.

use super::Losses;
use super::effort::{Amount, Effort, UNKNOWN_EFFORT};
use crate::protocol::openai_chat::wire::request::{ReasoningEffort, Request};

/// How much the client wants the model to think, and where it says so: in OpenAI's member, in OpenRouter's `reasoning` or in Claude's
/// `thinking`. That there is to be none counts first, then a number of tokens, which says more than a word.
pub fn amount(request: &Request<'_>, losses: &mut Losses) -> Option<(&'static str, Amount)> {
    let reasoning = request.reasoning.as_ref();
    let thinking = request.thinking.as_ref();
    let kind = thinking.map(|thinking| &*thinking.kind);
    let enabled = reasoning.and_then(|reasoning| reasoning.enabled);
    if kind == Some("disabled") {
        return Some(("thinking", Amount::NOTHING));
    }
    if enabled == Some(false) {
        return Some(("reasoning.enabled", Amount::NOTHING));
    }
    if let Some(tokens) = thinking.and_then(|thinking| thinking.budget_tokens) {
        return Some(("thinking.budget_tokens", Amount::Tokens(tokens)));
    }
    if let Some(tokens) = reasoning.and_then(|reasoning| reasoning.max_tokens) {
        return Some(("reasoning.max_tokens", Amount::Tokens(tokens)));
    }
    let mut word = |path, word: Option<&ReasoningEffort<'_>>| {
        let effort = Effort::from_word(word?.as_str());
        if effort.is_none() {
            losses.add(path, UNKNOWN_EFFORT);
        }
        Some((path, Amount::Effort(effort?)))
    };
    let effort = word("reasoning_effort", request.reasoning_effort.as_ref());
    let effort = effort.or_else(|| word("reasoning.effort", reasoning?.effort.as_ref()));
    match kind {
        _ if effort.is_some() => effort,
        Some("enabled" | "adaptive") => Some(("thinking", Amount::Free)),
        _ => (enabled == Some(true)).then_some(("reasoning.enabled", Amount::Free)),
    }
}
