//! How much a model thinks: budget and level of Gemini, as budget or effort of Claude.

use crate::protocol::claude::capabilities::{self, ThinkingOff};
use crate::protocol::claude::turns::Turns;
use crate::protocol::claude::wire::content::ContentBlock;
use crate::protocol::claude::wire::request::{
    Display, Effort as Word, Empty, Role, Thinking, ThinkingAdaptive, ThinkingEnabled,
};
use crate::protocol::claude::wire::tools::ToolChoice;
use crate::protocol::convert::effort::{Effort, claude_budget};
use crate::protocol::convert::{ConvertError, Losses, Notes};
use crate::protocol::gemini::wire::request::ThinkingConfig;

const PATH: &str = "generationConfig.thinkingConfig";

/// The thinking and the effort to ask for.
#[derive(Default)]
pub(super) struct ThinkingOfClaude<'a> {
    pub(super) thinking: Option<Thinking<'a>>,
    pub(super) effort: Option<Word<'a>>,
}

impl ThinkingOfClaude<'_> {
    /// Whether the model is asked to think.
    pub(super) fn is_on(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Enabled(_) | Thinking::Adaptive(_)))
    }
}

/// How much is asked for.
enum Amount {
    Nothing,
    /// As much as the model finds right.
    Dynamic,
    Tokens(u64),
    Effort(Effort),
}

/// The thinking that `asked` means for the model.
pub(super) fn thinking<'a>(
    asked: Option<&ThinkingConfig<'_>>,
    name: &str,
    max_tokens: u64,
    choice: Option<&ToolChoice<'_>>,
    turns: &mut Turns<'_>,
    notes: &mut Notes,
) -> Result<ThinkingOfClaude<'a>, ConvertError> {
    let losses = &mut notes.losses;
    let Some(asked) = asked else { return Ok(ThinkingOfClaude::default()) };
    let is_shown = asked.include_thoughts == Some(true);
    let Some(amount) = amount(asked, losses)? else { return Ok(ThinkingOfClaude::default()) };
    let thinking = match (capabilities::of(name).thinking, amount) {
        (_, Amount::Nothing) => quiet(name, losses),
        (capabilities::Thinking::None, _) => {
            losses.add(PATH, "the model does not think");
            ThinkingOfClaude::default()
        }
        (capabilities::Thinking::Adaptive, amount) => adaptive(&amount, name, is_shown),
        (capabilities::Thinking::Budget, amount) => {
            let budget = budget(&amount, max_tokens, choice, turns, losses);
            ThinkingOfClaude { thinking: budget.map(|tokens| enabled(tokens, is_shown)), effort: None }
        }
    };
    Ok(thinking)
}

/// How much is asked for; `None` where nothing is said.
fn amount(asked: &ThinkingConfig<'_>, losses: &mut Losses) -> Result<Option<Amount>, ConvertError> {
    if let Some(level) = &asked.thinking_level {
        let effort = Effort::from_word(level.as_str());
        if effort.is_none() {
            losses.add(format!("{PATH}.thinkingLevel"), "is not known");
        }
        return Ok(effort.map(Amount::Effort));
    }
    match asked.thinking_budget.map(|tokens| tokens.0) {
        Some(0) => Ok(Some(Amount::Nothing)),
        Some(-1) => Ok(Some(Amount::Dynamic)),
        Some(tokens) => match u64::try_from(tokens) {
            Ok(tokens) => Ok(Some(Amount::Tokens(tokens))),
            Err(_) => Err(ConvertError::invalid(format!("{PATH}.thinkingBudget"), "has to be -1, 0 or more")),
        },
        // To want to see thoughts is to want some.
        None => Ok((asked.include_thoughts == Some(true)).then_some(Amount::Dynamic)),
    }
}

/// Not at all, or as little as the model can.
fn quiet<'a>(name: &str, losses: &mut Losses) -> ThinkingOfClaude<'a> {
    let thinking = match capabilities::thinking_off(name) {
        ThinkingOff::Absent => None,
        ThinkingOff::Disabled => Some(Thinking::Disabled(Empty {})),
        ThinkingOff::BetweenTools => Some(Thinking::BetweenTools(Empty {})),
        ThinkingOff::Never => {
            losses.add(PATH, "the model always thinks, and is asked for little effort");
            return ThinkingOfClaude { thinking: None, effort: Some(Word::Low) };
        }
    };
    ThinkingOfClaude { thinking, effort: None }
}

fn adaptive<'a>(amount: &Amount, name: &str, is_shown: bool) -> ThinkingOfClaude<'a> {
    let effort = match amount {
        Amount::Nothing | Amount::Dynamic => None,
        Amount::Tokens(tokens) => Some(Effort::from_budget(*tokens)),
        Amount::Effort(effort) => Some(*effort),
    };
    let word = |effort: Effort| match effort.nearest(capabilities::efforts(name)) {
        Effort::None | Effort::Minimal | Effort::Low => Word::Low,
        Effort::Medium => Word::Medium,
        Effort::High => Word::High,
        Effort::Xhigh => Word::Xhigh,
        Effort::Max => Word::Max,
    };
    let display = if is_shown { Display::Summarized } else { Display::Omitted };
    let thinking = ThinkingAdaptive { display: Some(display), block_binding: None };
    ThinkingOfClaude { thinking: Some(Thinking::Adaptive(thinking)), effort: effort.map(word) }
}

fn enabled<'a>(budget_tokens: u64, is_shown: bool) -> Thinking<'a> {
    let display = (!is_shown).then_some(Display::Omitted);
    Thinking::Enabled(ThinkingEnabled { budget_tokens, display, block_binding: None })
}

/// B16: a budget that leaves room for the answer; none where thinking is not possible.
fn budget(
    amount: &Amount,
    max_tokens: u64,
    choice: Option<&ToolChoice<'_>>,
    turns: &mut Turns<'_>,
    losses: &mut Losses,
) -> Option<u64> {
    let wanted = match amount {
        Amount::Nothing => return None,
        Amount::Dynamic => Effort::Medium.budget(),
        Amount::Tokens(tokens) => *tokens,
        // A word leaves room for the answer, a number is the client's own choice.
        Amount::Effort(effort) => effort.budget().min(max_tokens - max_tokens / 4),
    };
    // <https://platform.claude.com/docs/en/build-with-claude/thinking#thinking-with-tool-use>
    if matches!(choice, Some(ToolChoice::Any(_) | ToolChoice::Tool(_))) {
        losses.add(PATH, "the model does not think when it has to call a tool");
        return None;
    }
    if lacks_thinking(turns) {
        losses.add(PATH, "the model does not think on, since its thinking before the last tool call is not there");
        return None;
    }
    let budget = claude_budget(wanted, max_tokens);
    match budget {
        None => losses.add(PATH, "there is no room for thinking within maxOutputTokens"),
        Some(budget) if budget != wanted => losses.hint(PATH, "the budget is fitted to the limit of the answer"),
        Some(_) => {}
    }
    budget
}

/// B13: whether the answer goes on after calls that the model made without thinking, as far as is known. With thinking on, the answer
/// that the last results belong to has to begin with it.
fn lacks_thinking(turns: &mut Turns<'_>) -> bool {
    let mut begins_with_thinking = None;
    for (role, blocks) in turns.iter_mut().rev() {
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
