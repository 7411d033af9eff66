//! The runtime's `fetch`.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use js_sys::Uint8Array;
use wasm_bindgen_futures::JsFuture;

use super::body::UpstreamBody;
use super::bridge;
use crate::platform::body::Body;
use crate::platform::fetch::{Fetch, FetchError, FetchErrorKind, UpstreamRequest, UpstreamResponse};

/// The codings that the runtime undoes by itself.
const DECODED: [&str; 3] = ["gzip", "br", "deflate"];

/// The fetch port.
pub(super) struct WorkerFetch;

impl Fetch for WorkerFetch {
    fn fetch(&self, request: UpstreamRequest) -> LocalBoxFuture<'static, Result<UpstreamResponse, FetchError>> {
        let UpstreamRequest { method, origin, path, headers, body, streamed, limits } = request;
        let url = format!("{origin}{path}");
        let has_body = !matches!(method, Method::GET | Method::HEAD);
        let millis = |duration: Duration| duration.as_millis() as f64;
        let (first, idle) = (millis(limits.head), millis(limits.idle));
        let total = limits.total.map_or(f64::INFINITY, millis);
        let lines = to_lines(&headers, "accept-encoding\nidentity");
        let body = has_body.then(|| Uint8Array::from(&body[..]));
        let dispatched = bridge::dispatch(method.as_str(), &url, &lines, body, streamed, first, idle, total);
        let dispatched = JsFuture::from(dispatched);
        Box::pin(async move {
            let upstream = dispatched.await.map_err(|error| failure(bridge::error_text(&error)))?;
            let (status, mut headers) = from_lines(&bridge::upstream_head(&upstream))?;
            let received = headers.clone();
            let is_decoded = headers.get(CONTENT_ENCODING).is_some_and(|coding| {
                DECODED.iter().any(|known| coding.as_bytes().eq_ignore_ascii_case(known.as_bytes()))
            });
            if is_decoded {
                headers.remove(CONTENT_ENCODING);
                headers.remove(CONTENT_LENGTH);
            }
            let body = UpstreamBody::new(upstream, received);
            Ok(UpstreamResponse { status, headers, body: Body::Stream(Box::new(body)) })
        })
    }
}

/// Headers as lines, after those in `first`.
pub(super) fn to_lines(headers: &HeaderMap, first: &str) -> String {
    let mut lines = String::with_capacity(first.len() + 64 * headers.len());
    lines.push_str(first);
    for (name, value) in headers {
        // What is no visible text cannot be a header of `fetch`.
        let Ok(value) = value.to_str() else { continue };
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str(name.as_str());
        lines.push('\n');
        lines.push_str(value);
    }
    lines
}

/// Names and values in turn, as headers; what is none is left out.
pub(super) fn headers_from_lines<'a>(mut lines: impl Iterator<Item = &'a str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    while let (Some(name), Some(value)) = (lines.next(), lines.next()) {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            headers.append(name, value);
        }
    }
    headers
}

fn from_lines(text: &str) -> Result<(StatusCode, HeaderMap), FetchError> {
    let mut lines = text.split('\n');
    let status =
        lines.next().and_then(|status| status.parse::<u16>().ok()).and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.ok_or_else(|| FetchError::new(FetchErrorKind::Broken, "the answer has no status"))?;
    Ok((status, headers_from_lines(lines)))
}

fn failure(message: String) -> FetchError {
    let kind = match message.as_str() {
        "timeout" => FetchErrorKind::Timeout,
        lost if lost.contains("connection lost") => FetchErrorKind::Broken,
        _ => FetchErrorKind::Connect,
    };
    FetchError::new(kind, message)
}
