//! From HTTP to operations and back. Both hosts call [`handle`] and have no route of their own.
//!
//! Nothing about the product is decided here: [`routes`] says which URL is which operation, [`error`] says which status and
//! code a failure has.

mod admin;
mod body;
mod data_plane;
mod error;
mod explain;
mod models;
mod presented;
pub mod routes;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::app::Gateway;
use crate::app::error::AppError;
use crate::platform::Scope;
use crate::platform::body::Body;
use crate::protocol::dialect::Dialect;
use crate::protocol::headers::{ANTHROPIC_VERSION, GOOGLE_API_KEY, REQUEST_ID};
use crate::store::id;
use presented::Presented;
use routes::{Access, Handler, Match};

/// Most bytes that the URL and the headers of a request may have in all. A host may refuse long ones by itself.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Answers one request. It never fails: what goes wrong is an answer too, in the client's dialect.
pub async fn handle(gateway: &Gateway, scope: &Scope, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let request_id = id::new(scope);
    let found = routes::find(&parts.method, parts.uri.path());
    let exchange =
        Exchange { gateway, scope, presented: Presented::from(&parts), parts: &parts, request_id: &request_id };
    let result = exchange.dispatch(&found, body).await;
    let mut response = result.unwrap_or_else(|error| exchange.error_response(&found, &error));
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if parts.method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    response
}

/// One request and what it needs to be answered.
struct Exchange<'a> {
    gateway: &'a Gateway,
    scope: &'a Scope,
    presented: Presented,
    parts: &'a Parts,
    request_id: &'a Arc<str>,
}

impl Exchange<'_> {
    async fn dispatch(&self, found: &Match<'_>, body: Body) -> Result<Response<Body>, AppError> {
        if head_bytes(self.parts) > MAX_HEAD_BYTES {
            return Err(AppError::HeadTooLarge);
        }
        let (route, parameter, namespace) = match found {
            Match::Found { route, parameter, namespace } => (route, *parameter, namespace.as_deref()),
            Match::NoSuchMethod { allowed } => {
                self.require_any_credential().await?;
                return Err(AppError::NoSuchMethod(allowed.clone()));
            }
            Match::NoSuchPath => {
                self.require_any_credential().await?;
                return Err(AppError::NoSuchPath(self.parts.uri.path().to_owned()));
            }
        };
        match (route.access, route.handler) {
            (Access::Open, _) => Ok(probe(route.handler)),
            // On the heap, which it leaves when the response begins; a connection would keep room for it as long as it is open.
            (Access::GatewayKey, Handler::Call(surface)) => {
                Box::pin(self.call(found, surface, parameter, namespace, body)).await
            }
            (Access::GatewayKey, handler) => self.models(handler, parameter, namespace).await,
            (Access::Admin, handler) => Box::pin(self.admin(handler, body)).await,
        }
    }

    /// Refuses who could not be let in anywhere, before telling what exists here.
    async fn require_any_credential(&self) -> Result<(), AppError> {
        let presented = self.presented.credential();
        match self.gateway.authenticate(self.scope, presented).await {
            Ok(_) => Ok(()),
            Err(AppError::Unauthenticated) if self.presented.is_admin_token() => {
                self.gateway.authenticate_admin(self.scope, presented).await.map(drop)
            }
            Err(error) => Err(error),
        }
    }

    /// The dialect of a client on a path that several share, told by how its SDK sends the key, and by headers.
    fn dialect_of_client(&self) -> Dialect {
        let headers = &self.parts.headers;
        if headers.contains_key(GOOGLE_API_KEY) || self.presented.key_in_query() {
            Dialect::Gemini
        } else if headers.contains_key(ANTHROPIC_VERSION) {
            Dialect::Claude
        } else {
            Dialect::OpenAiChat
        }
    }

    fn error_response(&self, found: &Match<'_>, error: &AppError) -> Response<Body> {
        let failure = error::describe(error, self.gateway.options.migration_hint);
        if failure.status.is_server_error() {
            tracing::error!(request_id = &**self.request_id, code = failure.code, ?error, "a request failed");
        }
        let dialect = match found {
            Match::Found { route, .. } => route.dialect(),
            _ => None,
        };
        let is_admin = matches!(found, Match::Found { route, .. } if route.access == Access::Admin);
        let body = if is_admin {
            error::admin_envelope(&failure, error)
        } else {
            failure.envelope(dialect.unwrap_or_else(|| self.dialect_of_client()), self.request_id)
        };
        let mut response = json_bytes(failure.status, body);
        if let Some(seconds) = failure.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if let AppError::NoSuchMethod(allowed) = error
            && let Ok(allowed) = HeaderValue::from_str(allowed)
        {
            response.headers_mut().insert(ALLOW, allowed);
        }
        response
    }
}

fn head_bytes(parts: &Parts) -> usize {
    let headers = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    headers.sum::<usize>() + parts.uri.path().len() + parts.uri.query().map_or(0, str::len)
}

/// What clients and load balancers ask before they trust an address. It touches nothing.
fn probe(handler: Handler) -> Response<Body> {
    #[derive(Serialize)]
    struct Probe {
        name: &'static str,
        version: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
    }
    let status = (handler == Handler::Health).then_some("ok");
    json(&Probe { name: "tollgate", version: env!("CARGO_PKG_VERSION"), status })
}

fn json<T: Serialize>(value: &T) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(bytes) => json_bytes(StatusCode::OK, bytes.into()),
        Err(_) => json_bytes(StatusCode::INTERNAL_SERVER_ERROR, Bytes::new()),
    }
}

fn json_bytes(status: StatusCode, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::Whole(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set(headers, CONTENT_TYPE, "application/json");
    set(headers, CACHE_CONTROL, "no-store");
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
