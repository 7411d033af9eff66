//! Who is calling.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Gateway;
use super::error::AppError;
use crate::engine::snapshot::Snapshot;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::{DatabaseError, Intent, Rows, Statement};
use crate::sdk::ExtraRead;
use crate::store::admin_token;
use crate::store::api_key::{self, ApiKeyRow};
use crate::store::revision;
use crate::store::vault::Digest;

/// How gateway keys begin.
pub const KEY_PREFIX: &str = "tg-";
/// How admin tokens begin.
pub const ADMIN_TOKEN_PREFIX: &str = "tga-";

const SECRET_BYTES: usize = 32;
/// How much of a key is kept readable.
const SHOWN_CHARACTERS: usize = KEY_PREFIX.len() + 6;

/// A gateway key that is good.
#[derive(Debug)]
pub struct ApiKey {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    expires_at: Option<Timestamp>,
}

/// The keys that this isolate has seen lately, so that a warm request does not read its key again. They hold for one
/// revision of the identities.
#[derive(Default)]
pub(super) struct KeyCache(RefCell<CachedKeys>);

#[derive(Default)]
struct CachedKeys {
    identity_revision: i64,
    keys: HashMap<Digest, Rc<ApiKey>>,
}

/// Most keys that are remembered; past that the memory begins anew.
const MAX_CACHED_KEYS: usize = 10_000;

impl KeyCache {
    fn get(&self, digest: &Digest, identity_revision: i64) -> Option<Rc<ApiKey>> {
        let cached = self.0.borrow();
        (cached.identity_revision == identity_revision).then(|| cached.keys.get(digest).cloned()).flatten()
    }

    /// Remembers a key as it was at `identity_revision`. What is older than the rest is not worth remembering.
    fn put(&self, digest: Digest, key: &Rc<ApiKey>, identity_revision: i64) {
        let mut cached = self.0.borrow_mut();
        if identity_revision < cached.identity_revision {
            return;
        }
        if cached.identity_revision != identity_revision || cached.keys.len() >= MAX_CACHED_KEYS {
            cached.keys.clear();
            cached.identity_revision = identity_revision;
        }
        cached.keys.insert(digest, key.clone());
    }
}

impl Gateway {
    /// Finds out whose gateway key `presented` is, and brings the configuration up to date: the one round trip to the
    /// database that a request makes before it dispatches.
    pub async fn authenticate(
        &self,
        scope: &Scope,
        presented: Option<&str>,
    ) -> Result<(Rc<ApiKey>, Rc<Snapshot>), AppError> {
        // What does not look like one of our keys is not worth a question to the database.
        let presented =
            presented.filter(|presented| presented.starts_with(KEY_PREFIX)).ok_or(AppError::Unauthenticated)?;
        let digest = self.handle.vault().digest(presented);
        let known_revision = self.handle.snapshot().map(|snapshot| snapshot.revisions.identity);
        let cached = known_revision.and_then(|revision| self.keys.get(&digest, revision));
        let extra = match &cached {
            Some(_) => vec![],
            None => vec![api_key::by_digest(&digest.to_text())],
        };
        let ticked = self.handle.tick(scope, extra).await?;
        let key = match (cached, ticked.read) {
            (Some(key), _) if known_revision == Some(ticked.snapshot.revisions.identity) => key,
            // The identities have changed since the key was remembered, and it was not read along this time.
            (Some(_), _) => self.look_up(scope, digest).await?,
            (None, Some(read)) => self.remember(digest, &read)?,
            (None, None) => {
                return Err(AppError::Database(DatabaseError::unavailable("the key could not be looked up")));
            }
        };
        if key.expires_at.is_some_and(|end| end <= scope.clock.now()) {
            return Err(AppError::Unauthenticated);
        }
        Ok((key, ticked.snapshot))
    }

    async fn look_up(&self, scope: &Scope, digest: Digest) -> Result<Rc<ApiKey>, AppError> {
        let statements = vec![revision::read(), api_key::by_digest(&digest.to_text())];
        let mut rows = scope.database.batch(Intent::Read, statements).await?;
        let found = rows.split_off(1.min(rows.len()));
        let row = rows.first().and_then(|rows| rows.0.first());
        let revisions = row.and_then(|row| revision::decode(row).ok()).unwrap_or_default();
        self.remember(digest, &ExtraRead { revisions, rows: found })
    }

    /// Takes the key from what was read, and remembers it for the revision at which that was, no newer one: it may have been
    /// revoked since.
    fn remember(&self, digest: Digest, read: &ExtraRead) -> Result<Rc<ApiKey>, AppError> {
        let row = found(digest, read.rows.first()).ok_or(AppError::Unauthenticated)?;
        let key = Rc::new(ApiKey { id: row.id, name: row.name, expires_at: row.expires_at });
        self.keys.put(digest, &key, read.revisions.identity);
        Ok(key)
    }

    /// Lets an administrator in. Without any admin token the admin surface is closed.
    pub async fn authenticate_admin(&self, scope: &Scope, presented: Option<&str>) -> Result<Rc<Snapshot>, AppError> {
        let presented = presented.ok_or(AppError::AdminUnauthenticated)?;
        let digest = self.handle.vault().digest(presented);
        // What cannot be a token is not worth a question to the database.
        if !presented.starts_with(ADMIN_TOKEN_PREFIX) && self.admin_token != Some(digest) {
            return Err(AppError::AdminUnauthenticated);
        }
        let ticked = self.handle.tick(scope, vec![admin_token::by_digest(&digest.to_text())]).await?;
        let stored = ticked.read.and_then(|read| {
            let row = read.rows.first()?.0.first()?.text(0).ok()?.clone();
            Digest::from_text(&row)
        });
        if self.admin_token == Some(digest) || stored == Some(digest) {
            Ok(ticked.snapshot)
        } else {
            Err(AppError::AdminUnauthenticated)
        }
    }
}

/// The enabled key among `rows`, compared with the digest once more in constant time.
fn found(digest: Digest, rows: Option<&Rows>) -> Option<ApiKeyRow> {
    let (keys, _) = api_key::decode(rows?);
    keys.into_iter().find(|row| row.enabled && Digest::from_text(&row.digest) == Some(digest))
}

/// A new secret with `prefix`, 256 random bits.
pub fn new_secret(prefix: &str, scope: &Scope) -> String {
    let mut bytes = [0; SECRET_BYTES];
    scope.random.fill(&mut bytes);
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The part of a key that may be shown.
pub fn shown_prefix(key: &str) -> Arc<str> {
    key.chars().take(SHOWN_CHARACTERS).collect::<String>().into()
}

/// Stores an admin token by its keyed hash.
pub fn store_admin_token(gateway: &Gateway, scope: &Scope, token: &str) -> Statement {
    admin_token::insert(&gateway.handle.vault().digest(token).to_text(), scope.clock.now())
}
