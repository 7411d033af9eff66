//! Which status and which code a failure has. Every code is listed in `docs/errors.md`.

use bytes::Bytes;
use http::StatusCode;
use serde_json::json;

use super::MAX_HEAD_BYTES;
use crate::app::error::AppError;
use crate::engine::error::EngineError;
use crate::platform::body::BodyError;
use crate::platform::fetch::FetchErrorKind;
use crate::protocol::error::Failure;
use crate::sdk::{ResolveError, TickError};

/// After how many seconds to come back when the instance itself is in trouble.
const INSTANCE_RETRY_SECONDS: u64 = 2;

/// Gives a failure its status, its code and its words. Words of a 5xx tell nothing of what is inside; the log does.
pub(super) fn describe(error: &AppError, migration_hint: &str) -> Failure {
    let (status, code) = status_and_code(error);
    let message = match error {
        AppError::Unauthenticated => {
            "the gateway key is missing or not valid; send yours as `Authorization: Bearer tg-…`, `x-api-key` or \
             `x-goog-api-key`"
                .to_owned()
        }
        AppError::AdminUnauthenticated => {
            "the admin token is missing or not valid; send it as `Authorization: Bearer tga-…`".to_owned()
        }
        AppError::NoSuchPath(path) => {
            format!("there is nothing at {path:?}; check the base URL of your client against the README")
        }
        AppError::NoSuchMethod(allowed) => format!("this path answers {allowed} only"),
        AppError::HeadTooLarge => {
            format!("the URL and the headers of the request are longer than {MAX_HEAD_BYTES} bytes in all")
        }
        AppError::Body(BodyError::TooLarge { limit }) => {
            format!("the request body is longer than the {limit} bytes that this gateway accepts")
        }
        AppError::Body(BodyError::Timeout) => "the request body did not arrive in time; send it again".to_owned(),
        AppError::Body(BodyError::Broken(_)) => "the request body broke off or is damaged; send it again".to_owned(),
        AppError::UnsupportedCoding(coding) => {
            format!("the content coding {coding:?} is not understood; send the body plain or with gzip")
        }
        AppError::Request(error) => error.to_string(),
        AppError::Invalid(message) => message.clone(),
        AppError::Document(faults) => {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            format!("the document is not valid, nothing was changed: {}", faults.join("; "))
        }
        AppError::Conflict => "the configuration was changed by somebody else at the same time; try again".to_owned(),
        AppError::Resolve(error) => error.to_string(),
        AppError::Engine(error) => error.to_string(),
        AppError::NotReady(TickError::SchemaOutdated) => {
            format!("the database's schema is missing or older than this version of the gateway; {migration_hint}")
        }
        AppError::NotReady(TickError::WrongMasterKey) => {
            "TOLLGATE_MASTER_KEY is not the one that the secrets in the database are sealed under; the operator has to \
             set that one"
                .to_owned()
        }
        AppError::NotReady(TickError::Database(_)) | AppError::Database(_) => {
            "the gateway cannot reach its database at the moment; retry in a few seconds".to_owned()
        }
        AppError::Vault(_) => "a secret could not be sealed; the operator finds the reason in the log".to_owned(),
    };
    let retry_after = match error {
        AppError::Resolve(error) => error.retry_after(),
        AppError::Engine(EngineError::NoHealthyProvider { retry_after }) => *retry_after,
        // A call that is under way may end at any moment.
        AppError::Engine(EngineError::Busy) => Some(1),
        _ => matches!(code, "database_unavailable").then_some(INSTANCE_RETRY_SECONDS),
    };
    Failure { status, code, message, retry_after }
}

fn status_and_code(error: &AppError) -> (StatusCode, &'static str) {
    match error {
        AppError::Unauthenticated => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
        AppError::AdminUnauthenticated => (StatusCode::UNAUTHORIZED, "invalid_admin_token"),
        AppError::NoSuchPath(_) => (StatusCode::NOT_FOUND, "no_such_path"),
        AppError::NoSuchMethod(_) => (StatusCode::METHOD_NOT_ALLOWED, "no_such_method"),
        AppError::HeadTooLarge => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large"),
        AppError::Body(BodyError::TooLarge { .. }) => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
        AppError::Body(BodyError::Timeout) => (StatusCode::REQUEST_TIMEOUT, "body_timeout"),
        AppError::Body(BodyError::Broken(_)) => (StatusCode::BAD_REQUEST, "body_broken"),
        AppError::UnsupportedCoding(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_coding"),
        AppError::Request(_) | AppError::Invalid(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
        AppError::Document(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_document"),
        AppError::Conflict => (StatusCode::CONFLICT, "conflict"),
        AppError::Resolve(error) => resolve_status(error),
        AppError::Engine(error) => (engine_status(error), error.code()),
        AppError::NotReady(TickError::SchemaOutdated) => (StatusCode::SERVICE_UNAVAILABLE, "schema_outdated"),
        AppError::NotReady(TickError::WrongMasterKey) => (StatusCode::SERVICE_UNAVAILABLE, "wrong_master_key"),
        AppError::NotReady(TickError::Database(_)) | AppError::Database(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "database_unavailable")
        }
        AppError::Vault(_) => (StatusCode::INTERNAL_SERVER_ERROR, "vault"),
    }
}

fn resolve_status(error: &ResolveError) -> (StatusCode, &'static str) {
    match error {
        ResolveError::UnknownModel(_) | ResolveError::UnknownNamespace(_) => (StatusCode::NOT_FOUND, "model_not_found"),
        ResolveError::NoModel => (StatusCode::BAD_REQUEST, "invalid_request"),
        ResolveError::NoTarget { .. } => (StatusCode::SERVICE_UNAVAILABLE, "no_target"),
        ResolveError::ContinuationUnavailable { retry_after: Some(_) } => {
            (StatusCode::SERVICE_UNAVAILABLE, "continuation_unavailable")
        }
        // Only the client can go on, by sending the whole conversation.
        ResolveError::ContinuationUnavailable { retry_after: None } => {
            (StatusCode::BAD_REQUEST, "continuation_unavailable")
        }
    }
}

fn engine_status(error: &EngineError) -> StatusCode {
    match error {
        EngineError::InvalidRequest(_)
        | EngineError::Unsupported { .. }
        | EngineError::Inconvertible { .. }
        | EngineError::Lossy(_)
        | EngineError::NobodyFits(_)
        | EngineError::MediaUnavailable(_) => StatusCode::BAD_REQUEST,
        EngineError::Rewriting => StatusCode::INTERNAL_SERVER_ERROR,
        EngineError::NoCredential
        | EngineError::Misconfigured
        | EngineError::NoHealthyProvider { .. }
        | EngineError::Busy => StatusCode::SERVICE_UNAVAILABLE,
        EngineError::Unreachable(FetchErrorKind::Timeout) | EngineError::DeadlineExceeded => {
            StatusCode::GATEWAY_TIMEOUT
        }
        EngineError::CredentialRefused { .. }
        | EngineError::NotRefreshed
        | EngineError::Blocked
        | EngineError::Redirected
        | EngineError::NoAnswer
        | EngineError::Unreachable(_) => StatusCode::BAD_GATEWAY,
    }
}

/// The body of an error on the admin surface; faults of a document are listed.
pub(super) fn admin_envelope(failure: &Failure, error: &AppError) -> Bytes {
    let Failure { code, message, .. } = failure;
    let body = match error {
        AppError::Document(faults) => json!({"error": {"code": code, "message": message, "faults": faults}}),
        _ => json!({"error": {"code": code, "message": message}}),
    };
    body.to_string().into()
}
