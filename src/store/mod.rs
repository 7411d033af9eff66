//! Every SQL statement and every row type. No policy.
//!
//! A module for each table: functions that make statements, and the decoding of what they return. SQL keeps to what
//! SQLite, libSQL and D1 share and Postgres does not lack.

pub mod admin_token;
pub mod api_key;
mod bulk;
pub mod continuation;
pub mod credential;
pub mod health;
pub mod id;
pub mod lease;
pub mod migration;
pub mod options;
pub mod provider;
pub mod quota_usage;
pub mod revision;
pub mod route;
pub mod rule_set;
pub mod settings;
pub mod usage;
pub mod vault;

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::platform::database::{ColumnError, Row, Rows};

/// A row that cannot be used, in words for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Which table.
    pub table: &'static str,
    /// The row's name or id, as far as it could be read.
    pub row: String,
    /// The row's id, as far as it could be read.
    pub id: Option<Arc<str>>,
    /// What is wrong with it.
    pub reason: String,
}

impl BadRow {
    /// A bad row of `table`, whose first two columns are its name and its id.
    fn new(table: &'static str, row: &Row, reason: impl fmt::Display) -> Self {
        let name = row.text(0).map(ToString::to_string).unwrap_or_default();
        Self { table, row: name, id: row.text(1).ok().cloned(), reason: reason.to_string() }
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} row {:?}: {}", self.table, self.row, self.reason)
    }
}

impl std::error::Error for BadRow {}

/// Decodes `rows`, setting those aside that cannot be.
fn decode_all<T>(
    table: &'static str,
    rows: &Rows,
    decode: impl Fn(&Row) -> Result<T, DecodeError>,
) -> (Vec<T>, Vec<BadRow>) {
    let mut good = Vec::with_capacity(rows.0.len());
    let mut bad = Vec::new();
    for row in &rows.0 {
        match decode(row) {
            Ok(value) => good.push(value),
            Err(error) => bad.push(BadRow::new(table, row, error)),
        }
    }
    (good, bad)
}

/// Why a row cannot be decoded.
#[derive(Debug)]
enum DecodeError {
    Column(ColumnError),
    Json(String),
    Unknown(&'static str),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(error) => error.fmt(formatter),
            Self::Json(error) => write!(formatter, "its options are not as expected: {error}"),
            Self::Unknown(what) => write!(formatter, "its {what} is not one that this version knows"),
        }
    }
}

impl From<ColumnError> for DecodeError {
    fn from(error: ColumnError) -> Self {
        Self::Column(error)
    }
}

/// Reads a JSON column. The way over a [`serde_json::Value`] and with paths is the one on which documents are read: of each type there is
/// one reader in the Worker instead of two, and the operator learns which member is at fault.
fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, DecodeError> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| DecodeError::Json(error.to_string()))?;
    serde_path_to_error::deserialize(value).map_err(|error| DecodeError::Json(error.to_string()))
}

fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
