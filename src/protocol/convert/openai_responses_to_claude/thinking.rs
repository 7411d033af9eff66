//! How hard the model thinks, and what of it is shown.

use crate::protocol::claude::capabilities::{self, Thinking as Manner, ThinkingOff};
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::request::{
    Display, Effort as EffortWord, Empty, Role, Thinking, ThinkingAdaptive, ThinkingEnabled,
};
use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::{Effort, claude_budget};
use crate::protocol::openai_responses::wire::request::Reasoning;

/// What a request has to say about it.
#[derive(Debug, Default)]
pub(super) struct Thought<'a> {
    /// The member `thinking`.
    pub(super) thinking: Option<Thinking<'a>>,
    /// The member `output_config.effort`.
    pub(super) effort: Option<EffortWord<'a>>,
}

impl Thought<'_> {
    /// Whether the model is asked to think.
    pub(super) fn is_on(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Enabled(_) | Thinking::Adaptive(_)))
    }
}

/// What is asked for: the request's own, or what a later item has put in its place.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Nothing was said at all.
    pub(super) is_unsaid: bool,
    /// The effort.
    pub(super) effort: Option<Effort>,
    /// Whether a summary is to be shown.
    pub(super) summary: bool,
}

impl Wanted {
    /// Reads the request's member.
    pub(super) fn of(reasoning: Option<&Reasoning<'_>>, losses: &mut Losses) -> Self {
        let Some(reasoning) = reasoning else { return Self { is_unsaid: true, ..Self::default() } };
        if reasoning.mode.as_ref().is_some_and(|mode| *mode != "standard") {
            losses.add("reasoning.mode", "Claude has no such mode");
        }
        if reasoning.context.as_ref().is_some_and(|context| *context == "current_turn") {
            losses.hint("reasoning.context", "Claude decides which of its earlier thinking it sees");
        }
        let mut wanted = Self {
            is_unsaid: reasoning.effort.is_none() && reasoning.summary.is_none(),
            effort: None,
            summary: reasoning.summary.is_some() || reasoning.generate_summary.is_some(),
        };
        wanted.update(reasoning, "reasoning.effort", losses);
        wanted
    }

    /// Puts the effort of a later item in place.
    pub(super) fn update(&mut self, reasoning: &Reasoning<'_>, path: &str, losses: &mut Losses) {
        let Some(effort) = &reasoning.effort else { return };
        match Effort::from_word(effort.as_str()) {
            Some(effort) => (self.effort, self.is_unsaid) = (Some(effort), false),
            None => losses.add(path, "this effort is not known"),
        }
    }
}

/// What to ask of `model`. With `forced`, it has to call a tool, which Claude does only without thinking.
pub(super) fn convert<'a>(
    wanted: &Wanted,
    model: &str,
    max_tokens: u64,
    forced: bool,
    losses: &mut Losses,
) -> Thought<'a> {
    match capabilities::of(model).thinking {
        Manner::None if !wanted.is_unsaid && wanted.effort != Some(Effort::None) => {
            losses.add("reasoning", "this model does not think");
            Thought::default()
        }
        Manner::None => Thought::default(),
        Manner::Budget => with_budget(wanted, max_tokens, forced, losses),
        Manner::Adaptive => adaptive(wanted, model, forced, losses),
    }
}

fn with_budget<'a>(wanted: &Wanted, max_tokens: u64, forced: bool, losses: &mut Losses) -> Thought<'a> {
    let effort = wanted.effort.unwrap_or(Effort::Medium);
    if wanted.is_unsaid || effort == Effort::None {
        return Thought::default();
    }
    if forced {
        losses.add("reasoning", "Claude does not think when it has to call a tool");
        return Thought::default();
    }
    // A quarter of the bound at least is left for the answer itself.
    let Some(budget_tokens) = claude_budget(effort.budget().min(max_tokens / 4 * 3), max_tokens) else {
        losses.add("reasoning", "max_output_tokens leaves no room for thinking");
        return Thought::default();
    };
    let enabled = ThinkingEnabled { budget_tokens, display: None, block_binding: None };
    Thought { thinking: Some(Thinking::Enabled(enabled)), effort: None }
}

fn adaptive<'a>(wanted: &Wanted, model: &str, forced: bool, losses: &mut Losses) -> Thought<'a> {
    let efforts = capabilities::efforts(model);
    let word = |effort: Effort| Some(effort_word(effort.nearest(efforts)));
    if wanted.effort == Some(Effort::None) || forced {
        let effort = wanted.effort.filter(|effort| *effort != Effort::None).and_then(word);
        if forced && !wanted.is_unsaid && wanted.effort != Some(Effort::None) {
            losses.add("reasoning", "Claude does not think when it has to call a tool");
        }
        return off(model, effort, losses);
    }
    if wanted.is_unsaid {
        return Thought::default();
    }
    let display = if wanted.summary { Display::Summarized } else { Display::Omitted };
    let adaptive = ThinkingAdaptive { display: Some(display), block_binding: None };
    Thought { thinking: Some(Thinking::Adaptive(adaptive)), effort: wanted.effort.and_then(word) }
}

/// No thinking, or as little as the model lets itself be held to.
fn off<'a>(model: &str, effort: Option<EffortWord<'a>>, losses: &mut Losses) -> Thought<'a> {
    match capabilities::thinking_off(model) {
        ThinkingOff::Absent => Thought { thinking: None, effort },
        ThinkingOff::Disabled => Thought { thinking: Some(Thinking::Disabled(Empty {})), effort },
        ThinkingOff::BetweenTools => Thought { thinking: Some(Thinking::BetweenTools(Empty {})), effort },
        ThinkingOff::Never => {
            losses.add("reasoning.effort", "this model always thinks, it is asked for its least effort");
            Thought { thinking: None, effort: Some(EffortWord::Low) }
        }
    }
}

fn effort_word<'a>(effort: Effort) -> EffortWord<'a> {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => EffortWord::Low,
        Effort::Medium => EffortWord::Medium,
        Effort::High => EffortWord::High,
        Effort::Xhigh => EffortWord::Xhigh,
        Effort::Max => EffortWord::Max,
    }
}

/// Whether the model's last turn calls tools without the thinking that led to them. Models with a budget refuse that while they
/// are to think (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>), adaptive ones do not.
pub(super) fn is_missing(turns: &mut Turns<'_>) -> bool {
    let last = turns.iter_mut().rev().find(|(role, _)| **role == Role::Assistant);
    last.is_some_and(|(_, blocks)| {
        let calls = blocks.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
        let thinks = matches!(blocks.first(), Some(ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_)));
        calls && !thinks
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought(effort: &str, model: &str, max_tokens: u64) -> Thought<'static> {
        let wanted = Wanted { is_unsaid: false, effort: Effort::from_word(effort), summary: false };
        convert(&wanted, model, max_tokens, false, &mut Losses::default())
    }

    /// B16: the budget stays between 1024 and `max_tokens`, or thinking is left out.
    #[test]
    fn a_budget_is_below_the_bound() {
        let budget = |effort, max_tokens| match thought(effort, "claude-sonnet-4-5", max_tokens).thinking {
            Some(Thinking::Enabled(enabled)) => Some(enabled.budget_tokens),
            _ => None,
        };
        assert_eq!(budget("high", 1500), Some(1125));
        assert_eq!(budget("medium", 900), None);
        assert_eq!(budget("high", 16_384), Some(12_288));
        assert_eq!(budget("none", 16_384), None);
    }

    #[test]
    fn adaptive_models_get_an_effort() {
        let thought = |effort, model| thought(effort, model, 8000);
        assert_eq!(thought("xhigh", "claude-opus-5-5").effort, Some(EffortWord::Xhigh));
        assert_eq!(thought("xhigh", "claude-opus-4-6").effort, Some(EffortWord::Max));
        assert_eq!(thought("minimal", "claude-opus-5-5").effort, Some(EffortWord::Low));
        let off = thought("none", "claude-sonnet-5");
        assert!(matches!(off.thinking, Some(Thinking::Disabled(_))) && off.effort.is_none());
        let never = thought("none", "claude-opus-5-5");
        assert!(never.thinking.is_none() && never.effort == Some(EffortWord::Low));
    }
}
