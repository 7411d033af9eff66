//! How much of a quota is spent in its sliding window.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::platform::clock::Timestamp;
use crate::platform::database::MAX_INTEGER;
use crate::protocol::usage::Usage;
use crate::store::options::{Quota, Unit};
use crate::store::quota_usage::MAX_WINDOW_MS;

/// Into how many slices a window is cut.
const SLICES: i64 = 64;

/// Which quota it is: the same as long as it counts the same over the same time, whatever its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gauge {
    /// What is counted.
    pub(super) unit: Unit,
    /// The window in seconds.
    pub(super) window_seconds: i64,
}

impl Gauge {
    /// The gauge of a quota that holds; `None` for one that is switched off or has no budget.
    pub(super) fn of(quota: &Quota) -> Option<Self> {
        let seconds = quota.window_hours * 3600.0;
        let limit = limit(quota);
        let holds = quota.enabled && limit > 0.0 && seconds.is_finite() && seconds >= 1.0;
        let window_seconds = (seconds as i64).min(MAX_WINDOW_MS / 1000);
        holds.then_some(Self { unit: quota.unit, window_seconds })
    }

    /// The key in the database of this gauge of `owner`, the id of a provider or a credential.
    pub(super) fn key(self, owner: &str) -> Arc<str> {
        let unit = if self.unit == Unit::Tokens { "tokens" } else { "requests" };
        format!("{owner}:{unit}:{}", self.window_seconds).into()
    }

    /// Reads a key: the owner and the gauge.
    pub(super) fn parse(key: &str) -> Option<(&str, Self)> {
        let mut parts = key.splitn(3, ':');
        let owner = parts.next().filter(|owner| !owner.is_empty())?;
        let unit = match parts.next()? {
            "tokens" => Unit::Tokens,
            "requests" => Unit::Requests,
            _ => return None,
        };
        let window_seconds =
            parts.next()?.parse().ok().filter(|seconds| (1..=MAX_WINDOW_MS / 1000).contains(seconds))?;
        Some((owner, Self { unit, window_seconds }))
    }

    fn window_ms(self) -> i64 {
        self.window_seconds.saturating_mul(1000)
    }

    fn slice_ms(self) -> i64 {
        (self.window_ms() / SLICES).max(1000)
    }

    /// When the slice of `now` began.
    pub(super) fn slice(self, now: Timestamp) -> i64 {
        now.0.div_euclid(self.slice_ms()).saturating_mul(self.slice_ms())
    }

    /// The first slice that still counts at `now`. One that has left the window in part counts whole.
    pub(super) fn oldest(self, now: Timestamp) -> i64 {
        self.slice(Timestamp(now.0.saturating_sub(self.window_ms())))
    }

    /// What a call of `usage` counts.
    pub(super) fn amount(self, usage: &Usage) -> i64 {
        match self.unit {
            Unit::Requests => 1,
            Unit::Tokens => {
                let parts = [
                    usage.input,
                    usage.cache_write_short,
                    usage.cache_write_long,
                    usage.audio_input,
                    usage.output,
                    usage.reasoning,
                    usage.audio_output,
                ];
                let total = parts.into_iter().fold(0, u64::saturating_add);
                // A vendor may claim any number; sums have to stay within what a double holds.
                total.min(MAX_INTEGER as u64 >> 20) as i64
            }
        }
    }
}

/// At which amount `quota` is used up.
pub(super) fn limit(quota: &Quota) -> f64 {
    let limit = quota.budget as f64 * quota.threshold_percent / 100.0;
    if limit.is_finite() { limit } else { 0.0 }
}

/// What was spent, by the beginnings of slices, the revision at which each was read, and whether it was added to since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spent(BTreeMap<i64, (i64, i64, bool)>);

impl Spent {
    /// Adds `amount` to a slice; whether it is the first in it. What no longer counts is forgotten.
    pub(super) fn add(&mut self, slice: i64, amount: i64, oldest: i64) -> bool {
        self.forget_before(oldest);
        let is_first = !self.0.contains_key(&slice);
        let entry = self.0.entry(slice).or_default();
        (entry.0, entry.2) = (entry.0.saturating_add(amount), true);
        is_first
    }

    /// Takes over what the database says; whether that is less than what was known, or the same once more, which a reset leaves.
    pub(super) fn learn(&mut self, slice: i64, amount: i64, revision: i64, oldest: i64) -> bool {
        self.forget_before(oldest);
        if slice < oldest {
            return false;
        }
        let entry = self.0.entry(slice).or_default();
        if revision <= entry.1 {
            return false;
        }
        let is_reset = amount < entry.0 || (amount == entry.0 && entry.1 != 0 && !entry.2);
        *entry = (amount.max(0), revision, false);
        is_reset
    }

    fn forget_before(&mut self, oldest: i64) {
        while self.0.first_key_value().is_some_and(|(slice, _)| *slice < oldest) {
            self.0.pop_first();
        }
    }

    /// What counts at `now`.
    pub(super) fn total(&self, gauge: Gauge, now: Timestamp) -> i64 {
        self.0.range(gauge.oldest(now)..).fold(0, |sum: i64, (_, (amount, ..))| sum.saturating_add(*amount))
    }

    /// When so much has left the window that less than `limit` is left, if nothing is added.
    pub(super) fn below(&self, gauge: Gauge, limit: f64, now: Timestamp) -> Timestamp {
        let mut left = self.total(gauge, now);
        for (slice, (amount, ..)) in self.0.range(gauge.oldest(now)..) {
            left = left.saturating_sub(*amount);
            if (left as f64) < limit {
                let end = slice.saturating_add(gauge.slice_ms()).saturating_add(gauge.window_ms());
                return Timestamp(end);
            }
        }
        now
    }
}

/// After how many milliseconds one may try when the vendor says that a quota is used up: at the probe interval, or a tenth later than
/// the vendor says, as far as its word is taken. `None` for never.
pub(super) fn cap_wait(quota: &Quota, hint: Option<Duration>, ceiling_seconds: u32) -> Option<i64> {
    let interval = i64::from(quota.probe_interval_seconds) * 1000;
    let word = hint.and_then(|hint| i64::try_from(hint.as_millis()).ok()).filter(|hint| *hint > 0);
    let word = word.map(|word| word.saturating_add(word / 10).min(i64::from(ceiling_seconds) * 1000));
    Some(interval.max(word.unwrap_or(0))).filter(|wait| *wait > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(budget: u64, hours: f64, percent: f64) -> Quota {
        Quota { budget, window_hours: hours, threshold_percent: percent, ..Quota::default() }
    }

    #[test]
    fn only_what_holds_has_a_gauge() {
        let off = Quota { enabled: false, ..quota(5, 5.0, 99.0) };
        for quota in [
            off,
            quota(0, 5.0, 99.0),
            quota(5, 0.0, 99.0),
            quota(5, -1.0, 99.0),
            quota(5, f64::NAN, 99.0),
            quota(5, f64::INFINITY, 99.0),
            quota(5, 5.0, 0.0),
            quota(5, 5.0, f64::NAN),
        ] {
            assert_eq!(Gauge::of(&quota), None, "{quota:?}");
        }
        let gauge = Gauge::of(&quota(5_000_000, 5.0, 95.0)).unwrap();
        assert_eq!(gauge, Gauge { unit: Unit::Tokens, window_seconds: 18_000 });
        assert_eq!(limit(&quota(5_000_000, 5.0, 95.0)), 4_750_000.0);
        assert_eq!(Gauge::of(&quota(5, 1e300, 95.0)).unwrap().window_seconds, MAX_WINDOW_MS / 1000);
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let gauge = Gauge { unit: Unit::Requests, window_seconds: 604_800 };
        assert_eq!(Gauge::parse(&gauge.key("owner")), Some(("owner", gauge)));
        for damaged in ["", "a", "a:tokens", "a:money:5", "a:tokens:x", "a:tokens:-1", ":tokens:5", "a:tokens:5:6"] {
            assert_eq!(Gauge::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn what_counts() {
        let usage = Usage {
            input: 1,
            cache_read: 1000,
            cache_write_short: 2,
            cache_write_long: 4,
            audio_input: 8,
            output: 16,
            reasoning: 32,
            audio_output: 64,
        };
        let of = |unit, usage: &Usage| Gauge { unit, window_seconds: 60 }.amount(usage);
        assert_eq!((of(Unit::Tokens, &usage), of(Unit::Requests, &usage)), (127, 1));
        let absurd = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
        assert_eq!(of(Unit::Tokens, &absurd), MAX_INTEGER >> 20);
    }

    #[test]
    fn the_window_slides() {
        // A window of 64 seconds in slices of one.
        let gauge = Gauge { unit: Unit::Tokens, window_seconds: 64 };
        let mut spent = Spent::default();
        let at = |second: i64| Timestamp(second * 1000);
        for second in [100, 100, 110, 120] {
            spent.add(gauge.slice(at(second)), 10, gauge.oldest(at(second)));
        }
        for (second, expected) in [(120, 40), (164, 40), (165, 20), (174, 20), (175, 10), (185, 0), (1000, 0)] {
            assert_eq!(spent.total(gauge, at(second)), expected, "{second}");
        }
        assert_eq!(spent.below(gauge, 40.0, at(120)), at(165));
        assert_eq!(spent.below(gauge, 20.0, at(120)), at(175));
        assert_eq!(spent.below(gauge, 1.0, at(120)), at(185));
        assert_eq!(spent.total(gauge, Timestamp(spent.below(gauge, 20.0, at(120)).0 - 1)), 20);
        // What has left it is forgotten.
        assert!(spent.add(gauge.slice(at(300)), 1, gauge.oldest(at(300))));
        assert!(!spent.add(gauge.slice(at(300)), 1, gauge.oldest(at(300))));
        assert_eq!(spent.0.len(), 1);
    }

    #[test]
    fn an_older_figure_does_not_replace_a_newer_one() {
        let mut spent = Spent::default();
        assert!(!spent.learn(5, 100, 7, 0));
        assert!(!spent.learn(5, 40, 6, 0));
        assert_eq!(spent.0[&5], (100, 7, false));
        assert!(spent.learn(5, 40, 8, 0));
        // The same once more is a reset, unless it is the echo of what was added here.
        assert!(spent.learn(5, 40, 9, 0));
        spent.add(5, 2, 0);
        assert!(!spent.learn(5, 42, 10, 0));
        assert!(!spent.learn(4, 40, 9, 5));
        assert_eq!(spent.0.len(), 1);
    }

    #[test]
    fn when_one_may_try() {
        let with = |seconds| Quota { probe_interval_seconds: seconds, ..Quota::default() };
        let second = |seconds| Some(Duration::from_secs(seconds));
        for (interval, hint, expected) in [
            (300, None, Some(300_000)),
            (300, second(100), Some(300_000)),
            (300, second(1000), Some(1_100_000)),
            // As far as a vendor's word is taken; the operator's own interval may be longer.
            (300, second(500_000), Some(1_800_000)),
            (7200, second(500_000), Some(7_200_000)),
            (0, None, None),
            (0, second(10), Some(11_000)),
        ] {
            assert_eq!(cap_wait(&with(interval), hint, 1800), expected, "{interval} {hint:?}");
        }
    }
}
