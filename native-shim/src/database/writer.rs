//! The one thread that writes.
//!
//! SQLite has one writer at a time, so the process has one: it takes everything that waits, from all isolates, and commits
//! it as one transaction. A batch that nobody waits for is held for a moment so that others can join it; that moment is all
//! that a crash can lose of them. A batch that fails must not take others along: the group is then rolled back, and each
//! batch gets a transaction of its own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tollgate::platform::database::{DatabaseError, DatabaseErrorKind, Rows, Statement};

use super::connection::Connection;

/// How long a batch that nobody waits for may wait for company.
const GATHERING: Duration = Duration::from_millis(50);
/// How many such batches are committed without waiting any longer.
const FULL_GROUP: usize = 4_000;
/// How many such batches may wait when the database does not keep up; what comes beyond is dropped and counted.
const MAX_DEFERRED: usize = 200_000;
/// How often a batch is tried when the database is locked or its disk is full, and the pause between.
const ATTEMPTS: u32 = 8;
const RETRY_PAUSE: Duration = Duration::from_millis(250);

type Outcome = Result<Vec<Rows>, DatabaseError>;

/// The way to the writer, shared by all isolates.
#[derive(Clone)]
pub struct Writer(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    awaited: Vec<Awaited>,
    deferred: Vec<Deferred>,
    /// When the first of `deferred` came.
    deferred_since: Option<Instant>,
    dropped: u64,
    closed: bool,
}

struct Awaited {
    statements: Vec<Statement>,
    reply: oneshot::Sender<Outcome>,
}

struct Deferred {
    statements: Vec<Statement>,
    attempts: u32,
}

impl Writer {
    /// Starts the thread, which owns `connection`.
    pub fn start(connection: Connection) -> std::io::Result<(Self, JoinHandle<()>)> {
        let shared = Arc::new(Shared { queue: Mutex::default(), wake: Condvar::new() });
        let thread_shared = shared.clone();
        let thread = std::thread::Builder::new()
            .name("database-writer".to_owned())
            .spawn(move || run(&connection, &thread_shared))?;
        Ok((Self(shared), thread))
    }

    /// Hands a batch over and waits until it is durable.
    pub fn write(&self, statements: Vec<Statement>) -> oneshot::Receiver<Outcome> {
        let (reply, receiver) = oneshot::channel();
        self.0.lock().awaited.push(Awaited { statements, reply });
        self.0.wake.notify_one();
        receiver
    }

    /// Hands a batch over without waiting.
    pub fn defer(&self, statements: Vec<Statement>) {
        let mut queue = self.0.lock();
        if queue.deferred.len() >= MAX_DEFERRED {
            queue.dropped += 1;
            return;
        }
        queue.deferred.push(Deferred { statements, attempts: 0 });
        if queue.deferred_since.is_none() {
            queue.deferred_since = Some(Instant::now());
            self.0.wake.notify_one();
        } else if queue.deferred.len() == FULL_GROUP {
            self.0.wake.notify_one();
        }
    }

    /// Lets the thread end when everything that waits is written.
    pub fn close(&self) {
        self.0.lock().closed = true;
        self.0.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for work and takes it. `None` when there is none left and there will be no more.
    fn next(&self) -> Option<Work> {
        let mut queue = self.lock();
        loop {
            let ripe = queue.deferred.len() >= FULL_GROUP
                || queue.deferred_since.is_some_and(|since| since.elapsed() >= GATHERING);
            if !queue.awaited.is_empty() || ripe || (queue.closed && !queue.deferred.is_empty()) {
                queue.deferred_since = None;
                return Some(Work {
                    awaited: std::mem::take(&mut queue.awaited),
                    deferred: std::mem::take(&mut queue.deferred),
                    dropped: std::mem::take(&mut queue.dropped),
                    closing: queue.closed,
                });
            }
            if queue.closed {
                return None;
            }
            queue = match queue.deferred_since {
                None => self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(since) => {
                    let rest = GATHERING.saturating_sub(since.elapsed());
                    self.wake.wait_timeout(queue, rest).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Puts batches back that could not be written for a passing reason.
    fn put_back(&self, mut batches: Vec<Deferred>) {
        if batches.is_empty() {
            return;
        }
        let mut queue = self.lock();
        batches.append(&mut queue.deferred);
        queue.deferred = batches;
        queue.deferred_since = Some(Instant::now());
    }
}

struct Work {
    awaited: Vec<Awaited>,
    deferred: Vec<Deferred>,
    dropped: u64,
    closing: bool,
}

fn run(connection: &Connection, shared: &Shared) {
    while let Some(Work { awaited, deferred, dropped, closing }) = shared.next() {
        if dropped > 0 {
            tracing::error!(dropped, "the database does not keep up; settlements are lost");
        }
        let batches =
            deferred.iter().map(|batch| &batch.statements).chain(awaited.iter().map(|batch| &batch.statements));
        let durable = !awaited.is_empty();
        match commit(connection, durable, batches) {
            Ok(rows) => {
                for (batch, rows) in awaited.into_iter().zip(rows.into_iter().skip(deferred.len())) {
                    // Who no longer waits does not need to know.
                    let _ = batch.reply.send(Ok(rows));
                }
            }
            Err(error) if error.kind == DatabaseErrorKind::Unavailable => {
                for batch in awaited {
                    let _ = batch.reply.send(Err(error.clone()));
                }
                let (again, lost): (Vec<_>, Vec<_>) = deferred
                    .into_iter()
                    .map(|batch| Deferred { attempts: batch.attempts + 1, ..batch })
                    .partition(|batch| batch.attempts < ATTEMPTS && !closing);
                if !lost.is_empty() {
                    tracing::error!(%error, lost = lost.len(), "settlements are lost");
                }
                shared.put_back(again);
                std::thread::sleep(RETRY_PAUSE);
            }
            Err(error) => {
                tracing::debug!(%error, "a group of writes failed; each is tried alone");
                for batch in deferred {
                    if let Err(error) = commit(connection, false, [&batch.statements].into_iter()) {
                        tracing::error!(%error, "a settlement is lost");
                    }
                }
                for batch in awaited {
                    let outcome = commit(connection, true, [&batch.statements].into_iter());
                    let _ = batch.reply.send(outcome.map(|mut rows| rows.pop().unwrap_or_default()));
                }
            }
        }
    }
}

/// Commits batches as one transaction; the rows of each batch.
fn commit<'a>(
    connection: &Connection,
    durable: bool,
    batches: impl Iterator<Item = &'a Vec<Statement>>,
) -> Result<Vec<Vec<Rows>>, DatabaseError> {
    let synchronous = if durable { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
    connection.run(&Statement::new(synchronous, vec![]))?;
    connection.write(|| {
        batches.map(|statements| statements.iter().map(|statement| connection.run(statement)).collect()).collect()
    })
}
