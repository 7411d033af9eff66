//! How much a model thinks: whatever was asked for, in budgets or efforts of Claude.

use crate::protocol::claude::capabilities::{self, Thinking as Manner, ThinkingOff};
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::request::{
    Display, Effort as Word, Empty, Role, Thinking, ThinkingAdaptive, ThinkingEnabled,
};
use crate::protocol::claude::wire::tools::ToolChoice;
use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::{ALWAYS_THINKS, Amount, DOES_NOT_THINK, Effort, claude_budget};

/// How a model is asked to think.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked<'a> {
    /// `thinking`.
    pub thinking: Option<Thinking<'a>>,
    /// `output_config.effort`.
    pub effort: Option<Word<'a>>,
}

impl Asked<'_> {
    /// Whether the model is asked to think.
    pub fn is_on(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Enabled(_) | Thinking::Adaptive(_)))
    }
}

/// How the model `name` is asked for `amount`, which stands at `path`; `None` leaves it to the model.
pub fn asked<'a>(
    amount: Option<Amount>,
    is_shown: bool,
    path: &str,
    name: &str,
    max_tokens: u64,
    losses: &mut Losses,
) -> Asked<'a> {
    let Some(amount) = amount else { return Asked::default() };
    match capabilities::of(name).thinking {
        Manner::None | Manner::Budget if amount.is_nothing() => Asked::default(),
        Manner::None => {
            losses.add(path, DOES_NOT_THINK);
            Asked::default()
        }
        Manner::Budget => {
            let display = (!is_shown).then_some(Display::Omitted);
            let enabled =
                |budget_tokens| Thinking::Enabled(ThinkingEnabled { budget_tokens, display, block_binding: None });
            Asked { thinking: budget(amount, path, max_tokens, losses).map(enabled), effort: None }
        }
        Manner::Adaptive if amount.is_nothing() => {
            if capabilities::thinking_off(name) == ThinkingOff::Never {
                losses.add(path, ALWAYS_THINKS);
                return Asked { thinking: None, effort: Some(Word::Low) };
            }
            Asked { thinking: off(name), effort: None }
        }
        Manner::Adaptive => {
            let efforts = capabilities::of(name).efforts;
            let effort = match amount {
                Amount::Free => None,
                Amount::Tokens(tokens) => Some(Effort::from_budget(tokens).nearest(efforts)),
                Amount::Effort(effort) => Some(effort.fitted(efforts, path, losses)),
            };
            let display = Some(if is_shown { Display::Summarized } else { Display::Omitted });
            let thinking = Thinking::Adaptive(ThinkingAdaptive { display, block_binding: None });
            Asked { thinking: Some(thinking), effort: effort.map(word) }
        }
    }
}

/// B16: a budget below the bound of the answer; `None` if there is no room for one.
fn budget(amount: Amount, path: &str, max_tokens: u64, losses: &mut Losses) -> Option<u64> {
    // A word leaves a quarter to the answer, an explicit number is the client's own choice.
    let wanted = match amount {
        Amount::Tokens(tokens) => tokens,
        Amount::Effort(effort) => effort.budget().min(max_tokens - max_tokens / 4),
        Amount::Free => Effort::Medium.budget().min(max_tokens - max_tokens / 4),
    };
    let budget = claude_budget(wanted, max_tokens);
    match (budget, amount) {
        (None, _) => losses.add(path, "is left out, the bound of the answer leaves no room for thinking"),
        (Some(budget), Amount::Tokens(tokens)) if budget != tokens => {
            losses.add(path, "is brought within 1024 and the bound of the answer");
        }
        (Some(_), _) => {}
    }
    budget
}

fn word<'a>(effort: Effort) -> Word<'a> {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => Word::Low,
        Effort::Medium => Word::Medium,
        Effort::High => Word::High,
        Effort::Xhigh => Word::Xhigh,
        Effort::Max => Word::Max,
    }
}

/// What has to be said for a model not to think; nothing for those that think only when asked, and for those that always do.
fn off<'a>(name: &str) -> Option<Thinking<'a>> {
    match capabilities::thinking_off(name) {
        ThinkingOff::Absent | ThinkingOff::Never => None,
        ThinkingOff::Disabled => Some(Thinking::Disabled(Empty {})),
        ThinkingOff::BetweenTools => Some(Thinking::BetweenTools(Empty {})),
    }
}

/// Turns thinking off where the model has to call a tool, which Claude does only without
/// (<https://platform.claude.com/docs/en/build-with-claude/thinking#thinking-with-tool-use>). `path` is that of the choice, which was
/// asked for more expressly.
pub fn give_way_to_choice(
    choice: Option<&ToolChoice<'_>>,
    asked: &mut Asked<'_>,
    path: &str,
    name: &str,
    losses: &mut Losses,
) {
    if !matches!(choice, Some(ToolChoice::Any(_) | ToolChoice::Tool(_))) {
        return;
    }
    if asked.is_on() {
        losses.add(path, "excludes thinking, which is left out");
        asked.thinking = None;
    }
    if asked.thinking.is_none() {
        asked.thinking = off(name);
    }
}

/// Turns thinking off where the model goes on with an answer that is begun. `path` is that of the thinking.
pub fn give_way_to_prefill(asked: &mut Asked<'_>, path: &str, losses: &mut Losses) {
    if asked.is_on() {
        losses.add(path, "is left out, the model does not think before it goes on with an answer");
        asked.thinking = None;
    }
}

/// B13: turns thinking off where the answer goes on after calls of which the model's own thinking is not there. Models that are given
/// a budget refuse that while they are to think, adaptive ones do not
/// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>). `path` is that of the conversation.
pub fn give_way_to_history(turns: &Turns<'_>, asked: &mut Asked<'_>, path: &str, losses: &mut Losses) {
    if matches!(asked.thinking, Some(Thinking::Enabled(_))) && lacks_thinking(turns) {
        losses.add(path, "has calls without Claude's own thinking, so that it does not think this time");
        asked.thinking = None;
    }
}

/// Whether the answer that the last results belong to began without thinking.
fn lacks_thinking(turns: &Turns<'_>) -> bool {
    let mut begins_with_thinking = None;
    for (role, blocks) in turns.iter().rev() {
        match role {
            Role::Assistant => {
                let first = blocks.first();
                let thinks = matches!(first, Some(ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_)));
                begins_with_thinking = Some(thinks);
            }
            _ if blocks.iter().any(|block| matches!(block, ContentBlock::ToolResult(_))) => {}
            _ => break,
        }
    }
    begins_with_thinking == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(amount: Amount, name: &str, max_tokens: u64) -> Asked<'static> {
        asked(Some(amount), true, "thinking", name, max_tokens, &mut Losses::default())
    }

    /// B16: a budget stands below `max_tokens`, and there is none where not even the least does.
    #[test]
    fn a_budget_stays_below_the_bound() {
        for (amount, max_tokens, expected) in [
            (Amount::Effort(Effort::High), 1500, Some(1125)),
            (Amount::Effort(Effort::Medium), 900, None),
            (Amount::Effort(Effort::High), 16_384, Some(12_288)),
            (Amount::Tokens(9000), 9000, Some(8999)),
            (Amount::Free, 64_000, Some(8192)),
            (Amount::NOTHING, 16_384, None),
        ] {
            let budget = match of(amount, "claude-sonnet-4-5", max_tokens).thinking {
                Some(Thinking::Enabled(enabled)) => Some(enabled.budget_tokens),
                _ => None,
            };
            assert_eq!(budget, expected, "{amount:?} within {max_tokens}");
        }
    }

    #[test]
    fn newer_models_are_asked_with_an_effort() {
        let xhigh = Amount::Effort(Effort::Xhigh);
        let adaptive = of(xhigh, "claude-opus-5-5", 4000);
        assert!(matches!(adaptive.thinking, Some(Thinking::Adaptive(_))) && adaptive.effort == Some(Word::Xhigh));
        assert_eq!(of(xhigh, "claude-opus-4-6", 4000).effort, Some(Word::Max));
        let none = |name| of(Amount::NOTHING, name, 4000);
        assert_eq!(none("claude-opus-5-5"), Asked { thinking: None, effort: Some(Word::Low) });
        assert!(matches!(none("claude-opus-5").thinking, Some(Thinking::Disabled(_))));
        assert!(matches!(none("claude-sonnet-5-5").thinking, Some(Thinking::BetweenTools(_))));
    }
}
