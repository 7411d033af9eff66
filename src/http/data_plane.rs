//! Calls to models.

use bytes::Bytes;
use http::{HeaderValue, Response};

use super::Exchange;
use super::error::describe;
use super::routes::{Match, Surface};
use crate::app::admission::admit;
use crate::app::error::AppError;
use crate::engine::attempt::{ClientCall, Unanswered};
use crate::engine::settle::Settlement;
use crate::engine::trace::Trace;
use crate::platform::body::Body;
use crate::platform::clock::Timestamp;
use crate::protocol::gemini::path::model_and_action;
use crate::protocol::headers::{ATTEMPTS, CONVERSION_LOSS, PROVIDER, SERVER_TIMING, STRICT, TIMEOUT_MS};
use crate::protocol::operation::Operation;
use crate::protocol::request::{ClientRequest, RequestError};
use crate::sdk::Question;
use crate::store::settings::OnClientClose;

impl Exchange<'_> {
    /// Carries out a call. Whatever becomes of it, the answer tells how many upstream calls it took, and how long.
    pub(super) async fn call(
        &self,
        found: &Match<'_>,
        surface: Surface,
        parameter: &str,
        namespace: Option<&str>,
        body: Body,
    ) -> Result<Response<Body>, AppError> {
        let mut trace = Trace::default();
        let result = self.answer(surface, parameter, namespace, body, &mut trace).await;
        let mut response = result.unwrap_or_else(|error| self.error_response(found, &error));
        let headers = response.headers_mut();
        headers.insert(ATTEMPTS, trace.calls.len().into());
        // After what the upstream tells of its own time.
        let upstreams = headers.get(SERVER_TIMING).and_then(|value| value.to_str().ok());
        let separator = if upstreams.is_some() { ", " } else { "" };
        let timing = [upstreams.unwrap_or_default(), separator, &trace.server_timing()].concat();
        if let Ok(timing) = HeaderValue::from_str(&timing) {
            headers.insert(SERVER_TIMING, timing);
        }
        Ok(response)
    }

    /// The key is checked before the body is read.
    async fn answer(
        &self,
        surface: Surface,
        parameter: &str,
        namespace: Option<&str>,
        body: Body,
        trace: &mut Trace,
    ) -> Result<Response<Body>, AppError> {
        let began = self.scope.clock.now();
        let (key, snapshot) = self.gateway.authenticate(self.scope, self.presented.credential()).await?;
        let deadline = self.timeout()?.map(|millis| Timestamp(began.0.saturating_add(millis)));
        let body = self.read_body(body, self.gateway.options.max_body_bytes).await?;
        let (request, version) = read_request(surface, parameter, body)?;
        let headers = &self.parts.headers;
        let admitted = admit(&key, snapshot, headers)?;
        let handle = &self.gateway.handle;
        let (health, request_id, attribution) =
            (handle.health(), self.request_id.clone(), admitted.attribution.clone());
        let mut settlement = Settlement::begin(self.scope, health, request_id, attribution, &request);
        let caller = &admitted.attribution.api_key_id;
        let continued = handle.continued(self.scope, caller, &request).await;
        settlement.keep(handle.keeper(caller, &request, &continued));
        let question = Question {
            model: &request.model,
            namespace,
            reach: &admitted.reach,
            owner: continued.owner.as_ref(),
            session: &|| admitted.session(headers, &request),
            health: &**handle.health(),
            now: self.scope.clock.now(),
            is_rehearsal: false,
        };
        let plan = match admitted.snapshot.resolve(&question) {
            Ok(plan) => plan,
            Err(error) => return Err(self.settle_failure(settlement, error.into())),
        };
        let streams = &admitted.snapshot.settings.stream;
        let call = ClientCall {
            request_id: self.request_id.clone(),
            strict: headers.get(STRICT).is_some_and(|value| value == "1"),
            request,
            headers: headers.clone(),
            query: self.presented.query().map(str::to_owned),
            version,
            deadline,
            read_ahead: streams.read_ahead(),
            drains: streams.on_client_close == OnClientClose::Drain,
        };
        let answer = match handle.call(self.scope, &plan, &call, settlement).await {
            Ok(answer) => answer,
            Err(Unanswered { error, settlement }) => {
                *trace = settlement.trace();
                return Err(self.settle_failure(*settlement, error.into()));
            }
        };
        *trace = answer.trace;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        if let Ok(provider) = HeaderValue::from_str(&answer.provider) {
            response.headers_mut().insert(PROVIDER, provider);
        }
        if !answer.losses.is_empty()
            && let Ok(losses) = HeaderValue::from_str(&answer.losses)
        {
            response.headers_mut().insert(CONVERSION_LOSS, losses);
        }
        Ok(response)
    }

    /// For how many milliseconds the client waits, if it says so.
    fn timeout(&self) -> Result<Option<i64>, AppError> {
        let Some(value) = self.parts.headers.get(TIMEOUT_MS) else { return Ok(None) };
        let millis = value.to_str().ok().and_then(|text| text.trim().parse::<u32>().ok()).filter(|millis| *millis > 0);
        let invalid =
            || AppError::Invalid(format!("{TIMEOUT_MS} has to be a whole number of milliseconds, at least 1"));
        millis.map(|millis| Some(millis.into())).ok_or_else(invalid)
    }

    fn settle_failure(&self, settlement: Settlement, error: AppError) -> AppError {
        let failure = describe(&error, self.gateway.options.migration_hint);
        settlement.failed(failure.status.as_u16(), failure.code);
        error
    }
}

/// Reads what a body, or Gemini's path, asks for.
pub(super) fn read_request(
    surface: Surface,
    parameter: &str,
    body: Bytes,
) -> Result<(ClientRequest, Option<&'static str>), AppError> {
    match surface {
        Surface::Body(dialect, operation) => Ok((ClientRequest::from_body(dialect, operation, body)?, None)),
        Surface::GeminiPath(version) => {
            let (model, action) = model_and_action(parameter).ok_or(RequestError::NoModel)?;
            let (operation, stream) = match action {
                "generateContent" => (Operation::Generate, false),
                "streamGenerateContent" => (Operation::Generate, true),
                "countTokens" => (Operation::CountTokens, false),
                "embedContent" => (Operation::Embed, false),
                "batchEmbedContents" => (Operation::EmbedBatch, false),
                _ => return Err(AppError::Invalid(format!("there is no action {action:?} on a model"))),
            };
            Ok((ClientRequest::from_gemini_path(operation, model, stream, body)?, Some(version)))
        }
    }
}
