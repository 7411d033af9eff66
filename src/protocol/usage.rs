//! How many tokens an answer took, in dimensions that do not overlap.

/// Tokens by kind, each token in one of them, whatever the vendor's own convention is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Prompt tokens read at the full price.
    pub input: u64,
    /// Prompt tokens that came from the vendor's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache for its short life: 5 minutes at Claude, 30 at OpenAI.
    pub cache_write_short: u64,
    /// Prompt tokens written to the cache for its long life: 1 hour at Claude, 12 at OpenAI.
    pub cache_write_long: u64,
    /// Audio in the prompt.
    pub audio_input: u64,
    /// Tokens of the visible answer.
    pub output: u64,
    /// Tokens of thinking, where the vendor tells them apart.
    pub reasoning: u64,
    /// Audio in the answer.
    pub audio_output: u64,
}

impl Usage {
    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// A rough figure for when the vendor gave none: four bytes of JSON to a prompt token, and the counted pieces of the
    /// answer, which vendors send about a token at a time.
    pub fn estimate(request_bytes: usize, output_tokens: u64) -> Self {
        Self { input: request_bytes.div_ceil(4) as u64, output: output_tokens, ..Self::default() }
    }
}
