//! Identifiers: 26 characters, the first ten of which are the time, so that rows sort by their age.

use std::sync::Arc;

use crate::platform::Scope;
use crate::platform::clock::Timestamp;

/// Crockford's base 32 in lower case.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH: usize = 10;
const LENGTH: usize = 26;

/// A new identifier: 48 bits of milliseconds and 80 random bits, as ULIDs have them.
pub fn new(scope: &Scope) -> Arc<str> {
    let mut random = [0; 10];
    scope.random.fill(&mut random);
    encode(scope.clock.now(), random)
}

/// The least identifier that can have been made at or after `time`.
pub fn floor(time: Timestamp) -> Arc<str> {
    encode(time, [0; 10])
}

fn encode(time: Timestamp, random: [u8; 10]) -> Arc<str> {
    let mut tail = [0; 16];
    let (_, low) = tail.split_at_mut(6);
    low.copy_from_slice(&random);
    let random = u128::from_be_bytes(tail);
    let millis = time.0.max(0) as u128;
    let text: [u8; LENGTH] = std::array::from_fn(|index| {
        let bits = if index < TIME_LENGTH {
            millis >> (5 * (TIME_LENGTH - 1 - index))
        } else {
            random >> (5 * (LENGTH - 1 - index))
        };
        *ALPHABET.get((bits & 31) as usize).unwrap_or(&b'0')
    });
    str::from_utf8(&text).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_sort_by_time() {
        let ids = [0, 1, 31, 32, 1_790_000_000_000].map(|time| encode(Timestamp(time), [255; 10]));
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.len() == LENGTH));
        assert!(floor(Timestamp(1)) > encode(Timestamp(0), [255; 10]));
        assert!(floor(Timestamp(1)) < encode(Timestamp(1), [1; 10]));
    }
}
