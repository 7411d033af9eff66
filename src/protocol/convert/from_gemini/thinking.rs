//! How much a model thinks: budget and level of Gemini.

use crate::protocol::convert::effort::{Amount, Effort, UNKNOWN_EFFORT};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::gemini::wire::request::{ThinkingConfig, ThinkingLevel};

/// Where it stands.
pub const PATH: &str = "generationConfig.thinkingConfig";

/// How much is asked for; `None` where nothing is said. A level counts before a budget.
pub fn amount(asked: &ThinkingConfig<'_>, losses: &mut Losses) -> Result<Option<Amount>, ConvertError> {
    if let Some(level) = &asked.thinking_level {
        if matches!(level, ThinkingLevel::Other(word) if word.ends_with("UNSPECIFIED")) {
            return Ok(None);
        }
        let effort = Effort::from_word(level.as_str());
        if effort.is_none() {
            losses.add(format!("{PATH}.thinkingLevel"), UNKNOWN_EFFORT);
        }
        return Ok(effort.map(Amount::Effort));
    }
    match asked.thinking_budget.map(|tokens| tokens.0) {
        None => Ok(None),
        Some(-1) => Ok(Some(Amount::Free)),
        Some(tokens) => match u64::try_from(tokens) {
            Ok(tokens) => Ok(Some(Amount::Tokens(tokens))),
            Err(_) => Err(ConvertError::invalid(format!("{PATH}.thinkingBudget"), "has to be -1, 0 or more")),
        },
    }
}
