//! The attempts: one target and credential after the other, until one answers or the budget is used up. What follows from a failure
//! stands in [`super::failover`], who may be tried in `access`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::header::HeaderMap;

use super::answer::Answer;
use super::backoff;
use super::call::{Called, Failed};
use super::deadline;
use super::deliver::{Delivery, deliver, deliver_estimate};
use super::error::EngineError;
use super::failover::{Another, is_tried, steps};
use super::failure::Failure;
use super::health::{Health, Rest};
use super::reasons::Reasons;
use super::select::{Plan, Target};
use super::settle::Settlement;
use super::snapshot::Credential;
use super::translate::{Translated, Untranslatable, dialect_for, translate};
use super::turn::Turn;
use crate::platform::Scope;
use crate::platform::clock::Timestamp;
use crate::protocol::convert::count;
use crate::protocol::operation::Operation;
use crate::protocol::request::ClientRequest;
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
        reasons: Reasons::default(),
        resting: None,
        presses: false,
        may_refresh: false,
        outcome: None,
        moves_on: true,
        spare: Vec::new(),
    };
    let end = match call.deadline {
        None => run.go(plan).await,
        Some(deadline) => match deadline::within(&*scope.clock, deadline, run.go(plan)).await {
            Some(end) => end,
            None => {
                run.settlement.call_cut(EngineError::DeadlineExceeded.code());
                End::Result(Err(EngineError::DeadlineExceeded))
            }
        },
    };
    match end {
        End::Delivery(target, translated, delivery) => {
            Ok(deliver(delivery, call, target, *translated, plan.heartbeat, run.settlement))
        }
        End::Estimate(target) => Ok(deliver_estimate(call, target, run.settlement)),
        End::Result(result) => run.finish(result),
    }
}

/// How the attempts end.
enum End<'p> {
    /// A target answers well.
    Delivery(&'p Target, Box<Translated>, Delivery),
    /// Nobody has to be asked.
    Estimate(&'p Target),
    /// An error stands.
    Result(Result<Answer, EngineError>),
}

/// Whether a target can be tried.
enum Entry<'p> {
    Turn(Box<Turn<'p>>),
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
    Delivery(Box<Translated>, Delivery),
    /// The request is at fault, whoever else there is.
    Error(EngineError),
}

/// What follows when a credential has had its turn.
enum Next {
    /// Another one of the target.
    Credential,
    /// Others may be tried.
    Open,
    /// It answers well.
    Delivery(Delivery),
    /// The request is at fault, whoever else there is.
    Error(EngineError),
}

pub(super) struct Run<'a> {
    pub(super) scope: &'a Scope,
    pub(super) vault: &'a Vault,
    pub(super) health: &'a Rc<Health>,
    pub(super) call: &'a ClientCall,
    pub(super) settlement: Settlement,
    /// Upstream calls that are granted to nobody yet.
    budget: u32,
    /// Upstream calls that were made.
    pub(super) calls: u32,
    /// What the last upstream call came to.
    last: Option<Result<Answer, EngineError>>,
    /// Why those who could not be asked could not.
    reasons: Reasons,
    /// Of those that rest, the rest that ends first.
    pub(super) resting: Option<Rest>,
    /// Whether those are tried too who are only to be tried with care, because there is nobody else.
    pub(super) presses: bool,
    /// Whether a refusal may be put right by a new access token.
    pub(super) may_refresh: bool,
    /// The last failure.
    outcome: Option<Failure>,
    /// Whether anybody is tried after it, and not only who waits for it.
    moves_on: bool,
    /// The call in the words of targets that have not been called after all.
    spare: Vec<(usize, Translated)>,
}

impl Run<'_> {
    async fn go<'p>(&mut self, plan: &'p Plan) -> End<'p> {
        let end = self.walk(plan).await;
        if !matches!(end, End::Result(Err(EngineError::NoHealthyProvider { .. }))) {
            return end;
        }
        // All are being tried by others already, with care; but to ask nobody helps nobody.
        (self.presses, self.budget) = (true, plan.max_attempts);
        self.walk(plan).await
    }

    async fn walk<'p>(&mut self, plan: &'p Plan) -> End<'p> {
        let mut at = 0;
        // The target that was called last.
        let mut here: Option<Box<Turn<'p>>> = None;
        loop {
            let is_terminal = here.as_ref().is_some_and(|here| here.target.policy.terminal);
            let entry = if is_terminal { Entry::Closed } else { self.enter(plan, at) };
            let mut turn = match entry {
                Entry::Turn(turn) => {
                    at += 1;
                    turn
                }
                Entry::Passed => {
                    at += 1;
                    continue;
                }
                Entry::Closed => match self.once_more(here.take()).await {
                    Some(turn) => turn,
                    None => break,
                },
                Entry::End(end) => return end,
            };
            let calls = self.calls;
            match self.work(plan, &mut turn).await {
                Left::Delivery(translated, delivery) => return End::Delivery(turn.target, translated, delivery),
                Left::Error(error) => return End::Result(Err(error)),
                Left::Open if self.calls > calls => here = Some(turn),
                Left::Open => self.leave(*turn),
            }
        }
        End::Result(self.last_word(plan))
    }

    /// Makes the target at `at` ready to be tried, if it can be.
    fn enter<'p>(&mut self, plan: &'p Plan, at: usize) -> Entry<'p> {
        let Some(target) = plan.targets.get(at).filter(|_| self.budget > 0) else { return Entry::Closed };
        if self.outcome.as_ref().is_some_and(|failure| !is_tried(&target.policy.triggers, failure, self.moves_on)) {
            return Entry::Closed;
        }
        let Some(dialect) = dialect_for(self.call, target) else {
            let (dialect, operation) = (self.call.request.dialect, self.call.request.operation);
            let providers = vec![target.provider.name.clone()];
            self.reasons.add(EngineError::Unsupported { dialect, operation, providers });
            return Entry::Passed;
        };
        if self.call.request.operation == Operation::CountTokens && !count::can_count(dialect) {
            return Entry::End(End::Estimate(target));
        }
        let needs_credential = target.provider.channel.needs_credential() || target.provider.login.is_some();
        if target.credentials.is_empty() && needs_credential {
            self.reasons.add(EngineError::NoCredential);
            return Entry::Passed;
        }
        let spare = self.spare.iter().position(|(of, _)| *of == at);
        let translated = spare.map(|index| self.spare.swap_remove(index).1);
        let mut turn = Turn::new(target, at, dialect, translated);
        turn.granted = self.granted(plan, &turn);
        turn.grant = turn.granted;
        // What is granted is gone, whether it is used or not, unless there is no call at all.
        self.budget -= turn.granted;
        Entry::Turn(Box::new(turn))
    }

    /// How many calls a target may make: so many that each after it who can be asked is left one.
    fn granted(&self, plan: &Plan, turn: &Turn<'_>) -> u32 {
        let after = plan.targets.get(turn.at + 1..).filter(|_| !turn.target.policy.terminal).unwrap_or_default();
        let wanted = usize::try_from(turn.target.wanted()).unwrap_or(usize::MAX);
        if wanted.saturating_add(after.len()) <= usize::try_from(self.budget).unwrap_or(usize::MAX) {
            return turn.target.wanted();
        }
        let last = after.iter().position(|target| target.policy.terminal).unwrap_or(after.len());
        let others = after.iter().take(last.saturating_add(1)).filter(|target| self.can_be_asked(target)).count();
        turn.target.grant(self.budget, others)
    }

    /// Takes back what a target was granted that has made no call, and keeps what it was to be told.
    fn leave(&mut self, turn: Turn<'_>) {
        if turn.calls == 0 {
            self.budget += turn.granted;
        }
        if let Some(translated) = turn.translated {
            self.spare.push((turn.at, translated));
        }
    }

    /// There is no other provider, so another credential of the last one may help, or a pause that it asks for.
    async fn once_more<'p>(&mut self, last: Option<Box<Turn<'p>>>) -> Option<Box<Turn<'p>>> {
        let mut turn = last?;
        if turn.has_last_resort() {
            return Some(turn);
        }
        let pause = self.pause(&turn, turn.waits, turn.limited().filter(|_| self.moves_on)?)?;
        if !self.may_call_once_more(&mut turn) {
            return None;
        }
        turn.ask_limited_again();
        self.scope.clock.sleep(pause).await;
        Some(turn)
    }

    /// Tries a target, one credential after the other, as far as its failures allow.
    async fn work(&mut self, plan: &Plan, turn: &mut Turn<'_>) -> Left {
        while turn.grant > 0 {
            let Some(credential) = turn.next_credential() else { break };
            if !self.may_try(turn.target, credential.as_deref()).await {
                continue;
            }
            let translated = match turn.translated.take() {
                Some(translated) => translated,
                None => match translate(self.scope, self.call, turn.target, turn.dialect, plan.conversion, &plan.media)
                    .await
                {
                    Ok(translated) => translated,
                    Err(untranslatable) => {
                        self.settlement.withdrawn();
                        match untranslatable {
                            Untranslatable::Invalid(error) => return Left::Error(error),
                            Untranslatable::Elsewhere(error) => self.reasons.add(error),
                        }
                        return Left::Open;
                    }
                },
            };
            match self.ask(turn, &translated, credential.as_ref()).await {
                Next::Delivery(delivery) => return Left::Delivery(Box::new(translated), delivery),
                Next::Error(error) => return Left::Error(error),
                Next::Credential => turn.translated = Some(translated),
                Next::Open => {
                    turn.translated = Some(translated);
                    break;
                }
            }
        }
        Left::Open
    }

    /// Asks a target with one of its credentials, again and again as far as its failures allow.
    async fn ask(&mut self, turn: &mut Turn<'_>, translated: &Translated, credential: Option<&Rc<Credential>>) -> Next {
        let target = turn.target;
        let mut used = match self.usable(target, credential).await {
            Ok(used) => used,
            Err(error) => return self.passed(error),
        };
        let mut retries = 0;
        self.may_refresh = target.provider.login.is_some() && turn.waits == 0;
        while turn.grant > 0 {
            let calls = self.calls;
            let called = self.attempt(target, translated, credential, used.as_ref()).await;
            let calls = self.calls - calls;
            (turn.grant, turn.calls) = (turn.grant - calls, turn.calls + calls);
            let Failed { failure, words, code, result } = match called {
                Called::Delivery(delivery) => return Next::Delivery(delivery),
                Called::Invalid(error) => return Next::Error(error),
                Called::Skipped(error) => return self.passed(error),
                Called::Failed(failed) => *failed,
            };
            let next = steps(&failure, &words, &target.provider.policy.failover);
            turn.failed(&failure, next);
            let may_retry = next.again && turn.grant > 0 && turn.retries > 0;
            let pause = if may_retry { self.pause(turn, retries, &failure) } else { None };
            let withheld = self.withholds(&failure);
            match pause {
                Some(_) => self.settlement.call_failed_for_now(code, &failure),
                None if withheld => self.settlement.call_refused(code, failure.status),
                None => self.settlement.call_failed(code, &failure),
            }
            (self.moves_on, self.last) = (next.provider, Some(result));
            let failure = self.outcome.insert(failure).clone();
            if let Some(pause) = pause {
                (retries, turn.retries) = (retries + 1, turn.retries - 1);
                self.scope.clock.sleep(pause).await;
                continue;
            }
            if withheld && let (Some(credential), Some(refused)) = (credential, &used) {
                self.may_refresh = false;
                if let Some(fresh) = self.refreshed(target, credential, refused, &failure).await
                    && self.may_call_once_more(turn)
                {
                    used = Some(fresh);
                    continue;
                }
            }
            return if next.credential == Another::First { Next::Credential } else { Next::Open };
        }
        Next::Credential
    }

    /// Notes why a credential is not asked.
    fn passed(&mut self, error: EngineError) -> Next {
        self.reasons.add(error);
        self.settlement.withdrawn();
        Next::Credential
    }

    /// A refreshed credential may be asked again: out of what the target has left, else out of the plan's budget.
    fn may_call_once_more(&mut self, turn: &mut Turn<'_>) -> bool {
        if turn.grant == 0 && self.budget > 0 {
            self.budget -= 1;
            turn.grant = 1;
        }
        turn.grant > 0
    }

    /// How long to wait before the same credential is asked again; `None` when that makes no sense.
    fn pause(&self, turn: &Turn<'_>, number: u32, failure: &Failure) -> Option<Duration> {
        let pause = backoff::pause(turn.retry()?, number, failure.retry_after, &*self.scope.random)?;
        let left = self.call.deadline.map(|deadline| deadline::left(deadline, self.scope.clock.now()));
        left.is_none_or(|left| pause < left).then_some(pause)
    }

    /// What stands when nobody is left to ask.
    fn last_word(&mut self, plan: &Plan) -> Result<Answer, EngineError> {
        if let Some(last) = self.last.take() {
            return last;
        }
        if let Some(rest) = &self.resting {
            let now = self.scope.clock.now();
            let seconds =
                |until: Timestamp| u64::try_from(until.millis_since(now)).unwrap_or_default().div_ceil(1000).max(1);
            return Err(EngineError::NoHealthyProvider { retry_after: rest.until.map(seconds) });
        }
        Err(std::mem::take(&mut self.reasons).word().unwrap_or_else(|| EngineError::Unsupported {
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
