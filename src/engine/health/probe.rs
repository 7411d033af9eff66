//! Who may try what rested: whoever gets a lease, which all isolates share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::quota::Gauge;
use super::state::State;
use super::{Health, Place, Rest, Standing, of_breaker, of_quota, of_rest};
use crate::engine::carried::Carried;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::{Database, DatabaseError, Intent, Statement};
use crate::platform::tasks::Tasks;
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

/// The leases that a request got in order to try what rested. They are given back when the call that they are for is over, or when this
/// is dropped because there was none.
pub struct Probe {
    leases: Leases,
    /// The subjects of leases that stay when the call has begun, so that there is one in each interval.
    of_quotas: Vec<Arc<str>>,
    /// The subjects of the others.
    subjects: Vec<Arc<str>>,
}

/// What gives leases back.
#[derive(Clone)]
struct Leases {
    owner: Arc<str>,
    state: Rc<RefCell<State>>,
    database: Rc<dyn Database>,
    tasks: Rc<dyn Tasks>,
}

impl Probe {
    /// Has the call begin that the leases are for.
    pub fn begin(&mut self) {
        self.of_quotas.clear();
    }

    /// What gives the leases back, now that the call is over.
    pub fn end(mut self) -> Vec<Statement> {
        self.of_quotas.clear();
        let subjects = std::mem::take(&mut self.subjects);
        self.leases.give_back(&subjects)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let subjects: Vec<Arc<str>> = self.subjects.drain(..).chain(self.of_quotas.drain(..)).collect();
        if subjects.is_empty() {
            return;
        }
        let statements = self.leases.give_back(&subjects);
        let mut batch = self.leases.database.batch(Intent::Deferred, statements);
        if (&mut batch).now_or_never().is_none() {
            // What is not given back comes back by time.
            self.leases.tasks.wait_until(Box::pin(async move { drop(batch.await) }));
        }
    }
}

impl Leases {
    fn give_back(&self, subjects: &[Arc<str>]) -> Vec<Statement> {
        let mut state = self.state.borrow_mut();
        for subject in subjects {
            state.refusals.remove(subject);
        }
        subjects.iter().map(|subject| lease::give_back(&health::probe(subject), &self.owner)).collect()
    }
}

/// Which leases were got, in the order in which they were asked for, and when each can be had again.
struct Answer {
    probe: Probe,
    places: Vec<(bool, Option<Timestamp>)>,
}

impl Health {
    /// Lets a call begin, right before it does. Who is ready, or merely rests, may without further ado; what has to be tried with care
    /// costs one round trip, and who gets no lease has to wait. The caller may come back to whom it was refused when nobody else is
    /// left and [`Standing`] is not `Out`. What it gets it keeps until the call is over.
    pub async fn admit(&self, scope: &Scope, place: Place<'_>) -> Result<Option<Probe>, Rest> {
        let now = scope.clock.now();
        let trials = self.trials(place, now)?;
        if trials.is_empty() {
            return Ok(None);
        }
        // Carried to its end, so that what was got is given back even if the request is dropped meanwhile.
        let work = Some(Box::pin(self.ask(scope, &trials, now)) as LocalBoxFuture<'static, _>);
        let answer = Carried { work, tasks: scope.tasks.clone() }.await;
        let Answer { probe, places } = match answer {
            Ok(answer) => answer,
            Err(error) => {
                // Serving goes before care.
                tracing::warn!(%error, "no lease could be asked for; a call goes on without");
                return Ok(None);
            }
        };
        let mut refused = None;
        for (trial, (is_taken, free_at)) in trials.into_iter().zip(places) {
            if let Some(until) = free_at.filter(|_| !is_taken || !trial.is_given_back) {
                self.refuse(&trial.subject, until, now);
            }
            if !is_taken {
                refused = Some(Rest { until: free_at, ..trial.rest });
            }
        }
        // Where not all of it was got, dropping gives back what was.
        refused.map_or(Ok(Some(probe)), Err)
    }

    /// Asks for the leases of `trials`.
    fn ask(
        &self,
        scope: &Scope,
        trials: &[Trial],
        now: Timestamp,
    ) -> impl Future<Output = Result<Answer, DatabaseError>> + use<> {
        let owner = id::new(scope);
        let mut statements = Vec::with_capacity(2 * trials.len());
        for Trial { subject, slots, lasts_ms, .. } in trials {
            let subject = health::probe(subject);
            let until = Timestamp(now.0.saturating_add(*lasts_ms));
            statements.push(lease::take(&subject, *slots, &owner, now, until));
            statements.push(lease::next_free(&subject, now));
        }
        let subjects: Vec<(Arc<str>, bool)> =
            trials.iter().map(|trial| (trial.subject.clone(), trial.is_given_back)).collect();
        let batch = scope.database.batch(Intent::Write, statements);
        let leases =
            Leases { owner, state: self.state.clone(), database: scope.database.clone(), tasks: scope.tasks.clone() };
        async move {
            let rows = batch.await?;
            let mut probe = Probe { leases, of_quotas: Vec::new(), subjects: Vec::new() };
            let mut places = Vec::with_capacity(subjects.len());
            for ((subject, is_given_back), rows) in subjects.into_iter().zip(rows.chunks(2)) {
                let is_taken = rows.first().is_some_and(lease::is_taken);
                places.push((is_taken, rows.get(1).and_then(lease::free_at)));
                match (is_taken, is_given_back) {
                    (true, true) => probe.subjects.push(subject),
                    (true, false) => probe.of_quotas.push(subject),
                    (false, _) => {}
                }
            }
            Ok(Answer { probe, places })
        }
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
        let Place { provider, credential, model, .. } = place;
        add(of_breaker(&state, provider, model, now), &|rest| Trial {
            subject: state
                .breaker(&provider.id, model)
                .map_or_else(|| Kind::Breaker.subject(&provider.id, Some(model)), |row| row.subject.clone()),
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
}
