//! The migrations, the same files for D1 and for the embedded database.

/// A migration: its file's name, and its statements.
pub struct Migration {
    /// The number, which `settings.schema_version` is afterwards.
    pub version: i64,
    /// The SQL.
    pub sql: &'static str,
}

/// All migrations in order.
pub const MIGRATIONS: [Migration; 3] = [
    Migration { version: 1, sql: include_str!("../../migrations/0001_initial.sql") },
    Migration { version: 2, sql: include_str!("../../migrations/0002_conversion_loss.sql") },
    Migration { version: 3, sql: include_str!("../../migrations/0003_health.sql") },
];
