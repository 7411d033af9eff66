//! A response of the core as one of the runtime.

use std::future::poll_fn;

use http::Response;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::body::UpstreamBody;
use super::bridge;
use super::fetch::to_lines;
use crate::platform::body::{Body, ByteStream};

/// Converts a response; a stream is carried on within `context`.
pub(super) fn to_js(response: Response<Body>, context: &JsValue) -> JsValue {
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    let mut stream = match body {
        Body::Whole(bytes) if bytes.is_empty() => {
            return bridge::respond(status, &to_lines(&parts.headers, ""), JsValue::UNDEFINED);
        }
        Body::Whole(bytes) => {
            return bridge::respond(status, &to_lines(&parts.headers, ""), Uint8Array::from(&bytes[..]).into());
        }
        Body::Stream(stream) => stream,
    };
    // An upstream's answer goes on without being taken apart.
    if let Some(upstream) = stream.as_any().downcast_mut::<UpstreamBody>() {
        return upstream.respond(status, &parts.headers, context);
    }
    let pipe = bridge::pipe();
    let readable = bridge::readable_of(&pipe);
    let carried = future_to_promise(async move {
        carry(stream, &pipe).await;
        Ok(JsValue::UNDEFINED)
    });
    bridge::wait_until(context, carried);
    bridge::respond(status, &to_lines(&parts.headers, ""), readable)
}

/// Writes a stream of the core to the client. A client that has left makes a write fail; the stream is then dropped.
async fn carry(mut stream: Box<dyn ByteStream>, pipe: &JsValue) {
    while let Some(piece) = poll_fn(|context| stream.poll_next(context)).await {
        match piece {
            Ok(piece) => {
                if JsFuture::from(bridge::write(pipe, Uint8Array::from(&piece[..]))).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                let _ = JsFuture::from(bridge::abort(pipe, &error.to_string())).await;
                return;
            }
        }
    }
    let _ = JsFuture::from(bridge::close(pipe)).await;
}
