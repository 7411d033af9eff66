//! One refresh, by whoever has the lease.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::held::{Held, HeldSecret, Renewal};
use super::{LEASE_MS, Login, Unusable, login_needed};
use crate::channel::RefreshError;
use crate::channel::oauth::Tokens;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::platform::database::{Intent, Rows, Statement};
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
    pub(super) renewal: Renewal,
    pub(super) subject: Arc<str>,
    pub(super) owner: Arc<str>,
}

/// Whose newer tokens are wanted.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// The version that is known.
    pub(super) version: i64,
    /// Whether it was refused by an upstream.
    pub(super) was_refused: bool,
}

/// What [`Place::look`] comes to.
pub(super) enum Look {
    Found(Rc<Held>),
    /// Somebody else has the lease.
    Busy,
}

impl Place {
    /// Takes the lease and reads the credential again, in one batch. Unless somebody was faster, whoever got the lease has the tokens
    /// replaced. All of it is one piece of work, so that no lease is left behind when the request is dropped in the middle.
    pub(super) async fn look(self, known: Known) -> Result<Look, Unusable> {
        let now = self.scope.clock.now();
        let until = Timestamp(now.0.saturating_add(LEASE_MS));
        let statements =
            vec![lease::take(&self.subject, 1, &self.owner, now, until), credential::read_secret(&self.credential_id)];
        let rows = self.scope.database.batch(Intent::Write, statements).await.map_err(|error| {
            tracing::error!(provider = &*self.provider, %error, "a token cannot be refreshed");
            Unusable::NotRefreshed
        })?;
        let is_taken = rows.first().is_some_and(lease::is_taken);
        let stored = rows.get(1).and_then(credential::decode_secret);
        let found = match stored.ok_or(Unusable::NotRefreshed).and_then(|stored| self.open(&stored)) {
            Ok(found) => found,
            Err(error) => {
                self.give_back(is_taken);
                return Err(error);
            }
        };
        self.renewal.keep(&found);
        // What is stored is older than what is held, and its refresh token is taken: storing goes first.
        if self.renewal.has_unstored() {
            self.give_back(is_taken);
            return Err(Unusable::NotRefreshed);
        }
        let is_newer = found.version > known.version;
        if is_newer && (known.was_refused || !found.is_due(self.login.refresh.margin(), now)) {
            self.give_back(is_taken);
            return Ok(Look::Found(found));
        }
        let HeldSecret::Tokens(tokens) = &found.secret else {
            self.give_back(is_taken);
            return Err(Unusable::NotRefreshed);
        };
        // Another request of this isolate may have failed while this one waited.
        if let Some(paused) = self.renewal.pause(found.version, now) {
            self.give_back(is_taken);
            return Err(paused);
        }
        if is_taken {
            let (renewal, clock, tokens) = (self.renewal.clone(), self.scope.clock.clone(), tokens.clone());
            let renewed = self.replace(found.version, tokens).await;
            match &renewed {
                Ok(renewed) => renewal.keep(renewed),
                Err(error) => renewal.note(found.version, error, clock.now()),
            }
            return renewed.map(Look::Found);
        }
        // A token that only ends soon is good until then.
        if !known.was_refused && found.usable(now).is_some() {
            return Ok(Look::Found(found));
        }
        Ok(Look::Busy)
    }

    /// Stores what could not be stored before.
    pub(super) async fn store_late(self) {
        let Some(unstored) = self.renewal.due_unstored(self.scope.clock.now()) else { return };
        let now = self.scope.clock.now();
        let statements =
            credential::replace_secret(&self.credential_id, unstored.version, &unstored.sealed, now).to_vec();
        match self.scope.database.batch(Intent::Write, statements).await {
            Ok(rows) if rows.first().is_some_and(credential::is_replaced) => {
                self.published(&rows);
                self.renewal.settle_unstored(None);
            }
            // Either it was stored after all or somebody has given the credential another secret: what is stored counts.
            Ok(_) => {
                if let Ok(found) = self.read_again().await {
                    self.renewal.settle_unstored(found.as_ref());
                }
            }
            Err(error) => tracing::error!(provider = &*self.provider, %error, "new tokens are still not stored"),
        }
    }

    fn published(&self, rows: &[Rows]) {
        let revision = rows.get(1).and_then(|rows| rows.0.first()).and_then(|row| row.integer(0).ok());
        self.scope.notices.publish(revision.unwrap_or_default());
    }

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

    /// Stores new tokens before anybody uses them, over `version` and no other. When that fails they are all that there is, since the
    /// old ones are taken: they are used, and stored when it goes.
    async fn store(&self, version: i64, new: &Tokens) -> Result<Rc<Held>, Unusable> {
        let text = new.to_text();
        let sealed = match self.vault.seal(&self.credential_id, &text, &*self.scope.random) {
            Ok(sealed) => sealed,
            Err(error) => {
                self.give_back(true);
                return Err(Unusable::Unopened(error));
            }
        };
        let held = Rc::new(Held { version: version + 1, secret: HeldSecret::Tokens(new.clone()) });
        let statements = || {
            let now = self.scope.clock.now();
            let mut statements = credential::replace_secret(&self.credential_id, version, &sealed, now).to_vec();
            statements.push(lease::give_back(&self.subject, &self.owner));
            statements
        };
        for attempt in 1..=STORE_ATTEMPTS {
            match self.scope.database.batch(Intent::Write, statements()).await {
                Ok(rows) if rows.first().is_some_and(credential::is_replaced) => {
                    self.published(&rows);
                    return Ok(held);
                }
                // Somebody has given the credential another secret meanwhile, or an answer was lost: what is stored counts.
                Ok(_) => return self.read_again().await?.ok_or(Unusable::NotRefreshed),
                Err(error) => {
                    tracing::error!(provider = &*self.provider, attempt, %error, "new tokens could not be stored");
                    self.scope.clock.sleep(STORE_PAUSE * attempt).await;
                }
            }
        }
        // Lost tokens would mean a new login, so the host goes on trying, and so does this isolate.
        self.renewal.keep_unstored(version, sealed.clone(), &held, self.scope.clock.now());
        self.write_in_time(statements());
        Ok(held)
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
