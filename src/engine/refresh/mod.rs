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
use self::replace::{Known, Look, Place};
use super::carried::Carried;
use super::failure::{Failure, FailureKind};
use super::snapshot::{Credential, Provider};
use crate::channel::Refresh;
use crate::channel::endpoint::EndpointError;
use crate::channel::oauth::OAuth;
use crate::platform::Scope;
use crate::platform::fetch::Network;
use crate::store::id;
use crate::store::options::OAuthOptions;
use crate::store::vault::{Vault, VaultError};

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
    let wanted = Wanted { scope, vault, login, provider, credential };
    wanted.store_late().await;
    let held = credential.renewal.held(credential, vault).map_err(Unusable::Unopened)?;
    let now = scope.clock.now();
    let was_refused = matches!(held.secret, HeldSecret::Tokens(_)) && credential.renewal.is_refused(held.version);
    if !was_refused
        && !held.is_due(login.refresh.margin(), now)
        && let Some(usable) = held.usable(now)
    {
        return Ok(usable);
    }
    let renewed = match credential.renewal.pause(held.version, now) {
        Some(paused) => Err(paused),
        None => wanted.newer_than(held.version, was_refused).await,
    };
    match renewed {
        Ok(renewed) => renewed.usable(scope.clock.now()).ok_or(Unusable::NotRefreshed),
        // Trouble on the way to a new token is no reason to throw away one that is still good.
        Err(Unusable::NotRefreshed) if !was_refused => held.usable(scope.clock.now()).ok_or(Unusable::NotRefreshed),
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
    // Until there are newer ones, the next requests do not send it again.
    credential.renewal.refuse(used.version);
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
    /// Has tokens stored that could not be before, if there are any.
    async fn store_late(&self) {
        if self.credential.renewal.has_unstored() {
            let work = self.place(&id::new(self.scope)).store_late();
            Carried { work: Some(Box::pin(work)), tasks: self.scope.tasks.clone() }.await;
        }
    }

    /// A newer version than `version`: made here, or by whoever was faster. One that is due as well is made anew in its turn, unless it is
    /// wanted because `version` was refused. A token that is still good is not waited for.
    async fn newer_than(&self, version: i64, was_refused: bool) -> Result<Rc<Held>, Unusable> {
        let clock = &self.scope.clock;
        let owner = id::new(self.scope);
        let began = clock.now();
        let mut pause = FIRST_PAUSE;
        loop {
            let work = self.place(&owner).look(Known { version, was_refused });
            let look = Carried { work: Some(Box::pin(work)), tasks: self.scope.tasks.clone() };
            if let Look::Found(found) = look.await? {
                return Ok(found);
            }
            if clock.now().millis_since(began) >= PATIENCE_MS {
                tracing::warn!(provider = &*self.provider.name, "another refresh of a token takes too long");
                return Err(Unusable::NotRefreshed);
            }
            clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn place(&self, owner: &Arc<str>) -> Place {
        Place {
            scope: self.scope.clone(),
            vault: self.vault.clone(),
            login: self.login.clone(),
            credential_id: self.credential.id.clone(),
            provider: self.provider.name.clone(),
            credential: self.credential.name.clone(),
            renewal: self.credential.renewal.clone(),
            subject: format!("refresh:{}", self.credential.id).into(),
            owner: owner.clone(),
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
