//! The revisions: what tells an isolate that its snapshot is old, and how old.

use crate::platform::database::{ColumnError, Row, Statement};

/// The part of the configuration that a write touches; it decides how much is loaded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes {
    /// Providers, routes and settings.
    pub routing: bool,
    /// Secrets and the state of credentials, nothing else of them.
    pub credentials: bool,
    /// Keys and who holds them.
    pub identity: bool,
    /// Prices.
    pub prices: bool,
    /// Limits and budgets.
    pub limits: bool,
}

/// The revision of the configuration, and the revision at which each scope last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Revisions {
    /// Goes up by one with every write.
    pub config: i64,
    /// See [`Scopes::routing`].
    pub routing: i64,
    /// See [`Scopes::credentials`].
    pub credentials: i64,
    /// See [`Scopes::identity`].
    pub identity: i64,
    /// Goes up with every write of what isolates learn of upstreams; configuration does not touch it.
    pub health: i64,
}

/// How many columns [`read`] and [`bump`] return.
pub(super) const COLUMNS: usize = 5;

/// Reads the revisions.
pub fn read() -> Statement {
    Statement::new(
        "SELECT config_revision, routing_revision, credentials_revision, identity_revision, health_revision \
         FROM settings WHERE id = 1",
        vec![],
    )
}

/// Puts the revision up by one, and that of each scope in `scopes` to it; notes the mark of the master key, if none is noted.
///
/// When the revision is no longer `expected`, somebody else has written meanwhile; when another mark is noted, the secrets are
/// sealed under another key. A NOT NULL constraint then fails, and with it the whole batch.
pub fn bump(expected: i64, scopes: Scopes, vault_mark: &str) -> Statement {
    const SQL: &str = "UPDATE settings SET \
         config_revision = CASE WHEN config_revision = ?1 THEN ?1 + 1 END, \
         routing_revision = CASE WHEN ?2 = 1 THEN ?1 + 1 ELSE routing_revision END, \
         credentials_revision = CASE WHEN ?3 = 1 THEN ?1 + 1 ELSE credentials_revision END, \
         identity_revision = CASE WHEN ?4 = 1 THEN ?1 + 1 ELSE identity_revision END, \
         prices_revision = CASE WHEN ?5 = 1 THEN ?1 + 1 ELSE prices_revision END, \
         limits_revision = CASE WHEN ?6 = 1 THEN ?1 + 1 ELSE limits_revision END, \
         vault_mark = CASE WHEN vault_mark IN ('', ?7) THEN ?7 END \
         WHERE id = 1 \
         RETURNING config_revision, routing_revision, credentials_revision, identity_revision, health_revision";
    let Scopes { routing, credentials, identity, prices, limits } = scopes;
    Statement::new(
        SQL,
        vec![
            expected.into(),
            routing.into(),
            credentials.into(),
            identity.into(),
            prices.into(),
            limits.into(),
            vault_mark.into(),
        ],
    )
}

/// Decodes what [`read`] and [`bump`] return.
pub fn decode(row: &Row) -> Result<Revisions, ColumnError> {
    Ok(Revisions {
        config: row.integer(0)?,
        routing: row.integer(1)?,
        credentials: row.integer(2)?,
        identity: row.integer(3)?,
        health: row.integer(4)?,
    })
}
