//! The attempts: one target and credential after the other, until one answers or the budget is used up.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap};

use super::answer::{Answer, MAX_ERROR_BYTES, from_upstream_error, may_succeed_elsewhere};
use super::error::EngineError;
use super::select::{Plan, Target};
use super::settle::Settlement;
use super::snapshot::Credential;
use super::stream::{Metered, WithoutUsageChunk};
use crate::channel::{Call, ChannelError, Dispatch};
use crate::platform::Scope;
use crate::platform::body::{Body, BodyError};
use crate::platform::fetch::{FetchErrorKind, UpstreamResponse};
use crate::protocol::headers;
use crate::protocol::operation::Operation;
use crate::protocol::request::ClientRequest;
use crate::store::vault::Vault;

/// Answers up to this size are read before they are passed on.
const MAX_AHEAD_BYTES: usize = 4 * 1024 * 1024;

/// What a client sent, as far as an upstream may see it.
pub struct ClientCall {
    /// The request.
    pub request: ClientRequest,
    /// The client's headers, all of them.
    pub headers: HeaderMap,
    /// The query string without credentials.
    pub query: Option<String>,
    /// The version in a Gemini client's path.
    pub version: Option<&'static str>,
}

/// A call without an answer. Its settlement is still open, to be closed with the status that the failure gets.
pub struct Unanswered {
    /// Why there is no answer.
    pub error: EngineError,
    /// The settlement.
    pub settlement: Box<Settlement>,
}

/// Carries `call` out according to `plan`. Upstream calls never exceed the plan's budget, and no credential is tried twice.
/// When nothing is left to try, the last answer stands. The settlement is made when the answer's body has ended.
pub async fn run(
    scope: &Scope,
    vault: &Vault,
    plan: &Plan,
    call: &ClientCall,
    settlement: Settlement,
) -> Result<Answer, Unanswered> {
    let mut run =
        Run { scope, vault, call, settlement, attempts_left: plan.max_attempts, heartbeat: plan.heartbeat, last: None };
    let dialect = call.request.dialect;
    for target in &plan.targets {
        if !target.provider.endpoint.dialects.contains(&dialect) {
            continue;
        }
        let keyless = [None];
        let credentials: Vec<Option<&Rc<Credential>>> = target.credentials.iter().map(Some).collect();
        let credentials: &[Option<&Rc<Credential>>] = match credentials.as_slice() {
            [] if target.provider.channel.needs_credential() => {
                run.last.get_or_insert(Err(EngineError::NoCredential));
                continue;
            }
            [] => &keyless,
            some => some,
        };
        for credential in credentials {
            if run.attempts_left == 0 {
                break;
            }
            match run.attempt(target, *credential).await {
                Next::Respond(response) => return Ok(run.respond(target, response)),
                Next::Stop(result) => return run.finish(result),
                Next::TryOn(result) => run.last = Some(result),
                Next::Skip(error) => drop(run.last.get_or_insert(Err(error))),
            }
        }
    }
    let unsupported = || EngineError::Unsupported {
        dialect,
        operation: call.request.operation,
        providers: plan.targets.iter().map(|target| target.provider.name.clone()).collect(),
    };
    let last = run.last.take().unwrap_or_else(|| Err(unsupported()));
    run.finish(last)
}

/// What follows from an attempt.
enum Next {
    /// The upstream answers well.
    Respond(UpstreamResponse),
    /// This result stands, whoever else there is.
    Stop(Result<Answer, EngineError>),
    /// This result stands if nobody else does better.
    TryOn(Result<Answer, EngineError>),
    /// Nobody was asked; this stands only if nobody at all is.
    Skip(EngineError),
}

struct Run<'a> {
    scope: &'a Scope,
    vault: &'a Vault,
    call: &'a ClientCall,
    settlement: Settlement,
    attempts_left: u32,
    heartbeat: Option<Duration>,
    last: Option<Result<Answer, EngineError>>,
}

impl Run<'_> {
    async fn attempt(&mut self, target: &Target, credential: Option<&Rc<Credential>>) -> Next {
        let provider = &target.provider;
        let secret = match credential.map(|credential| credential.secret(self.vault)).transpose() {
            Ok(secret) => secret,
            Err(error) => {
                tracing::error!(provider = &*provider.name, %error, "a credential cannot be used");
                return Next::Skip(EngineError::NoCredential);
            }
        };
        let request = &self.call.request;
        let prepared = provider.channel.prepare(
            &provider.endpoint,
            secret.as_deref(),
            &Call {
                dialect: request.dialect,
                operation: request.operation,
                stream: request.stream,
                model: &target.model,
                version: self.call.version,
                query: self.call.query.as_deref(),
                headers: headers::to_upstream(request.dialect, &self.call.headers),
                body: request.body_for(&target.model, provider.endpoint.ask_for_usage),
                request_id: self.settlement.request_id(),
                now: self.scope.clock.now(),
            },
        );
        let dispatch = match prepared {
            Ok(dispatch) => dispatch,
            Err(ChannelError::Invalid(message)) => return Next::Stop(Err(EngineError::InvalidRequest(message))),
            Err(ChannelError::Misconfigured(what)) => {
                tracing::error!(provider = &*provider.name, "{what}");
                return Next::Skip(EngineError::Misconfigured);
            }
            Err(ChannelError::Unsupported { dialect, operation }) => {
                let providers = vec![provider.name.clone()];
                return Next::Skip(EngineError::Unsupported { dialect, operation, providers });
            }
        };
        self.attempts_left -= 1;
        self.settlement.call_began(target, credential.map(|credential| credential.id.clone()));
        let fetched = match dispatch {
            Dispatch::Answer(response) => Ok(response),
            Dispatch::Upstream(request) => self.scope.fetch.fetch(request).await,
        };
        match fetched {
            Ok(response) if is_no_answer(&response) => {
                tracing::warn!(provider = &*provider.name, status = response.status.as_u16(), "no answer of the API");
                self.settlement.call_failed(response.status.as_u16(), EngineError::NoAnswer.code());
                Next::TryOn(Err(EngineError::NoAnswer))
            }
            Ok(response) if response.status.is_success() => self.first_bytes(target, response).await,
            Ok(response) => self.error_answer(target, response, secret).await,
            Err(error) => {
                tracing::warn!(provider = &*provider.name, %error, "an upstream did not answer");
                let error = EngineError::Unreachable(error.kind);
                self.settlement.call_failed(0, error.code());
                Next::TryOn(Err(error))
            }
        }
    }

    /// Waits for the first bytes of a stream, or for a whole answer of ordinary size. Until then nothing has reached the
    /// client, and an answer that breaks is no answer.
    async fn first_bytes(&mut self, target: &Target, response: UpstreamResponse) -> Next {
        let UpstreamResponse { status, headers, body } = response;
        // Gemini streams as an array of JSON where its client does not ask for events.
        let streamed = self.call.request.stream || is_event_stream(&headers);
        let error = match body.read_ahead(if streamed { 1 } else { MAX_AHEAD_BYTES }).await {
            Ok(Body::Whole(nothing)) if streamed && nothing.is_empty() => FetchErrorKind::Broken,
            Ok(body) => return Next::Respond(UpstreamResponse { status, headers, body }),
            Err(BodyError::Timeout) => FetchErrorKind::Timeout,
            Err(BodyError::Broken(_) | BodyError::TooLarge { .. }) => FetchErrorKind::Broken,
        };
        tracing::warn!(provider = &*target.provider.name, "an upstream broke off before its answer began");
        self.settlement.call_failed(status.as_u16(), "upstream_cut");
        Next::TryOn(Err(EngineError::Unreachable(error)))
    }

    async fn error_answer(&mut self, target: &Target, response: UpstreamResponse, secret: Option<Arc<str>>) -> Next {
        let UpstreamResponse { status, headers, body } = response;
        // A body that is too long or breaks off is no readable error.
        let body = body.collect(MAX_ERROR_BYTES).await.unwrap_or_default();
        let provider = &target.provider.name;
        tracing::warn!(provider = &**provider, status = status.as_u16(), "an upstream answered with an error");
        let result = from_upstream_error(
            status,
            &headers,
            &body,
            self.call.request.dialect,
            self.settlement.request_id(),
            secret.as_deref(),
            provider,
        );
        self.settlement.call_failed(status.as_u16(), result.as_ref().err().map_or("upstream_error", EngineError::code));
        if may_succeed_elsewhere(status) { Next::TryOn(result) } else { Next::Stop(result) }
    }

    /// Lets the answer through, watched.
    fn respond(mut self, target: &Target, response: UpstreamResponse) -> Answer {
        let request = &self.call.request;
        let UpstreamResponse { status, headers: upstream_headers, body } = response;
        self.settlement.response_began(status.as_u16());
        let events = is_event_stream(&upstream_headers);
        let unasked_usage = request.operation == Operation::Generate
            && events
            && target.provider.endpoint.ask_for_usage
            && request.usage_is_unasked();
        let mut body = body.observe(Box::new(Metered::new(request.dialect, events, self.heartbeat, self.settlement)));
        if unasked_usage {
            body = body.edit(Box::new(WithoutUsageChunk::default()));
        }
        Answer { status, headers: headers::to_client(&upstream_headers), body, provider: target.provider.name.clone() }
    }

    fn finish(self, result: Result<Answer, EngineError>) -> Result<Answer, Unanswered> {
        match result {
            Ok(answer) => {
                self.settlement.failed(answer.status.as_u16(), "upstream_error");
                Ok(answer)
            }
            Err(error) => Err(Unanswered { error, settlement: Box::new(self.settlement) }),
        }
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    has_type(headers, "text/event-stream")
}

/// Whether an upstream says that all is well but does not answer: a proxy's login page, say, or nothing at all.
fn is_no_answer(response: &UpstreamResponse) -> bool {
    let nothing = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT].contains(&response.status);
    response.status.is_success() && (nothing || has_type(&response.headers, "text/html"))
}

fn has_type(headers: &HeaderMap, wanted: &str) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.as_bytes().get(..wanted.len()))
        .is_some_and(|start| start.eq_ignore_ascii_case(wanted.as_bytes()))
}
