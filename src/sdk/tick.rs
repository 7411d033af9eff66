//! Keeping the configuration current.
//!
//! Nothing runs between requests on Workers, so each request asks for the revisions, in the one batch that it makes before
//! it dispatches. Only when they have moved is more read, as little as the scopes allow. Publication is monotonic: of two
//! requests that load at the same time, the one with the older revision is dropped.
//!
//! What isolates learn of upstreams comes with the same statement, as far as it is new.

use std::fmt;
use std::rc::Rc;

use super::Handle;
use crate::engine::health::has_quotas;
use crate::engine::snapshot::{Credentials, Routing, Snapshot};
use crate::platform::Scope;
use crate::platform::database::{DatabaseError, DatabaseErrorKind, Intent, Rows, Statement};
use crate::store::revision::{self, Revisions};
use crate::store::settings::{self, SCHEMA_VERSION};
use crate::store::{BadRow, credential, health, provider, quota_usage, route, rule_set};

/// What a tick gave.
pub struct Ticked {
    /// The configuration as of now, or the last one known when the database could not be asked.
    pub snapshot: Rc<Snapshot>,
    /// What the extra statements read; `None` when the database was not, or could not be, asked.
    pub read: Option<ExtraRead>,
}

/// Rows, and when they were read.
pub struct ExtraRead {
    /// The revisions at that moment, which may be older than those of the snapshot.
    pub revisions: Revisions,
    /// The rows of each statement.
    pub rows: Vec<Rows>,
}

impl Handle {
    /// Asks the database for the revisions and, in the same round trip, for what `extra` reads; then loads what has changed.
    ///
    /// With nothing extra to read, and within the staleness that the operator allows, it asks nothing. When the database
    /// cannot be asked, the isolate serves what it has.
    pub async fn tick(&self, scope: &Scope, extra: Vec<Statement>) -> Result<Ticked, TickError> {
        let known = self.snapshot();
        if let Some(snapshot) = &known
            && extra.is_empty()
            && self.is_fresh(scope, snapshot)
        {
            return Ok(Ticked { snapshot: snapshot.clone(), read: None });
        }
        match self.ask(scope, known.as_deref(), extra).await {
            Ok(ticked) => {
                self.ticked_at.set(scope.clock.now());
                Ok(ticked)
            }
            Err(error) => match known {
                Some(snapshot) => {
                    tracing::error!(%error, "the configuration could not be checked; serving what is known");
                    Ok(Ticked { snapshot, read: None })
                }
                None => Err(error),
            },
        }
    }

    fn is_fresh(&self, scope: &Scope, snapshot: &Snapshot) -> bool {
        let max_age = i64::from(snapshot.settings.tick.max_age_ms);
        max_age > 0
            && scope.clock.now().millis_since(self.ticked_at.get()) < max_age
            && scope.notices.latest() <= snapshot.revisions.config
    }

    async fn ask(&self, scope: &Scope, known: Option<&Snapshot>, extra: Vec<Statement>) -> Result<Ticked, TickError> {
        let (known_health, known_usage) = self.health.known();
        let Some(known) = known else {
            // Cold: everything comes with the first round trip.
            let mut statements = full_load(health::read(known_health));
            let configuration = statements.len();
            statements.push(quota_usage::read(known_usage));
            let own = statements.len();
            statements.extend(extra);
            let mut rows = scope.database.batch(Intent::Read, statements).await?;
            let extra_rows = rows.split_off(own.min(rows.len()));
            let usage_rows = rows.split_off(configuration.min(rows.len()));
            let loaded = self.assemble(&rows, None)?;
            let read = ExtraRead { revisions: loaded.revisions, rows: extra_rows };
            self.learn(scope, rows.first(), usage_rows.first(), loaded.revisions);
            return Ok(Ticked { snapshot: self.publish(loaded), read: Some(read) });
        };
        let mut statements = Vec::with_capacity(2 + extra.len());
        statements.push(health::read(known_health));
        let counts = self.has_quotas.get();
        statements.extend(counts.then(|| quota_usage::read(known_usage)));
        let own = statements.len();
        statements.extend(extra);
        let mut rows = scope.database.batch(Intent::Read, statements).await?;
        let extra_rows = rows.split_off(own.min(rows.len()));
        let revisions = revisions(rows.first())?;
        self.learn(scope, rows.first(), rows.get(1), revisions);
        let snapshot = if revisions.config > known.revisions.config {
            self.reload(scope, known, revisions).await?
        } else {
            self.snapshot().ok_or(TickError::SchemaOutdated)?
        };
        if self.has_quotas.get() && !counts {
            // The first quotas that this isolate sees; what was spent of them may be known to others.
            let rows = scope.database.batch(Intent::Read, vec![quota_usage::read(known_usage)]).await?;
            self.learn(scope, None, rows.first(), revisions);
        }
        Ok(Ticked { snapshot, read: Some(ExtraRead { revisions, rows: extra_rows }) })
    }

    /// Takes over what others have learnt. What they tell is never taken back by an older answer, since every row has a revision.
    fn learn(&self, scope: &Scope, health_rows: Option<&Rows>, usage_rows: Option<&Rows>, revisions: Revisions) {
        let now = scope.clock.now();
        let warn = |bad: Vec<BadRow>| {
            for bad in bad {
                tracing::warn!(table = bad.table, row = bad.row, reason = bad.reason, "a row is left out");
            }
        };
        if let Some(rows) = health_rows {
            let (rows, bad) = health::decode(rows);
            warn(bad);
            self.health.learn(rows, revisions.health, now);
        }
        if let Some(rows) = usage_rows {
            let (rows, bad) = quota_usage::decode(rows);
            warn(bad);
            self.health.learn_usage(&rows, revisions.health, now);
        }
    }

    /// Loads what has changed between `known` and `newer`.
    async fn reload(&self, scope: &Scope, known: &Snapshot, newer: Revisions) -> Result<Rc<Snapshot>, TickError> {
        let snapshot = if newer.routing > known.revisions.routing {
            let rows = scope.database.batch(Intent::Read, full_load(revision::read())).await?;
            self.assemble(&rows, Some(known))?
        } else if newer.credentials > known.revisions.credentials {
            let rows = scope.database.batch(Intent::Read, vec![revision::read(), credential::list()]).await?;
            Snapshot {
                // Read with the rows: a write that came between would otherwise be taken for seen.
                revisions: Revisions { credentials: revisions(rows.first())?.credentials, ..newer },
                settings: known.settings.clone(),
                routing: known.routing.clone(),
                credentials: Rc::new(credentials(rows.get(1), Some(known))),
            }
        } else {
            Snapshot {
                revisions: newer,
                settings: known.settings.clone(),
                routing: known.routing.clone(),
                credentials: known.credentials.clone(),
            }
        };
        Ok(self.publish(snapshot))
    }

    /// Makes a snapshot of what [`full_load`] returned.
    fn assemble(&self, rows: &[Rows], known: Option<&Snapshot>) -> Result<Snapshot, TickError> {
        let [revision_rows, setting_rows, provider_rows, credential_rows, route_rows, member_rows, rule_set_rows] =
            rows
        else {
            return Err(TickError::SchemaOutdated);
        };
        let (instance, mut skipped) = settings::decode(setting_rows);
        if instance.schema_version < SCHEMA_VERSION {
            return Err(TickError::SchemaOutdated);
        }
        if !instance.vault_mark.is_empty() && instance.vault_mark != self.vault.mark() {
            return Err(TickError::WrongMasterKey);
        }
        let (providers, bad_providers) = provider::decode(provider_rows);
        let (routes, bad_routes) = route::decode(route_rows);
        let (members, bad_members) = route::decode_members(member_rows);
        let (rule_sets, bad_rule_sets) = rule_set::decode(rule_set_rows);
        skipped.extend(bad_providers.into_iter().chain(bad_routes).chain(bad_members).chain(bad_rule_sets));
        Ok(Snapshot {
            revisions: revisions(Some(revision_rows))?,
            settings: instance.settings,
            routing: Rc::new(Routing::assemble(
                providers,
                rule_sets,
                routes,
                members,
                skipped,
                known.map(|known| &*known.routing),
            )),
            credentials: Rc::new(credentials(Some(credential_rows), known)),
        })
    }

    /// Makes `candidate` the current configuration unless a newer one already is; returns the current one.
    fn publish(&self, candidate: Snapshot) -> Rc<Snapshot> {
        let mut current = self.snapshot.borrow_mut();
        if let Some(current) = &*current
            && current.revisions.config >= candidate.revisions.config
        {
            return current.clone();
        }
        for bad in candidate.skipped() {
            tracing::warn!(table = bad.table, row = bad.row, reason = bad.reason, "a row is left out");
        }
        tracing::debug!(revision = candidate.revisions.config, "a newer configuration is in use");
        self.has_quotas.set(has_quotas(&candidate));
        let published = Rc::new(candidate);
        *current = Some(published.clone());
        published
    }
}

/// The whole configuration; `revisions` reads the revisions, with or without more.
fn full_load(revisions: Statement) -> Vec<Statement> {
    vec![
        revisions,
        settings::read(),
        provider::list(),
        credential::list(),
        route::list(),
        route::list_members(),
        rule_set::list(),
    ]
}

fn credentials(rows: Option<&Rows>, known: Option<&Snapshot>) -> Credentials {
    let (rows, bad) = rows.map(credential::decode).unwrap_or_default();
    Credentials::assemble(rows, bad, known.map(|known| &*known.credentials))
}

fn revisions(rows: Option<&Rows>) -> Result<Revisions, TickError> {
    rows.and_then(|rows| rows.0.first()).and_then(|row| revision::decode(row).ok()).ok_or(TickError::SchemaOutdated)
}

/// Why an isolate has no configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TickError {
    /// The schema is missing or older than the code.
    SchemaOutdated,
    /// The secrets in the database are sealed under another master key.
    WrongMasterKey,
    /// The database could not be asked.
    Database(DatabaseError),
}

impl From<DatabaseError> for TickError {
    fn from(error: DatabaseError) -> Self {
        match error.kind {
            DatabaseErrorKind::Schema => Self::SchemaOutdated,
            _ => Self::Database(error),
        }
    }
}

impl fmt::Display for TickError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SchemaOutdated => formatter.write_str("the database's schema is missing or older than this version"),
            Self::WrongMasterKey => formatter
                .write_str("the secrets in the database are sealed under another TOLLGATE_MASTER_KEY than this one"),
            Self::Database(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for TickError {}
