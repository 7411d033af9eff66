//! The time, and waiting for it.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Whole milliseconds from `earlier` until this instant; zero when the clock stepped back.
    pub fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    /// Whole seconds since the epoch, as vendors write them.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

/// A clock. On Workers it stands still between two I/O operations, so it measures waiting, never computing.
pub trait Clock {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// Ends after `duration`.
    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()>;
}
