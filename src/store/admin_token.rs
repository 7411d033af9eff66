//! Tokens that open the admin API.

use crate::platform::clock::Timestamp;
use crate::platform::database::Statement;

/// Looks for the token whose keyed hash is `digest`; a row is found or not.
pub fn by_digest(digest: &str) -> Statement {
    Statement::new("SELECT digest FROM admin_tokens WHERE digest = ?1", vec![digest.into()])
}

/// Looks for any token.
pub fn any() -> Statement {
    Statement::new("SELECT digest FROM admin_tokens LIMIT 1", vec![])
}

/// Adds a token by its keyed hash.
pub fn insert(digest: &str, now: Timestamp) -> Statement {
    Statement::new(
        "INSERT INTO admin_tokens (digest, created_at) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING",
        vec![digest.into(), now.0.into()],
    )
}
