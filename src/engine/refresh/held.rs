//! What an isolate knows of a credential's tokens.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::{Unusable, Usable, login_needed};
use crate::channel::oauth::Tokens;
use crate::engine::snapshot::Credential;
use crate::platform::clock::Timestamp;
use crate::store::vault::{Vault, VaultError};

/// How long a token endpoint that could not help is left alone, by this isolate.
const TROUBLE_PAUSE_MS: i64 = 5_000;

/// How long it is not asked about a refresh token that it has refused, by this isolate. The others hear of it by the settlement.
const REFUSED_PAUSE_MS: i64 = 300_000;

/// How long a store that has failed is left alone.
const STORE_PAUSE_MS: i64 = 1_000;

/// What an isolate knows of a credential's tokens beyond its snapshot. It holds data and no future: a request never waits for another's.
#[derive(Clone, Default)]
pub struct Renewal(Rc<State>);

#[derive(Default)]
struct State {
    held: RefCell<Option<Rc<Held>>>,
    pause: Cell<Option<Pause>>,
    /// The newest version that an upstream has refused.
    refused: Cell<Option<i64>>,
    unstored: RefCell<Option<Unstored>>,
}

/// New tokens that could not be stored yet. They are held, so that they are used.
#[derive(Clone)]
pub(super) struct Unstored {
    /// The version that they replace.
    pub(super) version: i64,
    /// The tokens, sealed.
    pub(super) sealed: Arc<str>,
    next_at: Timestamp,
}

/// The secret of a credential in one version.
pub(super) struct Held {
    pub(super) version: i64,
    pub(super) secret: HeldSecret,
}

pub(super) enum HeldSecret {
    /// It is what calls are made with, and cannot be refreshed.
    Plain(Arc<str>),
    Tokens(Tokens),
}

/// Until when the token endpoint is not asked about a version.
#[derive(Clone, Copy)]
struct Pause {
    version: i64,
    until: Timestamp,
    is_refused: bool,
}

impl Held {
    pub(super) fn of(version: i64, secret: Arc<str>) -> Self {
        let secret = Tokens::parse(&secret).map_or(HeldSecret::Plain(secret), HeldSecret::Tokens);
        Self { version, secret }
    }

    /// What calls are made with, unless it has ended.
    pub(super) fn usable(&self, now: Timestamp) -> Option<Usable> {
        let secret = match &self.secret {
            HeldSecret::Plain(secret) => secret.clone(),
            HeldSecret::Tokens(tokens) => tokens.usable(now)?.into(),
        };
        Some(Usable { secret, version: self.version })
    }

    pub(super) fn is_due(&self, margin: Duration, now: Timestamp) -> bool {
        matches!(&self.secret, HeldSecret::Tokens(tokens) if tokens.is_due(margin, now))
    }
}

impl Renewal {
    /// The newest version that is known here.
    pub(super) fn held(&self, credential: &Credential, vault: &Vault) -> Result<Rc<Held>, VaultError> {
        if let Some(held) = &*self.0.held.borrow() {
            return Ok(held.clone());
        }
        let held = Rc::new(Held::of(credential.version, credential.secret(vault)?));
        self.replace(&held);
        Ok(held)
    }

    /// The newest version, if anybody has asked for it.
    pub(in crate::engine) fn version(&self) -> Option<i64> {
        self.0.held.borrow().as_ref().map(|held| held.version)
    }

    /// Whether an upstream has refused what is of this version.
    pub(super) fn is_refused(&self, version: i64) -> bool {
        self.0.refused.get().is_some_and(|refused| version <= refused)
    }

    pub(super) fn refuse(&self, version: i64) {
        self.0.refused.set(self.0.refused.get().max(Some(version)));
    }

    /// Keeps new tokens that could not be stored, to be used all the same and stored as soon as that goes.
    pub(super) fn keep_unstored(&self, version: i64, sealed: Arc<str>, held: &Rc<Held>, now: Timestamp) {
        let next_at = Timestamp(now.0.saturating_add(STORE_PAUSE_MS));
        *self.0.unstored.borrow_mut() = Some(Unstored { version, sealed, next_at });
        self.replace(held);
    }

    pub(super) fn has_unstored(&self) -> bool {
        self.0.unstored.borrow().is_some()
    }

    /// What is to be stored, if it is time to try it again; whoever is given it tries.
    pub(super) fn due_unstored(&self, now: Timestamp) -> Option<Unstored> {
        let mut unstored = self.0.unstored.borrow_mut();
        let due = unstored.as_mut().filter(|unstored| unstored.next_at <= now)?;
        due.next_at = Timestamp(now.0.saturating_add(STORE_PAUSE_MS));
        Some(due.clone())
    }

    /// What was stored, or was not because something else is by now; that is `stored`.
    pub(super) fn settle_unstored(&self, stored: Option<&Rc<Held>>) {
        *self.0.unstored.borrow_mut() = None;
        if let Some(stored) = stored {
            self.replace(stored);
        }
    }

    fn replace(&self, held: &Rc<Held>) {
        *self.0.held.borrow_mut() = Some(held.clone());
    }

    pub(super) fn keep(&self, held: &Rc<Held>) {
        let mut kept = self.0.held.borrow_mut();
        if kept.as_ref().is_none_or(|kept| kept.version < held.version) {
            *kept = Some(held.clone());
        }
    }

    pub(super) fn pause(&self, version: i64, now: Timestamp) -> Option<Unusable> {
        let pause = self.0.pause.get().filter(|pause| pause.version == version && now < pause.until)?;
        Some(if pause.is_refused { Unusable::LoginNeeded(login_needed()) } else { Unusable::NotRefreshed })
    }

    pub(super) fn note(&self, version: i64, error: &Unusable, now: Timestamp) {
        let (millis, is_refused) = match error {
            Unusable::NotRefreshed => (TROUBLE_PAUSE_MS, false),
            Unusable::LoginNeeded(_) => (REFUSED_PAUSE_MS, true),
            Unusable::Unopened(_) => return,
        };
        self.0.pause.set(Some(Pause { version, until: Timestamp(now.0.saturating_add(millis)), is_refused }));
    }
}
