//! Routes: public model names, and the providers behind each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::options::{MemberPolicy, Strategy};
use super::{BadRow, bulk, decode_all, from_json, to_json};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};
use crate::protocol::convert::ServerTools;

/// A row of `routes`.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteRow {
    /// Its id, which never changes.
    pub id: Arc<str>,
    /// The public model name, which is unique.
    pub name: Arc<str>,
    /// Whether it may be used.
    pub enabled: bool,
    /// The rest.
    pub options: RouteOptions,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What the column `options` holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteOptions {
    /// Most upstream calls for one request, if not the instance's own figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Whether a request is refused rather than answered with a loss, where its dialect is not the upstream's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// What becomes of tools that the client's vendor runs itself and the upstream's does not have.
    #[serde(skip_serializing_if = "is_default")]
    pub server_tools: ServerTools,
    /// Who among the members of a tier goes first.
    #[serde(skip_serializing_if = "is_default")]
    pub strategy: Strategy,
    /// Which requests it also takes that do not name it.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<Matching>,
}

/// Names that are no namespaces, since the gateway's own paths have something else there.
pub const RESERVED_NAMESPACES: [&str; 9] =
    ["admin", "api", "v1", "v1beta", "chat", "embeddings", "messages", "models", "responses"];

/// Which requests a route takes that do not name it. All conditions have to be met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Matching {
    /// Those to a base URL with this name in it, as in `/v1/{namespace}/chat/completions`. Left out: those without one, and those with the
    /// name of its first member's provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Those for a model whose name begins like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_prefix: Option<String>,
    /// Which of several routes is asked first: the one with the least figure.
    #[serde(skip_serializing_if = "is_default")]
    pub order: u32,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A row of `route_members`.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberRow {
    /// Its id, which never changes.
    pub id: Arc<str>,
    /// The route.
    pub route_id: Arc<str>,
    /// The provider.
    pub provider_id: Arc<str>,
    /// The model as the provider names it; empty for the one that the client names.
    pub model: Arc<str>,
    /// A later tier is only tried when the earlier ones are used up.
    pub tier: u32,
    /// Its share within the tier.
    pub weight: u32,
    /// Whether it may be used.
    pub enabled: bool,
    /// How it is tried.
    pub policy: MemberPolicy,
}

/// Reads all routes.
pub fn list() -> Statement {
    Statement::new("SELECT name, id, enabled, options, created_at FROM routes ORDER BY name", vec![])
}

/// Decodes what [`list`] returns.
pub fn decode(rows: &Rows) -> (Vec<RouteRow>, Vec<BadRow>) {
    decode_all("routes", rows, |row| {
        Ok(RouteRow {
            name: row.text(0)?.clone(),
            id: row.text(1)?.clone(),
            enabled: row.flag(2)?,
            options: from_json(row.text(3)?)?,
            created_at: Timestamp(row.integer(4)?),
        })
    })
}

/// Reads the members of all routes, each route's in the order in which they are tried.
pub fn list_members() -> Statement {
    Statement::new(
        "SELECT id, route_id, provider_id, model, tier, weight, enabled, options FROM route_members \
         ORDER BY route_id, tier, weight DESC, id",
        vec![],
    )
}

/// Decodes what [`list_members`] returns.
pub fn decode_members(rows: &Rows) -> (Vec<MemberRow>, Vec<BadRow>) {
    decode_all("route_members", rows, |row| {
        Ok(MemberRow {
            id: row.text(0)?.clone(),
            route_id: row.text(1)?.clone(),
            provider_id: row.text(2)?.clone(),
            model: row.text(3)?.clone(),
            tier: row.integer(4)?.clamp(0, i64::from(u32::MAX)) as u32,
            weight: row.integer(5)?.clamp(0, i64::from(u32::MAX)) as u32,
            enabled: row.flag(6)?,
            policy: from_json(row.text(7)?)?,
        })
    })
}

/// Writes routes, new or changed.
pub fn upsert(rows: &[RouteRow], now: Timestamp) -> Vec<Statement> {
    let sql = "INSERT INTO routes (id, name, enabled, options, created_at, updated_at) \
               SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), \
               json_extract(value, '$[3]'), ?2, ?2 FROM json_each(?1) WHERE true \
               ON CONFLICT (id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, \
               options = excluded.options, updated_at = excluded.updated_at";
    let values = rows.iter().map(|row| json!([row.id, row.name, i64::from(row.enabled), to_json(&row.options)]));
    bulk::write(sql, values, now)
}

/// Writes members, new or changed.
pub fn upsert_members(rows: &[MemberRow], now: Timestamp) -> Vec<Statement> {
    let sql = "INSERT INTO route_members (id, route_id, provider_id, model, tier, weight, enabled, options, updated_at) \
               SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), \
               json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'), \
               json_extract(value, '$[6]'), json_extract(value, '$[7]'), ?2 FROM json_each(?1) WHERE true \
               ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, weight = excluded.weight, \
               enabled = excluded.enabled, options = excluded.options, updated_at = excluded.updated_at";
    let values = rows.iter().map(|row| {
        let (enabled, options) = (i64::from(row.enabled), to_json(&row.policy));
        json!([row.id, row.route_id, row.provider_id, row.model, row.tier, row.weight, enabled, options])
    });
    bulk::write(sql, values, now)
}

/// Deletes routes with their members.
pub fn delete(ids: &[Arc<str>]) -> Vec<Statement> {
    bulk::delete("routes", ids)
}

/// Deletes members.
pub fn delete_members(ids: &[Arc<str>]) -> Vec<Statement> {
    bulk::delete("route_members", ids)
}
