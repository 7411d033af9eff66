//! How hard the model thinks, and what of it is shown.

use crate::protocol::convert::Losses;
use crate::protocol::convert::effort::{Amount, Effort, UNKNOWN_EFFORT};
use crate::protocol::convert::loss::NO_COUNTERPART;
use crate::protocol::openai_responses::wire::request::Reasoning;

/// What is asked for: the request's own, or what a later item has put in its place.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The effort.
    pub(super) effort: Option<Effort>,
    /// Whether a summary is to be shown.
    pub(super) summary: bool,
}

impl Wanted {
    /// Reads the request's member.
    pub(super) fn of(reasoning: Option<&Reasoning<'_>>, losses: &mut Losses) -> Self {
        let Some(reasoning) = reasoning else { return Self::default() };
        if reasoning.mode.as_ref().is_some_and(|mode| *mode != "standard") {
            losses.add("reasoning.mode", NO_COUNTERPART);
        }
        if reasoning.context.as_ref().is_some_and(|context| *context == "current_turn") {
            losses.hint("reasoning.context", "the model decides which of its earlier thinking it sees");
        }
        let mut wanted =
            Self { effort: None, summary: reasoning.summary.is_some() || reasoning.generate_summary.is_some() };
        wanted.update(reasoning, "reasoning.effort", losses);
        wanted
    }

    /// Puts the effort of a later item in place.
    pub(super) fn update(&mut self, reasoning: &Reasoning<'_>, path: &str, losses: &mut Losses) {
        let Some(effort) = &reasoning.effort else { return };
        match Effort::from_word(effort.as_str()) {
            Some(effort) => self.effort = Some(effort),
            None => losses.add(path, UNKNOWN_EFFORT),
        }
    }

    /// How much is asked for. To want to see thinking is to want some.
    pub(super) fn amount(&self) -> Option<Amount> {
        self.effort.map(Amount::Effort).or(self.summary.then_some(Amount::Free))
    }
}
