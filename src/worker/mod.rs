//! The Cloudflare host: the ports on top of the Workers runtime, and an entry that only assembles.
//!
//! An isolate is not a process. It serves many requests at once on one thread, may be one of thousands, and disappears without
//! notice; an I/O object belongs to the request that made it. So the gateway is kept for as long as the isolate lives, and the
//! ports are made for each request.

mod body;
mod bridge;
mod database;
mod fetch;
mod log;
mod ports;
mod request;
mod response;

use std::cell::RefCell;
use std::rc::Rc;

use worker as _;

use http::{Response, StatusCode};
use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use crate::app::{Gateway, HostOptions, MASTER_KEY_VARIABLE};
use crate::platform::Scope;
use crate::platform::body::Body;
use crate::platform::notices::NoNotices;
use crate::protocol::headers;
use crate::store::id;
use crate::store::vault::Vault;

/// Most bytes that the body of a request may have, unless `TOLLGATE_MAX_BODY_BYTES` says otherwise. An isolate has 128 MB for
/// all its requests, and a body is there twice while it crosses into WebAssembly.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// What an operator does when the schema is behind.
const MIGRATION_HINT: &str = "run `npx wrangler d1 migrations apply DB --remote` (`--local` under wrangler dev)";

thread_local! {
    static GATEWAY: RefCell<Option<Rc<Gateway>>> = const { RefCell::new(None) };
}

/// Runs once, when the isolate begins.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
    log::start();
    bridge::configure(
        &headers::READ_FROM_CLIENT.join("\n"),
        &headers::READ_FROM_UPSTREAM.join("\n"),
        &headers::HELD_BACK.join("\n"),
    );
}

/// Answers a request. The answer is registered with `waitUntil`, so that it is carried to its end, and settled, even when the
/// client leaves.
#[wasm_bindgen]
pub fn fetch(request: JsValue, environment: JsValue, context: JsValue) -> Promise {
    let answer_context = context.clone();
    let answer = future_to_promise(async move { Ok(answer(&request, environment, &answer_context).await) });
    bridge::wait_until(&context, answer.clone());
    answer
}

async fn answer(request: &JsValue, environment: JsValue, context: &JsValue) -> JsValue {
    let scope = scope(environment, context);
    let response = match (gateway(&scope), request::from_js(request)) {
        (Ok(gateway), Some(request)) => crate::http::handle(&gateway, &scope, request).await,
        (Err(message), _) => refusal(&scope, StatusCode::SERVICE_UNAVAILABLE, "not_configured", &message),
        (_, None) => refusal(&scope, StatusCode::BAD_REQUEST, "invalid_request", "the request cannot be read"),
    };
    response::to_js(response, context)
}

/// The ports of one request, on top of what its environment binds; tasks go on within `context`.
pub fn scope(environment: JsValue, context: &JsValue) -> Scope {
    Scope {
        database: Rc::new(database::D1Database::new(bridge::binding(&environment, "DB"), context.clone())),
        fetch: Rc::new(fetch::WorkerFetch),
        clock: Rc::new(ports::WorkerClock),
        random: ports::random(),
        tasks: Rc::new(ports::WorkerTasks::new(context.clone())),
        notices: Rc::new(NoNotices),
        variables: Rc::new(ports::Bindings::new(environment)),
    }
}

/// The isolate's gateway, assembled by its first request.
fn gateway(scope: &Scope) -> Result<Rc<Gateway>, String> {
    GATEWAY.with_borrow_mut(|kept| {
        if let Some(gateway) = kept {
            return Ok(gateway.clone());
        }
        let master_key = scope.variables.get(MASTER_KEY_VARIABLE).ok_or_else(|| {
            format!("the secret {MASTER_KEY_VARIABLE} is not set; run `npx wrangler secret put {MASTER_KEY_VARIABLE}`")
        })?;
        let vault = Vault::new(&master_key).map_err(|error| error.to_string())?;
        let max_body_bytes = scope.variables.get("TOLLGATE_MAX_BODY_BYTES").and_then(|text| text.parse().ok());
        let options =
            HostOptions { max_body_bytes: max_body_bytes.unwrap_or(MAX_BODY_BYTES), migration_hint: MIGRATION_HINT };
        let gateway = Rc::new(Gateway::new(vault, options, scope).map_err(|error| error.to_string())?);
        *kept = Some(gateway.clone());
        Ok(gateway)
    })
}

/// An answer of a host that cannot assemble the gateway; no dialect is known yet.
fn refusal(scope: &Scope, status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let body = serde_json::json!({"error": {"code": code, "message": message}}).to_string();
    let mut response = Response::new(Body::Whole(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    if let Ok(id) = http::HeaderValue::from_str(&id::new(scope)) {
        response.headers_mut().insert(headers::REQUEST_ID, id);
    }
    response
}
