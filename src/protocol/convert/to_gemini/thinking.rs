//! How much a model thinks: whatever was asked for, in budgets or levels of Gemini.

use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::{ALWAYS_THINKS, Amount, DOES_NOT_THINK, Effort};
use crate::protocol::gemini::capabilities::{self, Thinking};
use crate::protocol::gemini::wire::proto::Int;
use crate::protocol::gemini::wire::request::{ThinkingConfig, ThinkingLevel};

/// The member `thinkingConfig` for the model `name`; `None` leaves it to the model. `path` is where the amount stands.
pub fn config<'a>(
    amount: Option<Amount>,
    include_thoughts: Option<bool>,
    path: &str,
    name: &str,
    losses: &mut Losses,
) -> Option<ThinkingConfig<'a>> {
    let amount = match (capabilities::of(name).thinking, amount) {
        (Thinking::None, None) => return None,
        (Thinking::None, Some(amount)) => {
            if !amount.is_nothing() {
                losses.add(path, DOES_NOT_THINK);
            }
            return None;
        }
        (_, None) => ThinkingConfig::default(),
        (Thinking::Budget { min, max }, Some(amount)) => {
            let thinking_budget = Some(Int(budget(amount, min, max, path, name, losses)));
            ThinkingConfig { thinking_budget, ..ThinkingConfig::default() }
        }
        (Thinking::Level, Some(amount)) => {
            let thinking_level = level(amount, path, name, losses);
            ThinkingConfig { thinking_level, ..ThinkingConfig::default() }
        }
    };
    let config = ThinkingConfig { include_thoughts, ..amount };
    (config != ThinkingConfig::default()).then_some(config)
}

/// A word stands for no exact number, so that only a number of the client's can be outside of the limits.
fn budget(amount: Amount, min: u64, max: u64, path: &str, name: &str, losses: &mut Losses) -> i64 {
    let tokens = match amount {
        Amount::Free => return -1,
        amount if amount.is_nothing() && capabilities::can_be_kept_from_thinking(name) => return 0,
        amount if amount.is_nothing() => {
            losses.add(path, ALWAYS_THINKS);
            min
        }
        Amount::Tokens(tokens) => {
            if !(min..=max).contains(&tokens) {
                losses.add(path, "is brought within the model's limits");
            }
            tokens.clamp(min, max)
        }
        Amount::Effort(effort) => effort.budget().clamp(min, max),
    };
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

fn level<'a>(amount: Amount, path: &str, name: &str, losses: &mut Losses) -> Option<ThinkingLevel<'a>> {
    let levels = capabilities::levels(name);
    let effort = match amount {
        Amount::Free => return None,
        amount if amount.is_nothing() => {
            losses.add(path, ALWAYS_THINKS);
            Effort::None.nearest(levels)
        }
        Amount::Tokens(tokens) => Effort::from_budget(tokens).nearest(levels),
        Amount::Effort(effort) => effort.fitted(levels, path, losses),
    };
    Some(match effort {
        Effort::None | Effort::Minimal => ThinkingLevel::Minimal,
        Effort::Low => ThinkingLevel::Low,
        Effort::Medium => ThinkingLevel::Medium,
        Effort::High => ThinkingLevel::High,
        Effort::Xhigh | Effort::Max => ThinkingLevel::Xhigh,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(amount: Amount, name: &str) -> (Option<i64>, Option<String>, bool) {
        let mut losses = Losses::default();
        let config = config(Some(amount), None, "thinking", name, &mut losses).unwrap_or_default();
        let level = config.thinking_level.map(|level| level.as_str().to_owned());
        (config.thinking_budget.map(|budget| budget.0), level, losses.matters())
    }

    #[test]
    fn models_are_asked_in_their_own_measure() {
        let level = |word: &str| Some(word.to_owned());
        for (amount, name, expected) in [
            (Amount::Free, "gemini-2.5-flash", (Some(-1), None, false)),
            (Amount::NOTHING, "gemini-2.5-flash", (Some(0), None, false)),
            (Amount::NOTHING, "gemini-2.5-flash-lite", (Some(0), None, false)),
            (Amount::Tokens(0), "gemini-2.5-pro", (Some(128), None, true)),
            (Amount::Tokens(99_999), "gemini-2.5-pro", (Some(32_768), None, true)),
            (Amount::Effort(Effort::Max), "gemini-2.5-flash", (Some(24_576), None, false)),
            (Amount::NOTHING, "gemini-2.0-flash", (None, None, false)),
            (Amount::Free, "gemini-2.0-flash", (None, None, true)),
            (Amount::Free, "gemini-3-flash", (None, None, false)),
            (Amount::NOTHING, "gemini-3-flash", (None, level("MINIMAL"), true)),
            (Amount::Tokens(31_999), "gemini-3-flash", (None, level("HIGH"), false)),
            (Amount::Effort(Effort::Medium), "gemini-3-pro", (None, level("HIGH"), true)),
            (Amount::Effort(Effort::Xhigh), "gemini-4-pro", (None, level("XHIGH"), false)),
        ] {
            assert_eq!(asked(amount, name), expected, "{amount:?} for {name}");
        }
    }
}
