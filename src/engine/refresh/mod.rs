//! Access tokens that end are made anew, once, however many isolates need one.
//!
//! Vendors take a refresh token once and may end the whole login when it is shown again. So whoever refreshes has a lease on the
//! credential, taken in the one batch that also tells whether somebody else has refreshed meanwhile; new tokens are stored before they
//! are used, and only over the version that they came from. A loser waits and reads again. What has begun is carried to its end even if
//! the client leaves, since tokens that are not stored are lost.

mod held;
mod replace;

pub use held::Renewal;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use self::held::{Held, HeldSecret};
use self::replace::{Carried, Place};
use super::failure::{Failure, FailureKind};
use super::snapshot::{Credential, Provider};
use crate::channel::Refresh;
use crate::channel::endpoint::EndpointError;
use crate::channel::oauth::OAuth;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::Intent;
use crate::platform::fetch::Network;
use crate::store::options::OAuthOptions;
use crate::store::vault::{Vault, VaultError};
use crate::store::{credential, id, lease};

/// For how long whoever refreshes has the credential for itself: longer than a token endpoint is waited for.
const LEASE_MS: i64 = 20_000;

/// For how long the others wait.
const PATIENCE_MS: i64 = 10_000;

/// The pauses between their looks: each twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How the tokens of a provider's credentials are made anew.
pub struct Login {
    refresh: Box<dyn Refresh>,
    /// Sealed for the provider's id.
    client_secret: Option<Arc<str>>,
    provider_id: Arc<str>,
}

impl Login {
    /// By the refresh-token grant of OAuth 2.0.
    pub fn new(provider_id: &Arc<str>, options: &OAuthOptions, network: Network) -> Result<Self, EndpointError> {
        let OAuthOptions { token_url, client_id, client_secret, scope, margin_seconds, refresh_statuses } = options;
        let margin = Duration::from_secs((*margin_seconds).into());
        let oauth = OAuth::new(token_url, network, client_id.clone(), scope.clone(), margin, refresh_statuses.clone())?;
        Ok(Self {
            refresh: Box::new(oauth),
            client_secret: client_secret.as_ref().map(|secret| secret.sealed.clone()),
            provider_id: provider_id.clone(),
        })
    }
}

/// What a call is made with.
#[derive(Clone)]
pub struct Usable {
    /// The API key or the access token.
    pub secret: Arc<str>,
    /// The version of the credential's secret that it is of, which may be newer than the snapshot's.
    pub version: i64,
}

/// Why a credential cannot be used now.
#[derive(Debug)]
pub enum Unusable {
    /// It cannot be opened.
    Unopened(VaultError),
    /// Its refresh token is refused: it is dead until somebody logs in again. Health has to be told.
    LoginNeeded(Failure),
    /// It has ended, and something is in the way of a new one, which the log tells. It may be well in a moment.
    NotRefreshed,
}

/// What `credential` is used with now: its secret, or an access token that lasts. One that is about to end is made anew first.
pub async fn usable(
    scope: &Scope,
    vault: &Vault,
    provider: &Provider,
    credential: &Credential,
) -> Result<Usable, Unusable> {
    let Some(login) = &provider.login else {
        let secret = credential.secret(vault).map_err(Unusable::Unopened)?;
        return Ok(Usable { secret, version: credential.version });
    };
    let held = credential.renewal.held(credential, vault).map_err(Unusable::Unopened)?;
    let now = scope.clock.now();
    if !held.is_due(login.refresh.margin(), now)
        && let Some(usable) = held.usable(now)
    {
        return Ok(usable);
    }
    let wanted = Wanted { scope, vault, login, provider, credential };
    let renewed = match credential.renewal.pause(held.version, now) {
        Some(paused) => Err(paused),
        None => wanted.newer_than(held.version, false).await,
    };
    match renewed {
        Ok(renewed) => renewed.usable(scope.clock.now()).ok_or(Unusable::NotRefreshed),
        // Trouble on the way to a new token is no reason to throw away one that is still good.
        Err(Unusable::NotRefreshed) => held.usable(scope.clock.now()).ok_or(Unusable::NotRefreshed),
        Err(error) => Err(error),
    }
}

/// After an upstream has refused `used` with `status`: what the same credential can be tried with once more, `None` if there is nothing.
/// To be asked once for a request and credential.
pub async fn after_refusal(
    scope: &Scope,
    vault: &Vault,
    provider: &Provider,
    credential: &Credential,
    used: &Usable,
    status: u16,
) -> Result<Option<Usable>, Unusable> {
    let Some(login) = provider.login.as_ref().filter(|login| login.refresh.may_have_ended(status)) else {
        return Ok(None);
    };
    let held = credential.renewal.held(credential, vault).map_err(Unusable::Unopened)?;
    let now = scope.clock.now();
    if held.version > used.version {
        return Ok(held.usable(now));
    }
    if matches!(held.secret, HeldSecret::Plain(_)) {
        return Ok(None);
    }
    let wanted = Wanted { scope, vault, login, provider, credential };
    let renewed = match credential.renewal.pause(held.version, now) {
        Some(paused) => Err(paused),
        None => wanted.newer_than(used.version, true).await,
    };
    renewed.map(|renewed| renewed.usable(scope.clock.now()))
}

/// One request's wish for newer tokens.
struct Wanted<'a> {
    scope: &'a Scope,
    vault: &'a Vault,
    login: &'a Rc<Login>,
    provider: &'a Provider,
    credential: &'a Credential,
}

impl Wanted<'_> {
    /// A newer version than `known`: made here, or by whoever was faster. One that is due as well is made anew in its turn, unless it is
    /// wanted because `known` was refused.
    async fn newer_than(&self, known: i64, was_refused: bool) -> Result<Rc<Held>, Unusable> {
        let Self { scope, credential, .. } = self;
        let subject: Arc<str> = format!("refresh:{}", credential.id).into();
        let owner = id::new(scope);
        let began = scope.clock.now();
        let mut pause = FIRST_PAUSE;
        loop {
            let now = scope.clock.now();
            let until = Timestamp(now.0.saturating_add(LEASE_MS));
            let statements =
                vec![lease::take(&subject, 1, &owner, now, until), credential::read_secret(&credential.id)];
            let rows = scope.database.batch(Intent::Write, statements).await.map_err(|error| {
                tracing::error!(provider = &*self.provider.name, %error, "a token cannot be refreshed");
                Unusable::NotRefreshed
            })?;
            let is_taken = rows.first().is_some_and(lease::is_taken);
            let place = Place {
                scope: (*scope).clone(),
                vault: self.vault.clone(),
                login: self.login.clone(),
                credential_id: credential.id.clone(),
                provider: self.provider.name.clone(),
                credential: credential.name.clone(),
                subject: subject.clone(),
                owner: owner.clone(),
            };
            let stored = rows.get(1).and_then(credential::decode_secret);
            let found = match stored.ok_or(Unusable::NotRefreshed).and_then(|stored| place.open(&stored)) {
                Ok(found) => found,
                Err(error) => {
                    place.give_back(is_taken);
                    return Err(error);
                }
            };
            credential.renewal.keep(&found);
            let is_newer = found.version > known;
            if is_newer && (was_refused || !found.is_due(self.login.refresh.margin(), now)) {
                place.give_back(is_taken);
                return Ok(found);
            }
            let HeldSecret::Tokens(tokens) = &found.secret else {
                place.give_back(is_taken);
                return Err(Unusable::NotRefreshed);
            };
            // Another request of this isolate may have failed while this one waited.
            if let Some(paused) = credential.renewal.pause(found.version, now) {
                place.give_back(is_taken);
                return Err(paused);
            }
            if is_taken {
                let work = place.replace(found.version, tokens.clone());
                let carried = Carried { work: Some(Box::pin(work)), tasks: scope.tasks.clone() };
                let renewed = carried.await;
                match &renewed {
                    Ok(renewed) => credential.renewal.keep(renewed),
                    Err(error) => credential.renewal.note(found.version, error, scope.clock.now()),
                }
                return renewed;
            }
            let waited = scope.clock.now().millis_since(began);
            if waited >= PATIENCE_MS {
                tracing::warn!(provider = &*self.provider.name, "another refresh of a token takes too long");
                return Err(Unusable::NotRefreshed);
            }
            scope.clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// The failure that health is told of.
fn login_needed() -> Failure {
    Failure {
        kind: FailureKind::Unauthorized,
        status: StatusCode::UNAUTHORIZED.as_u16(),
        retry_after: None,
        cause: "login needed: the refresh token is refused".into(),
    }
}
