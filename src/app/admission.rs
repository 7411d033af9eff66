//! What an authenticated caller may do, and on whose account.

use std::rc::Rc;

use super::identity::ApiKey;
use crate::engine::settle::Attribution;
use crate::engine::snapshot::Snapshot;

/// A request that may be carried out, with everything that the lower layers need and nothing about who asked.
pub struct Admitted {
    /// On whose account it goes.
    pub attribution: Attribution,
    /// The configuration that it is carried out under, to its end.
    pub snapshot: Rc<Snapshot>,
}

/// Admits a request of `key`. A gateway key opens every model of the instance.
pub fn admit(key: &ApiKey, snapshot: Rc<Snapshot>) -> Admitted {
    Admitted { attribution: Attribution { api_key_id: key.id.clone(), api_key: key.name.clone() }, snapshot }
}
