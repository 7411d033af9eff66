//! Calls to models.

use std::io::Read;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, Response};

use super::Exchange;
use super::error::describe;
use super::routes::Surface;
use crate::app::admission::admit;
use crate::app::error::AppError;
use crate::engine::attempt::{ClientCall, Unanswered};
use crate::engine::settle::Settlement;
use crate::platform::body::{Body, BodyError};
use crate::protocol::gemini::path::model_and_action;
use crate::protocol::headers::PROVIDER;
use crate::protocol::operation::Operation;
use crate::protocol::request::{ClientRequest, RequestError};

impl Exchange<'_> {
    /// Carries out a call. The key is checked before the body is read.
    pub(super) async fn call(&self, surface: Surface, parameter: &str, body: Body) -> Result<Response<Body>, AppError> {
        let (key, snapshot) = self.gateway.authenticate(self.scope, self.presented.credential()).await?;
        let body = self.read_body(body, self.gateway.options.max_body_bytes).await?;
        let (request, version) = read_request(surface, parameter, body)?;
        let admitted = admit(&key, snapshot);
        let settlement = Settlement::begin(self.scope, self.request_id.clone(), admitted.attribution, &request);
        let plan = match admitted.snapshot.resolve(&request.model) {
            Ok(plan) => plan,
            Err(error) => return Err(self.settle_failure(settlement, error.into())),
        };
        let call = ClientCall {
            request,
            headers: self.parts.headers.clone(),
            query: self.presented.query().map(str::to_owned),
            version,
        };
        let answer = match self.gateway.handle.call(self.scope, &plan, &call, settlement).await {
            Ok(answer) => answer,
            Err(Unanswered { error, settlement }) => return Err(self.settle_failure(*settlement, error.into())),
        };
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        if let Ok(provider) = HeaderValue::from_str(&answer.provider) {
            response.headers_mut().insert(PROVIDER, provider);
        }
        Ok(response)
    }

    fn settle_failure(&self, settlement: Settlement, error: AppError) -> AppError {
        let failure = describe(&error, self.gateway.options.migration_hint);
        settlement.failed(failure.status.as_u16(), failure.code);
        error
    }

    /// Reads a body whole and undoes its coding; `limit` holds for what comes out as well.
    pub(super) async fn read_body(&self, body: Body, limit: usize) -> Result<Bytes, AppError> {
        let coding = content_coding(&self.parts.headers);
        let bytes = body.collect(limit).await?;
        match coding.as_deref() {
            None => Ok(bytes),
            Some("gzip" | "x-gzip") => gunzip(&bytes, limit).map_err(AppError::Body),
            Some(other) => Err(AppError::UnsupportedCoding(other.to_owned())),
        }
    }
}

fn read_request(
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

fn content_coding(headers: &HeaderMap) -> Option<String> {
    let coding = headers.get(CONTENT_ENCODING)?.to_str().unwrap_or("?").trim().to_ascii_lowercase();
    (!matches!(coding.as_str(), "" | "identity")).then_some(coding)
}

/// Decompresses at most `limit` bytes: a small body can hold a very large one.
fn gunzip(bytes: &[u8], limit: usize) -> Result<Bytes, BodyError> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(limit as u64 + 1);
    decoder.read_to_end(&mut plain).map_err(|error| BodyError::Broken(error.to_string()))?;
    if plain.len() > limit { Err(BodyError::TooLarge { limit }) } else { Ok(plain.into()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    /// B79: what comes out of a compressed body counts.
    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        assert_eq!(gunzip(&gzip(b"hello"), 5).unwrap(), "hello");
        assert_eq!(gunzip(&gzip(&vec![0; 1 << 20]), 1000), Err(BodyError::TooLarge { limit: 1000 }));
        assert!(matches!(gunzip(b"not gzip", 1000), Err(BodyError::Broken(_))));
    }
}
