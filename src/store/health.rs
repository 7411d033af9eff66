//! What keeps credentials, providers' models and quotas from being used for a while, as isolates tell it to each other.
//!
//! Every write puts `settings.health_revision` up first and notes it on its rows; [`read`] asks only for rows beyond a revision.

use std::sync::Arc;

use serde_json::json;

use super::usage::Unsettled;
use super::{BadRow, DecodeError, decode_all, quota_usage, revision};
use crate::platform::clock::Timestamp;
use crate::platform::database::{Row, Rows, Statement, Value};

/// Most rows that are read at once. Models are named by clients, so there may be any number.
pub const MAX_ROWS: i64 = 4096;

/// The `until` of what is not over by time.
pub const FOREVER: Timestamp = Timestamp(1 << 52);

/// For how long a row is kept when it is over, in milliseconds.
pub const HISTORY_MS: i64 = 7 * 86_400_000;

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A credential that is not valid.
    Dead,
    /// A credential that is not allowed to.
    Refused,
    /// A credential whose account has used up its quota.
    UsedUp,
    /// A credential that was too fast for a model.
    Limited,
    /// The breaker of a provider's model.
    Breaker,
    /// A quota that the vendor says is used up.
    Quota,
}

impl Kind {
    const ALL: [Self; 6] = [Self::Dead, Self::Refused, Self::UsedUp, Self::Limited, Self::Breaker, Self::Quota];

    /// The word in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::Refused => "refused",
            Self::UsedUp => "used_up",
            Self::Limited => "limited",
            Self::Breaker => "breaker",
            Self::Quota => "quota",
        }
    }

    /// The subject of a row: `about` is the id of a credential or a provider, or a quota's key.
    pub fn subject(self, about: &str, model: Option<&str>) -> Arc<str> {
        match model {
            Some(model) => format!("{}:{about}:{model}", self.name()).into(),
            None => format!("{}:{about}", self.name()).into(),
        }
    }
}

/// The counts and times of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Failures in a row.
    pub failures: i64,
    /// Successes in a row since it was last half-open.
    pub successes: i64,
    /// How long the last rest was meant to be.
    pub wait_ms: i64,
    /// When the last failure was.
    pub since: Timestamp,
    /// When the last rest is over; 0 when there is none, [`FOREVER`] when it is not over by time.
    pub until: Timestamp,
}

/// A row of `health`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthRow {
    /// What it is about, as its key.
    pub subject: Arc<str>,
    /// What it is about.
    pub kind: Kind,
    /// The provider.
    pub provider_id: Arc<str>,
    /// The credential, where it is about one.
    pub credential_id: Option<Arc<str>>,
    /// The model, where it is about one.
    pub model: Option<Arc<str>>,
    /// The counts and times.
    pub counts: Counts,
    /// Until when by the vendor's own word.
    pub hint: Option<Timestamp>,
    /// The upstream's status.
    pub status: u16,
    /// The cause, in a few words.
    pub cause: Arc<str>,
    /// The version of the secret that a refusal is about.
    pub secret_version: i64,
    /// At which revision it was written.
    pub revision: i64,
}

/// Something learnt that the other isolates have to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Somebody rests. The row is written unless one is there that lasts longer.
    Rests(Box<HealthRow>),
    /// A failure that counts for a breaker, as its first row would be; what is there already is counted on.
    ProviderFailed {
        /// The row if it is the first failure.
        first: Box<HealthRow>,
        /// After how many failures it opens.
        threshold: i64,
        /// For how long it then opens.
        opening_ms: i64,
        /// The longest time.
        cap_ms: i64,
        /// What the vendor asks for, within that.
        hint_ms: i64,
    },
    /// A success that counts for a breaker.
    ProviderSucceeded {
        /// The breaker's row.
        subject: Arc<str>,
        /// After how many successes it closes.
        threshold: i64,
        /// When the call began: a failure since then weighs more.
        began: Timestamp,
        /// When it ended.
        now: Timestamp,
    },
    /// A rest is over, because a call went well.
    Over {
        /// Its row.
        subject: Arc<str>,
        /// When the call began: what was learnt since then stands.
        began: Timestamp,
    },
    /// Something was spent of a quota.
    Spent {
        /// The quota.
        quota: Arc<str>,
        /// When the slice of its window began.
        slice: i64,
        /// How much.
        amount: i64,
        /// The first slice that still counts, if older ones are to be deleted.
        oldest: Option<i64>,
    },
}

const COLUMNS: &str = "subject, kind, provider_id, credential_id, model, failures, successes, wait_ms, since, until, hint, \
     status, cause, secret_version, revision";

/// Reads the revisions and, in the same statement, the rows that are newer than `known`: what every request asks, so there is one
/// statement and not two. What is about whole credentials comes first, since that must not be missing.
pub fn read(known: i64) -> Statement {
    Statement::new(
        "SELECT config_revision, routing_revision, credentials_revision, identity_revision, health_revision, \
         subject, kind, provider_id, credential_id, model, failures, successes, wait_ms, since, until, hint, status, cause, \
         secret_version, revision \
         FROM settings LEFT JOIN health ON health.revision > ?1 WHERE settings.id = 1 \
         ORDER BY kind IN ('dead', 'refused', 'used_up') DESC, revision DESC LIMIT 4096",
        vec![known.into()],
    )
}

/// Decodes the rows of `health` in what [`read`] returns; [`revision::decode`] the rest.
pub fn decode(rows: &Rows) -> (Vec<HealthRow>, Vec<BadRow>) {
    let found = rows.0.iter().filter(|row| !matches!(row.0.get(revision::COLUMNS), None | Some(Value::Null)));
    let found = found.map(|row| Row(row.0.get(revision::COLUMNS..).unwrap_or_default().to_vec()));
    decode_all("health", &Rows(found.collect()), decode_row)
}

fn decode_row(row: &Row) -> Result<HealthRow, DecodeError> {
    let kind = row.text(1)?;
    let kind = Kind::ALL.into_iter().find(|known| known.name() == &**kind);
    let time = |index| row.integer(index).map(Timestamp);
    Ok(HealthRow {
        subject: row.text(0)?.clone(),
        kind: kind.ok_or(DecodeError::Unknown("kind"))?,
        provider_id: row.text(2)?.clone(),
        credential_id: row.optional_text(3)?.cloned(),
        model: row.optional_text(4)?.cloned(),
        counts: Counts {
            failures: row.integer(5)?,
            successes: row.integer(6)?,
            wait_ms: row.integer(7)?,
            since: time(8)?,
            until: time(9)?,
        },
        hint: row.optional_integer(10)?.map(Timestamp),
        status: u16::try_from(row.integer(11)?).unwrap_or(0),
        cause: row.text(12)?.clone(),
        secret_version: row.integer(13)?,
        revision: row.integer(14)?,
    })
}

/// Writes what was learnt, once however often it is sent: only while `unsettled` is. Nothing for no notes.
pub fn write(notes: &[Note], unsettled: &Unsettled<'_>) -> Vec<Statement> {
    let mut statements = Vec::new();
    if !notes.is_empty() {
        let sql = format!("UPDATE settings SET health_revision = health_revision + 1 WHERE id = 1 AND {UNSETTLED}");
        statements.push(Statement::new(sql, unsettled.parameters().to_vec()));
    }
    for note in notes {
        match note {
            Note::Rests(row) => statements.push(rests(row, unsettled)),
            Note::ProviderFailed { first, threshold, opening_ms, cap_ms, hint_ms } => {
                let figures = [*threshold, *opening_ms, *cap_ms, *hint_ms];
                statements.push(provider_failed(first, figures, unsettled));
            }
            Note::ProviderSucceeded { subject, threshold, began, now } => {
                statements.push(provider_succeeded(subject, *threshold, *began, *now, unsettled));
            }
            Note::Over { subject, began } => statements.push(over(subject, *began, unsettled)),
            Note::Spent { quota, slice, amount, oldest } => {
                statements.push(quota_usage::add(quota, *slice, *amount, unsettled));
                statements.extend(oldest.map(|oldest| quota_usage::delete_before(quota, oldest)));
            }
        }
    }
    statements
}

/// What [`Unsettled::parameters`] are for; they come first.
pub(super) const UNSETTLED: &str = "NOT EXISTS (SELECT 1 FROM usage WHERE request_id = ?1 AND call = ?2)";

/// What was just put up.
const REVISION: &str = "(SELECT health_revision FROM settings WHERE id = 1)";

fn insert(row: &HealthRow, unsettled: &Unsettled<'_>, conflict: &str, more: Vec<Value>) -> Statement {
    let sql = format!(
        "INSERT INTO health ({COLUMNS}) \
         SELECT ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, health_revision FROM settings \
         WHERE id = 1 AND {UNSETTLED} ON CONFLICT (subject) DO UPDATE SET {conflict}, since = excluded.since, \
         hint = excluded.hint, status = excluded.status, cause = excluded.cause, \
         secret_version = excluded.secret_version, revision = excluded.revision"
    );
    let mut parameters = unsettled.parameters().to_vec();
    parameters.extend([
        (&row.subject).into(),
        row.kind.name().into(),
        (&row.provider_id).into(),
        row.credential_id.as_ref().into(),
        row.model.as_ref().into(),
        row.counts.failures.into(),
        row.counts.successes.into(),
        row.counts.wait_ms.into(),
        row.counts.since.0.into(),
        row.counts.until.0.into(),
        row.hint.map(|hint| hint.0).into(),
        i64::from(row.status).into(),
        (&row.cause).into(),
        row.secret_version.into(),
    ]);
    parameters.extend(more);
    Statement::new(sql, parameters)
}

fn rests(row: &HealthRow, unsettled: &Unsettled<'_>) -> Statement {
    const UPDATE: &str =
        "failures = excluded.failures, successes = 0, wait_ms = excluded.wait_ms, until = excluded.until";
    let mut statement = insert(row, unsettled, UPDATE, vec![]);
    statement.sql.to_mut().push_str(
        " WHERE excluded.secret_version > health.secret_version \
         OR (excluded.secret_version = health.secret_version AND excluded.until > health.until)",
    );
    statement
}

/// The same as the engine's `breaker::failed`, on what is in the database: failures of several isolates add up. Open, half-open and
/// closed, in this order.
fn provider_failed(first: &HealthRow, figures: [i64; 4], unsettled: &Unsettled<'_>) -> Statement {
    const WAIT: &str = "CASE \
         WHEN health.until > excluded.since THEN CASE WHEN health.wait_ms > ?20 THEN health.wait_ms ELSE ?20 END \
         WHEN health.until > 0 THEN CASE WHEN health.wait_ms * 2 >= ?19 THEN ?19 \
         WHEN health.wait_ms * 2 > ?20 THEN health.wait_ms * 2 ELSE ?20 END \
         WHEN health.failures + 1 >= ?17 THEN ?18 ELSE 0 END";
    let update = format!(
        "failures = CASE WHEN health.until > excluded.since THEN health.failures ELSE health.failures + 1 END, \
         successes = 0, wait_ms = {WAIT}, \
         until = CASE WHEN health.until = 0 AND health.failures + 1 < ?17 THEN 0 ELSE excluded.since + {WAIT} END"
    );
    insert(first, unsettled, &update, figures.map(Value::Integer).to_vec())
}

/// The same as the engine's `breaker::succeeded`, on what is in the database.
fn provider_succeeded(
    subject: &Arc<str>,
    threshold: i64,
    began: Timestamp,
    now: Timestamp,
    unsettled: &Unsettled<'_>,
) -> Statement {
    const CLOSES: &str = "CASE WHEN until = 0 OR successes + 1 >= ?4 THEN 0 ELSE";
    let sql = format!(
        "UPDATE health SET failures = {CLOSES} failures END, wait_ms = {CLOSES} wait_ms END, until = {CLOSES} until END, \
         successes = {CLOSES} successes + 1 END, revision = {REVISION} \
         WHERE subject = ?3 AND since <= ?5 AND until <= ?6 AND {UNSETTLED}"
    );
    let [request_id, call] = unsettled.parameters();
    let parameters = vec![request_id, call, subject.into(), threshold.into(), began.0.into(), now.0.into()];
    Statement::new(sql, parameters)
}

/// What takes a rest, an opening or a used-up quota off a row. The row stays, so that the others see it.
const CLEAR: &str = "failures = 0, successes = 0, wait_ms = 0, until = 0, hint = NULL";

fn over(subject: &Arc<str>, began: Timestamp, unsettled: &Unsettled<'_>) -> Statement {
    let sql = format!(
        "UPDATE health SET {CLEAR}, revision = {REVISION} WHERE subject = ?3 AND since <= ?4 AND {UNSETTLED} \
         AND (until <> 0 OR failures <> 0)"
    );
    let [request_id, call] = unsettled.parameters();
    Statement::new(sql, vec![request_id, call, subject.into(), began.0.into()])
}

/// How a lease on trying `subject` is called.
pub fn probe(subject: &str) -> String {
    format!("probe:{subject}")
}

/// What is to be reset.
#[derive(Debug, Clone, Default)]
pub struct Reset<'a> {
    /// Of these providers only, by their ids.
    pub providers: Option<Vec<&'a str>>,
    /// Of these credentials only, by their ids.
    pub credentials: Option<Vec<&'a str>>,
    /// The keys of their quotas.
    pub quotas: Vec<Arc<str>>,
    /// Whether what was spent of the quotas is forgotten too.
    pub usage: bool,
}

/// Ends rests, closes breakers and takes quotas for not used up.
pub fn reset(reset: &Reset<'_>) -> Vec<Statement> {
    const CHOSEN: &str = "(?1 IS NULL OR provider_id IN (SELECT value FROM json_each(?1))) \
         AND (?2 IS NULL OR credential_id IN (SELECT value FROM json_each(?2)))";
    let list = |ids: &Option<Vec<&str>>| Value::from(ids.as_ref().map(|ids| json!(ids).to_string()));
    let chosen = vec![list(&reset.providers), list(&reset.credentials)];
    let quotas: Value = json!(reset.quotas).to_string().into();
    let mut statements = vec![
        Statement::new("UPDATE settings SET health_revision = health_revision + 1 WHERE id = 1", vec![]),
        Statement::new(
            format!(
                "UPDATE health SET {CLEAR}, revision = {REVISION} WHERE {CHOSEN} AND (until <> 0 OR failures <> 0)"
            ),
            chosen.clone(),
        ),
        Statement::new(
            format!(
                "DELETE FROM leases WHERE subject IN (SELECT 'probe:' || subject FROM health WHERE {CHOSEN}) \
                 OR subject IN (SELECT 'probe:quota:' || value FROM json_each(?3))"
            ),
            [chosen, vec![quotas.clone()]].concat(),
        ),
    ];
    if !reset.usage {
        // The same again: the others see that what refuses them is over.
        let sql =
            format!("UPDATE quota_usage SET revision = {REVISION} WHERE quota IN (SELECT value FROM json_each(?1))");
        statements.push(Statement::new(sql, vec![quotas]));
    } else {
        let sql = format!(
            "UPDATE quota_usage SET amount = 0, revision = {REVISION} \
             WHERE quota IN (SELECT value FROM json_each(?1)) AND amount <> 0"
        );
        statements.push(Statement::new(sql, vec![quotas]));
    }
    statements
}

/// Deletes what has been over for long.
pub fn delete_history(now: Timestamp) -> Vec<Statement> {
    vec![
        Statement::new(
            "DELETE FROM health WHERE since < ?1 AND until < ?1",
            vec![now.0.saturating_sub(HISTORY_MS).into()],
        ),
        Statement::new("DELETE FROM leases WHERE until < ?1", vec![now.0.saturating_sub(HISTORY_MS).into()]),
        quota_usage::delete_history(now),
    ]
}
