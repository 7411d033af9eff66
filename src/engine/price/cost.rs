//! Prices applied to what was used.

use super::dimension::Dimension;
use super::schedule::Schedule;
use crate::platform::database::MAX_INTEGER;
use crate::protocol::usage::Usage;

/// What the tokens do not tell of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extras<'a> {
    /// How the vendor says that it served the call, in its own word.
    pub service_tier: Option<&'a str>,
    /// Whether the prompt was embedded instead of answered.
    pub embedded: bool,
    /// Pictures in the answer.
    pub images: u64,
    /// Calls.
    pub requests: u64,
    /// Calls of tools that the vendor carried out.
    pub server_tool_calls: u64,
}

impl Default for Extras<'_> {
    fn default() -> Self {
        Self { service_tier: None, embedded: false, images: 0, requests: 1, server_tool_calls: 0 }
    }
}

/// What a call cost, in nano-dollars. No figure is beyond what the databases keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    by_dimension: [u64; Dimension::COUNT],
    total: u64,
}

impl Cost {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What one dimension cost.
    pub fn of(&self, dimension: Dimension) -> u64 {
        self.by_dimension.get(dimension as usize).copied().unwrap_or(0)
    }

    /// The dimensions that cost something.
    pub fn lines(&self) -> impl Iterator<Item = (Dimension, u64)> {
        Dimension::ALL.into_iter().zip(self.by_dimension).filter(|(_, nanos)| *nanos > 0)
    }
}

/// What `usage` and `extras` cost at these prices.
pub fn price(usage: &Usage, extras: &Extras<'_>, schedule: &Schedule) -> Cost {
    let prices = schedule.select(prompt_tokens(usage), extras.service_tier);
    let mut cost = Cost::default();
    for ((dimension, units), nanos) in units(usage, extras).into_iter().zip(&mut cost.by_dimension) {
        if units > 0 {
            *nanos = rounded(prices.exact(dimension, units));
            cost.total = cost.total.saturating_add(*nanos).min(MAX_INTEGER.unsigned_abs());
        }
    }
    cost
}

/// How long the prompt was, wherever its tokens came from.
pub(super) fn prompt_tokens(usage: &Usage) -> u64 {
    [usage.input, usage.cache_read, usage.cache_write_short, usage.cache_write_long, usage.audio_input]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// How much there was in each dimension, in the order of [`Dimension::ALL`].
fn units(usage: &Usage, extras: &Extras<'_>) -> [(Dimension, u64); Dimension::COUNT] {
    let (input, embedding) = if extras.embedded { (0, usage.input) } else { (usage.input, 0) };
    Dimension::ALL.map(|dimension| {
        let units = match dimension {
            Dimension::Input => input,
            Dimension::Output => usage.output,
            Dimension::CacheRead => usage.cache_read,
            Dimension::CacheWriteShort => usage.cache_write_short,
            Dimension::CacheWriteLong => usage.cache_write_long,
            Dimension::Reasoning => usage.reasoning,
            Dimension::AudioInput => usage.audio_input,
            Dimension::AudioOutput => usage.audio_output,
            Dimension::Embedding => embedding,
            Dimension::Image => extras.images,
            Dimension::Request => extras.requests,
            Dimension::ServerToolCall => extras.server_tool_calls,
        };
        (dimension, units)
    })
}

/// Millionths of a millionth of a nano-dollar, in nano-dollars: half to even, and never more than the databases keep.
fn rounded(exact: u128) -> u64 {
    const ONE: u128 = 1_000_000_000_000;
    let (whole, rest) = (exact / ONE, exact % ONE);
    let up = rest > ONE / 2 || (rest == ONE / 2 && whole % 2 == 1);
    u64::try_from(whole + u128::from(up)).unwrap_or(u64::MAX).min(MAX_INTEGER.unsigned_abs())
}

#[cfg(test)]
mod tests;
