//! The one way to change configuration.

use std::fmt;

use super::Handle;
use crate::platform::Scope;
use crate::platform::database::{DatabaseError, DatabaseErrorKind, Intent, Statement};
use crate::store::revision::{self, Scopes};

impl Handle {
    /// Writes `statements` and puts the revision up, in one transaction; then loads the own snapshot and only then tells
    /// the others, so that no revision is announced that this isolate cannot serve. Returns the new revision.
    ///
    /// `expected` is the revision that the statements were made for: when somebody has written since, nothing is written.
    pub async fn commit(
        &self,
        scope: &Scope,
        mut statements: Vec<Statement>,
        scopes: Scopes,
        expected: i64,
    ) -> Result<i64, CommitError> {
        statements.push(revision::bump(expected, scopes, &self.vault.mark()));
        let rows = scope.database.batch(Intent::Write, statements).await.map_err(|error| match error.kind {
            // The bump fails by its NOT NULL constraint; other constraints only fail when somebody was faster too.
            DatabaseErrorKind::Constraint => CommitError::Conflict,
            _ => CommitError::Database(error),
        })?;
        let written = rows.last().and_then(|rows| rows.0.first()).and_then(|row| revision::decode(row).ok());
        let revision = written.map_or(expected + 1, |revisions| revisions.config);
        if let Err(error) = self.tick(scope, vec![revision::read()]).await {
            tracing::warn!(%error, "the configuration is written but could not be read back");
        }
        scope.notices.publish(revision);
        Ok(revision)
    }
}

/// Why a write did not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitError {
    /// Somebody else has written since the write was prepared.
    Conflict,
    /// The database refused, or could not be asked.
    Database(DatabaseError),
}

impl fmt::Display for CommitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => formatter.write_str("the configuration has changed meanwhile"),
            Self::Database(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for CommitError {}
