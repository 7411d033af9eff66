//! What one isolate knows, in memory.

use std::collections::HashMap;
use std::sync::Arc;

use super::ids::IdMap;
use super::quota::{Gauge, Spent};
use crate::platform::clock::Timestamp;
use crate::store::health::{FOREVER, HealthRow, Kind, MAX_ROWS};
use crate::store::quota_usage::QuotaUsageRow;

/// Longest name of a model that is remembered. Clients name models, so they are no longer than is useful.
const MAX_MODEL_BYTES: usize = 256;

/// Most models that are told apart for one credential, or one provider; what fails beyond them is held against all of it.
const MAX_MODELS: usize = 64;

/// What one isolate knows.
#[derive(Default)]
pub(super) struct State {
    /// By the credential's id.
    pub(super) credentials: IdMap<CredentialRows>,
    /// By the provider's id, then by model; the empty name stands for the models beyond [`MAX_MODELS`].
    pub(super) breakers: IdMap<HashMap<Arc<str>, HealthRow>>,
    /// By the id of the provider or the credential.
    pub(super) quotas: IdMap<Vec<QuotaState>>,
    /// Who was refused a lease on a subject, and when it can be had again.
    pub(super) refusals: HashMap<Arc<str>, Timestamp>,
    /// No credential rests from this instant on.
    pub(super) credentials_busy_until: Timestamp,
    /// How many rows there are.
    rows: usize,
}

/// What is known of a credential.
#[derive(Default)]
pub(super) struct CredentialRows {
    /// What is about all of it, one row of each kind at most.
    pub(super) whole: Vec<HealthRow>,
    /// What is about one model.
    pub(super) limited: HashMap<Arc<str>, HealthRow>,
}

impl CredentialRows {
    /// All rows that concern `model`.
    pub(super) fn of_model(&self, model: &str) -> impl Iterator<Item = &HealthRow> {
        self.whole.iter().chain(self.limited.get(model))
    }

    /// All rows.
    pub(super) fn all(&self) -> impl Iterator<Item = &HealthRow> {
        self.whole.iter().chain(self.limited.values())
    }
}

/// What is known of a quota.
pub(super) struct QuotaState {
    /// Which one.
    pub(super) gauge: Gauge,
    /// What was spent.
    pub(super) spent: Spent,
    /// What the vendor said of it.
    pub(super) cap: Option<HealthRow>,
}

impl State {
    /// What is known of this quota of `owner`.
    pub(super) fn quota(&self, owner: &str, gauge: Gauge) -> Option<&QuotaState> {
        self.quotas.get(owner)?.iter().find(|quota| quota.gauge == gauge)
    }

    /// The same, to be changed; it is made if nothing is known, so there always is one.
    pub(super) fn quota_mut(&mut self, owner: &Arc<str>, gauge: Gauge) -> Option<&mut QuotaState> {
        let quotas = self.quotas.entry(owner.clone()).or_default();
        match quotas.iter().position(|quota| quota.gauge == gauge) {
            Some(place) => quotas.swap(0, place),
            None => quotas.insert(0, QuotaState { gauge, spent: Spent::default(), cap: None }),
        }
        quotas.first_mut()
    }

    /// The row about the same as `row`.
    pub(super) fn known(&self, row: &HealthRow) -> Option<&HealthRow> {
        match row.kind {
            Kind::Breaker => self.breakers.get(&row.provider_id)?.get(row.model.as_deref().unwrap_or_default()),
            Kind::Limited if row.model.is_some() => {
                self.credentials.get(row.credential_id.as_ref()?)?.limited.get(row.model.as_ref()?)
            }
            Kind::Dead | Kind::Refused | Kind::UsedUp | Kind::Limited => {
                self.credentials.get(row.credential_id.as_ref()?)?.whole.iter().find(|known| known.kind == row.kind)
            }
            Kind::Quota => {
                let (owner, gauge) = quota_of(row)?;
                self.quota(owner, gauge)?.cap.as_ref()
            }
        }
    }

    /// The breaker that holds for a model.
    pub(super) fn breaker(&self, provider_id: &str, model: &str) -> Option<&HealthRow> {
        let models = self.breakers.get(provider_id)?;
        models.get(model).or_else(|| models.get(""))
    }

    /// Which model a row of `kind` about `owner` is to be about: `None` for all of it, where too many are told apart already.
    pub(super) fn model(&mut self, kind: Kind, owner: &str, model: &Arc<str>, now: Timestamp) -> Option<Arc<str>> {
        let has_room = |state: &Self| {
            let models = match kind {
                Kind::Breaker => state.breakers.get(owner),
                _ => state.credentials.get(owner).map(|rows| &rows.limited),
            };
            models.is_none_or(|models| models.len() < MAX_MODELS || models.contains_key(model))
        };
        if model.len() > MAX_MODEL_BYTES {
            return None;
        }
        if !has_room(self) {
            self.forget_history(now);
        }
        has_room(self).then(|| model.clone())
    }

    /// Replaces what is known. Where there is no room for one more, it is not remembered, and `false` is returned.
    pub(super) fn put(&mut self, row: HealthRow, now: Timestamp) -> bool {
        if row.model.as_ref().is_some_and(|model| model.len() > MAX_MODEL_BYTES) {
            return false;
        }
        let is_new = self.known(&row).is_none();
        // What is about all of a credential or a provider always has room: there are no more than were configured.
        if let (true, Some(model)) = (is_new, &row.model)
            && matches!(row.kind, Kind::Breaker | Kind::Limited)
        {
            let owner = row.credential_id.as_ref().unwrap_or(&row.provider_id);
            if self.model(row.kind, owner, model, now).is_none() {
                return false;
            }
            if self.rows >= MAX_ROWS as usize {
                self.forget_history(now);
                if self.rows >= MAX_ROWS as usize {
                    return false;
                }
            }
        }
        let busy = busy_until(&row);
        match (row.kind, &row.credential_id, &row.model) {
            (Kind::Breaker, _, model) => {
                let model = model.clone().unwrap_or_default();
                self.breakers.entry(row.provider_id.clone()).or_default().insert(model, row);
            }
            (Kind::Limited, Some(credential), Some(model)) => {
                self.credentials.entry(credential.clone()).or_default().limited.insert(model.clone(), row);
                self.credentials_busy_until = self.credentials_busy_until.max(busy);
            }
            (Kind::Dead | Kind::Refused | Kind::UsedUp | Kind::Limited, Some(credential), _) => {
                let whole = &mut self.credentials.entry(credential.clone()).or_default().whole;
                whole.retain(|known| known.kind != row.kind);
                whole.push(row);
                self.credentials_busy_until = self.credentials_busy_until.max(busy);
            }
            (Kind::Quota, _, _) => {
                let Some((owner, gauge)) = quota_of(&row).map(|(owner, gauge)| (Arc::from(owner), gauge)) else {
                    return false;
                };
                let Some(quota) = self.quota_mut(&owner, gauge) else { return false };
                quota.cap = Some(row);
            }
            _ => return false,
        }
        self.rows += usize::from(is_new);
        true
    }

    /// Takes over what others, or this isolate itself, have written; an older row does not replace a newer one.
    pub(super) fn learn(&mut self, rows: Vec<HealthRow>, now: Timestamp) {
        for row in rows {
            if self.known(&row).is_some_and(|known| known.revision >= row.revision) {
                continue;
            }
            self.refusals.remove(&row.subject);
            let subject = row.subject.clone();
            if !self.put(row, now) {
                tracing::warn!(%subject, "a row of health is left out: it is damaged, or there are too many");
            }
        }
        self.count_busy();
    }

    /// Takes over what was spent.
    pub(super) fn learn_usage(&mut self, rows: &[QuotaUsageRow], now: Timestamp) {
        for row in rows {
            let Some((owner, gauge)) = Gauge::parse(&row.quota) else {
                tracing::warn!(quota = &*row.quota, "a row of quota_usage is left out: its key is damaged");
                continue;
            };
            let owner: Arc<str> = owner.into();
            let Some(quota) = self.quota_mut(&owner, gauge) else { continue };
            if quota.spent.learn(row.slice, row.amount, row.revision, gauge.oldest(now)) {
                self.refusals.remove(&Kind::Quota.subject(&row.quota, None));
            }
        }
    }

    /// Forgets what is known of some, or all, providers and credentials, but not what was spent.
    pub(super) fn forget(&mut self, providers: Option<&[&str]>, credentials: Option<&[&str]>) {
        let stays = |row: &HealthRow| {
            let is_listed = |id: &str, list: &[&str]| list.contains(&id);
            let chosen = providers.is_none_or(|list| is_listed(&row.provider_id, list))
                && credentials.is_none_or(|list| row.credential_id.as_ref().is_some_and(|id| is_listed(id, list)));
            !chosen
        };
        self.retain(stays);
        self.refusals.clear();
    }

    /// Finds out anew until when any credential rests.
    pub(super) fn count_busy(&mut self) {
        let rows = self.credentials.values().flat_map(CredentialRows::all);
        self.credentials_busy_until = rows.map(busy_until).max().unwrap_or_default();
    }

    /// Forgets what is over; it is needed only to make the next rest longer.
    fn forget_history(&mut self, now: Timestamp) {
        self.retain(|row| match row.kind {
            Kind::Breaker | Kind::Quota => row.counts.until.0 != 0,
            _ => busy_until(row) > now,
        });
    }

    fn retain(&mut self, stays: impl Fn(&HealthRow) -> bool) {
        for credential in self.credentials.values_mut() {
            credential.whole.retain(&stays);
            credential.limited.retain(|_, row| stays(row));
        }
        self.credentials.retain(|_, credential| credential.all().next().is_some());
        for models in self.breakers.values_mut() {
            models.retain(|_, row| stays(row));
        }
        self.breakers.retain(|_, models| !models.is_empty());
        for quota in self.quotas.values_mut().flatten() {
            quota.cap = quota.cap.take().filter(&stays);
        }
        let caps = self.quotas.values().flatten().filter(|quota| quota.cap.is_some()).count();
        let credentials: usize = self.credentials.values().map(|credential| credential.all().count()).sum();
        self.rows = caps + credentials + self.breakers.values().map(HashMap::len).sum::<usize>();
        self.count_busy();
    }
}

/// Until when a row can keep a credential from being used.
fn busy_until(row: &HealthRow) -> Timestamp {
    match row.kind {
        _ if row.counts.until.0 == 0 => Timestamp(0),
        Kind::Dead => Timestamp(FOREVER.0 + 1),
        _ => row.counts.until.max(row.hint.unwrap_or_default()),
    }
}

/// Which quota a row is about, by its subject.
fn quota_of(row: &HealthRow) -> Option<(&str, Gauge)> {
    Gauge::parse(row.subject.strip_prefix(Kind::Quota.name())?.strip_prefix(':')?)
}
