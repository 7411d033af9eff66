//! Gateway keys: what clients call with.

use std::sync::Arc;

use serde_json::json;

use super::{BadRow, bulk, decode_all};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};

/// A row of `api_keys`.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiKeyRow {
    /// Its id, which never changes.
    pub id: Arc<str>,
    /// Its name, which is unique.
    pub name: Arc<str>,
    /// A keyed hash of the key, which itself is not kept.
    pub digest: Arc<str>,
    /// The key's first characters, so that people can tell keys apart.
    pub prefix: Arc<str>,
    /// Whether it may be used.
    pub enabled: bool,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT name, id, digest, prefix, enabled, expires_at FROM api_keys ", $rest)
    };
}

/// Reads all keys.
pub fn list() -> Statement {
    Statement::new(select!("ORDER BY name"), vec![])
}

/// Reads the key whose keyed hash is `digest`.
pub fn by_digest(digest: &str) -> Statement {
    Statement::new(select!("WHERE digest = ?1"), vec![digest.into()])
}

/// Reads the key of this name.
pub fn by_name(name: &str) -> Statement {
    Statement::new(select!("WHERE name = ?1"), vec![name.into()])
}

/// Decodes what [`list`], [`by_name`] and [`by_digest`] return.
pub fn decode(rows: &Rows) -> (Vec<ApiKeyRow>, Vec<BadRow>) {
    decode_all("api_keys", rows, |row| {
        Ok(ApiKeyRow {
            name: row.text(0)?.clone(),
            id: row.text(1)?.clone(),
            digest: row.text(2)?.clone(),
            prefix: row.text(3)?.clone(),
            enabled: row.flag(4)?,
            expires_at: row.optional_integer(5)?.map(Timestamp),
        })
    })
}

/// Writes keys, new or changed.
pub fn upsert(rows: &[ApiKeyRow], now: Timestamp) -> Vec<Statement> {
    let sql = "INSERT INTO api_keys (id, name, digest, prefix, enabled, expires_at, created_at, updated_at) \
               SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), \
               json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'), ?2, ?2 \
               FROM json_each(?1) WHERE true \
               ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest, \
               prefix = excluded.prefix, enabled = excluded.enabled, expires_at = excluded.expires_at, \
               updated_at = excluded.updated_at";
    let values = rows.iter().map(|row| {
        json!([row.id, row.name, row.digest, row.prefix, i64::from(row.enabled), row.expires_at.map(|time| time.0)])
    });
    bulk::write(sql, values, now)
}

/// Deletes keys.
pub fn delete(ids: &[Arc<str>]) -> Vec<Statement> {
    bulk::delete("api_keys", ids)
}
