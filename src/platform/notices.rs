//! Hints between the isolates of one process that configuration has changed.
//!
//! A notice carries no state and may be lost. The `tick` that reads the revision from the database is what counts; a
//! notice only ends the staleness that an operator has allowed by `tick.max_age_ms`.

/// The newest revision that any isolate of this process is known to have written.
pub trait Notices {
    /// Tells the others that `revision` is committed.
    fn publish(&self, revision: i64);

    /// The newest revision published so far, 0 when there is none.
    fn latest(&self) -> i64;
}

/// For hosts whose isolates cannot reach each other.
pub struct NoNotices;

impl Notices for NoNotices {
    fn publish(&self, _revision: i64) {}

    fn latest(&self) -> i64 {
        0
    }
}
