//! The embedded database: a libSQL file. Each isolate reads on a connection of its own; one thread writes.

pub mod connection;
pub mod migrate;
pub mod writer;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use futures_util::future::{FutureExt, LocalBoxFuture, ready};
use tollgate::platform::database::{Database, DatabaseError, Intent, Rows, Statement};

use connection::Connection;
use writer::Writer;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "tollgate.db";

/// Where the database is.
pub fn path_in(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

/// The database as one isolate sees it.
pub struct NativeDatabase {
    reader: Connection,
    writer: Writer,
    round_trips: Cell<u64>,
}

impl NativeDatabase {
    /// An isolate's view of the database at `path`.
    pub fn open(path: &Path, writer: Writer) -> Result<Self, DatabaseError> {
        Ok(Self { reader: Connection::open(path)?, writer, round_trips: Cell::new(0) })
    }
}

impl Database for NativeDatabase {
    fn batch(
        &self,
        intent: Intent,
        statements: Vec<Statement>,
    ) -> LocalBoxFuture<'static, Result<Vec<Rows>, DatabaseError>> {
        self.round_trips.set(self.round_trips.get() + 1);
        match intent {
            Intent::Read => ready(self.reader.read(&statements)).boxed_local(),
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
