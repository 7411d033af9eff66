//! Measures all cases on one thread, and prints a line for each: `convert.native.CASE per_second=… allocations=…`, the latter for
//! each event or request. The reference is the reading of the same events, which is done for a passthrough as well.

use std::time::{Duration, Instant};

/// How long one slice is.
const SLICE: Duration = Duration::from_millis(2);

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.5);
    let mut slowest: Option<(f64, String)> = None;
    let mut hungriest: Option<(f64, String)> = None;
    for case in tollgate_bench_convert::cases() {
        case.run();
        let allocations = allocation_counter::measure(|| case.run()).count_total as f64 / case.units as f64;
        let per_second = rate(&case, Duration::from_secs_f64(seconds));
        println!("convert.native.{} per_second={per_second:.0} allocations={allocations:.2}", case.name);
        if !case.name.starts_with("text.") {
            continue;
        }
        if hungriest.as_ref().is_none_or(|(most, _)| allocations > *most) {
            hungriest = Some((allocations, case.name.clone()));
        }
        if slowest.as_ref().is_none_or(|(rate, _)| per_second < *rate) {
            slowest = Some((per_second, case.name));
        }
    }
    if let Some((rate, name)) = slowest {
        println!("convert.native.slowest_text {name} per_second={rate:.0}");
    }
    if let Some((most, name)) = hungriest {
        println!("convert.native.most_allocations_of_text {name} allocations={most:.2}");
    }
}

/// Units a second: the best of many short slices, since others share the machine.
fn rate(case: &tollgate_bench_convert::Case, time: Duration) -> f64 {
    let mut best = 0.0f64;
    let end = Instant::now() + time;
    while Instant::now() < end {
        let started = Instant::now();
        let mut units = 0;
        while started.elapsed() < SLICE {
            case.run();
            units += case.units;
        }
        best = best.max(units as f64 / started.elapsed().as_secs_f64());
    }
    best
}
