//! How long a request took, and where.

use std::fmt::Write;

/// The calls that were made for a request until its answer began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// How long each took, in milliseconds.
    pub calls: Vec<i64>,
    /// How long all took, in milliseconds.
    pub total_ms: i64,
}

impl Trace {
    /// The value of a `Server-Timing` header (<https://www.w3.org/TR/server-timing/>): the gateway's own share, the upstreams', and
    /// that of each where there were several.
    pub fn server_timing(&self) -> String {
        let upstream: i64 = self.calls.iter().sum();
        let mut text = format!("gateway;dur={}, upstream;dur={upstream}", (self.total_ms - upstream).max(0));
        if self.calls.len() > 1 {
            for (at, millis) in self.calls.iter().enumerate() {
                let _ = write!(text, ", upstream-{};dur={millis}", at + 1);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_told_apart() {
        for (calls, total_ms, text) in [
            (vec![], 3, "gateway;dur=3, upstream;dur=0"),
            (vec![40], 42, "gateway;dur=2, upstream;dur=40"),
            (vec![40, 60], 103, "gateway;dur=3, upstream;dur=100, upstream-1;dur=40, upstream-2;dur=60"),
            (vec![5], 4, "gateway;dur=0, upstream;dur=5"),
        ] {
            assert_eq!(Trace { calls, total_ms }.server_timing(), text);
        }
    }
}
