//! The attempts: one target and credential after the other, until one answers or the budget is used up. What follows from a failure
//! stands in [`super::failover`].

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::header::HeaderMap;

use super::answer::Answer;
use super::backoff;
use super::call::{Called, Failed};
use super::classify;
use super::deadline;
use super::deliver::{Delivery, deliver, deliver_estimate};
use super::error::EngineError;
use super::failover::{Another, Steps, is_triggered, steps};
use super::failure::{Failure, FailureKind};
use super::health::{Health, Place, Rest};
use super::refresh::{self, Unusable, Usable};
use super::select::{Plan, Target};
use super::settle::Settlement;
use super::snapshot::Credential;
use super::translate::{Translated, Untranslatable, dialect_for, translate};
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::protocol::convert::count;
use crate::protocol::operation::Operation;
use crate::protocol::request::ClientRequest;
use crate::store::options::Retry;
use crate::store::vault::Vault;

/// What a client sent, as far as an upstream may see it, and what holds for its answer.
pub struct ClientCall {
    /// The request.
    pub request: ClientRequest,
    /// The client's headers, all of them.
    pub headers: HeaderMap,
    /// The query string without credentials.
    pub query: Option<String>,
    /// Our id of the request.
    pub request_id: Arc<str>,
    /// Whether it would rather be refused than answered with a loss.
    pub strict: bool,
    /// The version in a Gemini client's path.
    pub version: Option<&'static str>,
    /// When the client's patience ends.
    pub deadline: Option<Timestamp>,
    /// How long the first content of a stream is waited for before the response begins without it.
    pub read_ahead: Duration,
    /// Whether an upstream is read to its end for the sake of its figures when the client has left.
    pub drains: bool,
}

/// A call without an answer. Its settlement is still open, to be closed with the status that the failure gets.
pub struct Unanswered {
    /// Why there is no answer.
    pub error: EngineError,
    /// The settlement.
    pub settlement: Box<Settlement>,
}

/// Carries `call` out according to `plan`. Upstream calls never exceed the plan's budget, and no credential is tried twice but for
/// retries that are configured. When nothing is left to try, the last answer stands. The settlement is made when the answer's body has
/// ended.
pub async fn run(
    scope: &Scope,
    vault: &Vault,
    health: &Rc<Health>,
    plan: &Plan,
    call: &ClientCall,
    settlement: Settlement,
) -> Result<Answer, Unanswered> {
    let mut run = Run {
        scope,
        vault,
        health,
        call,
        settlement,
        budget: plan.max_attempts,
        calls: 0,
        last: None,
        skipped: None,
        resting: None,
        presses: false,
        may_refresh: false,
        outcome: None,
    };
    let end = match call.deadline {
        None => run.go(plan).await,
        Some(deadline) => match deadline::within(&*scope.clock, deadline, run.go(plan)).await {
            Some(end) => end,
            None => {
                run.settlement.call_failed(EngineError::DeadlineExceeded.code(), &classify::out_of_time());
                End::Result(Err(EngineError::DeadlineExceeded))
            }
        },
    };
    match end {
        End::Delivery(here, delivery) => {
            let Here { target, translated, .. } = *here;
            Ok(deliver(delivery, call, target, translated, plan.heartbeat, run.settlement))
        }
        End::Estimate(target) => Ok(deliver_estimate(call, target, run.settlement)),
        End::Result(result) => run.finish(result),
    }
}

/// How the attempts end.
enum End<'p> {
    /// A target answers well.
    Delivery(Box<Here<'p>>, Delivery),
    /// Nobody has to be asked.
    Estimate(&'p Target),
    /// An error stands.
    Result(Result<Answer, EngineError>),
}

/// A target that is being tried.
struct Here<'p> {
    target: &'p Target,
    translated: Translated,
    /// How many of its credentials have had their turn.
    tried: usize,
    /// Calls that it may still make.
    grant: u32,
    /// How often a credential may still be asked again.
    retries: u32,
    /// What may follow upon its last failure.
    steps: Option<Steps>,
}

impl Here<'_> {
    /// The credential whose turn it is; a target that needs none has one turn without.
    fn next_credential(&mut self) -> Option<Option<Rc<Credential>>> {
        let credentials = &self.target.credentials;
        let next = match credentials.get(self.tried) {
            Some(credential) => Some(Some(credential.clone())),
            None if credentials.is_empty() && self.tried == 0 => Some(None),
            None => None,
        };
        self.tried += 1;
        next
    }

    /// Whether it failed so that another of its credentials may help where there is no other provider.
    fn has_last_resort(&self) -> bool {
        self.steps.is_some_and(|steps| steps.credential == Another::Last)
            && self.grant > 0
            && self.tried < self.target.credentials.len()
    }

    fn retry(&self) -> Option<&Retry> {
        self.target.policy.retry.as_ref().or(self.target.provider.policy.retry.as_ref())
    }
}

/// Whether a target can be tried.
enum Entry<'p> {
    Here(Box<Here<'p>>),
    /// Not this one, perhaps the next.
    Passed,
    /// Neither this one nor any after it.
    Closed,
    End(End<'p>),
}

/// What follows when a target has had its turn.
enum Left {
    /// Others may be tried.
    Open,
    /// It answers well.
    Delivery(Delivery),
    /// This stands, whoever else there is.
    Result(Result<Answer, EngineError>),
}

pub(super) struct Run<'a> {
    pub(super) scope: &'a Scope,
    pub(super) vault: &'a Vault,
    health: &'a Rc<Health>,
    pub(super) call: &'a ClientCall,
    pub(super) settlement: Settlement,
    /// Upstream calls that are granted to nobody yet.
    budget: u32,
    /// Upstream calls that were made.
    pub(super) calls: u32,
    /// What the last upstream call came to.
    last: Option<Result<Answer, EngineError>>,
    /// Why the first target that could not be asked could not.
    skipped: Option<EngineError>,
    /// Of those that rest, the rest that ends first.
    resting: Option<Rest>,
    /// Whether those are tried too who are only to be tried with care, because there is nobody else.
    presses: bool,
    /// Whether a refusal may be put right by a new access token.
    may_refresh: bool,
    /// The last failure.
    outcome: Option<Failure>,
}

impl Run<'_> {
    async fn go<'p>(&mut self, plan: &'p Plan) -> End<'p> {
        let end = self.walk(plan).await;
        if self.calls > 0 || self.resting.is_none() || !matches!(end, End::Result(Err(_))) {
            return end;
        }
        // All are being tried by others already, with care; but to ask nobody helps nobody.
        (self.presses, self.budget) = (true, plan.max_attempts);
        self.walk(plan).await
    }

    async fn walk<'p>(&mut self, plan: &'p Plan) -> End<'p> {
        let mut at = 0;
        // The target that was called last.
        let mut here: Option<Box<Here<'p>>> = None;
        loop {
            let is_terminal = here.as_ref().is_some_and(|here| here.steps.is_some() && here.target.policy.terminal);
            let entry = if is_terminal { Entry::Closed } else { self.enter(plan, at).await };
            let mut entered = match entry {
                Entry::Here(entered) => {
                    at += 1;
                    entered
                }
                Entry::Passed => {
                    at += 1;
                    continue;
                }
                // There is no other provider, so another credential of the last one may help.
                Entry::Closed => match here.take().filter(|here| here.has_last_resort()) {
                    Some(here) => here,
                    None => break,
                },
                Entry::End(end) => return end,
            };
            let calls = self.calls;
            match self.work(&mut entered).await {
                Left::Delivery(delivery) => return End::Delivery(entered, delivery),
                Left::Result(result) => return End::Result(result),
                Left::Open if self.calls > calls || here.is_none() => here = Some(entered),
                Left::Open => {}
            }
        }
        End::Result(self.last_word(plan))
    }

    /// Makes the target at `at` ready to be tried, if it can be.
    async fn enter<'p>(&mut self, plan: &'p Plan, at: usize) -> Entry<'p> {
        let Some(target) = plan.targets.get(at).filter(|_| self.budget > 0) else { return Entry::Closed };
        if self.outcome.as_ref().is_some_and(|failure| !is_triggered(&target.policy.triggers, failure)) {
            return Entry::Closed;
        }
        let Some(dialect) = dialect_for(self.call, target) else { return Entry::Passed };
        if self.call.request.operation == Operation::CountTokens && !count::can_count(dialect) {
            return Entry::End(End::Estimate(target));
        }
        if target.credentials.is_empty() && target.provider.channel.needs_credential() {
            self.skipped.get_or_insert(EngineError::NoCredential);
            return Entry::Passed;
        }
        let translated = match translate(self.scope, self.call, target, dialect, plan.conversion, &plan.media).await {
            Ok(translated) => translated,
            Err(Untranslatable::Invalid(error)) => return Entry::End(End::Result(Err(error))),
            Err(Untranslatable::Elsewhere(error)) => {
                self.skipped.get_or_insert(error);
                return Entry::Passed;
            }
        };
        let mut here = Here { target, translated, tried: 0, grant: 0, retries: 0, steps: None };
        here.retries = here.retry().map_or(0, |retry| retry.max_retries);
        let credentials = u32::try_from(target.credentials.len().max(1)).unwrap_or(u32::MAX);
        here.grant = credentials.saturating_add(here.retries).min(self.budget);
        // What is granted is gone, whether it is used or not.
        self.budget -= here.grant;
        Entry::Here(Box::new(here))
    }

    /// Tries a target, one credential after the other, as far as its failures allow.
    async fn work(&mut self, here: &mut Here<'_>) -> Left {
        while here.grant > 0 {
            let Some(credential) = here.next_credential() else { break };
            if !self.may_try(here.target, credential.as_deref()).await {
                continue;
            }
            let mut used = match self.usable(here.target, credential.as_ref()).await {
                Ok(used) => used,
                Err(error) => {
                    self.skipped.get_or_insert(error);
                    continue;
                }
            };
            let mut retries = 0;
            self.may_refresh = here.target.provider.login.is_some();
            while here.grant > 0 {
                let calls = self.calls;
                let called = self.attempt(here.target, &here.translated, credential.as_ref(), used.as_ref()).await;
                here.grant -= self.calls - calls;
                let Failed { failure, words, result } = match called {
                    Called::Delivery(delivery) => return Left::Delivery(delivery),
                    Called::Invalid(error) => return Left::Result(Err(error)),
                    Called::Skipped(error) => {
                        self.skipped.get_or_insert(error);
                        break;
                    }
                    Called::Failed(failed) => *failed,
                };
                let next = steps(&failure, &words, &here.target.provider.policy.failover);
                here.steps = Some(next);
                if next.again
                    && here.grant > 0
                    && here.retries > 0
                    && let Some(pause) = self.pause(here, retries, &failure)
                {
                    (retries, here.retries) = (retries + 1, here.retries - 1);
                    self.scope.clock.sleep(pause).await;
                    continue;
                }
                let withheld = self.withholds(&failure).then(|| failure.clone());
                (self.outcome, self.last) = (Some(failure), Some(result));
                if let (Some(failure), Some(credential), Some(refused)) = (withheld, &credential, &used) {
                    self.may_refresh = false;
                    if let Some(fresh) = self.refreshed(here.target, credential, refused, &failure).await
                        && self.may_call_once_more(here)
                    {
                        used = Some(fresh);
                        continue;
                    }
                }
                match next {
                    Steps { credential: Another::First, .. } => break,
                    Steps { provider: true, .. } => return Left::Open,
                    _ => return self.stop(),
                }
            }
        }
        if here.steps.is_some_and(|steps| !steps.provider) { self.stop() } else { Left::Open }
    }

    /// Lets the last answer stand.
    fn stop(&mut self) -> Left {
        self.last.take().map_or(Left::Open, Left::Result)
    }

    /// Whether health lets this credential be tried. A terminal member is tried even while it rests.
    async fn may_try(&mut self, target: &Target, credential: Option<&Credential>) -> bool {
        let place = Place { provider: &target.provider, credential, secret_version: 0, model: &target.model };
        let admitted = self.health.admit(self.scope, place).await;
        match self.settlement.admitted(admitted) {
            Ok(()) => true,
            Err(_) if target.policy.terminal => true,
            Err(_) if self.presses && !self.health.is_out(place, self.scope.clock.now()) => true,
            Err(rest) => {
                let ends_sooner = |other: &Rest| match (rest.until, other.until) {
                    (Some(this), Some(other)) => this < other,
                    (this, other) => this.is_some() && other.is_none(),
                };
                if self.resting.as_ref().is_none_or(ends_sooner) {
                    self.resting = Some(rest);
                }
                false
            }
        }
    }

    /// What a credential is used with now; `None` where none is needed.
    async fn usable(
        &mut self,
        target: &Target,
        credential: Option<&Rc<Credential>>,
    ) -> Result<Option<Usable>, EngineError> {
        let Some(credential) = credential else { return Ok(None) };
        match refresh::usable(self.scope, self.vault, &target.provider, credential).await {
            Ok(used) => Ok(Some(used)),
            Err(error) => Err(self.unusable(target, credential, error)),
        }
    }

    /// Whether a failure is kept from health for now: an access token may end before its time, and a new one may put it right.
    pub(super) fn withholds(&self, failure: &Failure) -> bool {
        self.may_refresh && matches!(failure.kind, FailureKind::Unauthorized | FailureKind::Refused)
    }

    /// What a credential can be used with once more after an upstream refused what it was used with. It is asked for once per credential
    /// and request.
    async fn refreshed(
        &mut self,
        target: &Target,
        credential: &Rc<Credential>,
        refused: &Usable,
        failure: &Failure,
    ) -> Option<Usable> {
        let provider = &target.provider;
        match refresh::after_refusal(self.scope, self.vault, provider, credential, refused, failure.status).await {
            Ok(Some(fresh)) => return Some(fresh),
            Ok(None) => {
                let (credential, secret_version) = (Some(&**credential), refused.version);
                let place = Place { provider, credential, secret_version, model: &target.model };
                self.settlement.credential_failed(place, failure);
            }
            Err(error) => drop(self.unusable(target, credential, error)),
        }
        None
    }

    /// Notes why a credential cannot be used.
    fn unusable(&mut self, target: &Target, credential: &Credential, error: Unusable) -> EngineError {
        match error {
            Unusable::Unopened(error) => {
                tracing::error!(provider = &*target.provider.name, %error, "a credential cannot be used");
                EngineError::NoCredential
            }
            Unusable::LoginNeeded(failure) => {
                let place = Place {
                    provider: &target.provider,
                    credential: Some(credential),
                    secret_version: credential.current_version(),
                    model: &target.model,
                };
                self.settlement.credential_failed(place, &failure);
                EngineError::CredentialRefused { status: failure.status }
            }
            Unusable::NotRefreshed => EngineError::NotRefreshed,
        }
    }

    /// A refreshed credential may be asked again: out of what the target has left, else out of the plan's budget.
    fn may_call_once_more(&mut self, here: &mut Here<'_>) -> bool {
        if here.grant == 0 && self.budget > 0 {
            self.budget -= 1;
            here.grant = 1;
        }
        here.grant > 0
    }

    /// How long to wait before the same credential is asked again; `None` when that makes no sense.
    fn pause(&self, here: &Here<'_>, number: u32, failure: &Failure) -> Option<Duration> {
        let pause = backoff::pause(here.retry()?, number, failure.retry_after, &*self.scope.random)?;
        let left = self.call.deadline.map(|deadline| deadline::left(deadline, self.scope.clock.now()));
        left.is_none_or(|left| pause < left).then_some(pause)
    }

    /// What stands when nobody is left to ask.
    fn last_word(&mut self, plan: &Plan) -> Result<Answer, EngineError> {
        if let Some(last) = self.last.take() {
            return last;
        }
        if let Some(rest) = self.resting.take() {
            let now = self.scope.clock.now();
            let seconds =
                |until: Timestamp| u64::try_from(until.millis_since(now)).unwrap_or_default().div_ceil(1000).max(1);
            return Err(EngineError::NoHealthyProvider { retry_after: rest.until.map(seconds) });
        }
        Err(self.skipped.take().unwrap_or_else(|| EngineError::Unsupported {
            dialect: self.call.request.dialect,
            operation: self.call.request.operation,
            providers: plan.targets.iter().map(|target| target.provider.name.clone()).collect(),
        }))
    }

    fn finish(self, result: Result<Answer, EngineError>) -> Result<Answer, Unanswered> {
        match result {
            Ok(mut answer) => {
                answer.trace = self.settlement.trace();
                self.settlement.failed(answer.status.as_u16(), "upstream_error");
                Ok(answer)
            }
            Err(error) => Err(Unanswered { error, settlement: Box::new(self.settlement) }),
        }
    }
}
