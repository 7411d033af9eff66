//! Keeping conversations with the account that the vendor keeps them for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

pub use crate::store::continuation::{Key, Owner};

use crate::platform::clock::Timestamp;
use crate::platform::database::Statement;
use crate::protocol::continuation::{IdFinder, is_kept};
use crate::protocol::dialect::Dialect;
use crate::protocol::request::ClientRequest;
use crate::store::continuation;

/// Most owners that are remembered; past that the memory begins anew.
const MAX_REMEMBERED: usize = 10_000;

/// The owners that this isolate has lately seen. An owner never changes, so what is remembered stays true.
#[derive(Debug, Default)]
pub struct Owners(RefCell<HashMap<Key, Owner>>);

impl Owners {
    /// Who keeps the conversation, if it is remembered.
    pub fn get(&self, key: &Key) -> Option<Owner> {
        self.0.borrow().get(key).cloned()
    }

    /// Remembers it.
    pub fn put(&self, key: Key, owner: Owner) {
        let mut owners = self.0.borrow_mut();
        if owners.len() >= MAX_REMEMBERED {
            owners.clear();
        }
        owners.insert(key, owner);
    }
}

/// Notes the owner of one request's conversation when it is answered.
#[derive(Debug)]
pub struct Keeper {
    owners: Rc<Owners>,
    caller: Arc<str>,
    dialect: Dialect,
    /// What the request continues, where nobody knows yet who keeps it.
    continued: Option<Key>,
    /// Looks for the id of the answer, where the vendor keeps it.
    finder: Option<IdFinder>,
}

impl Keeper {
    /// For a request of `caller` that continues `continued`, whose owner nobody knows; `None` where there is nothing to be noted.
    pub fn new(
        owners: &Rc<Owners>,
        caller: &Arc<str>,
        request: &ClientRequest,
        continued: Option<Key>,
    ) -> Option<Self> {
        let is_kept = is_kept(request.dialect, request.operation, &request.body);
        (is_kept || continued.is_some()).then(|| Self {
            owners: owners.clone(),
            caller: caller.clone(),
            dialect: request.dialect,
            continued,
            finder: is_kept.then(IdFinder::default),
        })
    }

    /// Sees the next bytes of the answer, in the client's dialect.
    pub fn saw(&mut self, chunk: &[u8]) {
        if let Some(finder) = &mut self.finder {
            finder.feed(chunk);
        }
    }

    /// Notes that the answer came from `owner`.
    pub fn note(self, owner: &Owner, now: Timestamp) -> Vec<Statement> {
        let answered = self.finder.and_then(IdFinder::finish).map(|id| Key::new(&self.caller, self.dialect, &id));
        let mut statements = Vec::new();
        for key in self.continued.into_iter().chain(answered) {
            self.owners.put(key, owner.clone());
            statements.extend(continuation::write(key, owner, now));
        }
        statements
    }
}
