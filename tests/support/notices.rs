//! Notices between the isolates of one process, written into the journal.

use std::cell::Cell;
use std::rc::Rc;

use tollgate::platform::notices::Notices;

use super::world::Journal;

/// The newest revision that was published.
#[derive(Clone)]
pub struct FakeNotices {
    latest: Rc<Cell<i64>>,
    journal: Journal,
}

impl FakeNotices {
    pub fn new(journal: Journal) -> Self {
        Self { latest: Rc::default(), journal }
    }
}

impl Notices for FakeNotices {
    fn publish(&self, revision: i64) {
        self.journal.note(format!("notice {revision}"));
        self.latest.set(self.latest.get().max(revision));
    }

    fn latest(&self) -> i64 {
        self.latest.get()
    }
}
