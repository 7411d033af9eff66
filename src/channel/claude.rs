//! Claude (<https://platform.claude.com/docs/en/api/overview>): Messages and token counting.

use super::endpoint::Endpoint;
use super::{Call, Channel, ChannelError, Dispatch, vendor};
use crate::protocol::dialect::Dialect;

/// The channel.
pub struct Claude;

impl Channel for Claude {
    fn id(&self) -> &'static str {
        "claude"
    }

    fn default_base_url(&self) -> Option<&'static str> {
        Some("https://api.anthropic.com")
    }

    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::Claude]
    }

    fn needs_credential(&self) -> bool {
        true
    }

    fn prepare(&self, endpoint: &Endpoint, secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError> {
        vendor::prepare(endpoint, secret, call)
    }
}
