//! What calls teach.

use std::sync::Arc;

use super::quota::{self, Gauge};
use super::state::State;
use super::{Health, Note, Place, breaker, rest};
use crate::engine::failure::{Blame, Failure, FailureKind};
use crate::engine::snapshot::Credential;
use crate::platform::clock::Timestamp;
use crate::protocol::usage::Usage;
use crate::store::health::{Counts, FOREVER, HealthRow, Kind};
use crate::store::options::Quota;

/// Longest cause that is kept, in characters.
const MAX_CAUSE: usize = 200;

impl Health {
    /// Learns that a call which began at `began` succeeded: the answer has ended well.
    pub fn succeeded(&self, place: Place<'_>, usage: &Usage, began: Timestamp, now: Timestamp) -> Vec<Note> {
        let mut state = self.state.borrow_mut();
        let mut notes = spent(&mut state, place, usage, now);
        breaker_succeeded(&mut state, place, began, now, &mut notes);
        rests_are_over(&mut state, place, began, now, &mut notes);
        notes
    }

    /// Learns that a call failed. `usage` is what it took all the same.
    pub fn failed(&self, place: Place<'_>, failure: &Failure, usage: &Usage, now: Timestamp) -> Vec<Note> {
        let mut state = self.state.borrow_mut();
        let mut notes = spent(&mut state, place, usage, now);
        blame(&mut state, place, failure, now, &mut notes);
        notes
    }

    /// Learns what is wrong with somebody without that a call ends now: none was made, or what it took is counted already.
    pub fn blamed(&self, place: Place<'_>, failure: &Failure, now: Timestamp) -> Vec<Note> {
        let mut notes = Vec::new();
        blame(&mut self.state.borrow_mut(), place, failure, now, &mut notes);
        notes
    }

    /// Learns that a call was given up by its client, which says nothing but what it took.
    pub fn abandoned(&self, place: Place<'_>, usage: &Usage, now: Timestamp) -> Vec<Note> {
        spent(&mut self.state.borrow_mut(), place, usage, now)
    }
}

/// The quotas that hold for a call, each once, with their owners and whose they are.
fn quotas_of<'a>(place: Place<'a>) -> impl Iterator<Item = (&'a Arc<str>, Option<&'a Credential>, &'a Quota, Gauge)> {
    let provider = &place.provider.policy.quotas;
    let of_provider = provider.iter().map(move |quota| (&place.provider.id, None, provider, quota));
    let of_credential = place.credential.into_iter().flat_map(|credential| {
        let quotas = &credential.policy.quotas;
        quotas.iter().map(move |quota| (&credential.id, Some(credential), quotas, quota))
    });
    of_provider.chain(of_credential).filter_map(|(owner, credential, all, quota)| {
        let gauge = Gauge::of(quota)?;
        let first = all.iter().find(|other| Gauge::of(other) == Some(gauge))?;
        std::ptr::eq(first, quota).then_some((owner, credential, quota, gauge))
    })
}

fn spent(state: &mut State, place: Place<'_>, usage: &Usage, now: Timestamp) -> Vec<Note> {
    let mut notes = Vec::new();
    for (owner, _, _, gauge) in quotas_of(place) {
        let amount = gauge.amount(usage);
        if amount == 0 {
            continue;
        }
        let (slice, oldest) = (gauge.slice(now), gauge.oldest(now));
        let Some(quota) = state.quota_mut(owner, gauge) else { continue };
        let is_first = quota.spent.add(slice, amount, oldest);
        notes.push(Note::Spent { quota: gauge.key(owner), slice, amount, oldest: is_first.then_some(oldest) });
    }
    notes
}

fn blame(state: &mut State, place: Place<'_>, failure: &Failure, now: Timestamp, notes: &mut Vec<Note>) {
    match failure.kind.blame() {
        Blame::Request => {}
        Blame::Credential => {
            if let Some(credential) = place.credential {
                notes.extend(rests(state, place, credential, failure, now));
            }
            if failure.kind == FailureKind::QuotaUsedUp {
                quotas_are_used_up(state, place, failure, now, notes);
            }
        }
        Blame::Provider => notes.extend(breaker_failed(state, place, failure, now)),
    }
}

fn breaker_succeeded(state: &mut State, place: Place<'_>, began: Timestamp, now: Timestamp, notes: &mut Vec<Note>) {
    let options = &place.provider.policy.breaker;
    let name = state.breaker(&place.provider.id, place.model).map(|row| row.model.clone().unwrap_or_default());
    let models = state.breakers.get_mut(&place.provider.id);
    let row = models.zip(name).and_then(|(models, name)| models.get_mut(&name));
    let Some(row) = row.filter(|_| options.enabled) else { return };
    let Some(counts) = breaker::succeeded(row.counts, options.success_threshold, began, now) else { return };
    if counts.until.0 == 0 && row.counts.until.0 != 0 {
        tracing::info!(provider = &*place.provider.name, model = &**place.model, "a breaker has closed");
    }
    row.counts = counts;
    notes.push(Note::ProviderSucceeded {
        subject: row.subject.clone(),
        threshold: i64::from(options.success_threshold),
        began,
        now,
    });
}

fn breaker_failed(state: &mut State, place: Place<'_>, failure: &Failure, now: Timestamp) -> Option<Note> {
    let options = &place.provider.policy.breaker;
    if !options.enabled {
        return None;
    }
    let hint_ms = failure.retry_after.and_then(|hint| i64::try_from(hint.as_millis()).ok());
    let figures = breaker::figures(options, hint_ms);
    let model = state.model(Kind::Breaker, &place.provider.id, place.model, now);
    let subject = Kind::Breaker.subject(&place.provider.id, model.as_deref());
    let mut row = HealthRow {
        model,
        hint: hint_ms.filter(|hint| *hint > 0).map(|hint| Timestamp(now.0.saturating_add(hint).min(FOREVER.0))),
        ..row(Kind::Breaker, subject, place, failure)
    };
    row.counts = breaker::failed(Counts::default(), figures, now);
    let first = Box::new(row.clone());
    if let Some(known) = state.known(&row) {
        (row.counts, row.revision) = (breaker::failed(known.counts, figures, now), known.revision);
    }
    if row.counts.until > now {
        let seconds = row.counts.wait_ms / 1000;
        tracing::warn!(provider = &*place.provider.name, model = &**place.model, seconds, "a breaker is open");
    }
    state.put(row, now).then_some(Note::ProviderFailed {
        first,
        threshold: figures.threshold,
        opening_ms: figures.opening_ms,
        cap_ms: figures.cap_ms,
        hint_ms: figures.hint_ms,
    })
}

fn rests(
    state: &mut State,
    place: Place<'_>,
    credential: &Credential,
    failure: &Failure,
    now: Timestamp,
) -> Option<Note> {
    let kind = rest::kind(failure.kind)?;
    let model = (kind == Kind::Limited).then(|| state.model(kind, &credential.id, place.model, now)).flatten();
    let is_about_secret = matches!(kind, Kind::Dead | Kind::Refused);
    let mut row = HealthRow {
        credential_id: Some(credential.id.clone()),
        secret_version: if is_about_secret { place.secret_version } else { 0 },
        ..row(kind, kind.subject(&credential.id, model.as_deref()), place, failure)
    };
    row.model = model;
    let known = state.known(&row).filter(|known| known.secret_version >= row.secret_version);
    let before = known.map(|known| known.counts).unwrap_or_default();
    let rest = rest::after(kind, &place.provider.policy.rest, failure.retry_after, before, now);
    // What is known to last longer stays, and so does what is known of a newer secret.
    let is_newer = known.is_none_or(|known| known.secret_version == row.secret_version);
    if !is_newer || is_no_news(before, rest.counts, failure, now) {
        return None;
    }
    row.revision = known.map_or(0, |known| known.revision);
    (row.counts, row.hint) = (rest.counts, rest.hint);
    if kind == Kind::Dead {
        let (provider, credential) = (&*place.provider.name, &*credential.name);
        tracing::warn!(provider, credential, cause = &*row.cause, "a credential is taken for dead");
    }
    state.put(row.clone(), now).then(|| Note::Rests(Box::new(row)))
}

/// Whether a rest is known well enough: it lasts longer, or it lasts and the vendor says nothing new. Many calls may fail within a rest,
/// and each would write.
fn is_no_news(before: Counts, after: Counts, failure: &Failure, now: Timestamp) -> bool {
    before.until >= after.until || (before.until > now && failure.retry_after.is_none())
}

/// The vendor says that a quota is used up, whatever was counted here.
fn quotas_are_used_up(state: &mut State, place: Place<'_>, failure: &Failure, now: Timestamp, notes: &mut Vec<Note>) {
    for (owner, credential, quota, gauge) in quotas_of(place) {
        let ceiling = place.provider.policy.rest.ceiling_seconds;
        let wait = quota::cap_wait(quota, failure.retry_after, ceiling);
        let until = wait.map_or(FOREVER, |wait| Timestamp(now.0.saturating_add(wait).min(FOREVER.0)));
        let hint = failure.retry_after.and_then(|hint| i64::try_from(hint.as_millis()).ok()).filter(|hint| *hint > 0);
        let mut row = HealthRow {
            credential_id: credential.map(|credential| credential.id.clone()),
            hint: hint.map(|hint| Timestamp(now.0.saturating_add(hint).min(FOREVER.0))),
            ..row(Kind::Quota, Kind::Quota.subject(&gauge.key(owner), None), place, failure)
        };
        let known = state.known(&row).map(|known| (known.counts, known.revision));
        let (before, revision) = known.unwrap_or_default();
        row.revision = revision;
        row.counts = Counts {
            failures: before.failures.saturating_add(1),
            successes: 0,
            wait_ms: wait.unwrap_or(FOREVER.0),
            since: now,
            until,
        };
        if is_no_news(before, row.counts, failure, now) {
            continue;
        }
        if state.put(row.clone(), now) {
            notes.push(Note::Rests(Box::new(row)));
        }
    }
}

fn rests_are_over(state: &mut State, place: Place<'_>, began: Timestamp, now: Timestamp, notes: &mut Vec<Note>) {
    // What was learnt since the call began stands.
    let is_over = |row: &HealthRow| (row.counts.until.0 != 0 || row.counts.failures != 0) && row.counts.since <= began;
    let mut over: Vec<HealthRow> = Vec::new();
    if let Some(rows) = place.credential.and_then(|credential| state.credentials.get(&credential.id)) {
        over.extend(rows.of_model(place.model).filter(|row| is_over(row)).cloned());
    }
    for (owner, _, _, gauge) in quotas_of(place) {
        let cap = state.quota(owner, gauge).and_then(|quota| quota.cap.as_ref());
        over.extend(cap.filter(|row| is_over(row)).cloned());
    }
    if over.is_empty() {
        return;
    }
    for mut row in over {
        notes.push(Note::Over { subject: row.subject.clone(), began });
        state.refusals.remove(&row.subject);
        row.counts = Counts { since: row.counts.since, ..Counts::default() };
        row.hint = None;
        state.put(row, now);
    }
    state.count_busy();
}

/// A row without counts.
fn row(kind: Kind, subject: Arc<str>, place: Place<'_>, failure: &Failure) -> HealthRow {
    let cause = match failure.cause.char_indices().nth(MAX_CAUSE) {
        Some(_) => failure.cause.chars().take(MAX_CAUSE).collect::<String>().into(),
        None => failure.cause.clone(),
    };
    HealthRow {
        subject,
        kind,
        provider_id: place.provider.id.clone(),
        credential_id: None,
        model: None,
        counts: Counts::default(),
        hint: None,
        status: failure.status,
        cause,
        secret_version: 0,
        revision: 0,
    }
}
