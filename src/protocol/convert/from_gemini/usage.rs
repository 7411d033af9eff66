//! What an answer took, in Gemini's figures.

use crate::protocol::gemini::wire::proto::Count;
use crate::protocol::gemini::wire::response::UsageMetadata;

/// Counts of tokens, as far as all vendors have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// All that was read, what tools found included.
    pub prompt: u64,
    /// What of it came from the cache.
    pub cached: u64,
    /// All that was written, thoughts included.
    pub output: u64,
    /// The thoughts.
    pub thoughts: u64,
}

/// B37, B38: Gemini counts what tools found beside the prompt, and thoughts beside the candidates.
pub fn counts(usage: &UsageMetadata<'_>) -> Counts {
    let count = |count: Option<Count>| count.map_or(0, |count| count.0);
    let prompt = count(usage.prompt_token_count).saturating_add(count(usage.tool_use_prompt_token_count));
    let (candidates, thoughts) = (count(usage.candidates_token_count), count(usage.thoughts_token_count));
    // Some endpoints count thoughts among the candidates, which the total gives away.
    let are_inside = thoughts > 0 && count(usage.total_token_count) == prompt.saturating_add(candidates);
    let output = if are_inside { candidates } else { candidates.saturating_add(thoughts) };
    Counts { prompt, cached: count(usage.cached_content_token_count), output, thoughts }
}
