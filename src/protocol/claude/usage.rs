//! The `usage` object of Messages.

use tollgate_macros::Read;

use crate::protocol::usage::Usage;

/// `usage` as Claude sends it: `input_tokens` excludes what the cache served or took, `output_tokens` includes thinking.
///
/// In a stream `message_start` brings the first one and each `message_delta` a newer, cumulative one, in which a member
/// that is absent or null keeps its former value.
#[derive(Debug, Default, Clone, Read)]
#[serde(default)]
pub struct MessageUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputTokensDetails>,
}

#[derive(Debug, Default, Clone, Read)]
#[serde(default)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Debug, Default, Clone, Read)]
#[serde(default)]
struct OutputTokensDetails {
    thinking_tokens: Option<u64>,
}

impl MessageUsage {
    /// What stands after a newer usage of the same stream has come.
    pub fn updated(self, newer: Self) -> Self {
        Self {
            input_tokens: newer.input_tokens.or(self.input_tokens),
            cache_creation_input_tokens: newer.cache_creation_input_tokens.or(self.cache_creation_input_tokens),
            cache_read_input_tokens: newer.cache_read_input_tokens.or(self.cache_read_input_tokens),
            cache_creation: newer.cache_creation.or(self.cache_creation),
            output_tokens: newer.output_tokens.or(self.output_tokens),
            output_tokens_details: newer.output_tokens_details.or(self.output_tokens_details),
        }
    }
}

impl From<MessageUsage> for Usage {
    fn from(wire: MessageUsage) -> Self {
        let cache_write = wire.cache_creation_input_tokens.unwrap_or(0);
        let cache_write_long =
            wire.cache_creation.unwrap_or_default().ephemeral_1h_input_tokens.unwrap_or(0).min(cache_write);
        let reasoning = wire.output_tokens_details.unwrap_or_default().thinking_tokens.unwrap_or(0);
        Self {
            input: wire.input_tokens.unwrap_or(0),
            cache_read: wire.cache_read_input_tokens.unwrap_or(0),
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

    /// B37: each token in one class.
    #[test]
    fn cache_tokens_are_neither_lost_nor_doubled() {
        let wire: MessageUsage = serde_json::from_str(
            r#"{"input_tokens":12,"cache_creation_input_tokens":2000,"cache_read_input_tokens":50000,
                "cache_creation":{"ephemeral_5m_input_tokens":1500,"ephemeral_1h_input_tokens":500},"output_tokens":80}"#,
        )
        .unwrap();
        let expected = Usage {
            input: 12,
            cache_read: 50000,
            cache_write_short: 1500,
            cache_write_long: 500,
            output: 80,
            ..Usage::default()
        };
        assert_eq!(Usage::from(wire), expected);
    }

    #[test]
    fn a_delta_replaces_what_it_names() {
        let start: MessageUsage =
            serde_json::from_str(r#"{"input_tokens":12,"cache_read_input_tokens":3,"output_tokens":1}"#).unwrap();
        let delta: MessageUsage = serde_json::from_str(
            r#"{"input_tokens":null,"output_tokens":90,"output_tokens_details":{"thinking_tokens":40}}"#,
        )
        .unwrap();
        let expected = Usage { input: 12, cache_read: 3, output: 50, reasoning: 40, ..Usage::default() };
        assert_eq!(Usage::from(start.updated(delta)), expected);
    }
}
