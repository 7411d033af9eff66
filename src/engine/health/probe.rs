//! Who may try what rested: whoever gets a lease, which all isolates share.

use std::sync::Arc;

use super::quota::Gauge;
use super::{Health, Place, Rest, Standing, of_breaker, of_quota, of_rest};
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::{Intent, Statement};
use crate::store::health::Kind;
use crate::store::{health, id, lease};

/// How long a lease lasts that is given back when the call is over, in milliseconds.
const PROBE_MS: i64 = 60_000;

/// Something that has to be tried with care.
struct Trial {
    subject: Arc<str>,
    slots: u32,
    lasts_ms: i64,
    /// Whether others may try as soon as this one is over; a quota is tried once each interval.
    is_given_back: bool,
    rest: Rest,
}

/// Leases that were got for a call which has not begun yet.
pub(super) struct Admission {
    provider_id: Arc<str>,
    credential_id: Option<Arc<str>>,
    model: Arc<str>,
    until: Timestamp,
    probe: Probe,
}

/// The leases of a call that tries what rested.
#[derive(Debug)]
pub struct Probe {
    owner: Arc<str>,
    subjects: Vec<Arc<str>>,
}

impl Health {
    /// Lets a call begin, right before it does. Who is ready, or merely rests, may without further ado; what has to be tried with care
    /// costs one round trip, and who gets no lease has to wait. The caller may come back to whom it was refused when nobody else is
    /// left and [`Standing`] is not `Out`.
    pub async fn admit(&self, scope: &Scope, place: Place<'_>) -> Result<(), Rest> {
        let now = scope.clock.now();
        let trials = self.trials(place, now)?;
        if trials.is_empty() {
            return Ok(());
        }
        let owner = id::new(scope);
        let mut statements = Vec::with_capacity(2 * trials.len());
        for Trial { subject, slots, lasts_ms, .. } in &trials {
            let subject = health::probe(subject);
            let until = Timestamp(now.0.saturating_add(*lasts_ms));
            statements.push(lease::take(&subject, *slots, &owner, now, until));
            statements.push(lease::next_free(&subject, now));
        }
        let rows = match scope.database.batch(Intent::Write, statements).await {
            Ok(rows) => rows,
            Err(error) => {
                // Serving goes before care.
                tracing::warn!(%error, "no lease could be asked for; a call goes on without");
                return Ok(());
            }
        };
        let mut taken = Vec::new();
        let mut refused = None;
        for (trial, rows) in trials.into_iter().zip(rows.chunks(2)) {
            let free_at = rows.get(1).and_then(lease::free_at);
            let is_taken = rows.first().is_some_and(lease::is_taken);
            if let Some(until) = free_at.filter(|_| !is_taken || !trial.is_given_back) {
                self.refuse(&trial.subject, until, now);
            }
            match is_taken {
                true => taken.push(trial),
                false => refused = Some(Rest { until: free_at, ..trial.rest }),
            }
        }
        let Some(rest) = refused else {
            self.keep(place, owner, taken, now);
            return Ok(());
        };
        self.give_up(scope, &owner, taken);
        Err(rest)
    }

    /// What of `place` has to be tried with care. Whoever is out, or known to be tried by others, is told so.
    fn trials(&self, place: Place<'_>, now: Timestamp) -> Result<Vec<Trial>, Rest> {
        let state = self.state.borrow();
        let mut trials = Vec::new();
        let mut add = |standing: Standing, trial: &dyn Fn(Rest) -> Trial| match standing {
            Standing::Ready | Standing::Resting(_) => Ok(()),
            Standing::Out(rest) => Err(rest),
            Standing::Probing(rest) => {
                let trial = trial(rest);
                match state.refusals.get(&trial.subject).filter(|until| **until > now) {
                    Some(until) => Err(Rest { until: Some(*until), ..trial.rest }),
                    None => {
                        trials.push(trial);
                        Ok(())
                    }
                }
            }
        };
        let Place { provider, credential, model } = place;
        add(of_breaker(&state, provider, model, now), &|rest| Trial {
            subject: Kind::Breaker.subject(&provider.id, Some(model)),
            slots: provider.policy.breaker.half_open_requests.clamp(1, 100),
            lasts_ms: PROBE_MS,
            is_given_back: true,
            rest,
        })?;
        let of_provider = provider.policy.quotas.iter().map(|quota| (&provider.id, quota));
        let of_credential = credential
            .into_iter()
            .flat_map(|credential| credential.policy.quotas.iter().map(move |quota| (&credential.id, quota)));
        for (owner, quota) in of_provider.chain(of_credential) {
            let Some(gauge) = Gauge::of(quota) else { continue };
            let cap = state.quota(owner, gauge).and_then(|known| known.cap.as_ref());
            let interval = i64::from(quota.probe_interval_seconds) * 1000;
            let wait = cap.map_or(0, |cap| cap.counts.wait_ms).clamp(interval.max(1000), interval.max(86_400_000));
            add(of_quota(&state, owner, quota, now), &|rest| Trial {
                subject: Kind::Quota.subject(&gauge.key(owner), None),
                slots: 1,
                lasts_ms: wait,
                is_given_back: false,
                rest,
            })?;
        }
        if let Some((credential, rows)) =
            credential.and_then(|credential| Some((credential, state.credentials.get(&credential.id)?)))
        {
            for row in rows.of_model(model) {
                add(of_rest(row, credential, now), &|rest| Trial {
                    subject: row.subject.clone(),
                    slots: 1,
                    lasts_ms: PROBE_MS,
                    is_given_back: true,
                    rest,
                })?;
            }
        }
        // Two quotas may be one gauge.
        let mut known: Vec<Arc<str>> = Vec::with_capacity(trials.len());
        trials.retain(|trial| {
            let is_new = !known.contains(&trial.subject);
            known.push(trial.subject.clone());
            is_new
        });
        Ok(trials)
    }

    /// Remembers that nobody gets a lease on `subject` until `until`, so that not every request asks.
    fn refuse(&self, subject: &Arc<str>, until: Timestamp, now: Timestamp) {
        let mut state = self.state.borrow_mut();
        state.refusals.retain(|_, until| *until > now);
        state.refusals.insert(subject.clone(), until);
    }

    /// Keeps leases for the call that is about to begin.
    fn keep(&self, place: Place<'_>, owner: Arc<str>, taken: Vec<Trial>, now: Timestamp) {
        let subjects: Vec<Arc<str>> =
            taken.into_iter().filter(|trial| trial.is_given_back).map(|trial| trial.subject).collect();
        let mut admissions = self.admissions.borrow_mut();
        // Some calls never began.
        admissions.retain(|admission| admission.until > now);
        if !subjects.is_empty() {
            admissions.push(Admission {
                provider_id: place.provider.id.clone(),
                credential_id: place.credential.map(|credential| credential.id.clone()),
                model: place.model.clone(),
                until: Timestamp(now.0.saturating_add(PROBE_MS)),
                probe: Probe { owner, subjects },
            });
        }
    }

    /// The leases that were got for a call to `place`, which now begins.
    pub fn begin_probe(&self, place: Place<'_>) -> Option<Probe> {
        let mut admissions = self.admissions.borrow_mut();
        let found = admissions.iter().position(|admission| {
            admission.provider_id == place.provider.id
                && admission.credential_id.as_ref() == place.credential.map(|credential| &credential.id)
                && admission.model == *place.model
        })?;
        Some(admissions.swap_remove(found).probe)
    }

    /// What gives the leases of a call back that is over.
    pub fn end_probe(&self, probe: &Probe) -> Vec<Statement> {
        let mut state = self.state.borrow_mut();
        for subject in &probe.subjects {
            state.refusals.remove(subject);
        }
        give_back(&probe.owner, &probe.subjects)
    }

    /// Gives back what was got when not all of it was; nobody waits for it.
    fn give_up(&self, scope: &Scope, owner: &Arc<str>, taken: Vec<Trial>) {
        if taken.is_empty() {
            return;
        }
        let subjects: Vec<Arc<str>> = taken.into_iter().map(|trial| trial.subject).collect();
        let mut state = self.state.borrow_mut();
        for subject in &subjects {
            state.refusals.remove(subject);
        }
        let batch = scope.database.batch(Intent::Deferred, give_back(owner, &subjects));
        scope.tasks.wait_until(Box::pin(async move {
            // What is not given back comes back by time.
            let _ = batch.await;
        }));
    }
}

fn give_back(owner: &str, subjects: &[Arc<str>]) -> Vec<Statement> {
    subjects.iter().map(|subject| lease::give_back(&health::probe(subject), owner)).collect()
}
