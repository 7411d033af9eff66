//! How long to wait before the same credential is asked again.

use std::time::Duration;

use crate::platform::random::Random;
use crate::store::options::Retry;

/// The pause before the retry with this number, from 0; `None` when the upstream wants a longer one than is ever made.
pub(super) fn pause(
    retry: &Retry,
    number: u32,
    retry_after: Option<Duration>,
    random: &dyn Random,
) -> Option<Duration> {
    let longest = Duration::from_millis(retry.max_delay_ms.into());
    if retry_after.is_some_and(|wanted| wanted > longest) {
        return None;
    }
    let multiplier = if retry.backoff_multiplier.is_finite() { retry.backoff_multiplier.max(1.0) } else { 1.0 };
    let grown = f64::from(retry.initial_delay_ms) * multiplier.powf(f64::from(number));
    let length = grown.min(f64::from(retry.max_delay_ms));
    let drawn = if retry.jitter { length * fraction(random) } else { length };
    let pause = Duration::from_millis(drawn as u64);
    Some(retry_after.map_or(pause, |wanted| wanted.max(pause)))
}

/// A number between 0 and 1.
fn fraction(random: &dyn Random) -> f64 {
    let mut bytes = [0; 4];
    random.fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Always(u8);

    impl Random for Always {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    const RETRY: Retry =
        Retry { max_retries: 9, initial_delay_ms: 500, max_delay_ms: 5000, backoff_multiplier: 2.0, jitter: false };

    #[test]
    fn pauses_grow_to_their_limit() {
        let millis = |number| pause(&RETRY, number, None, &Always(0)).map(|pause| pause.as_millis());
        assert_eq!([0, 1, 2, 3, 4, 400].map(millis), [500, 1000, 2000, 4000, 5000, 5000].map(Some));
    }

    #[test]
    fn jitter_is_anything_up_to_the_whole_pause() {
        let jittered = Retry { jitter: true, ..RETRY };
        for (byte, millis) in [(0, 0), (0x80, 501), (0xff, 1000)] {
            let drawn = pause(&jittered, 1, None, &Always(byte));
            assert_eq!(drawn.map(|pause| pause.as_millis()), Some(millis), "{byte}");
        }
    }

    #[test]
    fn the_vendors_word_makes_a_pause_longer_up_to_its_limit() {
        for (told, expected) in [(100, Some(500)), (700, Some(700)), (5000, Some(5000)), (5001, None)] {
            let told = Some(Duration::from_millis(told));
            assert_eq!(pause(&RETRY, 0, told, &Always(0)), expected.map(Duration::from_millis));
        }
    }

    #[test]
    fn nonsense_in_the_configuration_is_no_harm() {
        for backoff_multiplier in [f64::NAN, f64::INFINITY, -3.0, 0.0] {
            let odd = Retry { backoff_multiplier, ..RETRY };
            assert_eq!(pause(&odd, 3, None, &Always(0)), Some(Duration::from_millis(500)));
        }
    }
}
