//! What an answer took.

use crate::protocol::claude::wire::usage::Usage as Source;
use crate::protocol::openai_responses::wire::response::{InputTokensDetails, OutputTokensDetails, Usage};

/// The figures so far; in a stream each newer one replaces the former.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    thinking: u64,
}

impl Counts {
    /// Takes over what `usage` tells; what is absent or null stays.
    pub(super) fn update(&mut self, usage: &Source<'_>) {
        let thinking = usage.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens);
        for (figure, newer) in [
            (&mut self.input, usage.input_tokens),
            (&mut self.cache_read, usage.cache_read_input_tokens),
            (&mut self.cache_write, usage.cache_creation_input_tokens),
            (&mut self.output, usage.output_tokens),
            (&mut self.thinking, thinking),
        ] {
            *figure = newer.unwrap_or(*figure);
        }
    }

    /// The usage as Responses tells it: the input includes what was read from and written to the cache.
    pub(super) fn usage(self) -> Usage {
        let input_tokens = self.input.saturating_add(self.cache_read).saturating_add(self.cache_write);
        Usage {
            input_tokens,
            input_tokens_details: Some(InputTokensDetails {
                cached_tokens: self.cache_read,
                cache_write_tokens: Some(self.cache_write),
                cache_write_tokens_details: None,
            }),
            output_tokens: self.output,
            output_tokens_details: Some(OutputTokensDetails { reasoning_tokens: self.thinking.min(self.output) }),
            total_tokens: input_tokens.saturating_add(self.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B37: Claude's input leaves out what the cache served and took, that of Responses includes it.
    #[test]
    fn cache_tokens_are_part_of_the_input() {
        let text = r#"{"input_tokens":12,"cache_creation_input_tokens":2000,"cache_read_input_tokens":50000,"output_tokens":1}"#;
        let mut counts = Counts::default();
        counts.update(&serde_json::from_str(text).unwrap());
        counts.update(&serde_json::from_str(r#"{"input_tokens":null,"output_tokens":80}"#).unwrap());
        let usage = counts.usage();
        let details = usage.input_tokens_details.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (52_012, 80, 52_092));
        assert_eq!((details.cached_tokens, details.cache_write_tokens), (50_000, Some(2000)));
    }
}
