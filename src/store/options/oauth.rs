//! How a provider's tokens are made anew.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How long before its end a token is made anew unless the provider says otherwise.
pub const DEFAULT_MARGIN_SECONDS: u32 = 60;

/// The answer of an upstream by which it may mean that a token has ended, unless the provider says otherwise.
pub const DEFAULT_REFRESH_STATUSES: [u16; 1] = [401];

/// A provider's token endpoint, and as whom it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthOptions {
    /// The address.
    pub token_url: String,
    /// The client.
    pub client_id: String,
    /// The client's secret, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SealedSecret>,
    /// What is asked for, where that has to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// How long before its end a token is made anew.
    pub margin_seconds: u32,
    /// By which answers an upstream may mean that a token has ended.
    pub refresh_statuses: Vec<u16>,
}

/// A secret among options: sealed for its row. Two are the same when their digests are, since no sealing gives the same twice.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
pub struct SealedSecret {
    /// The secret, sealed for the id of its row.
    pub sealed: Arc<str>,
    /// A keyed hash of it.
    pub digest: Arc<str>,
}

impl PartialEq for SealedSecret {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}
