//! Maps by ids of our own making, which need no defence against chosen keys: looking one up costs a few nanoseconds.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A map by id.
pub(super) type IdMap<T> = HashMap<Arc<str>, T, BuildHasherDefault<IdHasher>>;

/// Folds eight bytes at a time.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.fold(word.try_into().map_or(0, u64::from_le_bytes));
        }
        let rest = words.remainder().iter().fold(1, |word: u64, byte| word << 8 | u64::from(*byte));
        self.fold(rest);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl IdHasher {
    fn fold(&mut self, word: u64) {
        // The multiplier of the golden ratio; the upper bits, which maps look at first, depend on all of the word.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::Hash;

    use super::*;

    #[test]
    fn ids_that_differ_in_a_letter_have_other_hashes() {
        let hash = |id: &str| {
            let mut hasher = IdHasher::default();
            id.hash(&mut hasher);
            hasher.finish()
        };
        let ids: Vec<String> = (0..10_000).map(|number| format!("01jdy3m8rk0000000000{number:06}")).collect();
        let hashes: HashSet<u64> = ids.iter().map(|id| hash(id)).collect();
        assert_eq!(hashes.len(), ids.len());
        let buckets: HashSet<u64> = ids.iter().map(|id| hash(id) % 16_384).collect();
        assert!(buckets.len() > 6_000, "{}", buckets.len());
    }
}
