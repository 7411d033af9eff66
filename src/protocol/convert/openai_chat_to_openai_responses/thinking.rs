//! How much the model thinks.

use crate::protocol::convert::effort::Effort;
use crate::protocol::convert::{Losses, from_openai_chat, to_openai};
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
        let is_shown =
            openrouter.is_some_and(|reasoning| reasoning.exclude != Some(true)) || request.thinking.is_some();
        let (path, amount) = from_openai_chat::amount(request, losses).unzip();
        let effort = to_openai::effort::responses(amount, path.unwrap_or_default(), model, losses);
        Self { effort, is_shown: is_shown && model.reasoning && effort != Some(Effort::None) }
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
