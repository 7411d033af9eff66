//! Calls to models.

use bytes::Bytes;
use http::{HeaderValue, Response};

use super::Exchange;
use super::error::describe;
use super::routes::Surface;
use crate::app::admission::admit;
use crate::app::error::AppError;
use crate::engine::attempt::{ClientCall, Unanswered};
use crate::engine::settle::Settlement;
use crate::platform::body::Body;
use crate::protocol::gemini::path::model_and_action;
use crate::protocol::headers::{CONVERSION_LOSS, PROVIDER, STRICT};
use crate::protocol::operation::Operation;
use crate::protocol::request::{ClientRequest, RequestError};
use crate::sdk::Question;

impl Exchange<'_> {
    /// Carries out a call. The key is checked before the body is read.
    pub(super) async fn call(
        &self,
        surface: Surface,
        parameter: &str,
        namespace: Option<&str>,
        body: Body,
    ) -> Result<Response<Body>, AppError> {
        let (key, snapshot) = self.gateway.authenticate(self.scope, self.presented.credential()).await?;
        let body = self.read_body(body, self.gateway.options.max_body_bytes).await?;
        let (request, version) = read_request(surface, parameter, body)?;
        let headers = &self.parts.headers;
        let admitted = admit(&key, snapshot, headers)?;
        let handle = &self.gateway.handle;
        let (health, request_id, attribution) =
            (handle.health(), self.request_id.clone(), admitted.attribution.clone());
        let mut settlement = Settlement::begin(self.scope, health, request_id, attribution, &request);
        let continued = handle.continued(self.scope, &request).await;
        settlement.keep(handle.keeper(&request, &continued));
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
        let call = ClientCall {
            request_id: self.request_id.clone(),
            strict: headers.get(STRICT).is_some_and(|value| value == "1"),
            request,
            headers: headers.clone(),
            query: self.presented.query().map(str::to_owned),
            version,
        };
        let answer = match handle.call(self.scope, &plan, &call, settlement).await {
            Ok(answer) => answer,
            Err(Unanswered { error, settlement }) => return Err(self.settle_failure(*settlement, error.into())),
        };
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
