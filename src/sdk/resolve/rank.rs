//! Narrowing and ordering those who serve a request.

use std::sync::Arc;

use super::error::seconds_until;
use super::{Question, Refusal, Resolution, ResolveError, Rule, judge};
use crate::engine::health::{Rest, Standing};
use crate::engine::select::{Choice, Draw, Lot, Outlook, sooner};
use crate::engine::snapshot::{Credential, Member, Snapshot};
use crate::store::options::Strategy;

/// Somebody who is tried.
pub struct Candidate<'a> {
    /// Who.
    pub member: &'a Member,
    /// The model as the provider names it.
    pub model: Arc<str>,
    /// Why it comes after all who do not rest.
    pub rest: Option<Rest>,
    /// Its credentials; `None` where it has none.
    pub choice: Option<&'a Choice>,
    place: usize,
    is_open: bool,
}

/// Somebody who is not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The provider's name.
    pub provider: Arc<str>,
    /// Why.
    pub reason: SkipReason,
}

/// Why somebody is not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The client wants another channel.
    OtherChannel,
    /// The caller may not use it.
    NotAllowed,
    /// Another account keeps the conversation that the request continues.
    NotTheOwner,
    /// The request names no model, and it has no default.
    NoModel,
    /// It has no credential that the caller may use.
    NoCredential,
    /// It must not be used.
    Out(Rest),
    /// None of its credentials must be used.
    CredentialsOut(Rest),
    /// Its breaker is open.
    BreakerOpen(Rest),
}

impl SkipReason {
    fn rest(&self) -> Option<&Rest> {
        match self {
            Self::Out(rest) | Self::CredentialsOut(rest) | Self::BreakerOpen(rest) => Some(rest),
            _ => None,
        }
    }
}

/// Narrows and orders.
pub(super) fn rank<'a>(
    snapshot: &'a Snapshot,
    question: &Question<'_>,
    rule: Rule<'a>,
    session: &dyn Fn() -> Option<u64>,
) -> Result<Resolution<'a>, Refusal> {
    let members = rule.members();
    let mut candidates = Vec::with_capacity(members.len());
    let mut skipped = Vec::new();
    for (place, member) in members.iter().enumerate() {
        match consider(snapshot, question, &rule, place, member) {
            Ok(candidate) => candidates.push(candidate),
            Err(reason) => skipped.push(Skipped { provider: member.provider.name.clone(), reason }),
        }
    }
    leave_out_open_breakers(&mut candidates, &mut skipped);
    if candidates.is_empty() {
        return Err(Refusal { error: nobody(question, &rule, &skipped), skipped });
    }
    // Within each part the order of tiers and weights stays.
    candidates.sort_by_key(|candidate| candidate.rest.is_some());
    balance(question, &rule, &mut candidates, session);
    Ok(Resolution { rule, candidates, skipped })
}

fn consider<'a>(
    snapshot: &'a Snapshot,
    question: &Question<'_>,
    rule: &Rule<'_>,
    place: usize,
    member: &'a Member,
) -> Result<Candidate<'a>, SkipReason> {
    let (provider, reach) = (&member.provider, question.reach);
    if reach.channel.as_deref().is_some_and(|channel| channel != provider.channel.id()) {
        return Err(SkipReason::OtherChannel);
    }
    if reach.providers.as_ref().is_some_and(|allowed| !allowed.contains(&provider.id)) {
        return Err(SkipReason::NotAllowed);
    }
    if question.owner.is_some_and(|owner| owner.provider_id != provider.id) {
        return Err(SkipReason::NotTheOwner);
    }
    let model = model_for(question.model, rule, member).ok_or(SkipReason::NoModel)?;
    let (mut rest, is_open) = match question.health.of_provider(provider, &model, question.now) {
        Standing::Ready | Standing::Probing(_) => (None, false),
        Standing::Resting(rest) => (Some(rest), true),
        Standing::Out(rest) if member.policy.terminal => (Some(rest), false),
        Standing::Out(rest) => return Err(SkipReason::Out(rest)),
    };
    let choice = snapshot.credentials.of(&provider.id);
    let standing = |credential: &Credential| question.standing(credential, &model);
    let judge = judge(question, member, &model, &standing);
    match choice.map(|choice| choice.outlook(&judge)) {
        // Whoever has none is told apart from who needs none when it is tried.
        None if reach.credentials.is_none() && judge.pinned.is_none() => {}
        Some(Outlook::Ready) => {}
        Some(Outlook::Resting(resting)) => rest = rest.or(Some(resting)),
        Some(Outlook::Out(out)) => return Err(SkipReason::CredentialsOut(out)),
        None | Some(Outlook::Nobody) if judge.pinned.is_some() => return Err(SkipReason::NotTheOwner),
        None | Some(Outlook::Nobody) => return Err(SkipReason::NoCredential),
    }
    let is_open = is_open && !member.policy.terminal;
    Ok(Candidate { member, model, rest, choice, place, is_open })
}

/// The model as the provider names it; `None` where nobody names one.
fn model_for(name: &str, rule: &Rule<'_>, member: &Member) -> Option<Arc<str>> {
    if !member.model.is_empty() {
        return Some(member.model.clone());
    }
    let map = &member.provider.model_map;
    if name.is_empty() {
        return map.default_model().cloned();
    }
    let name = match rule {
        Rule::Provider(_) => name.split_once('/').map_or(name, |(_, model)| model),
        _ => name,
    };
    Some(map.map(name).cloned().unwrap_or_else(|| name.into()))
}

/// Leaves those out whose breaker is open as long as there is somebody else. Otherwise they are tried all the same, unless the operator
/// would rather have an error.
fn leave_out_open_breakers(candidates: &mut Vec<Candidate<'_>>, skipped: &mut Vec<Skipped>) {
    if !candidates.iter().any(|candidate| candidate.is_open) {
        return;
    }
    let is_alternative = candidates.iter().any(|candidate| !candidate.is_open);
    candidates.retain(|candidate| {
        let provider = &candidate.member.provider;
        match &candidate.rest {
            Some(rest) if candidate.is_open && (is_alternative || provider.policy.breaker.refuse) => {
                let reason = SkipReason::BreakerOpen(rest.clone());
                skipped.push(Skipped { provider: provider.name.clone(), reason });
                false
            }
            _ => true,
        }
    });
}

/// Orders those who are equals of the first by the strategy; nobody else is balanced.
fn balance(
    question: &Question<'_>,
    rule: &Rule<'_>,
    candidates: &mut Vec<Candidate<'_>>,
    session: &dyn Fn() -> Option<u64>,
) {
    let (Some(first), Some(group)) = (candidates.first(), rule.group()) else { return };
    let (tier, rests) = (first.member.tier, first.rest.is_some());
    let is_equal = |candidate: &&Candidate<'_>| candidate.member.tier == tier && candidate.rest.is_some() == rests;
    let equals = candidates.iter().take_while(is_equal).count();
    let Some((size, lot)) = group.tier_of(first.place).filter(|_| equals > 1) else { return };
    let strategy = rule.route().map_or(Strategy::default(), |route| route.strategy);
    let mut others = candidates.split_off(equals);
    let mut run: Vec<Option<Candidate<'_>>> = std::mem::take(candidates).into_iter().map(Some).collect();
    // Of a tier that has lost some, those who are left share it as if it were theirs alone.
    let own_lot;
    let lot = if size == equals {
        lot
    } else {
        let members = run.iter().flatten().map(|candidate| candidate.member);
        own_lot = Lot::new(members.map(|member| (member.weight, &member.id, &member.provider.name)));
        &own_lot
    };
    let load = |place: usize| {
        let candidate = run.get(place).and_then(Option::as_ref);
        candidate.map(|candidate| candidate.member.provider.load.busy(question.now)).unwrap_or_default()
    };
    let session = if strategy == Strategy::Session { session() } else { None };
    let draw = Draw { strategy, turn: question.turn(&group.turn), session, load: &load };
    let mut order = Vec::with_capacity(equals);
    lot.visit(&draw, &mut |_| true, &mut |place| {
        order.push(place);
        true
    });
    candidates.extend(order.into_iter().filter_map(|place| run.get_mut(place)?.take()));
    candidates.append(&mut others);
}

/// Why there is nobody.
fn nobody(question: &Question<'_>, rule: &Rule<'_>, skipped: &[Skipped]) -> ResolveError {
    let first = skipped.iter().filter_map(|skipped| skipped.reason.rest()).cloned().reduce(sooner);
    let retry_after = first.as_ref().and_then(|rest| rest.until).map(|until| seconds_until(until, question.now));
    if question.owner.is_some() {
        return ResolveError::ContinuationUnavailable { retry_after };
    }
    let nobody_has_a_default = skipped.iter().all(|skipped| skipped.reason == SkipReason::NoModel);
    if question.model.is_empty() && nobody_has_a_default {
        return ResolveError::NoModel;
    }
    let name = match rule.route() {
        Some(route) => route.name.to_string(),
        None if question.model.is_empty() => question.namespace.unwrap_or_default().to_owned(),
        None => question.model.to_owned(),
    };
    ResolveError::NoTarget { name, retry_after, cause: first.map(|rest| rest.cause) }
}
