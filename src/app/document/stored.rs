//! The whole stored configuration, as the document is compared with it.

use std::sync::Arc;

use crate::platform::database::{Rows, Statement};
use crate::store::BadRow;
use crate::store::api_key::{self, ApiKeyRow};
use crate::store::credential::{self, CredentialRow};
use crate::store::provider::{self, ProviderRow};
use crate::store::revision;
use crate::store::route::{self, MemberRow, RouteRow};
use crate::store::rule_set::{self, RuleSetRow};
use crate::store::settings::{self, Settings};

/// The whole stored configuration.
#[derive(Debug, Default)]
pub struct Stored {
    /// The revision it was read at.
    pub revision: i64,
    /// The mark of the master key under which secrets are sealed; empty when nothing has been sealed.
    pub vault_mark: String,
    /// The settings.
    pub settings: Settings,
    /// The providers by name.
    pub providers: Vec<ProviderRow>,
    /// The credentials, each provider's together.
    pub credentials: Vec<CredentialRow>,
    /// The routes by name.
    pub routes: Vec<RouteRow>,
    /// The members, each route's together.
    pub members: Vec<MemberRow>,
    /// The keys by name.
    pub keys: Vec<ApiKeyRow>,
    /// The rule sets by name.
    pub rule_sets: Vec<RuleSetRow>,
    /// Rows that cannot be read. They are there all the same; a provider, a route or a key of that
    /// name is written anew under the id that the row has.
    pub damaged: Vec<BadRow>,
}

impl Stored {
    /// What reads it: one batch.
    pub fn read() -> Vec<Statement> {
        vec![
            revision::read(),
            settings::read(),
            provider::list(),
            credential::list(),
            route::list(),
            route::list_members(),
            api_key::list(),
            rule_set::list(),
        ]
    }

    /// Decodes what [`Stored::read`] returned.
    pub fn decode(rows: &[Rows]) -> Self {
        let [revisions, settings, providers, credentials, routes, members, keys, rule_sets] = rows else {
            return Self::default();
        };
        let revision = revisions.0.first().and_then(|row| revision::decode(row).ok()).unwrap_or_default().config;
        let (instance, mut bad) = settings::decode(settings);
        fn keep<T>(decoded: (Vec<T>, Vec<BadRow>), bad: &mut Vec<BadRow>) -> Vec<T> {
            bad.extend(decoded.1);
            decoded.0
        }
        Self {
            revision,
            vault_mark: instance.vault_mark,
            settings: instance.settings,
            providers: keep(provider::decode(providers), &mut bad),
            credentials: keep(credential::decode(credentials), &mut bad),
            routes: keep(route::decode(routes), &mut bad),
            members: keep(route::decode_members(members), &mut bad),
            keys: keep(api_key::decode(keys), &mut bad),
            rule_sets: keep(rule_set::decode(rule_sets), &mut bad),
            damaged: bad,
        }
    }

    /// The id of a row of `table` that is named `name` and cannot be read.
    pub fn damaged_id(&self, table: &str, name: &str) -> Option<Arc<str>> {
        self.damaged.iter().find(|bad| bad.table == table && bad.row == name).and_then(|bad| bad.id.clone())
    }
}
