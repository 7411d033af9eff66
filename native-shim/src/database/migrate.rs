//! Brings the schema up to date, each migration in a transaction of its own.

use tollgate::platform::database::{DatabaseError, DatabaseErrorKind, Statement};
use tollgate::store::migration::MIGRATIONS;

use super::connection::Connection;

/// Applies what is missing; the numbers of the migrations that were applied. Two processes that start at once do not get
/// in each other's way: the version is read again inside the transaction.
pub fn migrate(connection: &Connection) -> Result<Vec<i64>, DatabaseError> {
    let mut applied = Vec::new();
    for migration in &MIGRATIONS {
        let was_missing = connection.write(|| {
            if schema_version(connection)? >= migration.version {
                return Ok(false);
            }
            connection.run_script(migration.sql)?;
            Ok(true)
        })?;
        if was_missing {
            applied.push(migration.version);
        }
    }
    Ok(applied)
}

/// The version of the schema, 0 when there is none.
fn schema_version(connection: &Connection) -> Result<i64, DatabaseError> {
    match connection.run(&Statement::new("SELECT schema_version FROM settings WHERE id = 1", vec![])) {
        Ok(rows) => Ok(rows.0.first().and_then(|row| row.integer(0).ok()).unwrap_or(0)),
        Err(error) if error.kind == DatabaseErrorKind::Schema => Ok(0),
        Err(error) => Err(error),
    }
}
