//! What requests took: a row for each call to an upstream, and totals over them.
//!
//! A request is settled with as few rows as can be, since D1 bills each. There is no second table of requests: the last
//! row of a request also tells how the request went.

use std::sync::Arc;

use serde::Serialize;

use super::{DecodeError, id};
use crate::platform::clock::Timestamp;
use crate::platform::database::{MAX_INTEGER, Row, Rows, Statement, Value};
use crate::protocol::usage::Usage;

/// What all rows of a request have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRecord {
    /// The request's id.
    pub request_id: Arc<str>,
    /// When it came.
    pub at: Timestamp,
    /// The id of the key it was made with.
    pub api_key_id: Arc<str>,
    /// That key's name.
    pub api_key: Arc<str>,
    /// The client's dialect.
    pub dialect: &'static str,
    /// The operation.
    pub operation: &'static str,
    /// The model as the client named it.
    pub model: Arc<str>,
    /// Whether the answer was to be streamed.
    pub stream: bool,
}

/// How a request went; it stands on the request's last row.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeRecord {
    /// In a word: `ok`, `failed`, `client_closed`, `upstream_cut` or `upstream_failed`.
    pub outcome: &'static str,
    /// The status of the response; 0 when the client left before there was one.
    pub status: u16,
    /// The code of what went wrong.
    pub error: Option<&'static str>,
    /// Milliseconds until the response began.
    pub first_byte_ms: Option<i64>,
    /// Milliseconds until its last byte.
    pub total_ms: i64,
    /// What a conversion between dialects could not carry over.
    pub conversion_loss: Option<Arc<str>>,
}

/// One call to an upstream.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// The provider's id.
    pub provider_id: Arc<str>,
    /// The provider's name.
    pub provider: Arc<str>,
    /// The credential's id, where there was one.
    pub credential_id: Option<Arc<str>>,
    /// The model as the provider names it.
    pub upstream_model: Arc<str>,
    /// The upstream's status; 0 when it did not answer.
    pub status: u16,
    /// The code of what went wrong.
    pub error: Option<&'static str>,
    /// What it took.
    pub usage: Usage,
    /// Whether that is an estimate.
    pub estimated: bool,
    /// Milliseconds from the request to the last byte of the answer.
    pub duration_ms: i64,
}

/// A request whose call of this number has no row yet: the condition under which what is added up elsewhere is added, so that a
/// batch can be sent again without effect. The row itself is written last.
pub struct Unsettled<'a> {
    request_id: &'a Arc<str>,
    call: i64,
}

impl<'a> Unsettled<'a> {
    /// For a batch that ends with the rows of `calls`.
    pub fn new(request: &'a RequestRecord, calls: &[CallRecord]) -> Self {
        Self { request_id: &request.request_id, call: calls.len().saturating_sub(1) as i64 }
    }

    pub(super) fn parameters(&self) -> [Value; 2] {
        [self.request_id.into(), self.call.into()]
    }
}

/// Settles a request: one batch, which can be sent again without effect, because every row has the request's id in its
/// primary key. What is to be added up elsewhere goes before these statements, on the condition of [`Unsettled`].
pub fn settle(request: &RequestRecord, calls: &[CallRecord], outcome: &OutcomeRecord) -> Vec<Statement> {
    let Some((last, failed)) = calls.split_last() else {
        return vec![insert(request, 0, None, Some(outcome))];
    };
    let mut statements = failed_calls(request, failed);
    statements.push(insert(request, failed.len(), Some(last), Some(outcome)));
    statements
}

/// Writes the first calls of a request that is not over yet. Settling it writes them again, without effect.
pub fn failed_calls(request: &RequestRecord, calls: &[CallRecord]) -> Vec<Statement> {
    calls.iter().enumerate().map(|(number, call)| insert(request, number, Some(call), None)).collect()
}

fn insert(
    request: &RequestRecord,
    number: usize,
    call: Option<&CallRecord>,
    outcome: Option<&OutcomeRecord>,
) -> Statement {
    let usage = call.map(|call| call.usage).unwrap_or_default();
    Statement::new(
        "INSERT INTO usage (request_id, call, at, api_key_id, api_key, dialect, operation, model, stream, provider_id, \
         provider, credential_id, upstream_model, status, error, input, cache_read, cache_write_short, cache_write_long, \
         audio_input, output, reasoning, audio_output, estimated, duration_ms, outcome, response_status, \
         response_error, first_byte_ms, total_ms, conversion_loss) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, \
         ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31) \
         ON CONFLICT (request_id, call) DO NOTHING",
        vec![
            (&request.request_id).into(),
            (number as i64).into(),
            request.at.0.into(),
            (&request.api_key_id).into(),
            (&request.api_key).into(),
            request.dialect.into(),
            request.operation.into(),
            (&request.model).into(),
            request.stream.into(),
            call.map(|call| &call.provider_id).into(),
            call.map(|call| &call.provider).into(),
            call.and_then(|call| call.credential_id.as_ref()).into(),
            call.map(|call| &call.upstream_model).into(),
            call.map_or(0, |call| i64::from(call.status)).into(),
            call.and_then(|call| call.error).into(),
            tokens(usage.input),
            tokens(usage.cache_read),
            tokens(usage.cache_write_short),
            tokens(usage.cache_write_long),
            tokens(usage.audio_input),
            tokens(usage.output),
            tokens(usage.reasoning),
            tokens(usage.audio_output),
            call.is_some_and(|call| call.estimated).into(),
            call.map_or(0, |call| call.duration_ms).into(),
            outcome.map(|outcome| outcome.outcome).into(),
            outcome.map(|outcome| i64::from(outcome.status)).into(),
            outcome.and_then(|outcome| outcome.error).into(),
            outcome.and_then(|outcome| outcome.first_byte_ms).into(),
            outcome.map(|outcome| outcome.total_ms).into(),
            outcome.and_then(|outcome| outcome.conversion_loss.as_ref()).into(),
        ],
    )
}

/// A vendor may claim any number; sums over many rows must stay within what a double holds.
fn tokens(count: u64) -> Value {
    Value::Integer(count.min(MAX_INTEGER as u64 >> 20) as i64)
}

/// What totals are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Grouping {
    /// By day, UTC.
    pub day: bool,
    /// By model as clients name it.
    pub model: bool,
    /// By provider.
    pub provider: bool,
    /// By key.
    pub api_key: bool,
}

/// Totals over calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The day, as `2026-11-30`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The model as clients name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// The provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Arc<str>>,
    /// The key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Arc<str>>,
    /// Requests.
    pub requests: i64,
    /// Calls to upstreams.
    pub calls: i64,
    /// Calls that did not succeed.
    pub failed_calls: i64,
    /// Calls whose tokens are estimated.
    pub estimated_calls: i64,
    /// See [`Usage::input`].
    pub input: i64,
    /// See [`Usage::cache_read`].
    pub cache_read: i64,
    /// See [`Usage::cache_write_short`].
    pub cache_write_short: i64,
    /// See [`Usage::cache_write_long`].
    pub cache_write_long: i64,
    /// See [`Usage::audio_input`].
    pub audio_input: i64,
    /// See [`Usage::output`].
    pub output: i64,
    /// See [`Usage::reasoning`].
    pub reasoning: i64,
    /// See [`Usage::audio_output`].
    pub audio_output: i64,
}

/// Milliseconds of a day, in UTC.
pub const MILLIS_PER_DAY: i64 = 86_400_000;

/// Sums over the calls of requests that came from `from` on and before `until`.
pub fn totals(grouping: Grouping, from: Timestamp, until: Timestamp) -> Statement {
    let columns = [
        (grouping.day, "at / 86400000", "day"),
        (grouping.model, "model", "model"),
        (grouping.provider, "provider", "provider"),
        (grouping.api_key, "api_key", "api_key"),
    ];
    let select: String = columns
        .iter()
        .map(|(wanted, expression, name)| format!("{} AS {name}_group, ", if *wanted { expression } else { "NULL" }))
        .collect();
    let groups: Vec<String> =
        columns.iter().filter(|column| column.0).map(|column| format!("{}_group", column.2)).collect();
    let group_by =
        if groups.is_empty() { String::new() } else { format!(" GROUP BY {0} ORDER BY {0}", groups.join(", ")) };
    Statement::new(
        format!(
            "SELECT {select}COUNT(outcome) AS requests, COUNT(provider_id) AS calls, \
             COUNT(CASE WHEN provider_id IS NOT NULL AND (status < 200 OR status > 299 OR error IS NOT NULL) THEN 1 END) AS failed_calls, \
             COALESCE(SUM(estimated), 0) AS estimated_calls, \
             COALESCE(SUM(input), 0) AS input, COALESCE(SUM(cache_read), 0) AS cache_read, \
             COALESCE(SUM(cache_write_short), 0) AS cache_write_short, \
             COALESCE(SUM(cache_write_long), 0) AS cache_write_long, \
             COALESCE(SUM(audio_input), 0) AS audio_input, COALESCE(SUM(output), 0) AS output, \
             COALESCE(SUM(reasoning), 0) AS reasoning, COALESCE(SUM(audio_output), 0) AS audio_output \
             FROM usage WHERE request_id >= ?1 AND request_id < ?2{group_by}"
        ),
        vec![(&id::floor(from)).into(), (&id::floor(until)).into()],
    )
}

/// Decodes what [`totals`] returns.
pub fn decode_totals(rows: &Rows) -> (Vec<Total>, Vec<super::BadRow>) {
    super::decode_all("usage", rows, decode_total)
}

fn decode_total(row: &Row) -> Result<Total, DecodeError> {
    let day = |day: i64| {
        let midnight = jiff::Timestamp::from_millisecond(day.saturating_mul(MILLIS_PER_DAY)).unwrap_or_default();
        midnight.to_string().split('T').next().unwrap_or_default().to_owned()
    };
    Ok(Total {
        day: row.optional_integer(0)?.map(day),
        model: row.optional_text(1)?.cloned(),
        provider: row.optional_text(2)?.cloned(),
        key: row.optional_text(3)?.cloned(),
        requests: row.integer(4)?,
        calls: row.integer(5)?,
        failed_calls: row.integer(6)?,
        estimated_calls: row.integer(7)?,
        input: row.integer(8)?,
        cache_read: row.integer(9)?,
        cache_write_short: row.integer(10)?,
        cache_write_long: row.integer(11)?,
        audio_input: row.integer(12)?,
        output: row.integer(13)?,
        reasoning: row.integer(14)?,
        audio_output: row.integer(15)?,
    })
}
