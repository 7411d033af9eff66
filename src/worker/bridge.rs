//! Rust's side of `bridge.js`, which documents each function.

use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::*;

use super::body::Watcher;

#[wasm_bindgen(module = "/src/worker/bridge.js")]
extern "C" {
    pub(super) fn configure(client: &str, upstream: &str, held_back: &str);

    pub(super) fn head(request: &JsValue) -> String;
    #[wasm_bindgen(js_name = hasBody)]
    pub(super) fn has_body(request: &JsValue) -> bool;
    pub(super) fn collect(request: &JsValue, limit: f64) -> Promise;

    pub(super) fn dispatch(
        method: &str,
        url: &str,
        headers: &str,
        body: Option<Uint8Array>,
        streamed: bool,
        first: f64,
        idle: f64,
        total: f64,
    ) -> Promise;
    #[wasm_bindgen(js_name = upstreamHead)]
    pub(super) fn upstream_head(upstream: &JsValue) -> String;
    #[wasm_bindgen(js_name = wholeBytes)]
    pub(super) fn whole_bytes(upstream: &JsValue) -> Option<Vec<u8>>;
    #[wasm_bindgen(js_name = wholeLength)]
    pub(super) fn whole_length(upstream: &JsValue) -> i32;
    #[wasm_bindgen(js_name = failureOf)]
    pub(super) fn failure_of(upstream: &JsValue) -> Option<String>;
    pub(super) fn abandon(upstream: &JsValue);

    pub(super) fn respond(status: u16, headers: &str, body: JsValue) -> JsValue;
    #[wasm_bindgen(js_name = respondFromUpstream)]
    pub(super) fn respond_from_upstream(
        upstream: &JsValue,
        status: u16,
        deleted: &str,
        set: &str,
        stream: Option<JsValue>,
    ) -> JsValue;

    pub(super) fn pipe() -> JsValue;
    #[wasm_bindgen(js_name = readableOf)]
    pub(super) fn readable_of(pipe: &JsValue) -> JsValue;
    pub(super) fn write(pipe: &JsValue, bytes: Uint8Array) -> Promise;
    pub(super) fn close(pipe: &JsValue) -> Promise;
    pub(super) fn abort(pipe: &JsValue, reason: &str) -> Promise;

    pub(super) fn pull(upstream: &JsValue) -> Promise;
    #[wasm_bindgen(js_name = pullAhead)]
    pub(super) fn pull_ahead(upstream: &JsValue, millis: f64) -> Promise;
    pub(super) fn stream(upstream: &JsValue, watcher: Watcher, context: &JsValue, period: f64) -> JsValue;

    pub(super) fn batch(database: &JsValue, text: &str) -> Promise;
    #[wasm_bindgen(js_name = batchDeferred)]
    pub(super) fn batch_deferred(database: &JsValue, text: &str, context: &JsValue);

    #[wasm_bindgen(js_name = errorText)]
    pub(super) fn error_text(error: &JsValue) -> String;
    pub(super) fn sleep(millis: f64) -> Promise;
    #[wasm_bindgen(js_name = fillRandom)]
    pub(super) fn fill_random(bytes: &mut [u8]);
    pub(super) fn now() -> f64;
    pub(super) fn variable(environment: &JsValue, name: &str) -> Option<String>;
    pub(super) fn binding(environment: &JsValue, name: &str) -> JsValue;
    #[wasm_bindgen(js_name = waitUntil)]
    pub(super) fn wait_until(context: &JsValue, promise: Promise);
    pub(super) fn log(level: &str, text: &str);
}
