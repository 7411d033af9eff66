//! The tokens of Chat Completions and of embeddings, as they are counted here.

pub use super::wire::usage::CompletionUsage;
use crate::protocol::usage::Usage;

impl From<CompletionUsage> for Usage {
    fn from(wire: CompletionUsage) -> Self {
        let prompt = wire.prompt_tokens_details.unwrap_or_default();
        let completion = wire.completion_tokens_details.unwrap_or_default();
        let cache_read = prompt.cached_tokens.or(wire.prompt_cache_hit_tokens).unwrap_or(0);
        let cache_write_short = prompt.cache_write_tokens.unwrap_or(0);
        let audio_input = prompt.audio_tokens.unwrap_or(0);
        let reasoning = completion.reasoning_tokens.unwrap_or(0);
        let audio_output = completion.audio_tokens.unwrap_or(0);
        // Compatible vendors have been seen to report details that exceed the total.
        let rest = |total: u64, parts: [u64; 3]| parts.iter().fold(total, |rest, part| rest.saturating_sub(*part));
        Self {
            input: rest(wire.prompt_tokens, [cache_read, cache_write_short, audio_input]),
            cache_read,
            cache_write_short,
            cache_write_long: 0,
            audio_input,
            output: rest(wire.completion_tokens, [reasoning, audio_output, 0]),
            reasoning,
            audio_output,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_taken_out_of_the_totals() {
        let wire: CompletionUsage = serde_json::from_str(
            r#"{"prompt_tokens":1200,"completion_tokens":340,"total_tokens":1540,
                "prompt_tokens_details":{"cached_tokens":1024,"cache_write_tokens":128,"audio_tokens":0},
                "completion_tokens_details":{"reasoning_tokens":256,"accepted_prediction_tokens":0}}"#,
        )
        .unwrap();
        let expected = Usage {
            input: 48,
            cache_read: 1024,
            cache_write_short: 128,
            output: 84,
            reasoning: 256,
            ..Usage::default()
        };
        assert_eq!(Usage::from(wire), expected);
    }

    /// DeepSeek tells beside the total what it read from its cache.
    #[test]
    fn a_hit_of_deepseeks_cache_is_a_read() {
        let wire: CompletionUsage =
            serde_json::from_str(r#"{"prompt_tokens":9,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5}"#)
                .unwrap();
        assert_eq!(Usage::from(wire), Usage { input: 5, cache_read: 4, ..Usage::default() });
    }

    #[test]
    fn details_larger_than_the_total_do_not_wrap() {
        let wire: CompletionUsage =
            serde_json::from_str(r#"{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}"#).unwrap();
        assert_eq!(Usage::from(wire), Usage { cache_read: 9, ..Usage::default() });
    }
}
