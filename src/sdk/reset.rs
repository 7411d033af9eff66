//! Taking providers and credentials for well again.

use std::fmt;
use std::sync::Arc;

use super::{Handle, TickError};
use crate::engine::health::quota_keys;
use crate::engine::snapshot::{Credential, Provider, Snapshot};
use crate::platform::Scope;
use crate::platform::database::{DatabaseError, Intent};
use crate::store::{health, revision};

/// What is to be taken for well again: rests end, breakers close, quotas are not used up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealthReset {
    /// Of these providers only, by name.
    pub providers: Option<Vec<String>>,
    /// Of the credentials of this name only.
    pub credential: Option<String>,
    /// Whether what was spent of the quotas is forgotten too.
    pub quotas: bool,
}

impl Handle {
    /// Takes providers and credentials for well again; the other isolates do so with their next tick.
    pub async fn reset_health(&self, scope: &Scope, wanted: &HealthReset) -> Result<(), ResetError> {
        let snapshot = match self.snapshot() {
            Some(snapshot) => snapshot,
            None => self.tick(scope, vec![revision::read()]).await?.snapshot,
        };
        let providers = chosen_providers(&snapshot, wanted)?;
        let all_credentials = || providers.iter().flat_map(|provider| snapshot.credentials_of(provider));
        let credentials: Option<Vec<&Credential>> = wanted.credential.as_ref().map(|name| {
            all_credentials().map(|credential| &**credential).filter(|credential| *credential.name == **name).collect()
        });
        if let (Some(name), Some([])) = (&wanted.credential, credentials.as_deref()) {
            return Err(ResetError::NoCredential(name.clone()));
        }
        let mut quotas: Vec<Arc<str>> = match &credentials {
            Some(credentials) => of_credentials(credentials.iter().copied()),
            None => of_credentials(all_credentials().map(|credential| &**credential)),
        };
        if credentials.is_none() {
            quotas.extend(providers.iter().flat_map(|provider| quota_keys(&provider.id, &provider.policy.quotas)));
        }
        // What is known of providers that are disabled at present is reset with all.
        let provider_ids: Option<Vec<&str>> =
            wanted.providers.is_some().then(|| providers.iter().map(|provider| &*provider.id).collect());
        let credential_ids: Option<Vec<&str>> =
            credentials.as_ref().map(|credentials| credentials.iter().map(|credential| &*credential.id).collect());
        self.health.forget(provider_ids.as_deref(), credential_ids.as_deref());
        let reset =
            health::Reset { providers: provider_ids, credentials: credential_ids, quotas, usage: wanted.quotas };
        scope.database.batch(Intent::Write, health::reset(&reset)).await?;
        if let Err(error) = self.tick(scope, vec![revision::read()]).await {
            tracing::warn!(%error, "health is reset but could not be read back");
        }
        Ok(())
    }
}

fn chosen_providers<'a>(snapshot: &'a Snapshot, wanted: &HealthReset) -> Result<Vec<&'a Provider>, ResetError> {
    let all = &snapshot.routing.providers;
    let Some(names) = &wanted.providers else { return Ok(all.values().map(|provider| &**provider).collect()) };
    let find = |name: &String| {
        let found = all.get(name.as_str()).map(|provider| &**provider);
        found.ok_or_else(|| ResetError::NoProvider(name.clone()))
    };
    names.iter().map(find).collect()
}

fn of_credentials<'a>(credentials: impl Iterator<Item = &'a Credential>) -> Vec<Arc<str>> {
    credentials.flat_map(|credential| quota_keys(&credential.id, &credential.policy.quotas)).collect()
}

/// Why nothing was reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetError {
    /// There is no such provider in use.
    NoProvider(String),
    /// None of the providers has such a credential in use.
    NoCredential(String),
    /// The configuration is not known.
    NotReady(TickError),
    /// The database refused, or could not be asked.
    Database(DatabaseError),
}

impl From<DatabaseError> for ResetError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<TickError> for ResetError {
    fn from(error: TickError) -> Self {
        Self::NotReady(error)
    }
}

impl fmt::Display for ResetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProvider(name) => {
                write!(formatter, "there is no provider {name:?} in use; GET /admin/api/health lists those there are")
            }
            Self::NoCredential(name) => {
                write!(formatter, "there is no credential {name:?} in use; GET /admin/api/health lists those there are")
            }
            Self::NotReady(error) => error.fmt(formatter),
            Self::Database(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for ResetError {}
