//! How this isolate is doing.

use serde::Serialize;

use super::health::{ProviderHealth, health_get};
use crate::app::Gateway;
use crate::engine::snapshot::Snapshot;
use crate::platform::Scope;

/// What `GET /admin/api/status` tells.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The version of the gateway.
    pub version: &'static str,
    /// The revision of the configuration that this isolate serves.
    pub revision: i64,
    /// Providers in use.
    pub providers: usize,
    /// Credentials in use.
    pub credentials: usize,
    /// Routes in use.
    pub routes: usize,
    /// Rows that are left out because something is wrong with them.
    pub skipped_rows: Vec<SkippedRow>,
    /// How providers, credentials, breakers and quotas are doing.
    pub health: Vec<ProviderHealth>,
    /// Batches that this isolate has sent to the database.
    pub database_round_trips: u64,
}

/// A row that is left out.
#[derive(Debug, Serialize)]
pub struct SkippedRow {
    /// Its table.
    pub table: &'static str,
    /// Its name or id.
    pub row: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The state of this isolate.
pub fn status_get(gateway: &Gateway, scope: &Scope, snapshot: &Snapshot) -> Status {
    Status {
        version: env!("CARGO_PKG_VERSION"),
        revision: snapshot.revisions.config,
        providers: snapshot.routing.providers.len(),
        credentials: snapshot.credentials.count(),
        routes: snapshot.routing.routes.len(),
        skipped_rows: snapshot
            .skipped()
            .map(|bad| SkippedRow { table: bad.table, row: bad.row.clone(), reason: bad.reason.clone() })
            .collect(),
        health: health_get(gateway, scope, snapshot).providers,
        database_round_trips: scope.database.round_trips(),
    }
}
