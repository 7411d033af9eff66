//! From a request to a plan: who may serve it, and in which order they are tried.
//!
//! [`rule`] finds the rule that the request falls under and with it the members who serve it, [`rank`] narrows and orders them, and
//! here the plan is made of what is left. `docs/routing.md` tells the same to operators.

mod error;
mod rank;
mod rule;
#[cfg(test)]
mod tests;

pub use error::{Refusal, ResolveError};
pub use rank::{Candidate, SkipReason, Skipped};
pub use rule::Rule;

use std::cell::OnceCell;

use crate::engine::continuation::Owner;
use crate::engine::health::Standing;
use crate::engine::select::{ConversionRules, Judge, Plan, Reach, Standings, Target};
use crate::engine::snapshot::{Credential, Member, Snapshot, Turn};
use crate::platform::clock::Timestamp;
use crate::store::options::Strategy;

/// How many credentials more than there are attempts a target gets: some may turn out not to be usable when their turn comes.
const SPARE_CREDENTIALS: usize = 4;

/// What has to be known to find who serves a request.
pub struct Question<'a> {
    /// The model as the client names it; empty where it names none.
    pub model: &'a str,
    /// The name in the base URL.
    pub namespace: Option<&'a str>,
    /// Whom it may be sent to.
    pub reach: &'a Reach,
    /// Who keeps the conversation that it continues.
    pub owner: Option<&'a Owner>,
    /// The conversation that it is part of; only asked for where something depends on it.
    pub session: &'a dyn Fn() -> Option<u64>,
    /// Who rests.
    pub health: &'a dyn Standings,
    /// The time.
    pub now: Timestamp,
    /// Whether nothing is going to be sent, so that nobody's turn is over.
    pub is_rehearsal: bool,
}

/// Who serves a request, before a plan is made of it.
pub struct Resolution<'a> {
    /// The rule that it falls under.
    pub rule: Rule<'a>,
    /// Who is tried, in this order; never empty.
    pub candidates: Vec<Candidate<'a>>,
    /// Who is not, and why.
    pub skipped: Vec<Skipped>,
}

impl Question<'_> {
    fn turn(&self, turn: &Turn) -> u64 {
        if self.is_rehearsal { turn.peek() } else { turn.next() }
    }

    /// How it stands with a credential, for the model as its provider names it.
    pub fn standing(&self, credential: &Credential, model: &str) -> Standing {
        self.health.of_credential(credential, model, self.now)
    }
}

impl Snapshot {
    /// Finds who serves a request, and in which order they are tried.
    pub fn resolve(&self, question: &Question<'_>) -> Result<Plan, ResolveError> {
        let session = OnceCell::new();
        let session = || *session.get_or_init(question.session);
        let resolution = self.weigh(question, &session)?;
        Ok(self.plan(question, &resolution, &session))
    }

    /// Finds who serves a request, without a choice among their credentials.
    pub fn weigh<'a>(
        &'a self,
        question: &Question<'_>,
        session: &dyn Fn() -> Option<u64>,
    ) -> Result<Resolution<'a>, Refusal> {
        let rule = self.routing.rule_for(question.model, question.namespace)?;
        rank::rank(self, question, rule, session)
    }

    /// Makes the plan.
    pub fn plan(
        &self,
        question: &Question<'_>,
        resolution: &Resolution<'_>,
        session: &dyn Fn() -> Option<u64>,
    ) -> Plan {
        let route = resolution.rule.route();
        let max_attempts = route.and_then(|route| route.max_attempts).unwrap_or(self.max_attempts()).max(1);
        let wanted = max_attempts as usize + SPARE_CREDENTIALS;
        let targets = resolution.candidates.iter().enumerate().map(|(place, candidate)| {
            let provider = &candidate.member.provider;
            let credentials = candidate.choice.map(|choice| {
                let strategy = provider.policy.strategy;
                let session = if strategy == Strategy::Session && choice.all().len() > 1 { session() } else { None };
                // Only who is asked has had a turn; with two providers that take turns it would otherwise always be the same.
                let turn = if place == 0 { question.turn(&provider.turn) } else { provider.turn.peek() };
                let standing = |credential: &Credential| question.standing(credential, &candidate.model);
                choice.choose(
                    strategy,
                    turn,
                    session,
                    wanted,
                    &judge(question, candidate.member, &candidate.model, &standing),
                )
            });
            Target {
                provider: provider.clone(),
                model: candidate.model.clone(),
                policy: candidate.member.policy.clone(),
                credentials: credentials.unwrap_or_default(),
            }
        });
        Plan {
            max_attempts,
            heartbeat: self.heartbeat(),
            conversion: route.map_or(ConversionRules::default(), |route| route.conversion),
            media: self.settings.media.clone(),
            targets: targets.collect(),
        }
    }
}

/// What decides about each credential of a member's provider.
pub fn judge<'a>(
    question: &Question<'a>,
    member: &Member,
    model: &'a str,
    standing: &'a dyn Fn(&Credential) -> Standing,
) -> Judge<'a> {
    let pinned = question.owner.and_then(|owner| owner.credential_id.as_deref());
    Judge { reach: question.reach, pinned, standing, tries_out: member.policy.terminal, model, now: question.now }
}
