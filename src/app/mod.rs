//! Who is calling, what they may reach, and what the operations of the management surface do. It knows no URLs.

pub mod admission;
pub mod document;
pub mod error;
pub mod identity;
pub mod operations;

use std::fmt;

use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::sdk::Handle;
use crate::store::vault::{Digest, Vault};
use identity::{ADMIN_TOKEN_PREFIX, KeyCache};

/// A time as documents and reports write it, such as `2026-11-30T12:00:00Z`.
fn rfc3339(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).unwrap_or_default().to_string()
}

/// One isolate of the gateway: what outlives requests, and no I/O.
pub struct Gateway {
    /// Configuration and calls.
    pub handle: Handle,
    /// What the host decides.
    pub options: HostOptions,
    keys: KeyCache,
    /// The keyed hash of the admin token in the host's environment.
    admin_token: Option<Digest>,
}

/// What the host decides.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Most bytes that the body of a data-plane request may have.
    pub max_body_bytes: usize,
    /// What an operator does when the schema is behind.
    pub migration_hint: &'static str,
}

/// The variable that holds an admin token.
pub const ADMIN_TOKEN_VARIABLE: &str = "TOLLGATE_ADMIN_TOKEN";
/// The variable that holds the master key.
pub const MASTER_KEY_VARIABLE: &str = "TOLLGATE_MASTER_KEY";

/// Shortest admin token in the host's environment.
const MIN_ADMIN_TOKEN_BYTES: usize = 20;

fn is_strong(token: &str) -> bool {
    token.starts_with(ADMIN_TOKEN_PREFIX) && token.len() >= MIN_ADMIN_TOKEN_BYTES
}

/// The admin token in the host's environment could be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeakAdminToken;

impl fmt::Display for WeakAdminToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{ADMIN_TOKEN_VARIABLE} must begin with {ADMIN_TOKEN_PREFIX} and have at least {MIN_ADMIN_TOKEN_BYTES} characters"
        )
    }
}

impl std::error::Error for WeakAdminToken {}

impl Gateway {
    /// Assembles an isolate. Nothing is read yet; the first request does. Fails when the host's admin token is a weak one.
    pub fn new(vault: Vault, options: HostOptions, scope: &Scope) -> Result<Self, WeakAdminToken> {
        let admin_token = scope.variables.get(ADMIN_TOKEN_VARIABLE).filter(|token| !token.is_empty());
        if admin_token.as_deref().is_some_and(|token| !is_strong(token)) {
            return Err(WeakAdminToken);
        }
        let admin_token = admin_token.map(|token| vault.digest(&token));
        Ok(Self { handle: Handle::new(vault), options, keys: KeyCache::default(), admin_token })
    }
}
