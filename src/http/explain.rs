//! Requests that are to be explained instead of being carried out.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, Response};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::data_plane::read_request;
use super::routes::{self, Handler, Match};
use super::{Exchange, json};
use crate::app::error::AppError;
use crate::app::operations::explain::{caller, request_explain};
use crate::engine::attempt::ClientCall;
use crate::engine::snapshot::Snapshot;
use crate::platform::body::Body;
use crate::protocol::dialect::Dialect;
use crate::protocol::headers::STRICT;
use crate::protocol::json::quote;

/// What is to be explained: a request as a client sends it, or only a dialect and a model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted<'a> {
    /// The path, with the query if there is one.
    #[serde(default)]
    path: Option<String>,
    /// The headers.
    #[serde(default)]
    headers: serde_json::Map<String, Value>,
    /// The body.
    #[serde(default, borrow)]
    body: Option<&'a RawValue>,
    #[serde(default)]
    dialect: Option<Dialect>,
    #[serde(default)]
    model: Option<String>,
    /// The name of the key that it comes with.
    #[serde(default)]
    key: Option<String>,
}

impl Exchange<'_> {
    /// Explains a request.
    pub(super) async fn explain(&self, snapshot: &Snapshot, body: Body) -> Result<Response<Body>, AppError> {
        let body = self.read_body(body, self.gateway.options.max_body_bytes).await?;
        let wanted: Wanted<'_> = serde_json::from_slice(&body)
            .map_err(|error| AppError::Invalid(format!("the body describes no request to explain: {error}")))?;
        let (path, body) = path_and_body(&wanted)?;
        let (path, query) = path.split_once('?').map_or((&*path, None), |(path, query)| (path, Some(query)));
        let Match::Found { route, parameter, namespace } = routes::find(&Method::POST, path) else {
            return Err(AppError::Invalid(format!("`path`: no model is called at {path:?}")));
        };
        let Handler::Call(surface) = route.handler else {
            return Err(AppError::Invalid(format!("`path`: no model is called at {path:?}")));
        };
        let (request, version) = read_request(surface, parameter, body)?;
        let headers = headers(&wanted)?;
        let call = ClientCall {
            request_id: self.request_id.clone(),
            strict: headers.get(STRICT).is_some_and(|value| value == "1"),
            request,
            headers,
            query: query.map(str::to_owned),
            version,
            deadline: None,
            read_ahead: Duration::ZERO,
            drains: false,
        };
        let handle = &self.gateway.handle;
        let caller = caller(self.scope, wanted.key.as_deref()).await?;
        Ok(json(&request_explain(handle, self.scope, snapshot, &call, namespace.as_deref(), &caller).await?))
    }
}

fn headers(wanted: &Wanted<'_>) -> Result<HeaderMap, AppError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &wanted.headers {
        let header = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(value.as_str().and_then(|v| HeaderValue::from_str(v).ok()));
        let (name, value) =
            header.ok_or_else(|| AppError::Invalid(format!("`headers`: {name:?} is no header with a text")))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The path and the body that are described, or those of a short question to the model.
fn path_and_body(wanted: &Wanted<'_>) -> Result<(String, Bytes), AppError> {
    match (wanted.path.clone(), wanted.dialect) {
        (Some(path), None) if wanted.model.is_none() => {
            Ok((path, wanted.body.map_or("{}", RawValue::get).to_owned().into()))
        }
        (None, Some(dialect)) if wanted.body.is_none() => {
            let model = wanted.model.as_deref().unwrap_or_default();
            let name = quote(model);
            let turns = r#"[{"role":"user","content":"Hello"}]"#;
            Ok(match dialect {
                Dialect::OpenAiChat => {
                    ("/v1/chat/completions".to_owned(), format!(r#"{{"model":{name},"messages":{turns}}}"#))
                }
                Dialect::OpenAiResponses => {
                    ("/v1/responses".to_owned(), format!(r#"{{"model":{name},"input":"Hello"}}"#))
                }
                Dialect::Claude => {
                    ("/v1/messages".to_owned(), format!(r#"{{"model":{name},"max_tokens":1024,"messages":{turns}}}"#))
                }
                Dialect::Gemini => (
                    format!("/v1beta{}", crate::protocol::gemini::path::upstream_path(model, "generateContent")),
                    r#"{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}"#.to_owned(),
                ),
            })
            .map(|(path, body): (String, String)| (path, body.into()))
        }
        _ => Err(AppError::Invalid(
            "say `path`, `headers` and `body` of a request, or only `dialect` and `model`".to_owned(),
        )),
    }
}
