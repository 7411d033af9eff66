//! Rule sets: rewrite rules that several providers share.

use std::sync::Arc;

use serde_json::json;

use super::options::Rule;
use super::{BadRow, bulk, decode_all, from_json, to_json};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};

/// The name of the table.
pub const TABLE: &str = "rule_sets";

/// A row of `rule_sets`.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleSetRow {
    /// Its id, which never changes.
    pub id: Arc<str>,
    /// Its name, which is unique.
    pub name: Arc<str>,
    /// The rules, in their order.
    pub rules: Vec<Rule>,
}

/// Reads all rule sets.
pub fn list() -> Statement {
    Statement::new("SELECT name, id, rules FROM rule_sets ORDER BY name", vec![])
}

/// Decodes what [`list`] returns.
pub fn decode(rows: &Rows) -> (Vec<RuleSetRow>, Vec<BadRow>) {
    decode_all(TABLE, rows, |row| {
        Ok(RuleSetRow { name: row.text(0)?.clone(), id: row.text(1)?.clone(), rules: from_json(row.text(2)?)? })
    })
}

/// Writes rule sets, new or changed.
pub fn upsert(rows: &[RuleSetRow], now: Timestamp) -> Vec<Statement> {
    let sql = "INSERT INTO rule_sets (id, name, rules, created_at, updated_at) \
               SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), ?2, ?2 \
               FROM json_each(?1) WHERE true \
               ON CONFLICT (id) DO UPDATE SET name = excluded.name, rules = excluded.rules, \
               updated_at = excluded.updated_at";
    let values = rows.iter().map(|row| json!([row.id, row.name, to_json(&row.rules)]));
    bulk::write(sql, values, now)
}

/// Deletes rule sets.
pub fn delete(ids: &[Arc<str>]) -> Vec<Statement> {
    bulk::delete(TABLE, ids)
}
