//! A fast hash that is the same everywhere: on each isolate, on both hosts, in each version.
//!
//! It chooses and does not protect: whoever wants two texts with the same hash finds them.

/// One 64-bit number from two; each bit of the result depends on all of theirs.
pub fn mix(first: u64, second: u64) -> u64 {
    fold(fold(first, second), 0x9e37_79b9_7f4a_7c15)
}

/// A folded product, as in wyhash.
fn fold(first: u64, second: u64) -> u64 {
    let product = u128::from(first ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(second ^ 0x8bb8_4b93_962e_acc9);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hash of `bytes`, continuing from `seed`.
pub fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(seed, |state, word| fold(state, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    for (place, byte) in last.iter_mut().zip(rest) {
        *place = *byte;
    }
    // The length tells a text from one that goes on with zeros.
    mix(fold(state, u64::from_le_bytes(last)), bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// A figure that changes moves every conversation to another account.
    #[test]
    fn it_never_changes() {
        assert_eq!(hash(0, b""), EMPTY);
        assert_eq!(hash(7, b"a conversation"), TEXT);
    }

    const EMPTY: u64 = 9_313_287_462_365_534_555;
    const TEXT: u64 = 3_807_097_094_658_959_733;

    #[test]
    fn texts_are_told_apart() {
        let texts: HashSet<u64> = (0..20_000).map(|number| hash(1, format!("session-{number}").as_bytes())).collect();
        assert_eq!(texts.len(), 20_000);
        for (one, other) in [("a", "a\0"), ("", "\0"), ("12345678", "12345678\0"), ("ab", "ba")] {
            assert_ne!(hash(1, one.as_bytes()), hash(1, other.as_bytes()), "{one:?}");
        }
        assert_ne!(hash(1, b"a"), hash(2, b"a"));
    }

    #[test]
    fn bits_are_even() {
        let mut ones = [0; 64];
        for number in 0..4096 {
            let hash = mix(number, 5);
            ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += (hash >> bit) & 1);
        }
        assert!(ones.iter().all(|ones| (1800..=2300).contains(ones)), "{ones:?}");
    }
}
