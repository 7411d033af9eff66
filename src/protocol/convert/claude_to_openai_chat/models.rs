//! The Chat model that a request of Claude's goes to.

use crate::protocol::openai_chat::capabilities::{self, Capabilities};

/// A model behind Chat Completions.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    name: &'a str,
    /// What it can do.
    pub can: Capabilities,
}

impl<'a> Model<'a> {
    /// The model that the upstream calls `name`.
    pub fn new(name: &'a str) -> Self {
        Self { name, can: capabilities::of(name) }
    }

    /// Whether it searches the web by itself: of OpenAI's only the search models do, what others take is not known
    /// (<https://developers.openai.com/api/docs/guides/tools-web-search>).
    pub fn searches(self) -> bool {
        !self.can.openai || self.name.contains("search")
    }

    /// Whether it is Gemini behind Google's Chat endpoint.
    pub fn is_gemini(self) -> bool {
        self.name.contains("gemini")
    }
}
