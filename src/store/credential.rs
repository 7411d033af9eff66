//! Credentials: the accounts at providers.

use std::sync::Arc;

use serde_json::json;

use super::options::CredentialPolicy;
use super::{BadRow, bulk, decode_all, from_json, to_json};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};

const TABLE: &str = "credentials";

/// A row of `credentials`.
#[derive(Debug, Clone, PartialEq)]
pub struct CredentialRow {
    /// Its id, which never changes.
    pub id: Arc<str>,
    /// The provider it belongs to.
    pub provider_id: Arc<str>,
    /// Its name, which is unique within the provider.
    pub name: Arc<str>,
    /// The secret, sealed.
    pub secret: Arc<str>,
    /// A keyed hash of the secret, to tell whether one is the same without opening it.
    pub secret_digest: Arc<str>,
    /// Whether it may be used.
    pub enabled: bool,
    /// Its share among its provider's credentials.
    pub weight: u32,
    /// How it is spent.
    pub policy: CredentialPolicy,
    /// Goes up with every new secret.
    pub version: i64,
}

/// Reads all credentials.
pub fn list() -> Statement {
    Statement::new(
        "SELECT name, id, provider_id, secret, secret_digest, enabled, weight, options, version \
         FROM credentials ORDER BY provider_id, name",
        vec![],
    )
}

/// Decodes what [`list`] returns.
pub fn decode(rows: &Rows) -> (Vec<CredentialRow>, Vec<BadRow>) {
    decode_all(TABLE, rows, |row| {
        Ok(CredentialRow {
            name: row.text(0)?.clone(),
            id: row.text(1)?.clone(),
            provider_id: row.text(2)?.clone(),
            secret: row.text(3)?.clone(),
            secret_digest: row.text(4)?.clone(),
            enabled: row.flag(5)?,
            weight: row.integer(6)?.clamp(0, i64::from(u32::MAX)) as u32,
            policy: from_json(row.text(7)?)?,
            version: row.integer(8)?,
        })
    })
}

/// Writes credentials, new or changed.
pub fn upsert(rows: &[CredentialRow], now: Timestamp) -> Vec<Statement> {
    let sql = "INSERT INTO credentials \
               (id, provider_id, name, secret, secret_digest, enabled, weight, options, version, created_at, updated_at) \
               SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), \
               json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'), \
               json_extract(value, '$[6]'), json_extract(value, '$[7]'), 0, ?2, ?2 FROM json_each(?1) WHERE true \
               ON CONFLICT (id) DO UPDATE SET \
               version = version + (secret_digest <> excluded.secret_digest), secret = excluded.secret, \
               secret_digest = excluded.secret_digest, enabled = excluded.enabled, weight = excluded.weight, \
               options = excluded.options, updated_at = excluded.updated_at";
    let values = rows.iter().map(|row| {
        json!([
            row.id,
            row.provider_id,
            row.name,
            row.secret,
            row.secret_digest,
            i64::from(row.enabled),
            row.weight,
            to_json(&row.policy)
        ])
    });
    bulk::write(sql, values, now)
}

/// The secret of one credential, as it is stored now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSecret {
    /// The secret, sealed.
    pub sealed: Arc<str>,
    /// Goes up with every new secret.
    pub version: i64,
}

/// Reads the secret of one credential.
pub fn read_secret(id: &str) -> Statement {
    Statement::new("SELECT secret, version FROM credentials WHERE id = ?1", vec![id.into()])
}

/// Decodes what [`read_secret`] returns; `None` when the credential is gone.
pub fn decode_secret(rows: &Rows) -> Option<StoredSecret> {
    let row = rows.0.first()?;
    Some(StoredSecret { sealed: row.text(0).ok()?.clone(), version: row.integer(1).ok()? })
}

/// Replaces a secret that is still of `version`, and if it is, puts the revisions up, whatever they are by now. [`is_replaced`] tells
/// from the rows of the first statement whether it was; those of the second are the revision then. Sent again they change nothing.
///
/// The digest stays that of the secret that was imported: the same document applied again must not bring it back.
pub fn replace_secret(id: &str, version: i64, sealed: &Arc<str>, now: Timestamp) -> [Statement; 2] {
    let replace = "UPDATE credentials SET secret = ?3, version = version + 1, updated_at = ?4 \
                   WHERE id = ?1 AND version = ?2 RETURNING version";
    // No two sealings of a secret are the same, so the new one is there exactly if it has just been put there.
    let bump = "UPDATE settings SET config_revision = config_revision + 1, credentials_revision = config_revision + 1 \
                WHERE id = 1 AND EXISTS (SELECT 1 FROM credentials WHERE id = ?1 AND version = ?2 + 1 AND secret = ?3) \
                RETURNING config_revision";
    [
        Statement::new(replace, vec![id.into(), version.into(), sealed.into(), now.0.into()]),
        Statement::new(bump, vec![id.into(), version.into(), sealed.into()]),
    ]
}

/// Whether [`replace_secret`] has replaced it.
pub fn is_replaced(rows: &Rows) -> bool {
    !rows.0.is_empty()
}

/// Deletes credentials.
pub fn delete(ids: &[Arc<str>]) -> Vec<Statement> {
    bulk::delete(TABLE, ids)
}
