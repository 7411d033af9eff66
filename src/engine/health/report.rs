//! What an operator is shown.

use std::sync::Arc;

use super::quota::Gauge;
use super::state::State;
use super::{Health, Standing, breaker, of_quota, of_rest};
use crate::engine::snapshot::{Credential, Provider, Snapshot};
use crate::platform::clock::Timestamp;
use crate::store::health::{FOREVER, Kind};
use crate::store::options::{Quota, Unit};

/// How a provider is doing.
pub struct ProviderReport {
    /// Its name.
    pub name: Arc<str>,
    /// The breakers of which anything is known, by model.
    pub breakers: Vec<BreakerReport>,
    /// Its quotas.
    pub quotas: Vec<QuotaReport>,
    /// Its credentials.
    pub credentials: Vec<CredentialReport>,
}

/// How a breaker stands.
pub struct BreakerReport {
    /// The model.
    pub model: Arc<str>,
    /// `closed`, `open` or `half_open`.
    pub state: &'static str,
    /// Failures in a row.
    pub failure_count: i64,
    /// Successes since it is half-open.
    pub success_count: i64,
    /// For how long it opens, or would open.
    pub current_recovery_seconds: i64,
    /// When it last failed.
    pub last_failure_time: Timestamp,
    /// Until when it is open.
    pub until: Option<Timestamp>,
    /// The last failure.
    pub cause: Arc<str>,
}

/// How a quota stands.
pub struct QuotaReport {
    /// `within_quota` or `quota_exceeded`.
    pub state: &'static str,
    /// What is counted.
    pub unit: Unit,
    /// The window in hours.
    pub window_hours: f64,
    /// What was spent in the window.
    pub spent: i64,
    /// How much there is.
    pub budget: u64,
    /// How much of it was spent.
    pub usage_percent: f64,
    /// At which share it is used up.
    pub threshold_percent: f64,
    /// When it is tried again, or is below the threshold by itself.
    pub until: Option<Timestamp>,
    /// Why it is used up.
    pub cause: Option<Arc<str>>,
}

/// How a credential stands.
pub struct CredentialReport {
    /// Its name.
    pub name: Arc<str>,
    /// The worst of what is known of it.
    pub standing: Standing,
    /// Everything that keeps it from being used.
    pub rests: Vec<RestReport>,
    /// Its quotas.
    pub quotas: Vec<QuotaReport>,
}

/// Something that keeps a credential from being used.
pub struct RestReport {
    /// In a word: `dead`, `refused`, `used_up` or `limited`.
    pub kind: &'static str,
    /// The model, where it is about one.
    pub model: Option<Arc<str>>,
    /// How it stands.
    pub standing: Standing,
    /// Until when by the vendor's own word.
    pub hint: Option<Timestamp>,
    /// The upstream's status.
    pub status: u16,
    /// When it began.
    pub since: Timestamp,
}

impl Health {
    /// How all providers of `snapshot` are doing, by name.
    pub fn report(&self, snapshot: &Snapshot, now: Timestamp) -> Vec<ProviderReport> {
        let state = self.state.borrow();
        let mut reports: Vec<ProviderReport> = snapshot
            .routing
            .providers
            .values()
            .map(|provider| ProviderReport {
                name: provider.name.clone(),
                breakers: breakers(&state, provider, now),
                quotas: quotas(&state, &provider.id, &provider.policy.quotas, now),
                credentials: snapshot
                    .credentials_of(provider)
                    .iter()
                    .map(|credential| self.of_report(&state, credential, now))
                    .collect(),
            })
            .collect();
        reports.sort_by(|one, other| one.name.cmp(&other.name));
        reports
    }

    /// What was spent of a `quota` of `owner`, the id of a provider or a credential, in its window; `None` for a quota that does not hold.
    pub fn spent(&self, owner: &str, quota: &Quota, now: Timestamp) -> Option<i64> {
        let gauge = Gauge::of(quota)?;
        Some(self.state.borrow().quota(owner, gauge).map_or(0, |known| known.spent.total(gauge, now)))
    }

    fn of_report(&self, state: &State, credential: &Credential, now: Timestamp) -> CredentialReport {
        let rows = state.credentials.get(&credential.id);
        let mut rests: Vec<RestReport> = rows
            .into_iter()
            .flat_map(|rows| rows.all())
            .map(|row| RestReport {
                kind: row.kind.name(),
                model: row.model.clone().filter(|_| row.kind == Kind::Limited),
                standing: of_rest(row, credential, now),
                hint: row.hint,
                status: row.status,
                since: row.counts.since,
            })
            .filter(|rest| rest.standing != Standing::Ready)
            .collect();
        rests.sort_by(|one, other| (one.kind, &one.model).cmp(&(other.kind, &other.model)));
        // No model has this name, so what is about one model is added below.
        let whole = self.of_credential(credential, "", now);
        let standing = rests.iter().fold(whole, |worst, rest| worst.or(rest.standing.clone()));
        let quotas = quotas(state, &credential.id, &credential.policy.quotas, now);
        CredentialReport { name: credential.name.clone(), standing, rests, quotas }
    }
}

fn breakers(state: &State, provider: &Provider, now: Timestamp) -> Vec<BreakerReport> {
    let options = &provider.policy.breaker;
    let rows = state.breakers.get(&provider.id).into_iter().flatten().filter(|_| options.enabled);
    let mut reports: Vec<BreakerReport> = rows
        .map(|(model, row)| {
            let wait_seconds = row.counts.wait_ms / 1000;
            let base = i64::from(options.recovery_timeout_seconds.min(options.max_recovery_seconds));
            BreakerReport {
                model: model.clone(),
                state: breaker::state(row.counts, now).name(),
                failure_count: row.counts.failures,
                success_count: row.counts.successes,
                current_recovery_seconds: if row.counts.until.0 == 0 { base } else { wait_seconds },
                last_failure_time: row.counts.since,
                until: Some(row.counts.until).filter(|until| until.0 != 0),
                cause: row.cause.clone(),
            }
        })
        .collect();
    reports.sort_by(|one, other| one.model.cmp(&other.model));
    reports
}

fn quotas(state: &State, owner: &str, quotas: &[Quota], now: Timestamp) -> Vec<QuotaReport> {
    let held = quotas.iter().filter_map(|quota| Gauge::of(quota).map(|gauge| (quota, gauge)));
    held.map(|(quota, gauge)| {
        let known = state.quota(owner, gauge);
        let spent = known.map_or(0, |known| known.spent.total(gauge, now));
        let standing = of_quota(state, owner, quota, now);
        let exceeded = standing != Standing::Ready;
        let rest = standing.rest();
        QuotaReport {
            state: if exceeded { "quota_exceeded" } else { "within_quota" },
            unit: quota.unit,
            window_hours: quota.window_hours,
            spent,
            budget: quota.budget,
            usage_percent: (spent as f64 / quota.budget as f64 * 10_000.0).round() / 100.0,
            threshold_percent: quota.threshold_percent,
            until: rest.and_then(|rest| rest.until).filter(|until| *until < FOREVER),
            cause: rest.map(|rest| rest.cause.clone()),
        }
    })
    .collect()
}
