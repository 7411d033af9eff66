//! Requests that continue a conversation which a vendor keeps.

use std::sync::Arc;

use super::Handle;
use crate::engine::continuation::{Keeper, Key, Owner};
use crate::platform::Scope;
use crate::platform::database::Intent;
use crate::protocol::continuation::continued;
use crate::protocol::request::ClientRequest;
use crate::store::continuation;

/// What a request continues.
#[derive(Debug, Clone, Default)]
pub struct Continued {
    /// The conversation, if it continues one.
    pub key: Option<Key>,
    /// Who keeps it, if that is known.
    pub owner: Option<Owner>,
}

impl Handle {
    /// Finds out who keeps the conversation that `request` of `caller` continues. Only a request that does, and whose owner this isolate has not
    /// lately seen, asks the database.
    pub async fn continued(&self, scope: &Scope, caller: &str, request: &ClientRequest) -> Continued {
        let Some(id) = continued(request.dialect, &request.body) else { return Continued::default() };
        let key = Key::new(caller, request.dialect, &id);
        if let Some(owner) = self.owners.get(&key) {
            return Continued { key: Some(key), owner: Some(owner) };
        }
        // On the heap, since few requests come here and all of them would carry it along.
        Continued { key: Some(key), owner: Box::pin(self.look_up(scope, key)).await }
    }

    async fn look_up(&self, scope: &Scope, key: Key) -> Option<Owner> {
        let read = scope.database.batch(Intent::Read, vec![continuation::find(key, scope.clock.now())]).await;
        let rows = match read {
            Ok(rows) => rows,
            Err(error) => {
                tracing::error!(%error, "who keeps a conversation could not be looked up; it is passed on to anybody");
                return None;
            }
        };
        let owner = rows.first().and_then(continuation::decode)?;
        self.owners.put(key, owner.clone());
        Some(owner)
    }

    /// What notes who answers `request` of `caller`, where that has to be known later.
    pub fn keeper(&self, caller: &Arc<str>, request: &ClientRequest, continued: &Continued) -> Option<Box<Keeper>> {
        Keeper::new(&self.owners, caller, request, continued.key.filter(|_| continued.owner.is_none())).map(Box::new)
    }
}
