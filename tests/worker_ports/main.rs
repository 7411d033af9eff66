//! The Worker's ports and some of the pure layers, compiled to WebAssembly and run in Node, which has much of what the Workers
//! runtime has; `runtime.js` adds the rest.

#![cfg(target_arch = "wasm32")]
// Clippy does not take these for tests.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use http::{HeaderMap, Method, StatusCode};
use js_sys::Promise;
use tollgate::platform::Scope;
use tollgate::platform::database::{DatabaseErrorKind, Intent, MAX_VALUE_BYTES, Statement, Value};
use tollgate::platform::fetch::{FetchErrorKind, FetchLimits, Network, Origin, UpstreamRequest};
use tollgate::protocol::sse::Parser;
use tollgate::store::vault::Vault;
use tollgate::worker::scope;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_node_experimental);

#[wasm_bindgen(module = "/tests/worker_ports/runtime.js")]
extern "C" {
    fn context() -> JsValue;
    fn settled(context: &JsValue) -> Promise;
    fn environment(failures: u32) -> JsValue;
    #[wasm_bindgen(js_name = batchesOf)]
    fn batches_of(environment: &JsValue) -> u32;
    fn vendor() -> Promise;
}

fn any_scope() -> Scope {
    scope(environment(0), &context())
}

#[wasm_bindgen_test]
async fn the_clock_runs() {
    let clock = any_scope().clock;
    let before = clock.now();
    assert!(before.0 > 1_790_000_000_000, "milliseconds since 1970");
    clock.sleep(Duration::from_millis(30)).await;
    assert!((25..5_000).contains(&clock.now().millis_since(before)));
}

#[wasm_bindgen_test]
fn random_bytes_differ() {
    let random = any_scope().random;
    let mut seen = std::collections::HashSet::new();
    for _ in 0..1000 {
        let mut bytes = [0; 16];
        random.fill(&mut bytes);
        assert!(seen.insert(bytes), "drawn twice");
    }
}

#[wasm_bindgen_test]
fn variables_are_texts() {
    let variables = any_scope().variables;
    assert_eq!(variables.get("TEXT").as_deref(), Some("a text"));
    assert_eq!(variables.get("NUMBER"), None);
    assert_eq!(variables.get("ABSENT"), None);
}

#[wasm_bindgen_test]
async fn tasks_outlive_the_answer() {
    let context = context();
    let scope = scope(environment(0), &context);
    let done = Rc::new(Cell::new(false));
    scope.tasks.wait_until(Box::pin({
        let (done, clock) = (done.clone(), scope.clock.clone());
        async move {
            clock.sleep(Duration::from_millis(5)).await;
            done.set(true);
        }
    }));
    assert!(!done.get());
    JsFuture::from(settled(&context)).await.unwrap();
    assert!(done.get());
}

#[wasm_bindgen_test]
async fn rows_come_back_in_the_order_of_their_columns() {
    let database = any_scope().database;
    let parameters = vec![Value::Integer((1 << 53) - 1), Value::Null, Value::from("ä\"\n"), Value::Real(0.5)];
    let statements = vec![Statement::new("SELECT 1", vec![]), Statement::new("SELECT 2", parameters.clone())];
    let before = database.round_trips();
    let rows = database.batch(Intent::Read, statements).await.unwrap();
    assert_eq!(database.round_trips() - before, 1);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].0[0].0, [Value::from("SELECT 1"), Value::Integer(0)]);
    // Members whose names are numbers stand before the others in JavaScript.
    assert_eq!(rows[1].0[0].0, [parameters, vec![Value::from("SELECT 2"), Value::Integer(4)]].concat());
}

#[wasm_bindgen_test]
async fn limits_are_checked_before_anything_is_sent() {
    let environment = environment(0);
    let database = scope(environment.clone(), &context()).database;
    let parameters = vec![Value::from("x".repeat(MAX_VALUE_BYTES + 1))];
    assert!(database.batch(Intent::Write, vec![Statement::new("INSERT", parameters)]).await.is_err());
    assert_eq!(batches_of(&environment), 0);
}

#[wasm_bindgen_test]
async fn only_deferred_batches_are_tried_again() {
    for (intent, failures, goes_well) in
        [(Intent::Read, 1, false), (Intent::Write, 1, false), (Intent::Deferred, 2, true), (Intent::Deferred, 3, false)]
    {
        let (environment, context) = (environment(failures), context());
        let database = scope(environment.clone(), &context).database;
        let result = database.batch(intent, vec![Statement::new("UPDATE", vec![])]).await;
        // Nobody waits for a deferred one, nor learns how it went.
        assert_eq!(
            result.is_ok(),
            goes_well || intent == Intent::Deferred,
            "{intent:?}, {failures} failures: {result:?}"
        );
        JsFuture::from(settled(&context)).await.unwrap();
        assert_eq!(batches_of(&environment), u32::from(goes_well), "{intent:?}, {failures} failures");
        if let Err(error) = result {
            assert_eq!(error.kind, DatabaseErrorKind::Unavailable, "{error}");
        }
    }
}

#[wasm_bindgen_test]
async fn a_missing_binding_is_an_error() {
    let database = scope(js_sys::Object::new().into(), &context()).database;
    let error = database.batch(Intent::Read, vec![Statement::new("SELECT 1", vec![])]).await.unwrap_err();
    assert!(error.to_string().contains("DB"), "{error}");
}

fn request(port: u16, path: &str) -> UpstreamRequest {
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", "secret".parse().unwrap());
    UpstreamRequest {
        method: Method::POST,
        origin: Rc::new(Origin { tls: false, host: "127.0.0.1".to_owned(), port, network: Network::Private }),
        path: path.to_owned(),
        headers,
        body: "{}".into(),
        streamed: false,
        limits: FetchLimits {
            connect: Duration::from_secs(1),
            head: Duration::from_millis(300),
            idle: Duration::from_secs(1),
            total: None,
        },
    }
}

async fn vendor_port() -> u16 {
    JsFuture::from(vendor()).await.unwrap().as_f64().unwrap() as u16
}

#[wasm_bindgen_test]
async fn answers_come_with_their_status_headers_and_body() {
    let (fetch, port) = (any_scope().fetch, vendor_port().await);
    for (path, status) in [("/v1/messages?beta=true", StatusCode::OK), ("/limited", StatusCode::TOO_MANY_REQUESTS)] {
        let answer = fetch.fetch(request(port, path)).await.unwrap();
        assert_eq!(answer.status, status);
        let body = answer.body.collect(1000).await.unwrap();
        assert_eq!(body, format!(r#"{{"method":"POST","url":"{path}","key":"secret","body":"{{}}"}}"#));
        // Of a good answer only what the core reads crosses the border, of an error everything.
        assert_eq!(answer.headers.contains_key("retry-after"), !status.is_success(), "{path}");
    }
}

#[wasm_bindgen_test]
async fn failures_are_told_apart() {
    let (fetch, port) = (any_scope().fetch, vendor_port().await);
    let failure = |path| fetch.fetch(request(port, path)).map(|answer| answer.err().map(|error| error.kind));
    assert_eq!(failure("/silent").await, Some(FetchErrorKind::Timeout));
    let refused = fetch.fetch(request(1, "/")).await.err().map(|error| error.kind);
    assert_eq!(refused, Some(FetchErrorKind::Connect));
    let cut = fetch.fetch(request(port, "/cut")).await.unwrap();
    assert!(cut.body.collect(1000).await.is_err());
}

#[wasm_bindgen_test]
fn secrets_open_again() {
    let random = any_scope().random;
    let vault = Vault::new(&"k".repeat(32)).unwrap();
    let sealed = vault.seal("row", "secret", &*random).unwrap();
    assert_eq!(&*vault.open("row", &sealed).unwrap(), "secret");
    assert!(vault.open("other row", &sealed).is_err());
}

#[wasm_bindgen_test]
fn events_are_parsed_across_any_cut() {
    let text = "event: a\ndata: 北\n\ndata: {}\r\n\r\n".as_bytes();
    for cut in 0..=text.len() {
        let mut seen = vec![];
        let mut parser = Parser::default();
        for piece in [&text[..cut], &text[cut..]] {
            parser.feed(piece, &mut |event| seen.push((event.name.to_vec(), event.data.to_vec())));
        }
        assert_eq!(seen, [(b"a".to_vec(), "北".as_bytes().to_vec()), (vec![], b"{}".to_vec())], "cut at {cut}");
    }
}
