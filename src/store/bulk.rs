//! Many rows in few statements.
//!
//! D1 takes 100 parameters a statement, and 50 statements an invocation on its free plan, so rows travel as one JSON text
//! that the database takes apart.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::platform::clock::Timestamp;
use crate::platform::database::Statement;

/// Most bytes of JSON in one parameter, half of what D1 allows in a value.
const MAX_CHUNK_BYTES: usize = 1_000_000;

/// Runs `sql` over `rows`, each an array: the statement sees a chunk of them as `?1`, and the time as `?2`.
pub(super) fn write(sql: &'static str, rows: impl Iterator<Item = Json>, now: Timestamp) -> Vec<Statement> {
    chunks(rows).into_iter().map(|chunk| Statement::new(sql, vec![chunk.into(), now.0.into()])).collect()
}

/// Deletes the rows of `table` with these ids.
pub(super) fn delete(table: &'static str, ids: &[Arc<str>]) -> Vec<Statement> {
    let sql = format!("DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?1))");
    chunks(ids.iter().map(|id| Json::from(&**id)))
        .into_iter()
        .map(|chunk| Statement::new(Cow::Owned(sql.clone()), vec![chunk.into()]))
        .collect()
}

fn chunks(rows: impl Iterator<Item = Json>) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut chunk = String::new();
    for row in rows {
        let row = row.to_string();
        if !chunk.is_empty() && chunk.len() + row.len() + 2 > MAX_CHUNK_BYTES {
            chunks.push(format!("[{}]", std::mem::take(&mut chunk)));
        }
        if !chunk.is_empty() {
            chunk.push(',');
        }
        chunk.push_str(&row);
    }
    if !chunk.is_empty() {
        chunks.push(format!("[{chunk}]"));
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_stay_below_the_limit_and_lose_nothing() {
        let rows: Vec<Json> = (0..5).map(|number| Json::from(format!("{number}{}", "x".repeat(400_000)))).collect();
        let chunks = chunks(rows.iter().cloned());
        assert_eq!(chunks.len(), 3);
        assert!(chunks.iter().all(|chunk| chunk.len() <= MAX_CHUNK_BYTES));
        let back: Vec<Json> =
            chunks.iter().flat_map(|chunk| serde_json::from_str::<Vec<Json>>(chunk).unwrap()).collect();
        assert_eq!(back, rows);
        assert!(super::chunks(std::iter::empty()).is_empty());
    }
}
