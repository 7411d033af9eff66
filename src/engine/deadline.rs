//! The time that a whole request has, over all of its attempts.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use crate::platform::clock::{Clock, Timestamp};

/// How much longer a host waits than the request has: the request's own end comes first, and is told as what it is.
const LATER: Duration = Duration::from_millis(100);

/// How much time is left until `deadline`.
pub(super) fn left(deadline: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(deadline.millis_since(now)).unwrap_or_default())
}

/// What one call may take in all, of the provider's limit and of the request's time.
pub(super) fn total(limit: Option<Duration>, deadline: Option<Timestamp>, now: Timestamp) -> Option<Duration> {
    let of_request = deadline.map(|deadline| left(deadline, now) + LATER);
    match (limit, of_request) {
        (Some(limit), Some(of_request)) => Some(limit.min(of_request)),
        (limit, of_request) => limit.or(of_request),
    }
}

/// Works until `deadline`; `None` when that came first.
pub(super) async fn within<T>(clock: &dyn Clock, deadline: Timestamp, work: impl Future<Output = T>) -> Option<T> {
    let end = clock.sleep(left(deadline, clock.now()));
    match select(pin!(work), end).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_of_both_limits_holds() {
        let seconds = Duration::from_secs;
        let (now, deadline) = (Timestamp(1000), Timestamp(6000));
        for (limit, deadline, expected) in [
            (None, None, None),
            (Some(seconds(3)), None, Some(seconds(3))),
            (None, Some(deadline), Some(seconds(5) + LATER)),
            (Some(seconds(3)), Some(deadline), Some(seconds(3))),
            (Some(seconds(9)), Some(deadline), Some(seconds(5) + LATER)),
            (None, Some(Timestamp(0)), Some(LATER)),
        ] {
            assert_eq!(total(limit, deadline, now), expected);
        }
    }
}
