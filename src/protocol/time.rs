//! Points in time and spans of it, as vendors write them.

/// The milliseconds since 1970 of a time as RFC 3339 writes it: `2026-08-21T12:40:59.5Z`.
pub fn rfc3339(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (number(date.next()?)?, number(date.next()?)?, number(date.next()?)?);
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at(zone_at);
    let offset = match zone {
        "Z" | "z" => 0,
        zone => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = number(hours)? * 60 + number(minutes)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let seconds = day_number(year, month, day)? * 86_400 - offset * 60;
    Some(seconds * 1000 + time_of_day(time)?)
}

/// The milliseconds since 1970 of a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.trim().split_once(", ")?.1.strip_suffix(" GMT")?.split(' ');
    let day = number(words.next()?)?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    let year = number(words.next()?)?;
    Some(day_number(year, month, day)? * 86_400_000 + time_of_day(words.next()?)?)
}

/// The milliseconds of a span as Go and OpenAI write it: `1h2m3.5s`, `6m0s`, `20ms`; or of bare seconds.
pub fn span(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    if let Ok(seconds) = rest.parse::<f64>() {
        return in_bounds(seconds * 1000.0);
    }
    let mut millis = 0.0;
    while !rest.is_empty() {
        let (figure, tail) =
            rest.split_at(rest.find(|character: char| character != '.' && !character.is_ascii_digit())?);
        let (unit, tail) = tail.split_at(tail.find(|character: char| character.is_ascii_digit()).unwrap_or(tail.len()));
        let factor = match unit {
            "d" => 86_400_000.0,
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1000.0,
            "ms" => 1.0,
            "us" | "µs" | "ns" => 0.0,
            _ => return None,
        };
        millis += figure.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    in_bounds(millis)
}

/// A span in milliseconds if it is one: neither negative nor longer than a year, which would be a mistake.
pub fn in_bounds(millis: f64) -> Option<f64> {
    (0.0..=366.0 * 86_400_000.0).contains(&millis).then_some(millis)
}

fn number(text: &str) -> Option<i64> {
    let is_plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Milliseconds of a time like `08:49:37` or `12:40:59.25`.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes) = (number(parts.next()?)?, number(parts.next()?)?);
    let seconds = parts.next()?.parse::<f64>().ok().filter(|seconds| (0.0..61.0).contains(seconds))?;
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * 60_000 + (seconds * 1000.0) as i64)
}

/// The days since 1970 of a day in the Gregorian calendar.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years are counted from March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_month = (153 * month + 2) / 5;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + days_before_month + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_as_vendors_write_them() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-02-29T12:00:00Z", Some(1_709_208_000_000)),
            ("2025-08-21T12:40:59Z", Some(1_755_780_059_000)),
            ("2025-08-21T12:40:59.250Z", Some(1_755_780_059_250)),
            ("2025-08-21T14:40:59+02:00", Some(1_755_780_059_000)),
            ("2025-08-21 12:40:59Z", Some(1_755_780_059_000)),
            ("2025-08-21T12:40:59", None),
            ("2025-13-21T12:40:59Z", None),
            ("2025-08-21T25:40:59Z", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(rfc3339(text), millis, "{text}");
        }
        for (text, millis) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777_000)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("06 Nov 1994", None),
            ("", None),
        ] {
            assert_eq!(http_date(text), millis, "{text}");
        }
    }

    #[test]
    fn spans_as_vendors_write_them() {
        for (text, millis) in [
            ("6m0s", Some(360_000.0)),
            ("1s", Some(1000.0)),
            ("20ms", Some(20.0)),
            ("1h2m3.5s", Some(3_723_500.0)),
            ("12.5s", Some(12_500.0)),
            ("7", Some(7000.0)),
            ("2d", Some(172_800_000.0)),
            ("-3", None),
            ("6x", None),
            ("m", None),
            ("1e300", None),
            ("NaN", None),
            ("", Some(0.0)),
        ] {
            assert_eq!(span(text), millis, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,40}") {
            let _ = (rfc3339(&text), http_date(&text), span(&text));
        }
    }
}
