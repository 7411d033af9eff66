//! Any upstream that speaks one of the dialects: the provider says where it is, and which.

use super::endpoint::Endpoint;
use super::{Call, Channel, ChannelError, Dispatch, vendor};
use crate::protocol::dialect::Dialect;

/// The channel.
pub struct Custom;

impl Channel for Custom {
    fn id(&self) -> &'static str {
        "custom"
    }

    fn default_base_url(&self) -> Option<&'static str> {
        None
    }

    fn dialects(&self) -> &'static [Dialect] {
        &[]
    }

    fn needs_credential(&self) -> bool {
        false
    }

    fn prepare(&self, endpoint: &Endpoint, secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError> {
        vendor::prepare(endpoint, secret, call)
    }
}
