//! Thinking: how much of it, and the signatures that an answer brought and a request takes back.

use std::borrow::Cow;

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::seal::{Family, unseal};
use crate::protocol::convert::{Losses, Notes};
use crate::protocol::gemini::capabilities::{Capabilities, Thinking, levels};
use crate::protocol::gemini::turns::Turns;
use crate::protocol::gemini::wire::content::{Part, Role};
use crate::protocol::gemini::wire::proto::Int;
use crate::protocol::gemini::wire::request::{ThinkingConfig, ThinkingLevel};
use crate::protocol::openai_responses::wire::content::Part as ItemPart;
use crate::protocol::openai_responses::wire::item::ReasoningItem;
use crate::protocol::openai_responses::wire::request::{Effort as Word, Reasoning};
use crate::protocol::wire::Text;

/// What Google documents for calls whose signature is not known, such as those of another model
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
const SKIPPED_SIGNATURE: &str = "skip_thought_signature_validator";

/// The member `thinkingConfig`.
pub(super) fn config<'a>(
    reasoning: &Reasoning<'a>,
    model: &str,
    capabilities: Capabilities,
    losses: &mut Losses,
) -> Option<ThinkingConfig<'a>> {
    if reasoning.mode.as_deref().is_some_and(|mode| mode != "standard") {
        losses.add("reasoning.mode", "Gemini has no such mode");
    }
    if reasoning.context.is_some() {
        losses.hint("reasoning.context", "Gemini decides by itself what it sees of earlier thoughts");
    }
    let mut config = match &reasoning.effort {
        Some(word) => effort(word, model, capabilities, losses),
        None => ThinkingConfig::default(),
    };
    if capabilities.thinking == Thinking::None {
        return None;
    }
    let summary = reasoning.summary.as_ref().or(reasoning.generate_summary.as_ref());
    config.include_thoughts = summary.map(|_| true);
    (config != ThinkingConfig::default()).then_some(config)
}

fn effort<'a>(word: &Word<'_>, model: &str, capabilities: Capabilities, losses: &mut Losses) -> ThinkingConfig<'a> {
    const PATH: &str = "reasoning.effort";
    let Some(effort) = Effort::from_word(word.as_str()) else {
        losses.add(PATH, "this effort is not known");
        return ThinkingConfig::default();
    };
    match capabilities.thinking {
        Thinking::None if effort == Effort::None => ThinkingConfig::default(),
        Thinking::None => {
            losses.add(PATH, "this model does not think");
            ThinkingConfig::default()
        }
        Thinking::Budget { min, max } => {
            let budget = effort.budget().clamp(min, max);
            if effort == Effort::None && min > 0 {
                losses.add(PATH, "this model always thinks; it is asked for the least");
            }
            let budget = i64::try_from(budget).unwrap_or(i64::MAX);
            ThinkingConfig { thinking_budget: Some(Int(budget)), ..ThinkingConfig::default() }
        }
        Thinking::Level => {
            let nearest = effort.nearest(levels(model));
            if effort == Effort::None {
                losses.add(PATH, "this model always thinks; it is asked for the least");
            } else if nearest != effort {
                losses.add(PATH, "the model is asked for the nearest level that it has");
            }
            ThinkingConfig { thinking_level: Some(level(nearest)), ..ThinkingConfig::default() }
        }
    }
}

fn level<'a>(effort: Effort) -> ThinkingLevel<'a> {
    match effort {
        Effort::None | Effort::Minimal => ThinkingLevel::Minimal,
        Effort::Low => ThinkingLevel::Low,
        Effort::Medium => ThinkingLevel::Medium,
        Effort::High => ThinkingLevel::High,
        Effort::Xhigh | Effort::Max => ThinkingLevel::Xhigh,
    }
}

/// A reasoning item that comes back: the thoughts that Gemini said in it or the parts that it keeps, and its signature, which
/// belongs to the next part.
pub(super) fn replayed<'a>(
    item: &'a ReasoningItem<'a>,
    path: &str,
    capabilities: Capabilities,
    notes: &mut Notes,
) -> (Vec<Part<'a>>, Option<Text<'a>>) {
    let sealed = item.encrypted_content.as_deref().and_then(unseal);
    let Some((Family::Gemini, signature)) = sealed else {
        notes.losses.hint_once(path, "reasoning of another model is left out");
        return (Vec::new(), None);
    };
    if signature.starts_with('[') {
        let Cow::Borrowed(parts) = signature else { return (Vec::new(), None) };
        let parts = if capabilities.demands_signatures { parts } else { "[]" };
        return (serde_json::from_str(parts).unwrap_or_default(), None);
    }
    let thought = |part: &'a ItemPart<'a>| match part {
        ItemPart::SummaryText(summary) if !summary.text.is_empty() => {
            Some(Part { text: Some(summary.text.by_ref()), thought: Some(true), ..Part::default() })
        }
        _ => None,
    };
    let thoughts = item.summary.iter().filter_map(thought).collect();
    (thoughts, Some(Text(signature)).filter(|signature| !signature.is_empty()))
}

/// B14: within the current turn the first call of each step has to have a signature; where it is not known, the value that
/// Google documents stands for it.
pub(super) fn fill_in_signatures(turns: &mut Turns<'_>, capabilities: Capabilities) {
    if !capabilities.demands_signatures {
        return;
    }
    for (role, parts) in turns.iter_mut().rev() {
        let begins_turn = *role != Role::Model && !parts.iter().any(|part| part.function_response.is_some());
        if begins_turn {
            return;
        }
        let first = parts.iter_mut().find(|part| part.function_call.is_some());
        if let Some(call) = first.filter(|call| call.thought_signature.is_none()) {
            call.thought_signature = Some(SKIPPED_SIGNATURE.into());
        }
    }
}
