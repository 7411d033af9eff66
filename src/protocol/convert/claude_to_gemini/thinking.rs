//! How much a model thinks: budget, adaptive thinking and effort of Claude, as budget or level of Gemini.

use crate::protocol::claude::wire::request::{Display, Effort as Word, MessagesRequest, Thinking};
use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::{Losses, Notes};
use crate::protocol::gemini::capabilities::{self, Capabilities};
use crate::protocol::gemini::wire::proto::Int;
use crate::protocol::gemini::wire::request::{ThinkingConfig, ThinkingLevel};

/// How much is asked for.
enum Amount {
    /// Nothing is said.
    Default,
    /// As much as the model finds right.
    Dynamic,
    /// This many tokens.
    Tokens(u64),
    /// This hard.
    Effort(Effort),
}

/// The thinking that `request` asks for, in the measure of the model; `None` leaves it to the model.
pub(super) fn thinking_config<'a>(
    request: &MessagesRequest<'_>,
    name: &str,
    model: &Capabilities,
    notes: &mut Notes,
) -> Option<ThinkingConfig<'a>> {
    let (amount, is_shown) = asked(request, &mut notes.losses);
    let config = match model.thinking {
        capabilities::Thinking::None => {
            if matches!(amount, Amount::Dynamic | Amount::Tokens(1..)) {
                notes.losses.add("thinking", "the model does not think");
            }
            return None;
        }
        capabilities::Thinking::Budget { min, max } => budget(&amount, min, max, &mut notes.losses),
        capabilities::Thinking::Level => level(&amount, name, &mut notes.losses),
    };
    let include_thoughts = is_shown.then_some(true);
    let config = ThinkingConfig { include_thoughts, ..config };
    (config != ThinkingConfig::default()).then_some(config)
}

/// How much is asked for, and whether the client wants to see it.
fn asked(request: &MessagesRequest<'_>, losses: &mut Losses) -> (Amount, bool) {
    let effort = effort(request);
    let shown = |display: &Option<Display<'_>>| !matches!(display, Some(Display::Omitted));
    match &request.thinking {
        Some(Thinking::Enabled(thinking)) => (Amount::Tokens(thinking.budget_tokens), shown(&thinking.display)),
        Some(Thinking::Adaptive(thinking)) => {
            (effort.map_or(Amount::Dynamic, Amount::Effort), shown(&thinking.display))
        }
        Some(Thinking::Disabled(_)) => (Amount::Tokens(0), false),
        Some(Thinking::BetweenTools(_)) => {
            losses.add("thinking", "progress between tools is not told");
            (Amount::Tokens(0), false)
        }
        Some(Thinking::Other(_)) => {
            losses.add("thinking", "is not known");
            (Amount::Default, false)
        }
        None => (effort.map_or(Amount::Default, Amount::Effort), false),
    }
}

/// The effort that holds for the answer: that of the last system message that sets one, else that of the request.
fn effort(request: &MessagesRequest<'_>) -> Option<Effort> {
    let later = request.messages.iter().rev().find_map(|message| message.output_config.as_ref()?.effort.as_ref());
    let first = || request.output_config.as_ref()?.effort.as_ref();
    later.or_else(first).map(Word::as_str).and_then(Effort::from_word)
}

fn budget<'a>(amount: &Amount, min: u64, max: u64, losses: &mut Losses) -> ThinkingConfig<'a> {
    let tokens = match amount {
        Amount::Default => return ThinkingConfig::default(),
        Amount::Dynamic => -1,
        Amount::Tokens(0) if min == 512 => 0,
        Amount::Tokens(0) if min > 0 => {
            losses.add("thinking", "cannot be turned off, and is set to the least");
            signed(min)
        }
        Amount::Tokens(tokens) => signed((*tokens).clamp(min, max)),
        Amount::Effort(effort) => signed(effort.budget().clamp(min, max)),
    };
    ThinkingConfig { thinking_budget: Some(Int(tokens)), ..ThinkingConfig::default() }
}

fn level<'a>(amount: &Amount, name: &str, losses: &mut Losses) -> ThinkingConfig<'a> {
    let effort = match amount {
        Amount::Default | Amount::Dynamic => return ThinkingConfig::default(),
        Amount::Tokens(0) => {
            losses.add("thinking", "cannot be turned off, and is set to the least");
            Effort::None
        }
        Amount::Tokens(tokens) => Effort::from_budget(*tokens),
        Amount::Effort(effort) => *effort,
    };
    let level = match effort.nearest(capabilities::levels(name)) {
        Effort::None | Effort::Minimal => ThinkingLevel::Minimal,
        Effort::Low => ThinkingLevel::Low,
        Effort::Medium => ThinkingLevel::Medium,
        Effort::High | Effort::Xhigh | Effort::Max => ThinkingLevel::High,
    };
    ThinkingConfig { thinking_level: Some(level), ..ThinkingConfig::default() }
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
