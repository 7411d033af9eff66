//! OpenAI (<https://developers.openai.com/api/reference/overview>): Chat Completions, Responses and embeddings.

use super::endpoint::Endpoint;
use super::{Call, Channel, ChannelError, Dispatch, vendor};
use crate::protocol::dialect::Dialect;

/// The channel.
pub struct OpenAi;

impl Channel for OpenAi {
    fn id(&self) -> &'static str {
        "openai"
    }

    fn default_base_url(&self) -> Option<&'static str> {
        Some("https://api.openai.com/v1")
    }

    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::OpenAiResponses, Dialect::OpenAiChat]
    }

    fn needs_credential(&self) -> bool {
        true
    }

    fn prepare(&self, endpoint: &Endpoint, secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError> {
        vendor::prepare(endpoint, secret, call)
    }
}
