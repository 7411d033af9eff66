//! The configuration as a whole: import and export.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::app::Gateway;
use crate::app::document::plan::{Change, NewKey, Plan, plan};
use crate::app::document::stored::Stored;
use crate::app::document::{self, Document, expand, export};
use crate::app::error::AppError;
use crate::platform::Scope;
use crate::platform::database::Intent;
use crate::sdk::{CommitError, TickError};

/// How often an import starts over when others write at the same time.
const ATTEMPTS: u32 = 30;

/// How a document is to be applied.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions {
    /// Only tell what would change.
    pub dry_run: bool,
    /// Delete what a section of the document does not name.
    pub prune: bool,
}

/// What an import did, or would do.
#[derive(Debug, Serialize)]
pub struct ImportReport {
    /// Whether nothing was written on purpose.
    pub dry_run: bool,
    /// The revision of the configuration afterwards.
    pub revision: i64,
    /// The differences.
    pub changes: Vec<Change>,
    /// Keys that were made up for this document. They are shown this once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<NewKey>,
}

/// Applies a document, given as JSON whose variables are not expanded yet.
pub async fn configuration_import(
    gateway: &Gateway,
    scope: &Scope,
    mut document: Value,
    options: ImportOptions,
) -> Result<ImportReport, AppError> {
    expand::expand(&mut document, &|name| scope.variables.get(name)).map_err(AppError::Document)?;
    let document = document::read(document).map_err(AppError::Document)?;
    for _ in 0..ATTEMPTS {
        let stored = read(scope).await?;
        // An isolate may have become warm while nothing was sealed yet.
        if !stored.vault_mark.is_empty() && stored.vault_mark != gateway.handle.vault().mark() {
            return Err(AppError::NotReady(TickError::WrongMasterKey));
        }
        let Plan { changes, statements, scopes, new_keys } =
            plan(&document, &stored, options.prune, gateway.handle.vault(), scope)?;
        if options.dry_run || changes.is_empty() {
            let (dry_run, revision) = (options.dry_run, stored.revision);
            return Ok(ImportReport { dry_run, revision, changes, keys: vec![] });
        }
        match gateway.handle.commit(scope, statements, scopes, stored.revision).await {
            Ok(revision) => return Ok(ImportReport { dry_run: false, revision, changes, keys: new_keys }),
            Err(CommitError::Conflict) => scope.clock.sleep(pause(scope)).await,
            Err(error) => return Err(error.into()),
        }
    }
    Err(AppError::Conflict)
}

/// How long to let others go first: not the same for all who wait.
fn pause(scope: &Scope) -> Duration {
    let mut byte = [0];
    scope.random.fill(&mut byte);
    Duration::from_millis(u64::from(byte[0]) / 8)
}

/// The configuration as a document, secrets left out.
pub async fn configuration_export(scope: &Scope) -> Result<Document, AppError> {
    Ok(export::export(&read(scope).await?))
}

async fn read(scope: &Scope) -> Result<Stored, AppError> {
    let rows = scope.database.batch(Intent::Read, Stored::read()).await?;
    let stored = Stored::decode(&rows);
    for bad in &stored.damaged {
        tracing::warn!(table = bad.table, row = bad.row, reason = bad.reason, "a row is left out");
    }
    Ok(stored)
}
