//! A request of the runtime as one of the core.

use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use http::{Method, Request};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::bridge;
use super::fetch::headers_from_lines;
use crate::platform::body::{Ahead, Body, BodyError, ByteStream, Editor, Observer, plain};

/// Reads everything but the body; `None` when there is no way to.
pub(super) fn from_js(request: &JsValue) -> Option<Request<Body>> {
    let text = bridge::head(request);
    let mut lines = text.split('\n');
    let method = Method::from_bytes(lines.next()?.as_bytes()).ok()?;
    let uri = path_and_query(lines.next()?).parse().ok()?;
    let headers = headers_from_lines(lines);
    let body = if bridge::has_body(request) {
        Body::Stream(Box::new(RequestBody { request: request.clone(), pulled: None }))
    } else {
        Body::empty()
    };
    let mut converted = Request::new(body);
    *converted.method_mut() = method;
    *converted.uri_mut() = uri;
    *converted.headers_mut() = headers;
    Some(converted)
}

/// What follows the host in a URL.
fn path_and_query(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after_scheme.find('/').and_then(|at| after_scheme.get(at..)).unwrap_or("/");
    path.split_once('#').map_or(path, |(path, _)| path)
}

/// A request's body, which is read in one piece.
struct RequestBody {
    request: JsValue,
    pulled: Option<LocalBoxFuture<'static, Result<Bytes, BodyError>>>,
}

/// Most bytes when a body is pulled instead of collected; nothing in the core does that.
const MAX_PULLED_BYTES: usize = 32 * 1024 * 1024;

impl ByteStream for RequestBody {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        let request = &self.request;
        let pulled = self.pulled.get_or_insert_with(|| collect(request, MAX_PULLED_BYTES));
        let result = std::task::ready!(pulled.as_mut().poll(context));
        self.pulled = Some(Box::pin(std::future::ready(Ok(Bytes::new()))));
        Poll::Ready(match result {
            Ok(bytes) if bytes.is_empty() => None,
            other => Some(other),
        })
    }

    fn collect(self: Box<Self>, limit: usize) -> LocalBoxFuture<'static, Result<Bytes, BodyError>> {
        collect(&self.request, limit)
    }

    fn read_ahead(self: Box<Self>, bytes: usize) -> LocalBoxFuture<'static, Result<Body, BodyError>> {
        plain::read_ahead(self, bytes)
    }

    fn read_ahead_until(self: Box<Self>, ahead: Ahead) -> LocalBoxFuture<'static, Result<Body, BodyError>> {
        plain::read_ahead_until(self, ahead)
    }

    fn observe(self: Box<Self>, observer: Box<dyn Observer>) -> Box<dyn ByteStream> {
        plain::observe(self, observer)
    }

    fn edit(self: Box<Self>, editor: Box<dyn Editor>) -> Box<dyn ByteStream> {
        plain::edit(self, editor)
    }

    fn as_any(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

fn collect(request: &JsValue, limit: usize) -> LocalBoxFuture<'static, Result<Bytes, BodyError>> {
    let collected = JsFuture::from(bridge::collect(request, limit as f64));
    Box::pin(async move {
        let bytes = collected.await.map_err(|error| BodyError::Broken(bridge::error_text(&error)))?;
        match bytes.dyn_ref::<Uint8Array>() {
            Some(bytes) => Ok(bytes.to_vec().into()),
            None => Err(BodyError::TooLarge { limit }),
        }
    })
}
