//! What was spent of quotas, in slices of their windows.

use std::sync::Arc;

use super::health::UNSETTLED;
use super::usage::Unsettled;
use super::{BadRow, decode_all};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};

/// The longest window, in milliseconds.
pub const MAX_WINDOW_MS: i64 = 366 * 86_400_000;

/// A row of `quota_usage`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaUsageRow {
    /// The quota's key: whose it is, what is counted, and the window in seconds, with colons between.
    pub quota: Arc<str>,
    /// When the slice began, in milliseconds since the Unix epoch.
    pub slice: i64,
    /// What was spent in it.
    pub amount: i64,
    /// At which revision it was written.
    pub revision: i64,
}

/// Reads the rows that are newer than `known`.
pub fn read(known: i64) -> Statement {
    Statement::new("SELECT quota, slice, amount, revision FROM quota_usage WHERE revision > ?1", vec![known.into()])
}

/// Decodes what [`read`] returns.
pub fn decode(rows: &Rows) -> (Vec<QuotaUsageRow>, Vec<BadRow>) {
    decode_all("quota_usage", rows, |row| {
        Ok(QuotaUsageRow {
            quota: row.text(0)?.clone(),
            slice: row.integer(1)?,
            amount: row.integer(2)?,
            revision: row.integer(3)?,
        })
    })
}

/// Adds to a slice while `unsettled` is.
pub(super) fn add(quota: &Arc<str>, slice: i64, amount: i64, unsettled: &Unsettled<'_>) -> Statement {
    let sql = format!(
        "INSERT INTO quota_usage (quota, slice, amount, revision) SELECT ?3, ?4, ?5, health_revision FROM settings \
         WHERE id = 1 AND {UNSETTLED} ON CONFLICT (quota, slice) DO UPDATE SET \
         amount = quota_usage.amount + excluded.amount, revision = excluded.revision"
    );
    let [request_id, call] = unsettled.parameters();
    Statement::new(sql, vec![request_id, call, quota.into(), slice.into(), amount.into()])
}

/// Deletes the slices of a quota that have left its window.
pub(super) fn delete_before(quota: &Arc<str>, oldest: i64) -> Statement {
    Statement::new("DELETE FROM quota_usage WHERE quota = ?1 AND slice < ?2", vec![quota.into(), oldest.into()])
}

/// Deletes what no window reaches back to, such as of quotas that are gone.
pub(super) fn delete_history(now: Timestamp) -> Statement {
    Statement::new("DELETE FROM quota_usage WHERE slice < ?1", vec![now.0.saturating_sub(2 * MAX_WINDOW_MS).into()])
}
