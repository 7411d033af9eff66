//! What is known of credentials and providers: who rests and until when, which breakers are open, how much of a quota is spent.
//!
//! [`Health`] is one isolate's view. It changes by what this isolate's calls teach, at once, and by what others have written, with each
//! tick. What is learnt becomes [`Note`]s, which the settlement writes. As long as nothing is known of anybody, asking costs next to
//! nothing.
//!
//! [`breaker`], [`rest`] and [`quota`] are the decisions, without any state of their own.

mod breaker;
mod ids;
mod lessons;
mod probe;
mod quota;
pub mod report;
mod rest;
mod state;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::snapshot::{Credential, Provider, Snapshot};
use crate::platform::clock::Timestamp;
use crate::store::health::{FOREVER, HISTORY_MS, HealthRow, Kind};
use crate::store::options::Quota;
use crate::store::quota_usage::QuotaUsageRow;
use quota::Gauge;
use state::State;

pub use probe::Probe;

pub use crate::store::health::Note;

/// Whom a call went to.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The provider.
    pub provider: &'a Provider,
    /// The credential, where one is needed.
    pub credential: Option<&'a Credential>,
    /// The version of the credential's secret that the call is made with; what is wrong with it says nothing of a newer one.
    pub secret_version: i64,
    /// The model as the provider names it.
    pub model: &'a Arc<str>,
}

/// Whether a credential or a provider may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Ready,
    /// It rests: it is tried after all who are ready.
    Resting(Rest),
    /// Its rest is over and it has to be tried with care: whoever gets a lease may, nobody else.
    Probing(Rest),
    /// It must not be used.
    Out(Rest),
}

impl Standing {
    fn rank(&self) -> u8 {
        match self {
            Self::Ready => 0,
            Self::Probing(_) => 1,
            Self::Resting(_) => 2,
            Self::Out(_) => 3,
        }
    }

    /// The worse of two.
    fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// The standing in a word.
    pub fn name(&self) -> &'static str {
        const NAMES: [&str; 4] = ["ready", "probing", "resting", "out"];
        NAMES.get(usize::from(self.rank())).copied().unwrap_or_default()
    }

    /// Why it is not ready.
    pub fn rest(&self) -> Option<&Rest> {
        match self {
            Self::Ready => None,
            Self::Probing(rest) | Self::Resting(rest) | Self::Out(rest) => Some(rest),
        }
    }
}

/// Why and until when something is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// Until when; `None` for until somebody does something about it.
    pub until: Option<Timestamp>,
    /// The cause, in a few words.
    pub cause: Arc<str>,
}

impl Rest {
    fn of(row: &HealthRow) -> Self {
        Self { until: Some(row.counts.until).filter(|until| *until < FOREVER), cause: row.cause.clone() }
    }
}

/// One isolate's view.
#[derive(Default)]
pub struct Health {
    state: Rc<RefCell<State>>,
    /// Up to which revision the rows of `health` are known.
    known: Cell<i64>,
    /// Up to which revision the rows of `quota_usage` are known.
    known_usage: Cell<i64>,
    /// When what has been over for long is to be deleted.
    history_due: Cell<Timestamp>,
}

/// How often what has been over for long is looked for.
const HISTORY_PERIOD_MS: i64 = 86_400_000;

impl Health {
    /// Whether `credential` may be used for `model`.
    pub fn of_credential(&self, credential: &Credential, model: &str, now: Timestamp) -> Standing {
        let state = self.state.borrow();
        let mut standing = Standing::Ready;
        if state.credentials_busy_until > now
            && let Some(rows) = state.credentials.get(&credential.id)
        {
            for row in rows.of_model(model) {
                standing = standing.or(of_rest(row, credential, now));
            }
        }
        if credential.is_full() {
            let cause = "as many calls as it may have are under way".into();
            standing = standing.or(Standing::Resting(Rest { until: None, cause }));
        }
        for quota in &credential.policy.quotas {
            standing = standing.or(of_quota(&state, &credential.id, quota, now));
        }
        standing
    }

    /// Whether `provider` may be used for `model`: its breaker and its quotas.
    pub fn of_provider(&self, provider: &Provider, model: &str, now: Timestamp) -> Standing {
        let state = self.state.borrow();
        let mut standing = of_breaker(&state, provider, model, now);
        for quota in &provider.policy.quotas {
            standing = standing.or(of_quota(&state, &provider.id, quota, now));
        }
        standing
    }

    /// Whether `place` must not be used, not even where there is nobody else.
    pub fn is_out(&self, place: Place<'_>, now: Timestamp) -> bool {
        let is_out = |standing| matches!(standing, Standing::Out(_));
        is_out(self.of_provider(place.provider, place.model, now))
            || place.credential.is_some_and(|credential| is_out(self.of_credential(credential, place.model, now)))
    }

    /// Up to which revisions `health` and `quota_usage` are known.
    pub fn known(&self) -> (i64, i64) {
        (self.known.get(), self.known_usage.get())
    }

    /// Takes over what was read of `health` at `revision`.
    pub fn learn(&self, rows: Vec<HealthRow>, revision: i64, now: Timestamp) {
        if self.history_due.get() == Timestamp::default() {
            // An isolate may not live for a day, so it looks at its start whether there is anything to delete.
            let oldest = now.0.saturating_sub(HISTORY_MS);
            let is_old = |row: &HealthRow| row.counts.since.0 < oldest && row.counts.until.0 < oldest;
            let wait = if rows.iter().any(is_old) { 0 } else { HISTORY_PERIOD_MS };
            self.history_due.set(Timestamp(now.0.saturating_add(wait)));
        }
        if !rows.is_empty() {
            self.state.borrow_mut().learn(rows, now);
        }
        self.known.set(self.known.get().max(revision));
    }

    /// Takes over what was read of `quota_usage` at `revision`.
    pub fn learn_usage(&self, rows: &[QuotaUsageRow], revision: i64, now: Timestamp) {
        if !rows.is_empty() {
            self.state.borrow_mut().learn_usage(rows, now);
        }
        self.known_usage.set(self.known_usage.get().max(revision));
    }

    /// Forgets what is known of these providers and credentials, by their ids, or of all; but not what was spent.
    pub fn forget(&self, providers: Option<&[&str]>, credentials: Option<&[&str]>) {
        self.state.borrow_mut().forget(providers, credentials);
    }

    /// Whether it is time to delete what has been over for long; it then is not for a day.
    pub fn is_history_due(&self, now: Timestamp) -> bool {
        let is_due = self.history_due.get() <= now;
        if is_due {
            self.history_due.set(Timestamp(now.0.saturating_add(HISTORY_PERIOD_MS)));
        }
        is_due
    }
}

/// Whether anything in `snapshot` counts what is spent.
pub fn has_quotas(snapshot: &Snapshot) -> bool {
    let holds = |quotas: &[Quota]| quotas.iter().any(|quota| Gauge::of(quota).is_some());
    snapshot.routing.providers.values().any(|provider| {
        let credentials = snapshot.credentials_of(provider);
        holds(&provider.policy.quotas) || credentials.iter().any(|credential| holds(&credential.policy.quotas))
    })
}

/// The keys in the database of the quotas of `owner`, the id of a provider or a credential.
pub fn quota_keys(owner: &str, quotas: &[Quota]) -> Vec<Arc<str>> {
    quotas.iter().filter_map(Gauge::of).map(|gauge| gauge.key(owner)).collect()
}

fn of_rest(row: &HealthRow, credential: &Credential, now: Timestamp) -> Standing {
    match rest::phase(row, credential.current_version(), now) {
        rest::Phase::Over => Standing::Ready,
        rest::Phase::Lasting if row.kind == Kind::Dead => Standing::Out(Rest::of(row)),
        rest::Phase::Lasting => Standing::Resting(Rest::of(row)),
        rest::Phase::Trial => Standing::Probing(Rest { until: row.hint, ..Rest::of(row) }),
    }
}

fn of_breaker(state: &State, provider: &Provider, model: &str, now: Timestamp) -> Standing {
    let options = &provider.policy.breaker;
    let Some(row) = state.breaker(&provider.id, model).filter(|_| options.enabled) else { return Standing::Ready };
    match breaker::state(row.counts, now) {
        breaker::State::Closed => Standing::Ready,
        breaker::State::Open if options.refuse => Standing::Out(Rest::of(row)),
        breaker::State::Open => Standing::Resting(Rest::of(row)),
        breaker::State::HalfOpen => Standing::Probing(Rest { until: None, ..Rest::of(row) }),
    }
}

/// How a quota of `owner` stands. Used up, it is tried once each interval; between that it is out.
fn of_quota(state: &State, owner: &str, quota: &Quota, now: Timestamp) -> Standing {
    let Some(gauge) = Gauge::of(quota) else { return Standing::Ready };
    let Some(known) = state.quota(owner, gauge) else { return Standing::Ready };
    let refused_until = || {
        let subject = (!state.refusals.is_empty()).then(|| Kind::Quota.subject(&gauge.key(owner), None));
        subject.and_then(|subject| state.refusals.get(&subject).copied()).filter(|until| *until > now)
    };
    if let Some(cap) = known.cap.as_ref().filter(|cap| cap.counts.until.0 != 0) {
        return match (cap.counts.until > now, refused_until()) {
            (true, _) => Standing::Out(Rest::of(cap)),
            (false, Some(until)) => Standing::Out(Rest { until: Some(until), ..Rest::of(cap) }),
            (false, None) => Standing::Probing(Rest { until: cap.hint, ..Rest::of(cap) }),
        };
    }
    let limit = quota::limit(quota);
    if (known.spent.total(gauge, now) as f64) < limit {
        return Standing::Ready;
    }
    let cause: Arc<str> = "its quota is spent".into();
    let below = known.spent.below(gauge, limit, now);
    if quota.probe_interval_seconds == 0 {
        return Standing::Out(Rest { until: Some(below), cause });
    }
    match refused_until() {
        Some(until) => Standing::Out(Rest { until: Some(until.min(below)), cause }),
        None => Standing::Probing(Rest { until: Some(below), cause }),
    }
}
