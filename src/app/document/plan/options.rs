//! Figures that make no sense are refused when they are written, with their place, instead of doing something odd later.

use super::Planner;
use crate::app::document::ProviderDocument;
use crate::store::options::{Breaker, Failover, Quota, Rest, Retry, Timeouts};

/// The longest window of a quota, in hours: a year. The shortest is a minute.
const MAX_WINDOW_HOURS: f64 = 8784.0;
const MIN_WINDOW_HOURS: f64 = 1.0 / 60.0;

/// How often the same credential may be asked again for one request.
const MAX_RETRIES: u32 = 20;

impl Planner<'_> {
    /// Checks how a provider is to be tried.
    pub(super) fn provider_options(&mut self, path: &str, provider: &ProviderDocument) {
        self.timeouts(&format!("{path}.timeouts"), &provider.timeouts);
        self.failover(&format!("{path}.failover"), &provider.failover);
        self.rest(&format!("{path}.rest"), &provider.rest);
        self.breaker(&format!("{path}.breaker"), &provider.breaker);
        self.retry(&format!("{path}.retry"), provider.retry.as_ref());
        self.quotas(&format!("{path}.quotas"), &provider.quotas);
    }

    /// Checks how the same credential is asked again.
    pub(super) fn retry(&mut self, path: &str, retry: Option<&Retry>) {
        let Some(retry) = retry else { return };
        self.check(retry.max_retries <= MAX_RETRIES, path, "max_retries", "must be at most 20");
        let grows = retry.backoff_multiplier.is_finite() && (1.0..=100.0).contains(&retry.backoff_multiplier);
        self.check(grows, path, "backoff_multiplier", "must be a number from 1 to 100");
        let is_ordered = retry.initial_delay_ms <= retry.max_delay_ms;
        self.check(is_ordered, path, "max_delay_ms", "must not be less than `initial_delay_ms`");
    }

    /// Checks how much may be spent.
    pub(super) fn quotas(&mut self, path: &str, quotas: &[Quota]) {
        for (index, quota) in quotas.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let is_window = (MIN_WINDOW_HOURS..=MAX_WINDOW_HOURS).contains(&quota.window_hours);
            self.check(is_window, &path, "window_hours", "must be from a minute to a year, in hours");
            let is_share = quota.threshold_percent > 0.0 && quota.threshold_percent <= 100.0;
            self.check(is_share, &path, "threshold_percent", "must be more than 0 and at most 100");
        }
    }

    fn timeouts(&mut self, path: &str, timeouts: &Timeouts) {
        for (name, limit) in [
            ("connect_ms", timeouts.connect_ms),
            ("first_byte_ms", timeouts.first_byte_ms),
            ("idle_ms", timeouts.idle_ms),
            ("total_ms", timeouts.total_ms),
        ] {
            self.check(limit != Some(0), path, name, "must be at least 1; leave it out for the default");
        }
    }

    fn failover(&mut self, path: &str, failover: &Failover) {
        let statuses = failover.status_codes.as_deref().unwrap_or_default();
        let are_errors = statuses.iter().all(|status| (300..=599).contains(status));
        self.check(are_errors, path, "status_codes", "must be statuses from 300 to 599");
        for (name, words) in
            [("error_types", &failover.error_types), ("error_message_patterns", &failover.error_message_patterns)]
        {
            let are_words = words.iter().flatten().all(|word| !word.trim().is_empty());
            self.check(are_words, path, name, "must not hold an empty text, which everything contains");
        }
    }

    fn rest(&mut self, path: &str, rest: &Rest) {
        let is_ordered = rest.floor_seconds <= rest.ceiling_seconds;
        self.check(is_ordered, path, "ceiling_seconds", "must not be less than `floor_seconds`");
    }

    fn breaker(&mut self, path: &str, breaker: &Breaker) {
        for (name, figure) in [
            ("failure_threshold", breaker.failure_threshold),
            ("success_threshold", breaker.success_threshold),
            ("half_open_requests", breaker.half_open_requests),
        ] {
            self.check(figure > 0, path, name, "must be at least 1; set `enabled` to false for no breaker");
        }
        let is_ordered = breaker.recovery_timeout_seconds <= breaker.max_recovery_seconds;
        self.check(is_ordered, path, "max_recovery_seconds", "must not be less than `recovery_timeout_seconds`");
    }

    pub(super) fn check(&mut self, is_good: bool, path: &str, member: &str, message: &str) {
        if !is_good {
            self.fault(format!("{path}.{member}"), message);
        }
    }
}
