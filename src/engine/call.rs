//! One call to an upstream, and what it comes to.

use std::rc::Rc;
use std::sync::Arc;

use http::StatusCode;

use super::answer::{Answer, MAX_ERROR_BYTES, UpstreamError, from_stream_fault, from_upstream_error};
use super::attempt::Run;
use super::classify::{self, Words};
use super::deadline;
use super::deliver::{Delivery, Undelivered, has_type, receive};
use super::error::EngineError;
use super::failure::{Failure, FailureKind};
use super::refresh::Usable;
use super::select::Target;
use super::snapshot::Credential;
use super::translate::Translated;
use crate::channel::{Call, ChannelError, Dispatch};
use crate::platform::body::BodyError;
use crate::platform::fetch::{FetchError, FetchErrorKind, UpstreamRequest, UpstreamResponse};

/// What a call comes to.
pub(super) enum Called {
    /// The upstream answers well.
    Delivery(Delivery),
    /// The request is at fault, whoever is asked.
    Invalid(EngineError),
    /// Nobody was asked.
    Skipped(EngineError),
    /// It failed.
    Failed(Box<Failed>),
}

/// A call that failed.
pub(super) struct Failed {
    /// Whose fault it is.
    pub(super) failure: Failure,
    /// What the upstream said.
    pub(super) words: Words,
    /// The code of what is wrong, for the records; the call is still to be closed with it.
    pub(super) code: &'static str,
    /// What the client hears if nobody does better.
    pub(super) result: Result<Answer, EngineError>,
}

impl Run<'_> {
    /// Asks `target` with one of its credentials, as it is `used` now.
    pub(super) async fn attempt(
        &mut self,
        target: &Target,
        translated: &Translated,
        credential: Option<&Rc<Credential>>,
        used: Option<&Usable>,
    ) -> Called {
        let provider = &target.provider;
        // It may have become busy since the plan was made.
        if credential.is_some_and(|credential| credential.is_full()) {
            return Called::Skipped(EngineError::Busy);
        }
        let secret = used.map(|used| used.secret.clone());
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
            Err(ChannelError::Invalid(message)) => return Called::Invalid(EngineError::InvalidRequest(message)),
            Err(ChannelError::Misconfigured(what)) => {
                tracing::error!(provider = &*provider.name, "{what}");
                return Called::Skipped(EngineError::Misconfigured);
            }
            Err(ChannelError::Unsupported { dialect, operation }) => {
                let providers = vec![provider.name.clone()];
                return Called::Skipped(EngineError::Unsupported { dialect, operation, providers });
            }
        };
        self.calls += 1;
        self.settlement.call_began(target, credential, used.map_or(0, |used| used.version));
        let fetched = match dispatch {
            Dispatch::Answer(response) => Ok(response),
            Dispatch::Upstream(request) => self.fetch(request).await,
        };
        match fetched {
            Ok(response) if is_no_answer(&response) => {
                tracing::warn!(provider = &*provider.name, status = response.status.as_u16(), "no answer of the API");
                failed(classify::no_answer(response.status.as_u16()), EngineError::NoAnswer)
            }
            Ok(response) if response.status.is_success() => {
                let status = response.status.as_u16();
                match receive(self.scope, self.call, translated, response).await {
                    Ok(delivery) => Called::Delivery(delivery),
                    Err(undelivered) => self.undelivered(target, status, undelivered, secret),
                }
            }
            Ok(response) => self.error_answer(target, response, secret).await,
            Err(error) => {
                tracing::warn!(provider = &*provider.name, %error, "an upstream did not answer");
                failed(classify::of_fetch(error.kind), EngineError::Unreachable(error.kind))
            }
        }
    }

    async fn fetch(&self, mut request: UpstreamRequest) -> Result<UpstreamResponse, FetchError> {
        let limits = &mut request.limits;
        limits.total = deadline::total(limits.total, self.call.deadline, self.scope.clock.now());
        self.scope.fetch.fetch(request).await
    }

    fn undelivered(&self, target: &Target, status: u16, why: Undelivered, secret: Option<Arc<str>>) -> Called {
        let provider = &target.provider.name;
        match why {
            Undelivered::Broken(error) => {
                tracing::warn!(provider = &**provider, %error, "an upstream broke off before its answer began");
                let kind = match error {
                    BodyError::Timeout => FetchErrorKind::Timeout,
                    BodyError::Broken(_) | BodyError::TooLarge { .. } => FetchErrorKind::Broken,
                };
                let code = if kind == FetchErrorKind::Timeout { "upstream_timeout" } else { "upstream_cut" };
                failed_as(classify::of_body(status, &error), code, EngineError::Unreachable(kind))
            }
            Undelivered::Unreadable(reason) => {
                tracing::warn!(provider = &**provider, reason, "an answer cannot be read");
                failed(classify::no_answer(status), EngineError::NoAnswer)
            }
            Undelivered::Fault(fault) => {
                tracing::warn!(provider = &**provider, code = &*fault.code, "an answer reports an error");
                let (failure, words) = classify::of_fault(&fault);
                let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::BAD_GATEWAY);
                let dialect = self.call.request.dialect;
                let request_id = self.settlement.request_id();
                let result = from_stream_fault(status, &fault, dialect, request_id, secret.as_deref(), provider);
                Called::Failed(Box::new(Failed { failure, words, code: "upstream_failed", result }))
            }
        }
    }

    async fn error_answer(&self, target: &Target, response: UpstreamResponse, secret: Option<Arc<str>>) -> Called {
        let UpstreamResponse { status, headers, body } = response;
        // A body that is too long or breaks off is no readable error.
        let body = body.collect(MAX_ERROR_BYTES).await.unwrap_or_default();
        let text = std::str::from_utf8(&body).unwrap_or_default();
        let provider = &target.provider.name;
        let (failure, words) = classify::of_answer(status, &headers, text, self.scope.clock.now());
        let cause = &*failure.cause;
        tracing::warn!(provider = &**provider, status = status.as_u16(), cause, "an upstream answered with an error");
        let result = if classify::is_blocked(&failure) {
            Err(EngineError::Blocked)
        } else if failure.kind == FailureKind::Unauthorized {
            Err(EngineError::CredentialRefused { status: status.as_u16() })
        } else {
            from_upstream_error(
                &UpstreamError { status, headers: &headers, body: &body, at: self.scope.clock.now() },
                self.call.request.dialect,
                self.settlement.request_id(),
                secret.as_deref(),
                provider,
            )
        };
        let code = result.as_ref().err().map_or("upstream_error", EngineError::code);
        Called::Failed(Box::new(Failed { failure, words, code, result }))
    }
}

/// Whether an upstream says that all is well but does not answer: a proxy's login page, say, or nothing at all.
fn is_no_answer(response: &UpstreamResponse) -> bool {
    let nothing = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT].contains(&response.status);
    response.status.is_success() && (nothing || has_type(&response.headers, "text/html"))
}

fn failed(failure: Failure, error: EngineError) -> Called {
    failed_as(failure, error.code(), error)
}

fn failed_as(failure: Failure, code: &'static str, error: EngineError) -> Called {
    Called::Failed(Box::new(Failed { failure, words: Words::default(), code, result: Err(error) }))
}
