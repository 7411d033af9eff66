//! Telling cheaply whether anything was committed since a read.
//!
//! Every commit to a database in WAL mode, by whatever process, changes the header of the WAL index, the file `-shm` beside the
//! database (<https://www.sqlite.org/walformat.html#the_wal_index_header>). Reading that header takes one system call; a query
//! takes several, and locks.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::Path;

/// One copy of the header; there are two, and they are equal unless a commit is just being made.
const HEADER_BYTES: usize = 48;

/// What is equal for two moments only when nothing was committed between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State([u8; HEADER_BYTES]);

/// Looks at the state of one database.
pub(super) struct StateReader {
    /// Never closed: closing any descriptor of a file drops all locks that the process holds on it, also SQLite's
    /// (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
    index: Option<ManuallyDrop<File>>,
}

impl StateReader {
    /// For the database at `path`, on which a connection has already read and stays open.
    pub(super) fn open(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push("-shm");
        Self { index: File::open(name).ok().map(ManuallyDrop::new) }
    }

    /// The state at this moment; `None` when that cannot be told.
    pub(super) fn now(&self) -> Option<State> {
        let mut copies = [0; 2 * HEADER_BYTES];
        read_beginning(self.index.as_deref()?, &mut copies)?;
        let (first, second) = copies.split_at(HEADER_BYTES);
        let is_told = first == second && first.iter().any(|byte| *byte != 0);
        is_told.then(|| first.try_into().ok().map(State)).flatten()
    }
}

#[cfg(unix)]
fn read_beginning(file: &File, bytes: &mut [u8]) -> Option<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0).ok()
}

#[cfg(not(unix))]
fn read_beginning(_file: &File, _bytes: &mut [u8]) -> Option<()> {
    None
}

#[cfg(test)]
mod tests {
    use tollgate::platform::database::Statement;

    use super::*;
    use crate::database::connection::Connection;

    #[test]
    fn a_commit_changes_the_state_and_a_read_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let (reader, writer) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
        let run = |connection: &Connection, sql: &'static str| connection.run(&Statement::new(sql, vec![])).unwrap();
        run(&writer, "CREATE TABLE t (a)");
        run(&reader, "SELECT * FROM t");
        let states = StateReader::open(&path);
        let mut seen = vec![states.now().expect("it can be told")];
        run(&reader, "SELECT * FROM t");
        assert_eq!(states.now().as_ref(), seen.last());
        for sql in [
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 2",
            "UPDATE t SET a = 1",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "DELETE FROM t",
        ] {
            run(&writer, sql);
            run(&reader, "SELECT * FROM t");
            let state = states.now().unwrap();
            assert!(sql.starts_with("PRAGMA") || !seen.contains(&state), "{sql}");
            seen.push(state);
        }
    }
}
