//! How busy upstreams are, as far as this isolate can tell.

use std::cell::Cell;
use std::rc::Rc;

use crate::platform::clock::Timestamp;

/// After how long without a call what is known of the time that one takes counts half.
const HALF_LIFE_MS: i64 = 60_000;

/// The calls to one upstream, or with one credential.
#[derive(Debug, Default)]
pub struct Load {
    under_way: Cell<u32>,
    /// The decaying average of the time to the first byte; 0 where nothing is known.
    latency_ms: Cell<f64>,
    measured_at: Cell<Timestamp>,
}

impl Load {
    /// How many calls are under way.
    pub fn under_way(&self) -> u32 {
        self.under_way.get()
    }

    /// How long a first byte lately took, in milliseconds. What is long ago counts little: who was slow once has to get another chance.
    pub fn latency_ms(&self, now: Timestamp) -> f64 {
        let age = now.millis_since(self.measured_at.get()).max(0);
        let halvings = (age / HALF_LIFE_MS).min(1000) as i32;
        self.latency_ms.get() * 0.5_f64.powi(halvings)
    }

    /// A figure for comparing: calls under way, and the next, by the time that one takes.
    pub fn figure(&self, now: Timestamp) -> u64 {
        ((f64::from(self.under_way.get()) + 1.0) * self.latency_ms(now).max(1.0) * 16.0) as u64
    }

    fn measure(&self, millis: i64, now: Timestamp) {
        let (former, millis) = (self.latency_ms(now), millis.max(0) as f64);
        self.latency_ms.set(if former == 0.0 { millis } else { former + (millis - former) / 4.0 });
        self.measured_at.set(now);
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
        call(0, 100);
        assert_eq!(load.latency_ms(Timestamp(100)), 100.0);
        call(100, 200);
        assert_eq!(load.latency_ms(Timestamp(300)), 125.0);
        assert_eq!(load.latency_ms(Timestamp(300 + 2 * HALF_LIFE_MS)), 31.25);
        assert!(load.latency_ms(Timestamp(i64::MAX)) < 1e-9);
    }

    #[test]
    fn the_busier_and_the_slower_have_the_greater_figure() {
        let (idle, busy, slow) = (Rc::new(Load::default()), Rc::new(Load::default()), Rc::new(Load::default()));
        let _calls = [Underway::begin(&busy, None, Timestamp(0)), Underway::begin(&busy, None, Timestamp(0))];
        Underway::begin(&slow, None, Timestamp(0)).first_byte(Timestamp(900));
        let figure = |load: &Load| load.figure(Timestamp(900));
        assert!(figure(&idle) < figure(&busy) && figure(&busy) < figure(&slow));
    }
}
