//! A target that has its turn: which of its credentials come next, and how many calls it may still make.

use std::rc::Rc;

use super::failover::{Another, Steps};
use super::failure::{Failure, FailureKind};
use super::select::Target;
use super::snapshot::Credential;
use super::translate::Translated;
use crate::protocol::dialect::Dialect;
use crate::store::options::Retry;

/// A target that is being tried.
pub(super) struct Turn<'p> {
    pub(super) target: &'p Target,
    /// Its place in the plan.
    pub(super) at: usize,
    /// In which dialect it is asked.
    pub(super) dialect: Dialect,
    /// The call in its words, once they are needed.
    pub(super) translated: Option<Translated>,
    /// Calls that it was granted.
    pub(super) granted: u32,
    /// Those of them that it may still make.
    pub(super) grant: u32,
    /// Calls that it has made.
    pub(super) calls: u32,
    /// How often a credential may still be asked again.
    pub(super) retries: u32,
    /// How often a limit was waited for.
    pub(super) waits: u32,
    /// What may follow upon its last failure.
    pub(super) steps: Option<Steps>,
    /// How many of its credentials have had their turn.
    tried: usize,
    /// The credential that has its turn.
    current: usize,
    /// The credential that has its turn again, out of the order.
    again: Option<usize>,
    /// Which credential was too fast, and what it was told; of several, the one that waits least.
    limited: Option<(usize, Failure)>,
}

impl<'p> Turn<'p> {
    /// The turn of `target`, which stands at `at` in the plan; nothing is granted yet.
    pub(super) fn new(target: &'p Target, at: usize, dialect: Dialect, translated: Option<Translated>) -> Self {
        let mut turn = Self {
            target,
            at,
            dialect,
            translated,
            granted: 0,
            grant: 0,
            calls: 0,
            retries: 0,
            waits: 0,
            steps: None,
            tried: 0,
            current: 0,
            again: None,
            limited: None,
        };
        turn.retries = turn.retry().map_or(0, |retry| retry.max_retries);
        turn
    }

    /// The credential whose turn it is; a target that needs none has one turn without.
    pub(super) fn next_credential(&mut self) -> Option<Option<Rc<Credential>>> {
        let credentials = &self.target.credentials;
        self.current = self.again.take().unwrap_or_else(|| {
            self.tried += 1;
            self.tried - 1
        });
        match credentials.get(self.current) {
            Some(credential) => Some(Some(credential.clone())),
            None if credentials.is_empty() && self.current == 0 => Some(None),
            None => None,
        }
    }

    /// Whether it failed so that another of its credentials may help where there is no other provider.
    pub(super) fn has_last_resort(&self) -> bool {
        self.steps.is_some_and(|steps| steps.credential == Another::Last)
            && self.grant > 0
            && self.tried < self.target.credentials.len()
    }

    /// Takes note of how the credential that has its turn failed.
    pub(super) fn failed(&mut self, failure: &Failure, steps: Steps) {
        self.steps = Some(steps);
        let waits_less =
            |other: &Failure| failure.retry_after.unwrap_or_default() < other.retry_after.unwrap_or_default();
        if failure.kind == FailureKind::RateLimited && self.limited.as_ref().is_none_or(|(_, other)| waits_less(other))
        {
            self.limited = Some((self.current, failure.clone()));
        }
    }

    /// What a credential was told that was too fast, if one may be asked again.
    pub(super) fn limited(&self) -> Option<&Failure> {
        self.limited.as_ref().filter(|_| self.retries > 0).map(|(_, failure)| failure)
    }

    /// Gives the credential that was too fast another turn.
    pub(super) fn ask_limited_again(&mut self) {
        self.again = self.limited.take().map(|(credential, _)| credential);
        self.retries = self.retries.saturating_sub(1);
        self.waits += 1;
    }

    pub(super) fn retry(&self) -> Option<&Retry> {
        self.target.retry()
    }
}
