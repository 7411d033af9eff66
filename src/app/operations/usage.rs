//! What has been used.

use serde::Serialize;

use crate::app::error::AppError;
use crate::app::rfc3339;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::Intent;
use crate::store::usage::{self, Grouping, MILLIS_PER_DAY, Total};

/// How far back totals go when nothing is said.
const DEFAULT_DAYS: i64 = 30;

/// Which totals are wanted.
#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// The first instant, 30 days ago when left out.
    pub from: Option<Timestamp>,
    /// The instant after the last, now when left out.
    pub until: Option<Timestamp>,
    /// What to make totals for.
    pub grouping: Grouping,
}

/// Totals over a time.
#[derive(Debug, Serialize)]
pub struct UsageReport {
    /// The first instant.
    pub from: String,
    /// The instant after the last.
    pub until: String,
    /// The totals.
    pub totals: Vec<Total>,
}

/// Totals by what the query says.
pub async fn usage_list(scope: &Scope, query: &UsageQuery) -> Result<UsageReport, AppError> {
    let now = scope.clock.now();
    let from = query.from.unwrap_or(Timestamp(now.0 - DEFAULT_DAYS * MILLIS_PER_DAY));
    // The present millisecond belongs to it.
    let until = query.until.unwrap_or(Timestamp(now.0 + 1));
    let rows = scope.database.batch(Intent::Read, vec![usage::totals(query.grouping, from, until)]).await?;
    let (totals, _) = rows.first().map(usage::decode_totals).unwrap_or_default();
    Ok(UsageReport { from: rfc3339(from), until: rfc3339(until), totals })
}
