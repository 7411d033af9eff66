//! The embedded database: a libSQL file. Each isolate reads on a connection of its own; one thread writes.
//!
//! What every request asks, whether anything has changed, is asked again only when something was committed.

pub mod connection;
pub mod migrate;
mod state;
pub mod writer;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use futures_util::future::{FutureExt, LocalBoxFuture, ready};
use tollgate::platform::database::{Database, DatabaseError, Intent, Rows, Statement};

use connection::Connection;
use state::{State, StateReader};
use writer::Writer;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "tollgate.db";

/// How many rows a read may have that is remembered.
const MAX_REMEMBERED_ROWS: usize = 8;

/// Where the database is.
pub fn path_in(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

/// The database as one isolate sees it.
pub struct NativeDatabase {
    reader: Connection,
    states: StateReader,
    last_read: RefCell<Option<LastRead>>,
    writer: Writer,
    round_trips: Cell<u64>,
}

impl NativeDatabase {
    /// An isolate's view of the database at `path`.
    pub fn open(path: &Path, writer: Writer) -> Result<Self, DatabaseError> {
        let reader = Connection::open(path)?;
        let states = StateReader::open(path);
        Ok(Self { reader, states, last_read: RefCell::default(), writer, round_trips: Cell::new(0) })
    }

    fn read(&self, statements: Vec<Statement>) -> Result<Vec<Rows>, DatabaseError> {
        // Before the read: what is committed while it runs makes it run again next time.
        let state = self.states.now();
        let mut last = self.last_read.borrow_mut();
        if let (Some(state), Some(last)) = (state, &*last)
            && last.state == state
            && last.statements == statements
        {
            return Ok(last.rows.clone());
        }
        let rows = self.reader.read(&statements)?;
        // A whole table that is read once in a while is not worth the memory.
        if rows.iter().map(|rows| rows.0.len()).sum::<usize>() <= MAX_REMEMBERED_ROWS {
            *last = state.map(|state| LastRead { state, statements, rows: rows.clone() });
        }
        Ok(rows)
    }
}

/// A read, and the state of the database that it was made at or after. No statement of the core reads anything but tables and
/// its parameters, so as long as the state is the same the answer is.
struct LastRead {
    state: State,
    statements: Vec<Statement>,
    rows: Vec<Rows>,
}

impl Database for NativeDatabase {
    fn batch(
        &self,
        intent: Intent,
        statements: Vec<Statement>,
    ) -> LocalBoxFuture<'static, Result<Vec<Rows>, DatabaseError>> {
        self.round_trips.set(self.round_trips.get() + 1);
        match intent {
            Intent::Read => ready(self.read(statements)).boxed_local(),
            Intent::Write => {
                let reply = self.writer.write(statements);
                async move {
                    reply.await.unwrap_or_else(|_| Err(DatabaseError::from_message("the database-writer is gone")))
                }
                .boxed_local()
            }
            Intent::Deferred => {
                self.writer.defer(statements);
                ready(Ok(vec![])).boxed_local()
            }
        }
    }

    fn round_trips(&self) -> u64 {
        self.round_trips.get()
    }
}
