//! Providers: where models can be had.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::options::{OAuthOptions, ProviderPolicy, Rule};
use super::{BadRow, bulk, decode_all, from_json, to_json};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};
use crate::protocol::dialect::Dialect;

const TABLE: &str = "providers";

/// A row of `providers`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderRow {
    /// Its id, which never changes.
    pub id: Arc<str>,
    /// Its name, which is unique.
    pub name: Arc<str>,
    /// The id of its channel.
    pub channel: Arc<str>,
    /// Its address, unless it is the channel's own.
    pub base_url: Option<Arc<str>>,
    /// Whether it may be used.
    pub enabled: bool,
    /// The rest.
    pub options: ProviderOptions,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What the column `options` holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderOptions {
    /// Whether it may be in a private network and reached without TLS.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub private_network: bool,
    /// The dialects it speaks, if not those of its channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<Dialect>,
    /// Extra headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Models to list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Whether it refuses `stream_options`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuses_stream_options: bool,
    /// Whether its answers can be streamed.
    #[serde(skip_serializing_if = "is_default")]
    pub streaming: Streaming,
    /// How it is tried.
    #[serde(skip_serializing_if = "is_default")]
    pub policy: ProviderPolicy,
    /// How its tokens are made anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OAuthOptions>,
    /// The names of rule sets that are applied to requests, before its own rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rule_sets: Vec<String>,
    /// Its own rewrite rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrite: Vec<Rule>,
}

/// Whether the answers of a provider can be streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Streaming {
    /// As the client wants it.
    #[default]
    Either,
    /// They always are.
    Always,
    /// They never are.
    Never,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads all providers.
pub fn list() -> Statement {
    Statement::new(
        "SELECT name, id, channel, base_url, enabled, options, created_at FROM providers ORDER BY name",
        vec![],
    )
}

/// Decodes what [`list`] returns.
pub fn decode(rows: &Rows) -> (Vec<ProviderRow>, Vec<BadRow>) {
    decode_all(TABLE, rows, |row| {
        Ok(ProviderRow {
            name: row.text(0)?.clone(),
            id: row.text(1)?.clone(),
            channel: row.text(2)?.clone(),
            base_url: row.optional_text(3)?.cloned(),
            enabled: row.flag(4)?,
            options: from_json(row.text(5)?)?,
            created_at: Timestamp(row.integer(6)?),
        })
    })
}

/// Writes providers, new or changed.
pub fn upsert(rows: &[ProviderRow], now: Timestamp) -> Vec<Statement> {
    let sql = "INSERT INTO providers (id, name, channel, base_url, enabled, options, created_at, updated_at) \
               SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), \
               json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'), ?2, ?2 \
               FROM json_each(?1) WHERE true \
               ON CONFLICT (id) DO UPDATE SET name = excluded.name, channel = excluded.channel, \
               base_url = excluded.base_url, enabled = excluded.enabled, options = excluded.options, \
               updated_at = excluded.updated_at";
    let values = rows
        .iter()
        .map(|row| json!([row.id, row.name, row.channel, row.base_url, i64::from(row.enabled), to_json(&row.options)]));
    bulk::write(sql, values, now)
}

/// Deletes providers with their credentials and their places in routes.
pub fn delete(ids: &[Arc<str>]) -> Vec<Statement> {
    bulk::delete(TABLE, ids)
}
