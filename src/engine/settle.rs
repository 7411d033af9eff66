//! The funnel through which every request leaves: exactly one settlement, whatever becomes of the request.
//!
//! A [`Settlement`] is made when a request is taken on and settles when it is told the end, or when it is dropped: a
//! client that leaves makes the host drop the request's future or its response body. A failed settlement loses accounting,
//! never the response.

use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;

use super::continuation::{Keeper, Owner};
use super::load::Underway;
use super::select::Target;
use super::snapshot::Credential;
use crate::platform::Scope;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::database::{DatabaseError, Intent, Rows, Statement};
use crate::protocol::meter::Reading;
use crate::protocol::operation::Operation;
use crate::protocol::request::ClientRequest;
use crate::protocol::usage::Usage;
use crate::store::usage::{CallRecord, OutcomeRecord, RequestRecord, settle};

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
    /// The call that is under way, its last row in `calls`, and when it began.
    open_call: Option<Timestamp>,
    /// Counts that call as long as it is under way.
    underway: Option<Underway>,
    keeper: Option<Box<Keeper>>,
    request_bytes: usize,
    operation: Operation,
    settled: bool,
}

impl Settlement {
    /// Takes a request on.
    pub fn begin(scope: &Scope, request_id: Arc<str>, attribution: Attribution, request: &ClientRequest) -> Self {
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
            underway: None,
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

    /// Records that a call to `target` begins.
    pub fn call_began(&mut self, target: &Target, credential: Option<&Rc<Credential>>) {
        let now = self.scope.clock.now();
        self.open_call = Some(now);
        self.underway =
            Some(Underway::begin(&target.provider.load, credential.map(|credential| &credential.load), now));
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

    /// Records that the call under way failed: with `status` if the upstream answered.
    pub fn call_failed(&mut self, status: u16, error: &'static str) {
        self.close_call(|call| {
            call.status = status;
            call.error = Some(error);
        });
    }

    /// Records that the call under way is being answered and that the response begins.
    pub fn response_began(&mut self, status: u16) {
        self.outcome.status = status;
        self.outcome.first_byte_ms = Some(self.scope.clock.now().millis_since(self.request.at));
        if let (Some(_), Some(call)) = (self.open_call, self.calls.last_mut()) {
            call.status = status;
        }
        if let Some(underway) = &mut self.underway {
            underway.first_byte(self.scope.clock.now());
        }
    }

    /// Records what a conversion could not carry over.
    pub fn converted_with(&mut self, losses: &str) {
        self.outcome.conversion_loss = (!losses.is_empty()).then(|| losses.into());
    }

    /// Settles a request whose answer has ended.
    pub fn answer_ended(mut self, outcome: &'static str, reading: &Reading) {
        let operation = self.operation;
        let metered = operation != Operation::CountTokens;
        let request_bytes = self.request_bytes;
        self.close_call(|call| {
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

    fn close_call(&mut self, describe: impl FnOnce(&mut CallRecord)) {
        self.underway = None;
        let (Some(began), Some(call)) = (self.open_call.take(), self.calls.last_mut()) else { return };
        call.duration_ms = self.scope.clock.now().millis_since(began);
        describe(call);
    }

    fn settle(&mut self, outcome: &'static str, error: Option<&'static str>) {
        self.settled = true;
        self.outcome.outcome = outcome;
        self.outcome.error = error;
        self.outcome.total_ms = self.scope.clock.now().millis_since(self.request.at);
        let mut statements = settle(&self.request, &self.calls, &self.outcome);
        statements.extend(self.kept(outcome));
        // Started at once, so that nothing is lost when nobody polls any more; the native host is done with it at once.
        let mut batch = self.scope.database.batch(Intent::Deferred, statements);
        match (&mut batch).now_or_never() {
            Some(result) => report(result),
            None => self.scope.tasks.wait_until(Box::pin(async move { report(batch.await) })),
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

fn report(result: Result<Vec<Rows>, DatabaseError>) {
    if let Err(error) = result {
        tracing::error!(%error, "a settlement is lost");
    }
}

impl Drop for Settlement {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let metered = self.operation != Operation::CountTokens;
        let request_bytes = self.request_bytes;
        // The client left while an upstream was at work: that it read the prompt is the least that can be assumed.
        self.close_call(|call| {
            call.error = Some("client_closed");
            if metered {
                call.estimated = true;
                call.usage = Usage::estimate(request_bytes, 0);
            }
        });
        self.settle("client_closed", Some("client_closed"));
    }
}
