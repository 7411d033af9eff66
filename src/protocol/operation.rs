//! What a client may ask of a model.

/// An operation that reaches an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// An answer, buffered or streamed.
    Generate,
    /// How many tokens a request has.
    CountTokens,
    /// Embeddings: OpenAI's any number of inputs, Gemini's one.
    Embed,
    /// Gemini's embeddings of many inputs.
    EmbedBatch,
}

impl Operation {
    /// The name in the database and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::CountTokens => "count_tokens",
            Self::Embed => "embed",
            Self::EmbedBatch => "embed_batch",
        }
    }
}
