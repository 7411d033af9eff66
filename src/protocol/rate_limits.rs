//! For how long an upstream wants to be left alone, in the forms that vendors have.
//!
//! - `retry-after` in seconds or as a date (RFC 9110, section 10.2.3), and `retry-after-ms`.
//! - Google's `RetryInfo` in the details of an error (<https://google.aip.dev/193>).
//! - `anthropic-ratelimit-*-reset`, a time, beside `anthropic-ratelimit-*-remaining`
//!   (<https://platform.claude.com/docs/en/api/rate-limits>).
//! - `x-ratelimit-reset-*`, a span such as `6m0s`, beside `x-ratelimit-remaining-*`
//!   (<https://developers.openai.com/api/docs/guides/rate-limits>).
//! - `resets_in_seconds` and `resets_at` in an error, of OpenAI's subscriptions.

use std::time::Duration;

use http::HeaderMap;
use serde_json::Value;

use super::time::{http_date, in_bounds, rfc3339, span};

/// The share by which the wait for a limit's reset is longer than told: clocks differ.
const MARGIN: f64 = 0.1;

/// The limits of Anthropic and of OpenAI: what remains, and when there is more.
const ANTHROPIC: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
const OPENAI: [&str; 2] = ["requests", "tokens"];

/// For how long an upstream wants to be left alone, if it says so in so many words.
pub fn told(headers: &HeaderMap, error: Option<&Value>, now: i64) -> Option<Duration> {
    let retry_after = || {
        let value = header(headers, "retry-after")?;
        match value.parse::<f64>() {
            Ok(seconds) => in_bounds(seconds * 1000.0),
            Err(_) => until(http_date(value)?, now),
        }
    };
    let in_millis = || in_bounds(header(headers, "retry-after-ms")?.parse::<f64>().ok()?);
    let waits = [in_millis().or_else(retry_after), error.and_then(|error| in_error(error, now))];
    longest(waits.into_iter().flatten()).map(duration)
}

/// After how many seconds a client should ask again, at least 1: what the upstream says in so many words, be it in its headers or in
/// the text of its error, which Gemini wraps in an array in some streams.
pub fn seconds(headers: &HeaderMap, text: &str, now: i64) -> Option<u64> {
    let answer: Option<Value> = serde_json::from_str(text).ok();
    let error = answer.as_ref().and_then(|answer| answer.get(0).unwrap_or(answer).get("error"));
    Some((told(headers, error, now)?.as_secs_f64().ceil() as u64).max(1))
}

/// For how long an account that is too fast is to be left alone: what the upstream says, or the reset of a limit that is used up and a
/// little more, whichever is longer. Where neither is there, the last reset of all limits counts.
pub fn wait(headers: &HeaderMap, error: Option<&Value>, now: i64) -> Option<Duration> {
    let told = told(headers, error, now);
    let resets = resets(headers, now);
    let last = |among: &dyn Fn(&&(bool, f64)) -> bool| {
        let last = longest(resets.iter().filter(among).map(|reset| reset.1))?;
        Some(duration(last + last * MARGIN))
    };
    told.max(last(&|reset| reset.0)).or_else(|| last(&|_| true))
}

/// The limits that an upstream tells with every answer: whether each is used up, and in how many milliseconds there is more.
fn resets(headers: &HeaderMap, now: i64) -> Vec<(bool, f64)> {
    let anthropic = ANTHROPIC.iter().filter_map(|limit| {
        let reset = header(headers, &format!("anthropic-ratelimit-{limit}-reset"))?;
        let remaining = header(headers, &format!("anthropic-ratelimit-{limit}-remaining"));
        Some((is_none_left(remaining), until(rfc3339(reset)?, now)?))
    });
    let openai = OPENAI.iter().filter_map(|limit| {
        let reset = header(headers, &format!("x-ratelimit-reset-{limit}"))?;
        let remaining = header(headers, &format!("x-ratelimit-remaining-{limit}"));
        Some((is_none_left(remaining), span(reset)?))
    });
    // Anthropic's subscriptions have one figure for all their windows.
    let unified = || {
        let is_rejected = header(headers, "anthropic-ratelimit-unified-status")? == "rejected";
        let reset = header(headers, "anthropic-ratelimit-unified-reset")?.parse::<f64>().ok()?;
        Some((is_rejected, in_bounds(reset * 1000.0 - now as f64)?))
    };
    anthropic.chain(openai).chain(unified()).collect()
}

fn in_error(error: &Value, now: i64) -> Option<f64> {
    let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let delay = details.iter().find_map(|detail| span(detail.get("retryDelay")?.as_str()?));
    let seconds = || in_bounds(error.get("resets_in_seconds")?.as_f64()? * 1000.0);
    let at = || in_bounds(error.get("resets_at")?.as_f64()? * 1000.0 - now as f64);
    delay.or_else(seconds).or_else(at)
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().ok()?.trim())
}

fn is_none_left(remaining: Option<&str>) -> bool {
    remaining.is_some_and(|remaining| remaining.parse::<f64>().is_ok_and(|remaining| remaining <= 0.0))
}

/// The milliseconds until a time that is yet to come.
fn until(at: i64, now: i64) -> Option<f64> {
    in_bounds(at.saturating_sub(now) as f64)
}

fn longest(waits: impl Iterator<Item = f64>) -> Option<f64> {
    waits.reduce(f64::max)
}

fn duration(millis: f64) -> Duration {
    Duration::from_millis(millis.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    /// 2025-08-21T12:40:59Z.
    const NOW: i64 = 1_755_780_059_000;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn waits_in_so_many_words() {
        let no = "null";
        for (lines, error, millis) in [
            (&[("retry-after", "40")][..], no, Some(40_000)),
            (&[("retry-after", "0.7")], no, Some(700)),
            (&[("retry-after", "Thu, 21 Aug 2025 12:41:29 GMT")], no, Some(30_000)),
            (&[("retry-after", "Thu, 21 Aug 2025 12:40:00 GMT")], no, None),
            (&[("retry-after", "-5")], no, None),
            (&[("retry-after", "soon")], no, None),
            (&[("retry-after-ms", "1500"), ("retry-after", "2")], no, Some(1500)),
            (&[], r#"{"details":[{"@type":"x"},{"retryDelay":"12.5s"}]}"#, Some(12_500)),
            (&[("retry-after", "40")], r#"{"details":[{"retryDelay":"60s"}]}"#, Some(60_000)),
            (&[], r#"{"type":"usage_limit_reached","resets_in_seconds":560000}"#, Some(560_000_000)),
            (&[], r#"{"resets_at":1755780089}"#, Some(30_000)),
            (&[], no, None),
        ] {
            let error: Value = serde_json::from_str(error).unwrap();
            let expected = millis.map(Duration::from_millis);
            assert_eq!(told(&headers(lines), Some(&error), NOW), expected, "{lines:?} {error}");
        }
    }

    #[test]
    fn clients_are_told_whole_seconds() {
        let info =
            r#"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.5s"}]}}"#;
        let wrapped = format!("[{info}]");
        for (lines, text, expected) in [
            (&[("retry-after", "7")][..], "", Some(7)),
            (&[("retry-after", "0")], "", Some(1)),
            (&[("retry-after", "1000000")], "", Some(1_000_000)),
            (&[("retry-after", "1e30")], "", None),
            (&[("retry-after", "Thu, 21 Aug 2025 12:41:29 GMT")], "", Some(30)),
            (&[("retry-after", "Thu, 21 Aug 2025 12:40:59 GMT")], "", Some(1)),
            (&[("retry-after", "soon")], info, Some(3)),
            (&[("retry-after-ms", "1500")], "", Some(2)),
            (&[], &wrapped, Some(3)),
            (&[], r#"{"error":{"resets_in_seconds":90}}"#, Some(90)),
            (&[], "{}", None),
            (&[], "<html>", None),
        ] {
            assert_eq!(seconds(&headers(lines), text, NOW), expected, "{lines:?} {text}");
        }
    }

    #[test]
    fn the_last_reset_of_a_limit_that_is_used_up_and_a_tenth_more() {
        let reset = "2025-08-21T12:41:19Z";
        let later = "2025-08-21T12:42:39Z";
        for (lines, millis) in [
            (&[("anthropic-ratelimit-requests-reset", reset)][..], Some(22_000)),
            (
                &[("anthropic-ratelimit-requests-reset", reset), ("anthropic-ratelimit-tokens-reset", later)],
                Some(110_000),
            ),
            (
                &[
                    ("anthropic-ratelimit-requests-reset", reset),
                    ("anthropic-ratelimit-requests-remaining", "0"),
                    ("anthropic-ratelimit-tokens-reset", later),
                    ("anthropic-ratelimit-tokens-remaining", "900"),
                ],
                Some(22_000),
            ),
            (&[("anthropic-ratelimit-output-tokens-reset", "2025-08-21T12:00:00Z")], None),
            (&[("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m0s")], Some(396_000)),
            (
                &[
                    ("x-ratelimit-reset-requests", "1s"),
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                    ("x-ratelimit-remaining-tokens", "149984"),
                ],
                Some(1100),
            ),
            (
                &[
                    ("anthropic-ratelimit-unified-status", "rejected"),
                    ("anthropic-ratelimit-unified-reset", "1755780159"),
                ],
                Some(110_000),
            ),
            (&[("retry-after", "40"), ("anthropic-ratelimit-requests-reset", later)], Some(40_000)),
            (
                &[
                    ("retry-after", "40"),
                    ("anthropic-ratelimit-requests-remaining", "0"),
                    ("anthropic-ratelimit-requests-reset", later),
                ],
                Some(110_000),
            ),
            (&[], None),
        ] {
            assert_eq!(wait(&headers(lines), None, NOW), millis.map(Duration::from_millis), "{lines:?}");
        }
    }
}
