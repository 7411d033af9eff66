//! For how long a credential is left alone.

use std::time::Duration;

use crate::engine::failure::FailureKind;
use crate::platform::clock::Timestamp;
use crate::store::health::{Counts, FOREVER, HealthRow, Kind};
use crate::store::options::Rest as Options;

/// A rest that follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resting {
    /// The counts and times.
    pub(super) counts: Counts,
    /// Until when by the vendor's own word.
    pub(super) hint: Option<Timestamp>,
}

/// What sort of rest follows from a failure; `None` where the credential is not to blame.
pub(super) fn kind(failure: FailureKind) -> Option<Kind> {
    match failure {
        FailureKind::Unauthorized => Some(Kind::Dead),
        FailureKind::Refused => Some(Kind::Refused),
        FailureKind::QuotaUsedUp => Some(Kind::UsedUp),
        FailureKind::RateLimited => Some(Kind::Limited),
        FailureKind::Request
        | FailureKind::Overloaded
        | FailureKind::Server
        | FailureKind::Timeout
        | FailureKind::Network => None,
    }
}

/// The rest of `kind` after a failure at `now` with which the vendor asked for `hint`. `before` is what the last one left.
pub(super) fn after(kind: Kind, options: &Options, hint: Option<Duration>, before: Counts, now: Timestamp) -> Resting {
    let millis = |seconds: u32| i64::from(seconds) * 1000;
    // Many calls that fail at the same time are one failure.
    let failures = if before.until > now { before.failures.max(1) } else { before.failures.saturating_add(1) };
    let (floor, ceiling) = (millis(options.floor_seconds), millis(options.ceiling_seconds));
    let word = hint.and_then(|hint| i64::try_from(hint.as_millis()).ok()).filter(|hint| *hint > 0);
    let wait_ms = match (kind, word) {
        (Kind::Dead, _) if options.dead_seconds == 0 => FOREVER.0,
        (Kind::Dead, _) => millis(options.dead_seconds),
        (_, Some(word)) => word.min(ceiling).max(floor),
        (_, None) => {
            let base = millis(match kind {
                Kind::Limited => options.rate_limited_seconds,
                Kind::Refused => options.refused_seconds,
                _ => options.quota_seconds,
            });
            let doublings = failures.saturating_sub(1).clamp(0, 32) as u32;
            base.saturating_mul(1 << doublings).min(base.max(ceiling)).max(floor)
        }
    };
    let until = Timestamp(now.0.saturating_add(wait_ms).min(FOREVER.0));
    let hint = word.filter(|_| kind != Kind::Dead).map(|word| Timestamp(now.0.saturating_add(word).min(FOREVER.0)));
    Resting { counts: Counts { failures, successes: 0, wait_ms, since: now, until }, hint }
}

/// How a rest stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is over, or about an older secret.
    Over,
    /// It lasts.
    Lasting,
    /// It is not over, but one may try.
    Trial,
}

/// How the rest of `row` stands at `now` for a credential whose secret has this version.
pub(super) fn phase(row: &HealthRow, version: i64, now: Timestamp) -> Phase {
    let until = row.counts.until;
    let is_about_secret = matches!(row.kind, Kind::Dead | Kind::Refused);
    if until.0 == 0 || (is_about_secret && row.secret_version < version) {
        Phase::Over
    } else if until > now {
        Phase::Lasting
    } else if row.kind == Kind::Dead || row.hint.is_some_and(|hint| hint > now) {
        Phase::Trial
    } else {
        Phase::Over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn seconds(rest: Resting) -> (i64, Option<i64>) {
        let since = |time: Timestamp| (time.0 - NOW.0) / 1000;
        (since(rest.counts.until), rest.hint.map(since))
    }

    #[test]
    fn a_rest_is_as_long_as_the_failure_says() {
        let second = |seconds| Some(Duration::from_secs(seconds));
        for (kind, hint, expected) in [
            (Kind::Limited, None, (30, None)),
            (Kind::Limited, second(60), (60, Some(60))),
            // B44: neither taken too short nor taken at its word for days.
            (Kind::Limited, Some(Duration::from_millis(700)), (1, Some(0))),
            (Kind::Limited, second(560_000), (1800, Some(560_000))),
            (Kind::Limited, second(0), (30, None)),
            (Kind::Limited, second(u64::MAX), (30, None)),
            (Kind::UsedUp, None, (300, None)),
            (Kind::UsedUp, second(900), (900, Some(900))),
            (Kind::Refused, None, (300, None)),
            (Kind::Refused, second(20), (20, Some(20))),
            (Kind::Dead, None, (1800, None)),
            (Kind::Dead, second(5), (1800, None)),
        ] {
            let rest = after(kind, &Options::default(), hint, Counts::default(), NOW);
            assert_eq!(seconds(rest), expected, "{kind:?} {hint:?}");
        }
    }

    #[test]
    fn rests_in_a_row_grow_longer() {
        let options = Options { rate_limited_seconds: 500, ..Options::default() };
        let mut counts = Counts::default();
        let mut waits = Vec::new();
        for _ in 0..4 {
            let now = counts.until;
            counts = after(Kind::Limited, &options, None, counts, now).counts;
            waits.push(counts.wait_ms / 1000);
        }
        assert_eq!(waits, [500, 1000, 1800, 1800]);
        // A second failure within a rest is not one in a row.
        let again =
            after(Kind::Limited, &options, None, Counts { failures: 1, until: Timestamp(NOW.0 + 1), ..counts }, NOW);
        assert_eq!((again.counts.failures, again.counts.wait_ms), (1, 500_000));
        // A default beyond the ceiling was wanted by the operator.
        let options = Options { rate_limited_seconds: 4000, ..Options::default() };
        assert_eq!(after(Kind::Limited, &options, None, counts, counts.until).counts.wait_ms, 4_000_000);
        let many = Counts { failures: i64::MAX, ..Counts::default() };
        assert_eq!(after(Kind::Limited, &Options::default(), None, many, NOW).counts.wait_ms, 1_800_000);
    }

    #[test]
    fn a_dead_credential_may_stay_dead() {
        let options = Options { dead_seconds: 0, ..Options::default() };
        assert_eq!(after(Kind::Dead, &options, None, Counts::default(), NOW).counts.until, FOREVER);
    }

    #[test]
    fn phases() {
        let row = |kind, until: i64, hint: Option<i64>| HealthRow {
            subject: "s".into(),
            kind,
            provider_id: "p".into(),
            credential_id: Some("c".into()),
            model: None,
            counts: Counts { until: Timestamp(until), ..Counts::default() },
            hint: hint.map(Timestamp),
            status: 429,
            cause: "".into(),
            secret_version: 1,
            revision: 1,
        };
        let (before, after) = (NOW.0 - 1, NOW.0 + 1);
        for (row, version, expected) in [
            (row(Kind::Limited, 0, None), 1, Phase::Over),
            (row(Kind::Limited, before, None), 1, Phase::Over),
            (row(Kind::Limited, NOW.0, None), 1, Phase::Over),
            (row(Kind::Limited, after, None), 1, Phase::Lasting),
            // Past the ceiling, and the vendor says that it is not over.
            (row(Kind::Limited, before, Some(after)), 1, Phase::Trial),
            (row(Kind::Limited, before, Some(before)), 1, Phase::Over),
            (row(Kind::Dead, after, None), 1, Phase::Lasting),
            (row(Kind::Dead, before, None), 1, Phase::Trial),
            // A new secret is not refused; an account that is too fast is so with every secret.
            (row(Kind::Dead, after, None), 2, Phase::Over),
            (row(Kind::Refused, after, None), 2, Phase::Over),
            (row(Kind::Limited, after, None), 2, Phase::Lasting),
            (row(Kind::Dead, after, None), 0, Phase::Lasting),
        ] {
            assert_eq!(phase(&row, version, NOW), expected, "{row:?} {version}");
        }
    }
}
