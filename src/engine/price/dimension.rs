//! What has a price of its own.

use serde::Serialize;

/// What has a price of its own. The first nine are tokens, priced by the million; the others are priced by the piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Tokens of the prompt.
    Input,
    /// Tokens of the answer.
    Output,
    /// Tokens of the prompt that came from the vendor's cache.
    CacheRead,
    /// Tokens of the prompt that were written to the cache for its short life.
    CacheWriteShort,
    /// Tokens of the prompt that were written to the cache for its long life.
    CacheWriteLong,
    /// Tokens of thinking.
    Reasoning,
    /// Tokens of audio in the prompt.
    AudioInput,
    /// Tokens of audio in the answer.
    AudioOutput,
    /// Tokens that were embedded.
    Embedding,
    /// Pictures in the answer.
    Image,
    /// Calls.
    Request,
    /// Calls of tools that the vendor carried out.
    ServerToolCall,
}

impl Dimension {
    /// How many there are.
    pub const COUNT: usize = 12;

    /// All of them, in their order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Input,
        Self::Output,
        Self::CacheRead,
        Self::CacheWriteShort,
        Self::CacheWriteLong,
        Self::Reasoning,
        Self::AudioInput,
        Self::AudioOutput,
        Self::Embedding,
        Self::Image,
        Self::Request,
        Self::ServerToolCall,
    ];

    /// The dimension whose price holds where this one has none: what a vendor does not price apart, it counts among the other.
    pub fn fallback(self) -> Option<Self> {
        match self {
            Self::CacheRead | Self::CacheWriteShort | Self::AudioInput | Self::Embedding => Some(Self::Input),
            Self::CacheWriteLong => Some(Self::CacheWriteShort),
            Self::Reasoning | Self::AudioOutput => Some(Self::Output),
            Self::Input | Self::Output | Self::Image | Self::Request | Self::ServerToolCall => None,
        }
    }

    /// Whether it is counted by the piece and not in tokens.
    pub fn is_by_piece(self) -> bool {
        matches!(self, Self::Image | Self::Request | Self::ServerToolCall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_listed_in_their_order() {
        for (place, dimension) in Dimension::ALL.into_iter().enumerate() {
            assert_eq!(dimension as usize, place);
        }
    }

    #[test]
    fn tokens_fall_back_on_tokens() {
        for dimension in Dimension::ALL {
            if let Some(fallback) = dimension.fallback() {
                assert!(!dimension.is_by_piece() && !fallback.is_by_piece(), "{dimension:?}");
            }
        }
    }
}
