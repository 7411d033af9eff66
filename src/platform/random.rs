//! Unpredictable bytes.

use std::cell::RefCell;

/// A source of random bytes fit for keys.
pub trait Random {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

const PAGE_BYTES: usize = 1024;

/// Asks a source for a page at a time, because each question costs more than the bytes.
pub struct PagedRandom<F> {
    source: F,
    page: RefCell<Page>,
}

struct Page {
    bytes: [u8; PAGE_BYTES],
    used: usize,
}

impl<F: Fn(&mut [u8])> PagedRandom<F> {
    /// Draws from `source`, which fills what it is given.
    pub fn new(source: F) -> Self {
        Self { source, page: RefCell::new(Page { bytes: [0; PAGE_BYTES], used: PAGE_BYTES }) }
    }
}

impl<F: Fn(&mut [u8])> Random for PagedRandom<F> {
    fn fill(&self, bytes: &mut [u8]) {
        let mut page = self.page.borrow_mut();
        for byte in bytes {
            if page.used == PAGE_BYTES {
                (self.source)(&mut page.bytes);
                page.used = 0;
            }
            let used = page.used;
            // Each byte is given out once and not kept.
            *byte = page.bytes.get_mut(used).map(std::mem::take).unwrap_or_default();
            page.used += 1;
        }
    }
}
