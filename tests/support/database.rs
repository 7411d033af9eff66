//! A database in memory that several isolates share: with D1's limits, with its numbers, which are all doubles, and with
//! failures and delays where the test wants them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use tokio::sync::oneshot;
use tollgate::platform::database::{Database, DatabaseError, DatabaseErrorKind, Intent, Row, Rows, Statement, Value};
use tollgate::store::migration::MIGRATIONS;
use tollgate_native::database::connection::Connection;

use super::world::Journal;

/// What happens to a batch.
pub enum Trouble {
    /// It fails, and nothing of it took effect.
    Before(DatabaseErrorKind),
    /// It took effect, and yet it seems to have failed: the connection broke on the way back.
    After(DatabaseErrorKind),
    /// It takes effect at once, and its result arrives when the other end is released.
    Slow(oneshot::Receiver<()>),
    /// It is answered with rows of an earlier time, as by a replica that lags behind.
    Stale(Vec<Rows>),
    /// Nothing.
    None,
}

/// The data, and what is done to it.
pub struct Store {
    connection: Connection,
    /// Every batch that was sent, in order.
    pub batches: RefCell<Vec<Batch>>,
    trouble: RefCell<VecDeque<Trouble>>,
    journal: Journal,
}

/// A batch that was sent.
#[derive(Clone)]
pub struct Batch {
    pub intent: Intent,
    pub statements: Vec<Statement>,
}

impl Store {
    /// A database without any table.
    pub fn empty(journal: Journal) -> Rc<Self> {
        let connection = Connection::open(Path::new(":memory:")).expect("a database in memory");
        Rc::new(Self { connection, batches: RefCell::default(), trouble: RefCell::default(), journal })
    }

    /// Brings the schema up to date, as the operator does with a Worker's.
    pub fn migrate(&self) {
        for migration in &MIGRATIONS {
            self.connection.run_script(migration.sql).expect("a migration");
        }
    }

    /// Gives trouble to the coming batches, one each, in the order of these calls.
    pub fn trouble(&self, trouble: Trouble) {
        self.trouble.borrow_mut().push_back(trouble);
    }

    /// Lets the result of the next batch wait until the sender is used or dropped.
    pub fn hold_next(&self) -> oneshot::Sender<()> {
        let (release, released) = oneshot::channel();
        self.trouble(Trouble::Slow(released));
        release
    }

    /// Runs SQL of the test's own, past the isolates.
    pub fn run(&self, sql: &str) -> Vec<Vec<Value>> {
        let rows = self.connection.run(&Statement::new(sql.to_owned(), vec![])).expect("SQL of a test");
        rows.0.into_iter().map(|row| row.0).collect()
    }

    /// Runs a batch once more, as a host does that does not know whether it arrived.
    pub fn repeat(&self, batch: &Batch) {
        self.execute(&batch.statements).expect("a batch can be sent again");
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Rows>, DatabaseError> {
        let run = || statements.iter().map(|statement| self.connection.run(statement)).collect();
        let rows: Vec<Rows> = self.connection.write(run)?;
        Ok(rows.into_iter().map(as_d1_returns).collect())
    }

    fn batch(
        self: &Rc<Self>,
        intent: Intent,
        statements: Vec<Statement>,
    ) -> LocalBoxFuture<'static, Result<Vec<Rows>, DatabaseError>> {
        self.journal.note(format!("{intent:?} {}", statements.len()).to_lowercase());
        let trouble = self.trouble.borrow_mut().pop_front().unwrap_or(Trouble::None);
        self.batches.borrow_mut().push(Batch { intent, statements: statements.clone() });
        let failure = |kind| DatabaseError { kind, message: "the test wants it so".to_owned() };
        let result = match &trouble {
            Trouble::Before(kind) => Err(failure(*kind)),
            Trouble::After(kind) => self.execute(&statements).and(Err(failure(*kind))),
            Trouble::Stale(rows) => Ok(rows.clone()),
            Trouble::Slow(_) | Trouble::None => self.execute(&statements),
        };
        let result = result.map(|rows| if intent == Intent::Deferred { vec![] } else { rows });
        Box::pin(async move {
            if let Trouble::Slow(released) = trouble {
                let _ = released.await;
            }
            result
        })
    }
}

/// D1 knows one kind of number.
fn as_d1_returns(rows: Rows) -> Rows {
    let as_double = |value| match value {
        Value::Integer(number) => Value::Real(number as f64),
        other => other,
    };
    Rows(rows.0.into_iter().map(|row| Row(row.0.into_iter().map(as_double).collect())).collect())
}

/// The data as one isolate reaches it.
pub struct FakeDatabase {
    store: Rc<Store>,
    round_trips: Cell<u64>,
}

impl FakeDatabase {
    pub fn new(store: Rc<Store>) -> Self {
        Self { store, round_trips: Cell::new(0) }
    }
}

impl Database for FakeDatabase {
    fn batch(
        &self,
        intent: Intent,
        statements: Vec<Statement>,
    ) -> LocalBoxFuture<'static, Result<Vec<Rows>, DatabaseError>> {
        self.round_trips.set(self.round_trips.get() + 1);
        self.store.batch(intent, statements)
    }

    fn round_trips(&self) -> u64 {
        self.round_trips.get()
    }
}
