//! Continuations: which credential a vendor keeps a conversation for.

use std::sync::Arc;

use crate::platform::clock::Timestamp;
use crate::platform::database::{Rows, Statement};
use crate::protocol::dialect::Dialect;

/// How long a vendor keeps a conversation, as far as is known: OpenAI keeps answers for 30 days.
pub const KEPT_MS: i64 = 30 * 24 * 3600 * 1000;

/// The hash of an id by which a client continues a conversation. The id itself is not kept: whoever has it could go on with it. The same
/// id of another caller is another key, so that nobody can say where the conversations of others go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(blake3::Hash);

impl Key {
    /// The key of `id`, as clients of `dialect` use it; `caller` is a word for who does.
    pub fn new(caller: &str, dialect: Dialect, id: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("tollgate 2026-12 ids of conversations");
        hasher.update(blake3::hash(caller.as_bytes()).as_bytes());
        hasher.update(dialect.name().as_bytes());
        hasher.update(b"/");
        hasher.update(id.as_bytes());
        Self(hasher.finalize())
    }

    fn to_text(self) -> String {
        self.0.to_hex().to_string()
    }

    /// Whether it is one in so many, always the same ones.
    fn is_one_in(self, count: u8) -> bool {
        self.0.as_bytes().first().is_some_and(|byte| byte % count == 0)
    }
}

/// Who keeps a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The provider's id.
    pub provider_id: Arc<str>,
    /// The credential's id; `None` where the provider needs none.
    pub credential_id: Option<Arc<str>>,
}

/// Reads who keeps the conversation.
pub fn find(key: Key, now: Timestamp) -> Statement {
    Statement::new(
        "SELECT provider_id, credential_id FROM continuations WHERE id = ?1 AND expires_at > ?2",
        vec![key.to_text().into(), now.0.into()],
    )
}

/// Decodes what [`find`] returns.
pub fn decode(rows: &Rows) -> Option<Owner> {
    let row = rows.0.first()?;
    Some(Owner { provider_id: row.text(0).ok()?.clone(), credential_id: row.optional_text(1).ok()?.cloned() })
}

/// Notes who keeps the conversation; now and then also forgets what vendors have forgotten.
pub fn write(key: Key, owner: &Owner, now: Timestamp) -> Vec<Statement> {
    let mut statements = vec![Statement::new(
        "INSERT INTO continuations (id, provider_id, credential_id, expires_at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (id) DO UPDATE SET provider_id = excluded.provider_id, credential_id = excluded.credential_id, \
         expires_at = excluded.expires_at",
        vec![
            key.to_text().into(),
            (&owner.provider_id).into(),
            owner.credential_id.as_ref().into(),
            now.0.saturating_add(KEPT_MS).into(),
        ],
    )];
    if key.is_one_in(64) {
        statements.push(Statement::new("DELETE FROM continuations WHERE expires_at <= ?1", vec![now.0.into()]));
    }
    statements
}
