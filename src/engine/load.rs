//! How busy upstreams are, as far as this isolate can tell.

use std::cell::Cell;
use std::rc::Rc;

use crate::platform::clock::Timestamp;

/// After how long without a call what is known of the time that one takes counts half.
const HALF_LIFE_MS: i64 = 60_000;
/// After how long it is not known any more.
const KNOWN_MS: i64 = 5 * HALF_LIFE_MS;

/// The calls to one upstream, or with one credential.
#[derive(Debug, Default)]
pub struct Load {
    under_way: Cell<u32>,
    /// The decaying average of the time to the first byte, and when it was last measured.
    latency: Cell<Option<(f64, Timestamp)>>,
}

/// How busy somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Busy {
    /// Calls under way.
    pub under_way: u32,
    /// How long a first byte lately took, in milliseconds, if that is known.
    pub latency_ms: Option<f64>,
}

impl Busy {
    /// Whether the next call should rather go here than to `other`: calls under way, and the next, by the time that one takes. Of two of
    /// whom one is not known only the calls count, and then the unknown gets its chance.
    pub fn is_less_than(self, other: Self) -> bool {
        let calls = |busy: Self| f64::from(busy.under_way) + 1.0;
        match (self.latency_ms, other.latency_ms) {
            (Some(own), Some(others)) => calls(self) * own.max(1.0) < calls(other) * others.max(1.0),
            (own, others) => (self.under_way, own.is_some()) < (other.under_way, others.is_some()),
        }
    }
}

impl Load {
    /// How many calls are under way.
    pub fn under_way(&self) -> u32 {
        self.under_way.get()
    }

    /// How busy it is. What is long ago counts little: who was slow once has to get another chance.
    pub fn busy(&self, now: Timestamp) -> Busy {
        let latency_ms = self.latency.get().and_then(|(latency, at)| {
            let age = now.millis_since(at).max(0);
            (age < KNOWN_MS).then(|| latency * 0.5_f64.powi((age / HALF_LIFE_MS) as i32))
        });
        Busy { under_way: self.under_way.get(), latency_ms }
    }

    fn measure(&self, millis: i64, now: Timestamp) {
        let millis = millis.max(0) as f64;
        let latency = self.busy(now).latency_ms.map_or(millis, |former| former + (millis - former) / 4.0);
        self.latency.set(Some((latency, now)));
    }
}

/// A call that is under way; dropped when it has ended, in whatever way.
#[derive(Debug)]
pub struct Underway {
    loads: [Option<Rc<Load>>; 2],
    began: Timestamp,
    is_waiting: bool,
}

impl Underway {
    /// A call to `provider` with `credential` begins.
    pub fn begin(provider: &Rc<Load>, credential: Option<&Rc<Load>>, now: Timestamp) -> Self {
        let loads = [Some(provider.clone()), credential.cloned()];
        for load in loads.iter().flatten() {
            load.under_way.set(load.under_way.get().saturating_add(1));
        }
        Self { loads, began: now, is_waiting: true }
    }

    /// Its answer begins.
    pub fn first_byte(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.is_waiting) {
            let millis = now.millis_since(self.began);
            self.loads.iter().flatten().for_each(|load| load.measure(millis, now));
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        for load in self.loads.iter().flatten() {
            load.under_way.set(load.under_way.get().saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_counted_until_it_is_dropped() {
        let (provider, credential) = (Rc::new(Load::default()), Rc::new(Load::default()));
        let first = Underway::begin(&provider, Some(&credential), Timestamp(0));
        let second = Underway::begin(&provider, None, Timestamp(0));
        assert_eq!((provider.under_way(), credential.under_way()), (2, 1));
        drop(first);
        assert_eq!((provider.under_way(), credential.under_way()), (1, 0));
        drop(second);
        assert_eq!(provider.under_way(), 0);
    }

    #[test]
    fn latency_follows_the_first_bytes_and_fades() {
        let load = Rc::new(Load::default());
        let call = |began: i64, took: i64| {
            let mut call = Underway::begin(&load, None, Timestamp(began));
            call.first_byte(Timestamp(began + took));
            // Only the first counts.
            call.first_byte(Timestamp(began + took + 5000));
        };
        let latency = |now| load.busy(Timestamp(now)).latency_ms;
        assert_eq!(latency(0), None);
        call(0, 100);
        assert_eq!(latency(100), Some(100.0));
        call(100, 200);
        assert_eq!(latency(300), Some(125.0));
        assert_eq!(latency(300 + 2 * HALF_LIFE_MS), Some(31.25));
        assert_eq!(latency(300 + KNOWN_MS), None);
        assert_eq!(latency(i64::MAX), None);
    }

    #[test]
    fn the_less_busy_of_two_is_known() {
        let busy = |under_way, latency_ms| Busy { under_way, latency_ms };
        for (one, other, expected) in [
            (busy(0, Some(10.0)), busy(1, Some(10.0)), true),
            (busy(1, Some(10.0)), busy(0, Some(30.0)), true),
            (busy(0, Some(30.0)), busy(1, Some(10.0)), false),
            (busy(0, Some(0.0)), busy(0, Some(0.5)), false),
            (busy(0, Some(900.0)), busy(1, None), true),
            (busy(0, None), busy(0, Some(1.0)), true),
            (busy(0, Some(1.0)), busy(0, None), false),
            (busy(0, None), busy(0, None), false),
        ] {
            assert_eq!(one.is_less_than(other), expected, "{one:?} {other:?}");
        }
    }
}
