//! A mock of all vendors at once that is as strict as they are: what a vendor would refuse, it refuses, and it remembers.
//!
//! The path tells the dialect. An answer follows from the request: calls of the client's tools first, then what the tools said; JSON
//! where that is asked for; thinking where that is. `--calls` names the calls that it would like to make, as JSON: a list of
//! `{"name": …, "arguments": {…}}`; of these it makes those whose tools the client has. At `/faults` it tells what it has refused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub
)]

mod answers;
mod questions;
#[allow(dead_code, reason = "a vendor validates requests only")]
#[path = "../support/validate/mod.rs"]
mod validate;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tollgate::protocol::convert::Reply;
use tollgate::protocol::convert::whole::unfold;
use tollgate::protocol::dialect::Dialect;

use questions::Question;

#[derive(Parser)]
struct Options {
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The calls to make.
    #[arg(long, default_value = "[]")]
    calls: String,
    /// Whether to tell of every request on standard error.
    #[arg(long)]
    verbose: bool,
}

struct Vendor {
    calls: Vec<(String, Value)>,
    faults: Mutex<Vec<Value>>,
    verbose: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let options = Options::parse();
    let calls: Vec<Value> = serde_json::from_str(&options.calls).expect("--calls is a list");
    let calls =
        calls.iter().map(|call| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone())).collect();
    let vendor = Arc::new(Vendor { calls, faults: Mutex::default(), verbose: options.verbose });
    let listener = TcpListener::bind(options.listen).await.expect("a free port");
    println!("the vendor listens on http://{}", listener.local_addr().unwrap());
    loop {
        let Ok((connection, _)) = listener.accept().await else { continue };
        let vendor = vendor.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(vendor.clone(), request));
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await.ok();
        });
    }
}

async fn answer(vendor: Arc<Vendor>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path = parts.uri.path();
    if path == "/faults" {
        return Ok(respond(200, "application/json", json!(*vendor.faults.lock().unwrap()).to_string()));
    }
    let (dialect, stream_in_path) = match path {
        "/v1/chat/completions" => (Dialect::OpenAiChat, None),
        "/v1/responses" => (Dialect::OpenAiResponses, None),
        "/v1/messages" => (Dialect::Claude, None),
        _ if path.ends_with(":generateContent") => (Dialect::Gemini, Some(false)),
        _ if path.ends_with(":streamGenerateContent") => (Dialect::Gemini, Some(true)),
        _ => return Ok(respond(404, "application/json", json!({"error": {"message": "no such path"}}).to_string())),
    };
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    if vendor.verbose {
        eprintln!("{dialect} {path} {request}");
    }
    let question = Question::read(dialect, &request);
    let mut faults = validate::request(dialect, &request);
    faults.retain(|fault| !is_taken_from_codex(fault));
    faults.extend(question.faults.iter().cloned());
    if !faults.is_empty() {
        vendor.faults.lock().unwrap().push(json!({"dialect": dialect, "faults": faults, "request": request}));
        return Ok(respond(400, "application/json", answers::error(dialect, &faults.join("; "))));
    }
    let answer = answers::write(dialect, &question, &vendor.calls);
    if stream_in_path.unwrap_or(request["stream"] == true) {
        let include_usage = request["stream_options"]["include_usage"] == true;
        let stream = unfold(dialect, &answer.to_string(), &Reply { include_usage, ..Reply::default() });
        return Ok(respond(200, "text/event-stream", String::from_utf8(stream.expect("an answer")).unwrap()));
    }
    Ok(respond(200, "application/json", answer.to_string()))
}

/// OpenAI takes from its own agent what its reference does not list; the gateway passes it on to a vendor of the same dialect.
fn is_taken_from_codex(fault: &str) -> bool {
    let member = fault.strip_suffix(" is not known").unwrap_or_default();
    member == "body.client_metadata" || (member.starts_with("body.input[") && member.ends_with("].id"))
}

fn respond(status: u16, content_type: &str, body: String) -> Response<Full<Bytes>> {
    Response::builder().status(status).header("content-type", content_type).body(Full::new(body.into())).unwrap()
}
