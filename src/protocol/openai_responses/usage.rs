//! The `usage` object of Responses.

use tollgate_macros::Read;

use crate::protocol::usage::Usage;

/// `usage` as OpenAI sends it (`ResponseUsage` of the SDK). The totals include their details.
#[derive(Debug, Default, Read)]
#[serde(default)]
pub struct ResponseUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputTokensDetails>,
    output_tokens_details: Option<OutputTokensDetails>,
}

#[derive(Debug, Default, Read)]
#[serde(default)]
struct InputTokensDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    cache_write_tokens_details: Option<CacheWriteTokensDetails>,
}

#[derive(Debug, Default, Read)]
#[serde(default)]
struct CacheWriteTokensDetails {
    ttl_12h_tokens: Option<u64>,
}

#[derive(Debug, Default, Read)]
#[serde(default)]
struct OutputTokensDetails {
    reasoning_tokens: Option<u64>,
}

impl From<ResponseUsage> for Usage {
    fn from(wire: ResponseUsage) -> Self {
        let input = wire.input_tokens_details.unwrap_or_default();
        let cache_read = input.cached_tokens.unwrap_or(0);
        let cache_write = input.cache_write_tokens.unwrap_or(0);
        let cache_write_long =
            input.cache_write_tokens_details.unwrap_or_default().ttl_12h_tokens.unwrap_or(0).min(cache_write);
        let reasoning = wire.output_tokens_details.unwrap_or_default().reasoning_tokens.unwrap_or(0);
        Self {
            input: wire.input_tokens.unwrap_or(0).saturating_sub(cache_read).saturating_sub(cache_write),
            cache_read,
            cache_write_short: cache_write - cache_write_long,
            cache_write_long,
            output: wire.output_tokens.unwrap_or(0).saturating_sub(reasoning),
            reasoning,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_writes_are_split_by_their_life() {
        let wire: ResponseUsage = serde_json::from_str(
            r#"{"input_tokens":1200,"input_tokens_details":{"cached_tokens":1024,"cache_write_tokens":128,
                "cache_write_tokens_details":{"ttl_30m_tokens":100,"ttl_12h_tokens":28}},
                "output_tokens":340,"output_tokens_details":{"reasoning_tokens":256},"total_tokens":1540}"#,
        )
        .unwrap();
        let expected = Usage {
            input: 48,
            cache_read: 1024,
            cache_write_short: 100,
            cache_write_long: 28,
            output: 84,
            reasoning: 256,
            ..Usage::default()
        };
        assert_eq!(Usage::from(wire), expected);
    }
}
