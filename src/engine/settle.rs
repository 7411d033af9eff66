//! The funnel through which every request leaves: exactly one settlement, whatever becomes of the request.
//!
//! A [`Settlement`] is made when a request is taken on and settles when it is told the end, or when it is dropped: a
//! client that leaves makes the host drop the request's future or its response body. A failed settlement loses accounting,
//! never the response.
//!
//! What a call teaches of its provider and its credential goes to [`Health`] when the call is over, and with the settlement to the other
//! isolates; where a stream follows, it goes ahead.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;

use super::continuation::{Keeper, Owner};
use super::failure::{Failure, FailureKind};
use super::health::{Health, Note, Place, Probe, Rest};
use super::load::Underway;
use super::select::Target;
use super::snapshot::{Credential, Provider};
use super::trace::Trace;
use crate::platform::Scope;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::database::{DatabaseError, Intent, Rows, Statement};
use crate::platform::tasks::Tasks;
use crate::protocol::meter::Reading;
use crate::protocol::operation::Operation;
use crate::protocol::request::ClientRequest;
use crate::protocol::usage::Usage;
use crate::store::health;
use crate::store::usage::{CallRecord, OutcomeRecord, RequestRecord, Unsettled, failed_calls, settle};

/// On whose account a request goes. To the engine these are two words to write down.
#[derive(Debug, Clone)]
pub struct Attribution {
    /// The id of the key.
    pub api_key_id: Arc<str>,
    /// The key's name.
    pub api_key: Arc<str>,
}

/// A request that has not been settled yet.
pub struct Settlement {
    scope: Scope,
    request: RequestRecord,
    outcome: OutcomeRecord,
    calls: Vec<CallRecord>,
    /// The call that is under way, whose row is the last in `calls`.
    open_call: Option<OpenCall>,
    health: Rc<Health>,
    /// What the calls have taught and is not written yet.
    notes: Vec<Note>,
    /// A failure after which the same is asked again: health is told of the last one only.
    untold: Option<(OpenCall, Failure)>,
    /// What went ahead and is not known to have arrived.
    early: Vec<Early>,
    /// The leases for the next call.
    admitted: Option<Probe>,
    /// What gives back the leases of calls that are over.
    given_back: Vec<Statement>,
    keeper: Option<Box<Keeper>>,
    request_bytes: usize,
    operation: Operation,
    settled: bool,
}

/// Notes that were sent before the settlement. Until their batch is known to have arrived, the settlement has them too, on the same
/// condition: whichever comes first writes them.
struct Early {
    notes: Vec<Note>,
    /// How many calls were over.
    calls: usize,
    has_arrived: Rc<Cell<bool>>,
}

/// A call that is under way.
struct OpenCall {
    began: Timestamp,
    provider: Rc<Provider>,
    credential: Option<Rc<Credential>>,
    secret_version: i64,
    model: Arc<str>,
    probe: Option<Probe>,
    /// Until it is over.
    underway: Option<Underway>,
}

impl OpenCall {
    fn place(&self) -> Place<'_> {
        Place {
            provider: &self.provider,
            credential: self.credential.as_deref(),
            secret_version: self.secret_version,
            model: &self.model,
        }
    }
}

/// How a call ended, as far as health is concerned.
enum Ended<'a> {
    Well,
    Failed(&'a Failure),
    Abandoned,
}

impl Settlement {
    /// Takes a request on.
    pub fn begin(
        scope: &Scope,
        health: &Rc<Health>,
        request_id: Arc<str>,
        attribution: Attribution,
        request: &ClientRequest,
    ) -> Self {
        Self {
            scope: scope.clone(),
            request: RequestRecord {
                request_id,
                at: scope.clock.now(),
                api_key_id: attribution.api_key_id,
                api_key: attribution.api_key,
                dialect: request.dialect.name(),
                operation: request.operation.name(),
                model: request.model.as_str().into(),
                stream: request.stream,
            },
            outcome: OutcomeRecord {
                outcome: "client_closed",
                status: 0,
                error: None,
                first_byte_ms: None,
                total_ms: 0,
                conversion_loss: None,
            },
            calls: Vec::with_capacity(1),
            open_call: None,
            health: health.clone(),
            notes: Vec::new(),
            untold: None,
            early: Vec::new(),
            admitted: None,
            given_back: Vec::new(),
            keeper: None,
            request_bytes: request.body.len(),
            operation: request.operation,
            settled: false,
        }
    }

    /// The request's id.
    pub fn request_id(&self) -> &Arc<str> {
        &self.request.request_id
    }

    /// The clock by which it measures.
    pub fn clock(&self) -> Rc<dyn Clock> {
        self.scope.clock.clone()
    }

    /// Has who answers noted, where the vendor keeps the conversation.
    pub fn keep(&mut self, keeper: Option<Box<Keeper>>) {
        self.keeper = keeper;
    }

    /// Records that the vendor keeps nothing by an id that the client knows.
    pub fn keeps_nothing(&mut self) {
        self.keeper = None;
    }

    /// Sees the next bytes of the answer, in the client's dialect.
    pub fn saw(&mut self, chunk: &[u8]) {
        if let Some(keeper) = &mut self.keeper {
            keeper.saw(chunk);
        }
    }

    /// What runs beside and after the request.
    pub fn tasks(&self) -> Rc<dyn Tasks> {
        self.scope.tasks.clone()
    }

    /// Keeps the leases that the next call was admitted with, if it was; those of a call that was never made are given back.
    pub fn admitted(&mut self, admitted: Result<Option<Probe>, Rest>) -> Result<(), Rest> {
        self.admitted = None;
        self.admitted = admitted?;
        Ok(())
    }

    /// Records that a call to `target` begins.
    pub fn call_began(&mut self, target: &Target, credential: Option<&Rc<Credential>>, secret_version: i64) {
        let now = self.scope.clock.now();
        let mut probe = self.admitted.take();
        if let Some(probe) = &mut probe {
            probe.begin();
        }
        self.open_call = Some(OpenCall {
            began: now,
            underway: Some(Underway::begin(&target.provider.load, credential.map(|credential| &credential.load), now)),
            probe,
            provider: target.provider.clone(),
            credential: credential.cloned(),
            secret_version,
            model: target.model.clone(),
        });
        self.calls.push(CallRecord {
            provider_id: target.provider.id.clone(),
            provider: target.provider.name.clone(),
            credential_id: credential.map(|credential| credential.id.clone()),
            upstream_model: target.model.clone(),
            status: 0,
            error: None,
            usage: Usage::default(),
            estimated: false,
            duration_ms: 0,
        });
    }

    /// Records what is wrong with a credential although no call is under way with it.
    pub fn credential_failed(&mut self, place: Place<'_>, failure: &Failure) {
        self.notes.extend(self.health.blamed(place, failure, self.scope.clock.now()));
    }

    /// Records that the call under way was refused with `status`, which does not tell yet what is wrong with the credential.
    pub fn call_refused(&mut self, error: &'static str, status: u16) {
        self.close_call(Ended::Abandoned, |call| {
            call.status = status;
            call.error = Some(error);
        });
    }

    /// Records that the call under way failed and that the same is about to be asked again: one bad moment is told once.
    pub fn call_failed_for_now(&mut self, error: &'static str, failure: &Failure) {
        let closed = self.close_call(Ended::Abandoned, |call| {
            call.status = failure.status;
            call.error = Some(error);
        });
        self.untold = closed.map(|closed| (closed, failure.clone()));
    }

    /// Records that nobody waits any more for the call under way: that its prompt was read is the least that can be assumed.
    pub fn call_cut(&mut self, error: &'static str) {
        let usage = (self.operation != Operation::CountTokens).then(|| Usage::estimate(self.request_bytes, 0));
        self.close_call(Ended::Abandoned, |call| {
            call.error = Some(error);
            if let Some(usage) = usage {
                (call.estimated, call.usage) = (true, usage);
            }
        });
    }

    /// Gives the leases back that the next call was admitted with, because it is not made after all.
    pub fn withdrawn(&mut self) {
        self.given_back.extend(self.admitted.take().into_iter().flat_map(Probe::end));
    }

    /// Records that the call under way failed, with the code of what is wrong.
    pub fn call_failed(&mut self, error: &'static str, failure: &Failure) {
        self.close_call(Ended::Failed(failure), |call| {
            call.status = failure.status;
            call.error = Some(error);
        });
    }

    /// Records that the call under way is being answered and that the response begins.
    pub fn response_began(&mut self, status: u16) {
        self.outcome.status = status;
        self.outcome.first_byte_ms = Some(self.scope.clock.now().millis_since(self.request.at));
        if let (Some(open), Some(call)) = (&mut self.open_call, self.calls.last_mut()) {
            call.status = status;
            let now = self.scope.clock.now();
            open.underway.iter_mut().for_each(|underway| underway.first_byte(now));
        }
    }

    /// Records what a conversion could not carry over.
    pub fn converted_with(&mut self, losses: &str) {
        self.outcome.conversion_loss = (!losses.is_empty()).then(|| losses.into());
    }

    /// What it took so far.
    pub fn trace(&self) -> Trace {
        let now = self.scope.clock.now();
        let mut calls: Vec<i64> = self.calls.iter().map(|call| call.duration_ms).collect();
        if let (Some(open), Some(last)) = (&self.open_call, calls.last_mut()) {
            *last = now.millis_since(open.began);
        }
        Trace { calls, total_ms: now.millis_since(self.request.at) }
    }

    /// Settles a request whose answer has ended, and, where that is an upstream's doing, badly.
    pub fn answer_ended(mut self, outcome: &'static str, reading: &Reading, failure: Option<&Failure>) {
        if let Some(failure) = failure {
            let provider = self.calls.last().map(|call| &*call.provider).unwrap_or_default();
            tracing::warn!(provider, cause = &*failure.cause, "an answer did not end well");
        }
        let operation = self.operation;
        let metered = operation != Operation::CountTokens;
        let request_bytes = self.request_bytes;
        let ended = match (failure, outcome) {
            (Some(failure), _) => Ended::Failed(failure),
            (None, "ok") => Ended::Well,
            (None, _) => Ended::Abandoned,
        };
        self.close_call(ended, |call| {
            call.error = (outcome != "ok").then_some(outcome);
            if metered {
                call.estimated = reading.usage.is_none();
                // What comes back from an embedding is no tokens.
                let pieces = if operation == Operation::Generate { reading.pieces } else { 0 };
                call.usage = reading.usage.unwrap_or_else(|| Usage::estimate(request_bytes, pieces));
            }
        });
        self.settle(outcome, (outcome != "ok").then_some(outcome));
    }

    /// Settles a request that the gateway answered by itself.
    pub fn answered_here(mut self) {
        self.settle("ok", None);
    }

    /// Settles a request that ends with an error of the gateway, or with one that an upstream gave.
    pub fn failed(mut self, status: u16, code: &'static str) {
        self.response_began(status);
        self.settle("failed", Some(code));
    }

    /// Tells the others what the calls so far have taught, because it will take a while until the request is settled.
    pub fn stream_began(&mut self) {
        if self.notes.is_empty() && self.given_back.is_empty() {
            return;
        }
        let closed = self.calls.len().saturating_sub(usize::from(self.open_call.is_some()));
        let calls = self.calls.get(..closed).unwrap_or_default();
        let mut statements = health::write(&self.notes, &Unsettled::new(&self.request, calls));
        statements.append(&mut self.given_back);
        statements.extend(failed_calls(&self.request, calls));
        let has_arrived = Rc::new(Cell::new(false));
        self.send(statements, Some(has_arrived.clone()));
        let notes = std::mem::take(&mut self.notes);
        if !notes.is_empty() && !has_arrived.get() {
            self.early.push(Early { notes, calls: closed, has_arrived });
        }
    }

    fn close_call(&mut self, ended: Ended<'_>, describe: impl FnOnce(&mut CallRecord)) -> Option<OpenCall> {
        let (Some(mut open), Some(call)) = (self.open_call.take(), self.calls.last_mut()) else { return None };
        let now = self.scope.clock.now();
        call.duration_ms = now.millis_since(open.began);
        describe(call);
        let is_told = match &ended {
            Ended::Well => true,
            Ended::Failed(failure) => failure.kind != FailureKind::Request,
            Ended::Abandoned => false,
        };
        if is_told {
            // What came of asking again is told instead.
            let is_same = |other: &OpenCall| Rc::ptr_eq(&other.provider, &open.provider) && other.model == open.model;
            self.untold = self.untold.take().filter(|(other, _)| !is_same(other));
        }
        let place = open.place();
        self.notes.extend(match ended {
            Ended::Well => self.health.succeeded(place, &call.usage, open.began, now),
            Ended::Failed(failure) => self.health.failed(place, failure, &call.usage, now),
            Ended::Abandoned => self.health.abandoned(place, &call.usage, now),
        });
        self.given_back.extend(open.probe.take().into_iter().flat_map(Probe::end));
        open.underway = None;
        Some(open)
    }

    /// Tells of a failure after which the same was asked again without an end.
    fn tell_untold(&mut self) {
        if let Some((call, failure)) = self.untold.take() {
            self.credential_failed(call.place(), &failure);
        }
    }

    fn settle(&mut self, outcome: &'static str, error: Option<&'static str>) {
        self.settled = true;
        self.tell_untold();
        self.outcome.outcome = outcome;
        self.outcome.error = error;
        let now = self.scope.clock.now();
        self.outcome.total_ms = now.millis_since(self.request.at);
        let mut statements = Vec::new();
        for Early { notes, calls, .. } in self.early.iter().filter(|early| !early.has_arrived.get()) {
            let calls = self.calls.get(..*calls).unwrap_or_default();
            statements.extend(health::write(notes, &Unsettled::new(&self.request, calls)));
        }
        statements.extend(health::write(&self.notes, &Unsettled::new(&self.request, &self.calls)));
        if !statements.is_empty() && self.health.is_history_due(now) {
            statements.extend(health::delete_history(now));
        }
        statements.append(&mut self.given_back);
        statements.extend(settle(&self.request, &self.calls, &self.outcome));
        statements.extend(self.kept(outcome));
        self.send(statements, None);
    }

    /// Sends a batch, and tells `has_arrived` once it is known to have.
    fn send(&self, statements: Vec<Statement>, has_arrived: Option<Rc<Cell<bool>>>) {
        // Started at once, so that nothing is lost when nobody polls any more; the native host is done with it at once.
        let mut batch = self.scope.database.batch(Intent::Deferred, statements);
        match (&mut batch).now_or_never() {
            Some(result) => report(result, has_arrived),
            None => self.scope.tasks.wait_until(Box::pin(async move { report(batch.await, has_arrived) })),
        }
    }
}

impl Settlement {
    /// Who keeps the conversation from now on.
    fn kept(&mut self, outcome: &str) -> Vec<Statement> {
        let (Some(keeper), Some(call)) = (self.keeper.take(), self.calls.last()) else { return Vec::new() };
        if !(200..300).contains(&call.status) || outcome == "upstream_failed" {
            return Vec::new();
        }
        let owner = Owner { provider_id: call.provider_id.clone(), credential_id: call.credential_id.clone() };
        keeper.note(&owner, self.scope.clock.now())
    }
}

fn report(result: Result<Vec<Rows>, DatabaseError>, has_arrived: Option<Rc<Cell<bool>>>) {
    match result {
        Ok(_) => has_arrived.into_iter().for_each(|arrived| arrived.set(true)),
        Err(error) => tracing::error!(%error, "a settlement is lost"),
    }
}

impl Drop for Settlement {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        // The client left while an upstream was at work.
        self.call_cut("client_closed");
        self.settle("client_closed", Some("client_closed"));
    }
}
