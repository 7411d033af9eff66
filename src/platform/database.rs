//! A database of the shape that Cloudflare's D1 has: a batch of statements is one round trip and one transaction.
//!
//! Every port keeps to D1's limits (<https://developers.cloudflare.com/d1/platform/limits/>), the native one as well, so
//! that what passes on one host passes on the other.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;

/// Most bound parameters that one statement may have.
pub const MAX_PARAMETERS: usize = 100;
/// Longest SQL text of one statement, in bytes.
pub const MAX_STATEMENT_BYTES: usize = 100_000;
/// Longest text value, in bytes.
pub const MAX_VALUE_BYTES: usize = 2_000_000;
/// Integers are JavaScript doubles on the way to and from D1, so they stay below 2^53.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// One round trip, one transaction, all or nothing. There are no interactive transactions.
pub trait Database {
    /// Runs `statements` in order and returns the rows of each.
    ///
    /// The work is started by the call, not by the first poll, and goes on when the future is dropped.
    fn batch(
        &self,
        intent: Intent,
        statements: Vec<Statement>,
    ) -> LocalBoxFuture<'static, Result<Vec<Rows>, DatabaseError>>;

    /// How many batches this isolate has sent so far; tests count round trips with it.
    fn round_trips(&self) -> u64;
}

/// What a batch is for, which tells the host how to carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Reads only; may be served by the isolate's own connection or by a replica.
    Read,
    /// Writes that somebody waits for: durable when the future resolves.
    Write,
    /// Writes that nobody waits for. The host may gather them with others for up to 100 ms and resolves at once, without
    /// rows; it retries by itself what fails in passing. The statements must therefore be safe to repeat.
    Deferred,
}

/// One SQL statement with its parameters, bound to `?1`, `?2`, … in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The SQL text.
    pub sql: Cow<'static, str>,
    /// The values of `?1`, `?2`, ….
    pub parameters: Vec<Value>,
}

impl Statement {
    /// A statement with its parameters.
    pub fn new(sql: impl Into<Cow<'static, str>>, parameters: Vec<Value>) -> Self {
        Self { sql: sql.into(), parameters }
    }

    /// Checks D1's limits; each port calls this before it sends anything.
    pub fn check_limits(&self) -> Result<(), DatabaseError> {
        if self.parameters.len() > MAX_PARAMETERS {
            return Err(DatabaseError::limit(format!("{} bound parameters", self.parameters.len())));
        }
        if self.sql.len() > MAX_STATEMENT_BYTES {
            return Err(DatabaseError::limit(format!("a statement of {} bytes", self.sql.len())));
        }
        for parameter in &self.parameters {
            match parameter {
                Value::Text(text) if text.len() > MAX_VALUE_BYTES => {
                    return Err(DatabaseError::limit(format!("a value of {} bytes", text.len())));
                }
                Value::Integer(number) if number.unsigned_abs() > MAX_INTEGER.unsigned_abs() => {
                    return Err(DatabaseError::limit(format!("the integer {number}")));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A value in the database. There are no blobs: D1 hands them over as arrays of numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// An integer within ±2^53.
    Integer(i64),
    /// A floating point number.
    Real(f64),
    /// UTF-8 text.
    Text(Arc<str>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Arc<str>> for Value {
    fn from(text: &Arc<str>) -> Self {
        Self::Text(text.clone())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The rows that one statement returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows(pub Vec<Row>);

/// One row, its columns in the order of the SELECT or RETURNING list. Every column needs a name of its own in the SQL,
/// because D1 returns objects.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// The integer in column `index`.
    pub fn integer(&self, index: usize) -> Result<i64, ColumnError> {
        match self.0.get(index) {
            Some(Value::Integer(number)) => Ok(*number),
            // D1 knows one kind of number: a REAL column holding 1.0 arrives as 1, and 2^52 + 1 may come as a double.
            Some(Value::Real(number)) if number.fract() == 0.0 && number.abs() <= MAX_INTEGER as f64 => {
                Ok(*number as i64)
            }
            _ => Err(ColumnError { index, expected: "an integer" }),
        }
    }

    /// The flag in column `index`, 0 or 1.
    pub fn flag(&self, index: usize) -> Result<bool, ColumnError> {
        Ok(self.integer(index)? != 0)
    }

    /// The text in column `index`.
    pub fn text(&self, index: usize) -> Result<&Arc<str>, ColumnError> {
        match self.0.get(index) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(ColumnError { index, expected: "text" }),
        }
    }

    /// The integer in column `index`, or `None` for NULL.
    pub fn optional_integer(&self, index: usize) -> Result<Option<i64>, ColumnError> {
        if self.is_null(index) { Ok(None) } else { self.integer(index).map(Some) }
    }

    /// The text in column `index`, or `None` for NULL.
    pub fn optional_text(&self, index: usize) -> Result<Option<&Arc<str>>, ColumnError> {
        if self.is_null(index) { Ok(None) } else { self.text(index).map(Some) }
    }

    fn is_null(&self, index: usize) -> bool {
        matches!(self.0.get(index), Some(Value::Null))
    }
}

/// A column that does not hold what the code expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnError {
    /// The column, from 0.
    pub index: usize,
    /// What it should have held.
    pub expected: &'static str,
}

impl fmt::Display for ColumnError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "column {} does not hold {}", self.index, self.expected)
    }
}

impl std::error::Error for ColumnError {}

/// Why a batch failed. Nothing of it took effect, but for [`DatabaseErrorKind::Unknown`], and for
/// [`DatabaseErrorKind::Unavailable`] where the database is behind a network: there the answer may be what was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseError {
    /// What sort of failure it is.
    pub kind: DatabaseErrorKind,
    /// The database's own words; for logs, never for clients.
    pub message: String,
}

/// The sorts of failure that the core treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseErrorKind {
    /// The statement asks for more than D1 allows: a fault in our code.
    Limit,
    /// A table or column is missing: the schema is older than the code.
    Schema,
    /// A constraint was violated.
    Constraint,
    /// Locked, overloaded or out of reach; worth a retry.
    Unavailable,
    /// Anything else; whether it took effect is not known.
    Unknown,
}

/// By which words a database says that it may be able to later.
const UNAVAILABLE: [&str; 8] =
    ["locked", "busy", "overloaded", "unable to open", "disk I/O", "is full", "Network connection lost", "timed out"];

impl DatabaseError {
    /// An error from the database's own message, sorted by what it says.
    ///
    /// SQLite, libSQL and D1 share these texts, and D1 has no code beside its text.
    pub fn from_message(message: impl Into<String>) -> Self {
        let message = message.into();
        let kind = if message.contains("no such table") || message.contains("no such column") {
            DatabaseErrorKind::Schema
        } else if message.contains("constraint failed") {
            DatabaseErrorKind::Constraint
        } else if UNAVAILABLE.iter().any(|sign| message.contains(sign)) {
            DatabaseErrorKind::Unavailable
        } else {
            DatabaseErrorKind::Unknown
        };
        Self { kind, message }
    }

    /// The database cannot be asked at the moment.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self { kind: DatabaseErrorKind::Unavailable, message: message.into() }
    }

    fn limit(what: String) -> Self {
        Self { kind: DatabaseErrorKind::Limit, message: format!("{what} is more than D1 allows") }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for DatabaseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_d1() {
        let parameters = |count| Statement::new("SELECT 1", vec![Value::Null; count]);
        assert!(parameters(100).check_limits().is_ok());
        assert_eq!(parameters(101).check_limits().unwrap_err().kind, DatabaseErrorKind::Limit);
        assert!(Statement::new("x".repeat(100_001), vec![]).check_limits().is_err());
        assert!(Statement::new("SELECT ?1", vec![Value::Integer(1 << 53)]).check_limits().is_err());
        assert!(Statement::new("SELECT ?1", vec!["x".repeat(2_000_001).into()]).check_limits().is_err());
    }

    #[test]
    fn whole_doubles_are_integers() {
        let row = Row(vec![Value::Real(3.0), Value::Real(3.5), Value::Null]);
        assert_eq!(row.integer(0), Ok(3));
        assert!(row.integer(1).is_err());
        assert_eq!(row.optional_integer(2), Ok(None));
        assert!(row.integer(9).is_err());
    }
}
