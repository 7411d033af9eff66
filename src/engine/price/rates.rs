//! A price for each dimension.

use super::dimension::Dimension;
use crate::store::options;

/// Prices by dimension, in nano-dollars: for a million tokens, or for a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates([Option<u64>; Dimension::COUNT]);

impl Rates {
    /// The price of this very dimension, where it has one.
    pub fn own(&self, dimension: Dimension) -> Option<u64> {
        self.0.get(dimension as usize).copied().flatten()
    }

    /// The price that holds for a dimension: its own, else that of the one it falls back on, else nothing.
    pub fn of(&self, dimension: Dimension) -> u64 {
        let mut looked_at = Some(dimension);
        while let Some(dimension) = looked_at {
            if let Some(rate) = self.own(dimension) {
                return rate;
            }
            looked_at = dimension.fallback();
        }
        0
    }

    /// These prices, with those that `over` has instead.
    pub fn overlaid(mut self, over: &Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(over.0) {
            *own = other.or(*own);
        }
        self
    }

    fn set(&mut self, dimension: Dimension, price: Option<options::Price>) {
        if let Some(rate) = self.0.get_mut(dimension as usize) {
            *rate = price.map(options::Price::nanos);
        }
    }
}

impl From<&options::Rates> for Rates {
    fn from(written: &options::Rates) -> Self {
        let options::Rates {
            input,
            output,
            cache_read,
            cache_write_short,
            cache_write_long,
            reasoning,
            audio_input,
            audio_output,
            embedding,
            image,
            request,
            server_tool_call,
        } = *written;
        let mut rates = Self::default();
        for (dimension, price) in [
            (Dimension::Input, input),
            (Dimension::Output, output),
            (Dimension::CacheRead, cache_read),
            (Dimension::CacheWriteShort, cache_write_short),
            (Dimension::CacheWriteLong, cache_write_long),
            (Dimension::Reasoning, reasoning),
            (Dimension::AudioInput, audio_input),
            (Dimension::AudioOutput, audio_output),
            (Dimension::Embedding, embedding),
            (Dimension::Image, image),
            (Dimension::Request, request),
            (Dimension::ServerToolCall, server_tool_call),
        ] {
            rates.set(dimension, price);
        }
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(json: &str) -> Rates {
        Rates::from(&serde_json::from_str::<options::Rates>(json).unwrap())
    }

    #[test]
    fn what_has_no_price_has_that_of_its_fallback() {
        let few = rates(r#"{"input":"3","output":"15","cache_write_short":"3.75"}"#);
        for (dimension, nanos) in [
            (Dimension::Input, 3_000_000_000),
            (Dimension::Output, 15_000_000_000),
            (Dimension::CacheRead, 3_000_000_000),
            (Dimension::CacheWriteShort, 3_750_000_000),
            (Dimension::CacheWriteLong, 3_750_000_000),
            (Dimension::Reasoning, 15_000_000_000),
            (Dimension::AudioInput, 3_000_000_000),
            (Dimension::AudioOutput, 15_000_000_000),
            (Dimension::Embedding, 3_000_000_000),
            (Dimension::Image, 0),
            (Dimension::Request, 0),
            (Dimension::ServerToolCall, 0),
        ] {
            assert_eq!(few.of(dimension), nanos, "{dimension:?}");
        }
    }

    #[test]
    fn a_price_of_zero_is_a_price() {
        assert_eq!(rates(r#"{"input":"3","cache_read":"0"}"#).of(Dimension::CacheRead), 0);
    }

    #[test]
    fn an_overlay_replaces_what_it_names() {
        let over = rates(r#"{"input":"3","output":"15"}"#).overlaid(&rates(r#"{"input":"6","cache_read":"0.6"}"#));
        assert_eq!(over, rates(r#"{"input":"6","output":"15","cache_read":"0.6"}"#));
    }
}
