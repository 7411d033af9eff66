//! One connection to the embedded database.
//!
//! The `libsql` crate's interface is async, but on a local file it works at once: its futures are ready on the first poll.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt;
use tollgate::platform::database::{DatabaseError, Row, Rows, Statement, Value};

/// How long a statement waits for another process that holds the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection with its prepared statements. It belongs to one thread.
pub struct Connection {
    inner: libsql::Connection,
    prepared: RefCell<HashMap<SqlKey, libsql::Statement>>,
}

/// Tells one SQL text from another. Texts that are constants of the program, all those of the hot path, are told by their
/// address, which is much sooner compared than a text of hundreds of characters.
#[derive(PartialEq, Eq, Hash)]
enum SqlKey {
    Constant(usize, usize),
    Text(String),
}

impl SqlKey {
    fn of(statement: &Statement) -> Self {
        match &statement.sql {
            Cow::Borrowed(constant) => Self::Constant(constant.as_ptr() as usize, constant.len()),
            Cow::Owned(text) => Self::Text(text.clone()),
        }
    }
}

/// Most statements that are kept prepared; what is asked once in a while is not worth more.
const MAX_PREPARED: usize = 256;

impl Connection {
    /// Opens the database at `path`, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        // No mutex: the connection belongs to one thread.
        const NO_MUTEX: i32 = libsql::ffi::SQLITE_OPEN_NOMUTEX;
        let flags = libsql::OpenFlags::default() | libsql::OpenFlags::from_bits_retain(NO_MUTEX);
        let database = at_once(libsql::Builder::new_local(path).flags(flags).build())?;
        let inner = database.connect().map_err(convert)?;
        inner.busy_timeout(BUSY_TIMEOUT).map_err(convert)?;
        let connection = Self { inner, prepared: RefCell::default() };
        // The write-ahead log lets readers go on while the writer commits. `NORMAL` survives the death of the process; what
        // must also survive a power cut is committed under `FULL`.
        for pragma in ["journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "temp_store = MEMORY"] {
            connection.run(&Statement::new(format!("PRAGMA {pragma}"), vec![]))?;
        }
        connection.prepared.borrow_mut().clear();
        Ok(connection)
    }

    /// Runs one statement to its end.
    pub fn run(&self, statement: &Statement) -> Result<Rows, DatabaseError> {
        statement.check_limits()?;
        let mut prepared = self.prepared.borrow_mut();
        if prepared.len() >= MAX_PREPARED {
            prepared.clear();
        }
        let made = match prepared.entry(SqlKey::of(statement)) {
            Entry::Occupied(known) => &*known.into_mut(),
            Entry::Vacant(place) => &*place.insert(at_once(self.inner.prepare(&statement.sql))?),
        };
        let rows = collect(made, &statement.parameters);
        // Without it a read would hold its view of the database until the statement is used again.
        made.reset();
        rows
    }

    /// Runs several statements as one transaction that only reads.
    pub fn read(&self, statements: &[Statement]) -> Result<Vec<Rows>, DatabaseError> {
        match statements {
            [only] => Ok(vec![self.run(only)?]),
            several => self.transaction("BEGIN", || several.iter().map(|statement| self.run(statement)).collect()),
        }
    }

    /// Runs `work` as one transaction that writes.
    pub fn write<T>(&self, work: impl FnOnce() -> Result<T, DatabaseError>) -> Result<T, DatabaseError> {
        self.transaction("BEGIN IMMEDIATE", work)
    }

    /// Runs SQL text of any number of statements, such as a migration.
    pub fn run_script(&self, sql: &str) -> Result<(), DatabaseError> {
        at_once(self.inner.execute_batch(sql)).map(drop)
    }

    fn transaction<T>(
        &self,
        begin: &'static str,
        work: impl FnOnce() -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.run(&Statement::new(begin, vec![]))?;
        let result = work().and_then(|value| self.run(&Statement::new("COMMIT", vec![])).map(|_| value));
        // A full disk or an I/O error has already rolled back.
        if result.is_err() && !self.inner.is_autocommit() {
            self.run(&Statement::new("ROLLBACK", vec![]))?;
        }
        result
    }
}

fn collect(statement: &libsql::Statement, parameters: &[Value]) -> Result<Rows, DatabaseError> {
    let parameters: Vec<libsql::Value> = parameters.iter().map(to_libsql).collect();
    let mut rows = at_once(statement.query(parameters))?;
    let columns = rows.column_count();
    let mut collected = Vec::new();
    while let Some(row) = at_once(rows.next())? {
        let values: Result<Vec<Value>, DatabaseError> =
            (0..columns).map(|column| row.get_value(column).map_err(convert).and_then(from_libsql)).collect();
        collected.push(Row(values?));
    }
    Ok(Rows(collected))
}

fn to_libsql(value: &Value) -> libsql::Value {
    match value {
        Value::Null => libsql::Value::Null,
        Value::Integer(number) => libsql::Value::Integer(*number),
        Value::Real(number) => libsql::Value::Real(*number),
        Value::Text(text) => libsql::Value::Text(text.to_string()),
    }
}

fn from_libsql(value: libsql::Value) -> Result<Value, DatabaseError> {
    match value {
        libsql::Value::Null => Ok(Value::Null),
        libsql::Value::Integer(number) => Ok(Value::Integer(number)),
        libsql::Value::Real(number) => Ok(Value::Real(number)),
        libsql::Value::Text(text) => Ok(Value::Text(text.into())),
        libsql::Value::Blob(_) => Err(DatabaseError::from_message("a blob, which D1 does not hand over")),
    }
}

fn at_once<T>(future: impl Future<Output = libsql::Result<T>>) -> Result<T, DatabaseError> {
    future
        .now_or_never()
        .ok_or_else(|| DatabaseError::from_message("the embedded database did not answer at once"))?
        .map_err(convert)
}

fn convert(error: libsql::Error) -> DatabaseError {
    DatabaseError::from_message(error.to_string())
}
