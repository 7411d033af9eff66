//! How much the model thinks.

use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::Effort;
use crate::protocol::openai_chat::capabilities::Capabilities;
use crate::protocol::openai_chat::wire::request::Request;
use crate::protocol::openai_responses::wire::request::Reasoning;
use crate::protocol::wire::Text;

/// What is asked for, by whichever of the members that clients use.
#[derive(Debug, Default)]
pub(super) struct Thinking {
    /// How much.
    pub(super) effort: Option<Effort>,
    /// Whether the client uses a member that shows the thinking.
    is_shown: bool,
}

impl Thinking {
    /// Reads `request` for `model`.
    pub(super) fn of(request: &Request<'_>, model: Capabilities, losses: &mut Losses) -> Self {
        let openrouter = request.reasoning.as_ref();
        let claude = request.thinking.as_ref();
        let Some((path, wanted)) = wanted(request, losses) else {
            let is_shown = openrouter.is_some_and(|reasoning| reasoning.exclude != Some(true)) || claude.is_some();
            return Self { effort: None, is_shown: is_shown && model.reasoning };
        };
        if model.efforts.is_empty() {
            if wanted != Effort::None {
                losses.add(path, "has no counterpart, this model does not think");
            }
            return Self::default();
        }
        let nearest = wanted.nearest(model.efforts);
        if nearest != wanted {
            losses.add(path, "is not an effort of this model, the nearest one stands for it");
        }
        let is_shown = openrouter.is_some_and(|reasoning| reasoning.exclude != Some(true)) || claude.is_some();
        Self { effort: Some(nearest), is_shown: is_shown && model.reasoning && nearest != Effort::None }
    }

    /// The same as Responses has it.
    pub(super) fn reasoning(&self) -> Option<Reasoning<'static>> {
        if self.effort.is_none() && !self.is_shown {
            return None;
        }
        Some(Reasoning {
            effort: self.effort.map(|effort| Text::from(effort.word()).into()),
            summary: self.is_shown.then(|| "auto".into()),
            ..Reasoning::default()
        })
    }
}

/// The effort and where it stands: OpenAI's member first, then OpenRouter's, then Claude's.
fn wanted(request: &Request<'_>, losses: &mut Losses) -> Option<(&'static str, Effort)> {
    let openrouter = request.reasoning.as_ref();
    let claude = request.thinking.as_ref();
    let words = [
        ("reasoning_effort", request.reasoning_effort.as_ref()),
        ("reasoning.effort", openrouter.and_then(|reasoning| reasoning.effort.as_ref())),
    ];
    if let Some((path, word)) = words.into_iter().find_map(|(path, word)| Some((path, word?))) {
        let effort = Effort::from_word(word.as_str());
        if effort.is_none() {
            losses.add(path, "is not known, the model thinks as it does by default");
        }
        return effort.map(|effort| (path, effort));
    }
    if openrouter.is_some_and(|reasoning| reasoning.enabled == Some(false)) {
        return Some(("reasoning.enabled", Effort::None));
    }
    if claude.is_some_and(|thinking| thinking.kind == "disabled") {
        return Some(("thinking", Effort::None));
    }
    let budgets = [
        ("reasoning.max_tokens", openrouter.and_then(|reasoning| reasoning.max_tokens)),
        ("thinking.budget_tokens", claude.and_then(|thinking| thinking.budget_tokens)),
    ];
    budgets.into_iter().find_map(|(path, tokens)| Some((path, Effort::from_budget(tokens?))))
}
