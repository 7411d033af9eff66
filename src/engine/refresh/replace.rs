//! One refresh, by whoever has the lease.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::held::{Held, HeldSecret};
use super::{Login, Unusable, login_needed};
use crate::channel::RefreshError;
use crate::channel::oauth::Tokens;
use crate::platform::Scope;
use crate::platform::database::{Intent, Statement};
use crate::platform::tasks::Tasks;
use crate::store::credential::{self, StoredSecret};
use crate::store::lease;
use crate::store::vault::Vault;

/// Before a refresh token counts as refused, whoever may just have replaced it gets this long to store the new one.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// How often new tokens are stored before that is left to the host.
const STORE_ATTEMPTS: u32 = 3;
const STORE_PAUSE: Duration = Duration::from_millis(200);

/// Longest answer of a token endpoint.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// A refresh of one credential under its lease. It owns what it needs, since it may outlive its request.
pub(super) struct Place {
    pub(super) scope: Scope,
    pub(super) vault: Vault,
    pub(super) login: Rc<Login>,
    pub(super) credential_id: Arc<str>,
    pub(super) provider: Arc<str>,
    pub(super) credential: Arc<str>,
    pub(super) subject: Arc<str>,
    pub(super) owner: Arc<str>,
}

impl Place {
    pub(super) fn open(&self, stored: &StoredSecret) -> Result<Rc<Held>, Unusable> {
        let secret = self.vault.open(&self.credential_id, &stored.sealed).map_err(Unusable::Unopened)?;
        Ok(Rc::new(Held::of(stored.version, secret)))
    }

    /// Gives the lease back, if it is held; nobody waits for that.
    pub(super) fn give_back(&self, is_held: bool) {
        if is_held {
            self.write_in_time(vec![lease::give_back(&self.subject, &self.owner)]);
        }
    }

    /// Leaves a write to the host, which tries it several times.
    fn write_in_time(&self, statements: Vec<Statement>) {
        let mut batch = self.scope.database.batch(Intent::Deferred, statements);
        if (&mut batch).now_or_never().is_none() {
            self.scope.tasks.wait_until(Box::pin(async move { drop(batch.await) }));
        }
    }

    /// Has `tokens`, which are those of `version`, replaced, and gives the lease back.
    pub(super) async fn replace(self, version: i64, tokens: Tokens) -> Result<Rc<Held>, Unusable> {
        match self.ask(&tokens).await {
            Ok(new) => self.store(version, &new).await,
            Err(RefreshError::Rejected) => {
                let result = self.refused(version).await;
                self.give_back(true);
                result
            }
            Err(RefreshError::Unavailable(reason)) => {
                let (provider, credential) = (&*self.provider, &*self.credential);
                tracing::warn!(provider, credential, reason, "a token could not be refreshed");
                self.give_back(true);
                Err(Unusable::NotRefreshed)
            }
        }
    }

    async fn ask(&self, tokens: &Tokens) -> Result<Tokens, RefreshError> {
        let sealed = self.login.client_secret.as_deref();
        let client_secret = sealed
            .map(|sealed| self.vault.open(&self.login.provider_id, sealed))
            .transpose()
            .map_err(|error| RefreshError::Unavailable(format!("the client's secret: {error}")))?;
        let request = self.login.refresh.request(tokens, client_secret.as_deref());
        let response = self.scope.fetch.fetch(request).await;
        let response = response.map_err(|error| {
            RefreshError::Unavailable(format!("the token endpoint did not answer ({:?})", error.kind))
        })?;
        let body = response.body.collect(MAX_ANSWER_BYTES).await;
        let body = body.map_err(|_| RefreshError::Unavailable("the token endpoint's answer broke off".to_owned()))?;
        self.login.refresh.read(tokens, response.status, &body, self.scope.clock.now())
    }

    /// Stores new tokens before anybody uses them, over `version` and no other.
    async fn store(&self, version: i64, new: &Tokens) -> Result<Rc<Held>, Unusable> {
        let text = new.to_text();
        let sealed = match self.vault.seal(&self.credential_id, &text, &*self.scope.random) {
            Ok(sealed) => sealed,
            Err(error) => {
                self.give_back(true);
                return Err(Unusable::Unopened(error));
            }
        };
        let statements = || {
            let now = self.scope.clock.now();
            let mut statements = credential::replace_secret(&self.credential_id, version, &sealed, now).to_vec();
            statements.push(lease::give_back(&self.subject, &self.owner));
            statements
        };
        for attempt in 1..=STORE_ATTEMPTS {
            match self.scope.database.batch(Intent::Write, statements()).await {
                Ok(rows) if rows.first().is_some_and(credential::is_replaced) => {
                    let revision = rows.get(1).and_then(|rows| rows.0.first()).and_then(|row| row.integer(0).ok());
                    self.scope.notices.publish(revision.unwrap_or_default());
                    return Ok(Rc::new(Held { version: version + 1, secret: HeldSecret::Tokens(new.clone()) }));
                }
                // Somebody has given the credential another secret meanwhile, or an answer was lost: what is stored counts.
                Ok(_) => return self.read_again().await?.ok_or(Unusable::NotRefreshed),
                Err(error) => {
                    tracing::error!(provider = &*self.provider, attempt, %error, "new tokens could not be stored");
                    self.scope.clock.sleep(STORE_PAUSE * attempt).await;
                }
            }
        }
        // Lost tokens would mean a new login, so the host goes on trying.
        self.write_in_time(statements());
        Err(Unusable::NotRefreshed)
    }

    /// The refresh token was refused: if it is still the stored one, somebody has to log in again.
    async fn refused(&self, version: i64) -> Result<Rc<Held>, Unusable> {
        for is_last in [false, true] {
            match self.read_again().await? {
                Some(found) if found.version != version => return Ok(found),
                Some(_) if !is_last => self.scope.clock.sleep(SECOND_LOOK).await,
                Some(_) => {}
                None => return Err(Unusable::NotRefreshed),
            }
        }
        let (provider, credential) = (&*self.provider, &*self.credential);
        tracing::error!(
            provider,
            credential,
            "the token endpoint refuses the refresh token: log in again and import the new one"
        );
        Err(Unusable::LoginNeeded(login_needed()))
    }

    /// What is stored now; `None` when the credential is gone.
    async fn read_again(&self) -> Result<Option<Rc<Held>>, Unusable> {
        // As a write, since a replica may not know it yet.
        let statements = vec![credential::read_secret(&self.credential_id)];
        let rows = self.scope.database.batch(Intent::Write, statements).await.map_err(|error| {
            tracing::error!(provider = &*self.provider, %error, "a credential cannot be read again");
            Unusable::NotRefreshed
        })?;
        rows.first().and_then(credential::decode_secret).map(|stored| self.open(&stored)).transpose()
    }
}

/// Work that goes on as a task when the one that waits for it is dropped.
pub(super) struct Carried<T: 'static> {
    pub(super) work: Option<LocalBoxFuture<'static, T>>,
    pub(super) tasks: Rc<dyn Tasks>,
}

impl<T> Future for Carried<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let result = std::task::ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(result)
    }
}

impl<T: 'static> Drop for Carried<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.tasks.wait_until(Box::pin(async move { drop(work.await) }));
        }
    }
}
