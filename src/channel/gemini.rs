//! Gemini (<https://ai.google.dev/api>): GenerateContent, token counting and embeddings.

use super::endpoint::Endpoint;
use super::{Call, Channel, ChannelError, Dispatch, vendor};
use crate::protocol::dialect::Dialect;

/// The channel.
pub struct Gemini;

impl Channel for Gemini {
    fn id(&self) -> &'static str {
        "gemini"
    }

    fn default_base_url(&self) -> Option<&'static str> {
        Some("https://generativelanguage.googleapis.com")
    }

    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::Gemini]
    }

    fn needs_credential(&self) -> bool {
        true
    }

    fn prepare(&self, endpoint: &Endpoint, secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError> {
        vendor::prepare(endpoint, secret, call)
    }
}
