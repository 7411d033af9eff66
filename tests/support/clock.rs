//! A clock that stands still until the test moves it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tollgate::platform::clock::{Clock, Timestamp};

/// The instant at which every world begins: 2026-11-30T00:00:00Z.
pub const BEGINNING: Timestamp = Timestamp(1_795_996_800_000);

/// Virtual time.
#[derive(Clone)]
pub struct FakeClock(Rc<State>);

struct State {
    now: Cell<i64>,
    sleepers: RefCell<Vec<Waker>>,
}

impl FakeClock {
    pub fn new() -> Self {
        Self(Rc::new(State { now: Cell::new(BEGINNING.0), sleepers: RefCell::default() }))
    }

    /// Lets time pass.
    pub fn advance(&self, duration: Duration) {
        self.0.now.set(self.0.now.get() + duration.as_millis() as i64);
        self.0.sleepers.take().into_iter().for_each(Waker::wake);
    }
}

impl FakeClock {
    /// Lets time pass for as long as `work` waits.
    pub async fn hurry<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        poll_fn(|context| {
            let polled = work.as_mut().poll(context);
            if polled.is_pending() {
                self.advance(Duration::from_secs(1));
            }
            polled
        })
        .await
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.now.get())
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        let (state, end) = (self.0.clone(), self.0.now.get() + duration.as_millis() as i64);
        Box::pin(poll_fn(move |context| {
            if state.now.get() >= end {
                return Poll::Ready(());
            }
            state.sleepers.borrow_mut().push(context.waker().clone());
            Poll::Pending
        }))
    }
}
