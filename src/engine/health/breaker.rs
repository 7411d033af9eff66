//! The breaker of a provider's model: closed, open, half-open.
//!
//! What is here is one isolate's view; `store/health.rs` does the same to what all isolates share.

use crate::platform::clock::Timestamp;
use crate::store::health::Counts;
use crate::store::options::Breaker;

/// Where a breaker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// All is well.
    Closed,
    /// It has failed too often.
    Open,
    /// It was open for its time and is tried.
    HalfOpen,
}

impl State {
    /// The state as reports write it.
    pub(super) fn name(self) -> &'static str {
        const NAMES: [&str; 3] = ["closed", "open", "half_open"];
        NAMES.get(self as usize).copied().unwrap_or_default()
    }
}

/// Where a breaker with these counts stands at `now`.
pub(super) fn state(counts: Counts, now: Timestamp) -> State {
    if counts.until.0 == 0 {
        State::Closed
    } else if counts.until > now {
        State::Open
    } else {
        State::HalfOpen
    }
}

/// The figures by which failures are counted, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Figures {
    /// After how many failures it opens.
    pub(super) threshold: i64,
    /// For how long it opens first.
    pub(super) opening_ms: i64,
    /// The longest time.
    pub(super) cap_ms: i64,
    /// What the vendor asks for, within that.
    pub(super) hint_ms: i64,
}

/// The figures of `options` for a failure with which the vendor asked for `hint_ms`.
pub(super) fn figures(options: &Breaker, hint_ms: Option<i64>) -> Figures {
    let cap_ms = i64::from(options.max_recovery_seconds) * 1000;
    let hint_ms = hint_ms.unwrap_or(0).clamp(0, cap_ms);
    Figures {
        threshold: i64::from(options.failure_threshold.max(1)),
        opening_ms: (i64::from(options.recovery_timeout_seconds) * 1000).min(cap_ms).max(hint_ms),
        cap_ms,
        hint_ms,
    }
}

/// The counts after a failure at `now`.
pub(super) fn failed(counts: Counts, figures: Figures, now: Timestamp) -> Counts {
    let Figures { threshold, opening_ms, cap_ms, hint_ms } = figures;
    let state = state(counts, now);
    // A failure while it is open is of a call that was made in need, or before: no news, but the time counts from the last.
    let failures = if state == State::Open { counts.failures } else { counts.failures.saturating_add(1) };
    let wait_ms = match state {
        State::Open => counts.wait_ms.max(hint_ms),
        State::HalfOpen => counts.wait_ms.saturating_mul(2).min(cap_ms).max(hint_ms),
        State::Closed if failures >= threshold => opening_ms,
        State::Closed => 0,
    };
    let stays_closed = state == State::Closed && failures < threshold;
    let until = if stays_closed { Timestamp(0) } else { Timestamp(now.0.saturating_add(wait_ms)) };
    Counts { failures, successes: 0, wait_ms, since: now, until }
}

/// The counts after a call that began at `began` and went well; `None` when that changes nothing.
pub(super) fn succeeded(counts: Counts, threshold: u32, began: Timestamp, now: Timestamp) -> Option<Counts> {
    // What failed since the call began weighs more than that call.
    if counts.since > began {
        return None;
    }
    let closed = Counts { since: counts.since, ..Counts::default() };
    match state(counts, now) {
        State::Closed => (counts.failures > 0).then_some(closed),
        State::Open => None,
        State::HalfOpen if counts.successes.saturating_add(1) >= i64::from(threshold) => Some(closed),
        State::HalfOpen => Some(Counts { successes: counts.successes + 1, ..counts }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(threshold: u32, recovery: u32, cap: u32) -> Breaker {
        Breaker {
            failure_threshold: threshold,
            recovery_timeout_seconds: recovery,
            max_recovery_seconds: cap,
            ..Breaker::default()
        }
    }

    /// A breaker that opened at second 0 for `wait` seconds.
    fn opened(wait: i64) -> Counts {
        Counts {
            failures: 3,
            successes: 0,
            wait_ms: wait * 1000,
            since: Timestamp(1),
            until: Timestamp(1 + wait * 1000),
        }
    }

    #[test]
    fn it_opens_after_so_many_failures_in_a_row() {
        let mut counts = Counts::default();
        for (second, failures, expected) in [(1, 1, State::Closed), (2, 2, State::Closed), (3, 3, State::Open)] {
            let now = Timestamp(second * 1000);
            counts = failed(counts, figures(&options(3, 300, 3600), None), now);
            assert_eq!((counts.failures, state(counts, now)), (failures, expected));
        }
        assert_eq!((counts.until, counts.wait_ms, counts.since), (Timestamp(303_000), 300_000, Timestamp(3000)));
        assert_eq!(state(counts, Timestamp(302_999)), State::Open);
        assert_eq!(state(counts, Timestamp(303_000)), State::HalfOpen);
    }

    #[test]
    fn the_wait_follows_from_what_was_and_what_the_vendor_says() {
        // Counts before, now, the vendor's word in seconds, the wait afterwards in seconds, the cap being 1000.
        for (name, before, now, hint, expected) in [
            ("opens", Counts { failures: 2, ..Counts::default() }, 5, None, 300),
            ("a longer hint", Counts { failures: 2, ..Counts::default() }, 5, Some(400), 400),
            ("a shorter hint", Counts { failures: 2, ..Counts::default() }, 5, Some(10), 300),
            ("a hint beyond the cap", Counts { failures: 2, ..Counts::default() }, 5, Some(9000), 1000),
            ("half-open doubles", opened(300), 400, None, 600),
            ("and doubles up to the cap", opened(600), 700, None, 1000),
            ("half-open with a longer hint", opened(300), 400, Some(700), 700),
            ("half-open with a shorter hint", opened(300), 400, Some(500), 600),
            ("open stays as it is", opened(300), 100, None, 300),
            ("open with a longer hint", opened(300), 100, Some(500), 500),
        ] {
            let now = Timestamp(now * 1000);
            let after = failed(before, figures(&options(3, 300, 1000), hint.map(|hint| hint * 1000)), now);
            assert_eq!(after.wait_ms, expected * 1000, "{name}");
            assert_eq!((after.until, after.since), (Timestamp(now.0 + expected * 1000), now), "{name}");
        }
    }

    #[test]
    fn a_success_resets_or_closes() {
        let half_open = Timestamp(301_001);
        let once = Counts { successes: 1, ..opened(300) };
        let closed = Some(Counts { since: Timestamp(1), ..Counts::default() });
        let counting = Counts { failures: 2, since: Timestamp(1), ..Counts::default() };
        for (name, counts, threshold, began, now, expected) in [
            ("closed and clean", Counts::default(), 2, Timestamp(5), Timestamp(9), None),
            ("closed after failures", counting, 2, Timestamp(5), Timestamp(9), closed),
            ("begun before the failure", counting, 2, Timestamp(0), Timestamp(9), None),
            ("open", opened(300), 2, Timestamp(5), Timestamp(9), None),
            ("half-open, the first", opened(300), 2, half_open, half_open, Some(once)),
            ("half-open, the second", once, 2, half_open, half_open, closed),
            ("half-open, one is enough", opened(300), 1, half_open, half_open, closed),
            ("half-open, none is needed", opened(300), 0, half_open, half_open, closed),
        ] {
            assert_eq!(succeeded(counts, threshold, began, now), expected, "{name}");
        }
    }

    #[test]
    fn a_failure_while_half_open_forgets_the_successes() {
        let counts = Counts { successes: 1, ..opened(300) };
        assert_eq!(failed(counts, figures(&options(3, 300, 3600), None), Timestamp(400_000)).successes, 0);
    }

    /// Closed means that the wait begins anew.
    #[test]
    fn the_wait_is_at_its_base_again_when_it_has_closed() {
        let figures = figures(&options(1, 300, 3600), None);
        let mut counts = failed(Counts::default(), figures, Timestamp(1000));
        counts = failed(counts, figures, counts.until);
        assert_eq!(counts.wait_ms, 600_000);
        let now = counts.until;
        counts = succeeded(counts, 1, now, now).unwrap();
        assert_eq!(failed(counts, figures, Timestamp(now.0 + 1)).wait_ms, 300_000);
    }

    #[test]
    fn absurd_figures_do_no_harm() {
        let options = options(0, u32::MAX, u32::MAX);
        let counts = Counts { failures: i64::MAX, wait_ms: i64::MAX, until: Timestamp(1), ..Counts::default() };
        let figures = figures(&options, Some(i64::MAX));
        assert_eq!(failed(counts, figures, Timestamp(i64::MAX)).until, Timestamp(i64::MAX));
    }
}
