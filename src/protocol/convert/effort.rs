//! How hard a model is to think, in the measures of the vendors: a word, a number of tokens, a level.

use super::Losses;

/// What is said where a model does not think at all.
pub const DOES_NOT_THINK: &str = "has no counterpart, this model does not think";

/// What is said of a word that is none of [`Effort`].
pub const UNKNOWN_EFFORT: &str = "is not known, the model thinks as it does by default";

/// What is said where a model cannot be kept from thinking.
pub const ALWAYS_THINKS: &str = "cannot be turned off, the least that the model thinks stands for it";

/// How much a request asks for, in whichever measure it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// As much as the model finds right.
    Free,
    /// About so many tokens.
    Tokens(u64),
    /// So hard.
    Effort(Effort),
}

impl Amount {
    /// No thinking at all.
    pub const NOTHING: Self = Self::Effort(Effort::None);

    /// Whether no thinking is asked for.
    pub fn is_nothing(self) -> bool {
        matches!(self, Self::Tokens(0) | Self::NOTHING)
    }
}

/// The words, from nothing to everything. Not every model takes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// Little.
    Low,
    /// Moderately.
    Medium,
    /// Much.
    High,
    /// More.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    const ALL: [Self; 7] = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The effort that vendors call `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.word().eq_ignore_ascii_case(word))
    }

    /// The vendors' word.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The tokens of thinking that stand for it.
    pub fn budget(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Minimal => 1024,
            Self::Low => 4096,
            Self::Medium => 8192,
            Self::High => 16_384,
            Self::Xhigh => 24_576,
            Self::Max => 32_768,
        }
    }

    /// The effort whose budget comes nearest to `tokens` without being far below it.
    pub fn from_budget(tokens: u64) -> Self {
        match tokens {
            0 => Self::None,
            1..=1024 => Self::Minimal,
            1025..=4096 => Self::Low,
            4097..=8192 => Self::Medium,
            8193..=24_576 => Self::High,
            24_577..=31_998 => Self::Xhigh,
            _ => Self::Max,
        }
    }

    /// The nearest of `allowed`, or nothing changed if there are none; where that is another one, it is a loss.
    pub fn fitted(self, allowed: &[Self], path: &str, losses: &mut Losses) -> Self {
        let nearest = self.nearest(allowed);
        if nearest != self {
            losses.add(path, "is none of the model's efforts, the nearest one stands for it");
        }
        nearest
    }

    /// The nearest of `allowed`, which must not be empty; of two equally near the greater.
    pub fn nearest(self, allowed: &[Self]) -> Self {
        let distance = |other: &Self| ((*other as i32 - self as i32).abs(), std::cmp::Reverse(*other));
        allowed.iter().copied().min_by_key(distance).unwrap_or(self)
    }
}

/// The least budget that Claude takes.
pub const LEAST_CLAUDE_BUDGET: u64 = 1024;

/// A budget for Claude that stands below `max_tokens`, as it has to; `None` if there is no room for thinking at all.
pub fn claude_budget(wanted: u64, max_tokens: u64) -> Option<u64> {
    if max_tokens <= LEAST_CLAUDE_BUDGET {
        return None;
    }
    Some(wanted.clamp(LEAST_CLAUDE_BUDGET, max_tokens - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_and_words_agree() {
        for effort in Effort::ALL {
            assert_eq!(Effort::from_word(effort.word()), Some(effort));
            assert!(effort == Effort::Xhigh || Effort::from_budget(effort.budget()) == effort);
        }
        assert_eq!(Effort::from_word("HIGH"), Some(Effort::High));
        assert_eq!(Effort::Xhigh.nearest(&[Effort::Low, Effort::Medium, Effort::High]), Effort::High);
        assert_eq!(Effort::Minimal.nearest(&[Effort::None, Effort::Low]), Effort::Low);
    }

    /// B16: at least 1024 and below the cap, or not at all.
    #[test]
    fn a_budget_for_claude_leaves_room_for_the_answer() {
        assert_eq!(claude_budget(16_384, 1500), Some(1499));
        assert_eq!(claude_budget(8192, 900), None);
        assert_eq!(claude_budget(16_384, 16_384), Some(16_383));
        assert_eq!(claude_budget(10, 5000), Some(1024));
    }
}
