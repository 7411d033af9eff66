//! The attempts: one target and credential after the other, until one answers or the budget is used up.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::header::HeaderMap;

use super::answer::{
    Answer, MAX_ERROR_BYTES, UpstreamError, from_stream_fault, from_upstream_error, may_succeed_elsewhere,
};
use super::deliver::{Delivery, Undelivered, deliver, deliver_estimate, has_type, receive};
use super::error::EngineError;
use super::failure::{Failure, FailureKind};
use super::select::{Plan, Target};
use super::settle::Settlement;
use super::snapshot::Credential;
use super::translate::{Translated, Untranslatable, dialect_for, translate};
use crate::channel::{Call, ChannelError, Dispatch};
use crate::platform::Scope;
use crate::platform::body::BodyError;
use crate::platform::fetch::{FetchErrorKind, UpstreamResponse};
use crate::protocol::convert::count;
use crate::protocol::error::retry_after;
use crate::protocol::operation::Operation;
use crate::protocol::request::ClientRequest;
use crate::store::vault::Vault;

/// What a client sent, as far as an upstream may see it.
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
    let mut run = Run { scope, vault, call, settlement, attempts_left: plan.max_attempts, last: None };
    for target in &plan.targets {
        if run.attempts_left == 0 {
            break;
        }
        let Some(dialect) = dialect_for(call, target) else { continue };
        if call.request.operation == Operation::CountTokens && !count::can_count(dialect) {
            return Ok(deliver_estimate(call, target, run.settlement));
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
        let translated = match translate(scope, call, target, dialect, plan.conversion, &plan.media).await {
            Ok(translated) => translated,
            Err(Untranslatable::Invalid(error)) => return run.finish(Err(error)),
            Err(Untranslatable::Elsewhere(error)) => {
                run.last.get_or_insert(Err(error));
                continue;
            }
        };
        for credential in credentials {
            if run.attempts_left == 0 {
                break;
            }
            match run.attempt(target, &translated, *credential).await {
                Next::Deliver(delivery) => {
                    return Ok(deliver(delivery, call, target, translated, plan.heartbeat, run.settlement));
                }
                Next::Stop(result) => return run.finish(result),
                Next::TryOn(result) => run.last = Some(result),
                Next::Skip(error) => drop(run.last.get_or_insert(Err(error))),
            }
        }
    }
    let unsupported = || EngineError::Unsupported {
        dialect: call.request.dialect,
        operation: call.request.operation,
        providers: plan.targets.iter().map(|target| target.provider.name.clone()).collect(),
    };
    let last = run.last.take().unwrap_or_else(|| Err(unsupported()));
    run.finish(last)
}

/// What follows from an attempt.
enum Next {
    /// The upstream answers well.
    Deliver(Delivery),
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
    last: Option<Result<Answer, EngineError>>,
}

impl Run<'_> {
    async fn attempt(&mut self, target: &Target, translated: &Translated, credential: Option<&Rc<Credential>>) -> Next {
        let provider = &target.provider;
        // It may have become busy since the plan was made.
        if credential.is_some_and(|credential| credential.is_full()) {
            return Next::Skip(EngineError::NoCredential);
        }
        let secret = match credential.map(|credential| credential.secret(self.vault)).transpose() {
            Ok(secret) => secret,
            Err(error) => {
                tracing::error!(provider = &*provider.name, %error, "a credential cannot be used");
                return Next::Skip(EngineError::NoCredential);
            }
        };
        let prepared = provider.channel.prepare(
            &provider.endpoint,
            secret.as_deref(),
            &Call {
                dialect: translated.dialect,
                operation: translated.operation,
                stream: translated.stream,
                model: &target.model,
                version: translated.version,
                query: translated.query.as_deref(),
                headers: &translated.headers,
                body: translated.body.clone(),
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
        self.settlement.call_began(target, credential);
        let fetched = match dispatch {
            Dispatch::Answer(response) => Ok(response),
            Dispatch::Upstream(request) => self.scope.fetch.fetch(request).await,
        };
        match fetched {
            Ok(response) if is_no_answer(&response) => {
                tracing::warn!(provider = &*provider.name, status = response.status.as_u16(), "no answer of the API");
                let failure = failure(response.status.as_u16(), FailureKind::Server, None);
                self.settlement.call_failed(EngineError::NoAnswer.code(), &failure);
                Next::TryOn(Err(EngineError::NoAnswer))
            }
            Ok(response) if response.status.is_success() => {
                let status = response.status.as_u16();
                match receive(self.call, translated, response).await {
                    Ok(delivery) => Next::Deliver(delivery),
                    Err(undelivered) => self.undelivered(target, status, undelivered, secret),
                }
            }
            Ok(response) => self.error_answer(target, response, secret).await,
            Err(error) => {
                tracing::warn!(provider = &*provider.name, %error, "an upstream did not answer");
                let error = EngineError::Unreachable(error.kind);
                self.settlement.call_failed(error.code(), &failure(0, unanswered(&error), None));
                Next::TryOn(Err(error))
            }
        }
    }

    fn undelivered(&mut self, target: &Target, status: u16, why: Undelivered, secret: Option<Arc<str>>) -> Next {
        let provider = &target.provider.name;
        match why {
            Undelivered::Broken(error) => {
                tracing::warn!(provider = &**provider, %error, "an upstream broke off before its answer began");
                self.settlement.call_failed("upstream_cut", &failure(status, FailureKind::Network, None));
                let kind = match error {
                    BodyError::Timeout => FetchErrorKind::Timeout,
                    BodyError::Broken(_) | BodyError::TooLarge { .. } => FetchErrorKind::Broken,
                };
                Next::TryOn(Err(EngineError::Unreachable(kind)))
            }
            Undelivered::Unreadable(reason) => {
                tracing::warn!(provider = &**provider, reason, "an answer cannot be read");
                self.settlement.call_failed(EngineError::NoAnswer.code(), &failure(status, FailureKind::Server, None));
                Next::TryOn(Err(EngineError::NoAnswer))
            }
            Undelivered::Fault(fault) => {
                tracing::warn!(provider = &**provider, code = &*fault.code, "an answer reports an error");
                self.settlement.call_failed("upstream_failed", &failure(status, of_status(fault.status), None));
                let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::BAD_GATEWAY);
                let dialect = self.call.request.dialect;
                let request_id = self.settlement.request_id();
                let result = from_stream_fault(status, &fault, dialect, request_id, secret.as_deref(), provider);
                if may_succeed_elsewhere(status) { Next::TryOn(result) } else { Next::Stop(result) }
            }
        }
    }

    async fn error_answer(&mut self, target: &Target, response: UpstreamResponse, secret: Option<Arc<str>>) -> Next {
        let UpstreamResponse { status, headers, body } = response;
        // A body that is too long or breaks off is no readable error.
        let body = body.collect(MAX_ERROR_BYTES).await.unwrap_or_default();
        let provider = &target.provider.name;
        tracing::warn!(provider = &**provider, status = status.as_u16(), "an upstream answered with an error");
        let at = self.scope.clock.now();
        let result = from_upstream_error(
            &UpstreamError { status, headers: &headers, body: &body, at },
            self.call.request.dialect,
            self.settlement.request_id(),
            secret.as_deref(),
            provider,
        );
        let retry_after = retry_after(&headers, &String::from_utf8_lossy(&body), at).map(Duration::from_secs);
        let code = result.as_ref().err().map_or("upstream_error", EngineError::code);
        self.settlement.call_failed(code, &failure(status.as_u16(), of_status(status.as_u16()), retry_after));
        if may_succeed_elsewhere(status) { Next::TryOn(result) } else { Next::Stop(result) }
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

fn failure(status: u16, kind: FailureKind, retry_after: Option<Duration>) -> Failure {
    let cause = if status == 0 { "no answer".into() } else { format!("status {status}").into() };
    Failure { kind, status, retry_after, cause }
}

/// The sort of failure that a status stands for.
fn of_status(status: u16) -> FailureKind {
    match status {
        401 => FailureKind::Unauthorized,
        402 | 403 => FailureKind::Refused,
        429 => FailureKind::RateLimited,
        503 | 529 => FailureKind::Overloaded,
        300..=399 | 408 | 500..=599 => FailureKind::Server,
        _ => FailureKind::Request,
    }
}

fn unanswered(error: &EngineError) -> FailureKind {
    match error {
        EngineError::Unreachable(FetchErrorKind::Timeout) => FailureKind::Timeout,
        _ => FailureKind::Network,
    }
}

/// Whether an upstream says that all is well but does not answer: a proxy's login page, say, or nothing at all.
fn is_no_answer(response: &UpstreamResponse) -> bool {
    let nothing = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT].contains(&response.status);
    response.status.is_success() && (nothing || has_type(&response.headers, "text/html"))
}
