//! The small ports, and running things on the isolate's own thread.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::LocalBoxFuture;
use tokio::sync::Notify;
use tollgate::platform::clock::{Clock, Timestamp};
use tollgate::platform::notices::Notices;
use tollgate::platform::random::{PagedRandom, Random};
use tollgate::platform::tasks::Tasks;
use tollgate::platform::variables::Variables;

/// Spawns hyper's tasks on the isolate's own thread.
#[derive(Debug, Clone, Copy)]
pub struct LocalExecutor;

impl<F: Future + 'static> hyper::rt::Executor<F> for LocalExecutor {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(async move {
            future.await;
        });
    }
}

/// The system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since_epoch.as_millis() as i64)
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The system's random source.
pub fn system_random() -> impl Random {
    PagedRandom::new(fill_from_system)
}

#[expect(clippy::panic, reason = "without random bytes there are no secrets, and nothing may go on")]
fn fill_from_system(bytes: &mut [u8]) {
    if let Err(error) = getrandom::fill(bytes) {
        panic!("the system gives no random bytes: {error}");
    }
}

/// Tasks on the isolate's thread, counted so that it can end when they have.
#[derive(Clone, Default)]
pub struct LocalTasks(Rc<TaskCount>);

#[derive(Default)]
struct TaskCount {
    running: Cell<usize>,
    ended: Notify,
}

impl LocalTasks {
    /// Ends when no task is running.
    pub async fn all_ended(&self) {
        while self.0.running.get() > 0 {
            self.0.ended.notified().await;
        }
    }
}

impl Tasks for LocalTasks {
    fn wait_until(&self, task: LocalBoxFuture<'static, ()>) {
        let count = self.0.clone();
        count.running.set(count.running.get() + 1);
        tokio::task::spawn_local(async move {
            task.await;
            count.running.set(count.running.get() - 1);
            count.ended.notify_waiters();
        });
    }
}

/// The newest revision written by any isolate of this process.
#[derive(Clone, Default)]
pub struct ProcessNotices(Arc<AtomicI64>);

impl Notices for ProcessNotices {
    fn publish(&self, revision: i64) {
        self.0.fetch_max(revision, Ordering::Relaxed);
    }

    fn latest(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The process's environment.
pub struct Environment;

impl Variables for Environment {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}
