//! A mock vendor on a loopback port. It plays scripted answers back over plain TCP, so that every byte and every break is
//! the test's, and keeps each request for the test to look at.
//!
//! Whatever a test is about, no request may carry what must never reach a vendor; [`faults`] lists that, and a vendor that
//! has seen a fault fails its test in the end.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::client::timely;
use super::script::{Answer, Ending, Framing, Step};

/// Every gateway key and admin token of a test contains it, which is how a leak is told.
pub const SUITE_MARK: &str = "suite-secret";

/// A vendor.
pub struct Upstream {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    script: VecDeque<Answer>,
    standing: Option<Answer>,
    requests: Vec<Recorded>,
    connections: usize,
    abandoned: usize,
    sent: usize,
    faults: Vec<String>,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Which connection it came on, from 0.
    pub connection: usize,
    pub method: String,
    pub target: String,
    /// Names in lower case, in their order.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Recorded {
    /// A header that is there at most once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|header| header.0 == name).map(|header| header.1.as_str());
        let first = values.next();
        assert_eq!(values.next(), None, "{name} is there more than once");
        first
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

impl Upstream {
    /// Starts a vendor that answers nothing yet.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound listener");
        let shared = Arc::new(Shared::default());
        let accepting = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Self { address, shared, accepting }
    }

    /// Its address, with `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers one of the coming requests, in the order of these calls.
    pub fn answer(&self, answer: Answer) {
        self.shared.change(|state| state.script.push_back(answer));
    }

    /// Answers every request for which there is no other answer.
    pub fn always(&self, answer: Answer) {
        self.shared.change(|state| state.standing = Some(answer));
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.look(|state| state.requests.clone())
    }

    /// The only request so far.
    #[track_caller]
    pub fn request(&self) -> Recorded {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:#?}");
        requests.into_iter().next().expect("one")
    }

    /// How many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.shared.look(|state| state.connections)
    }

    /// Waits until `count` requests have come.
    pub async fn received(&self, count: usize) {
        timely(self.shared.until(|state| state.requests.len() >= count)).await;
    }

    /// How many bytes of answers it got rid of so far.
    pub fn sent_bytes(&self) -> usize {
        self.shared.look(|state| state.sent)
    }

    /// Waits until the gateway has closed `count` connections in the middle of an answer.
    pub async fn abandoned(&self, count: usize, limit: Duration) {
        let waiting = self.shared.until(|state| state.abandoned >= count);
        tokio::time::timeout(limit, waiting).await.expect("the gateway lets go of the vendor in time");
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.accepting.abort();
        let faults = self.shared.look(|state| state.faults.clone());
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "the vendor was sent what it must not see: {faults:#?}");
        }
    }
}

impl Shared {
    fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.lock().expect("no test panics within"))
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state.lock().expect("no test panics within"));
        self.changed.notify_waiters();
        result
    }

    async fn until(&self, holds: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            if self.look(&holds) {
                return;
            }
            // A change between the look and the wait would be missed without a limit on the wait.
            let _ = tokio::time::timeout(Duration::from_millis(20), changed).await;
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = shared.change(|state| {
            state.connections += 1;
            state.connections - 1
        });
        let _ = stream.set_nodelay(true);
        tokio::spawn(serve(stream, connection, listener.local_addr().expect("bound"), shared.clone()));
    }
}

async fn serve(mut stream: TcpStream, connection: usize, address: SocketAddr, shared: Arc<Shared>) {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer, connection).await {
        let answer = shared.change(|state| {
            state.faults.extend(faults(&request, address));
            state.requests.push(request);
            state.script.pop_front().or_else(|| state.standing.clone())
        });
        let answer = answer.unwrap_or_else(|| Answer::json(500, r#"{"error":{"message":"nothing is scripted"}}"#));
        match play(&mut stream, &answer, &shared).await {
            Played::Whole => {}
            Played::Closing => return,
            Played::Abandoned => return shared.change(|state| state.abandoned += 1),
        }
    }
}

enum Played {
    Whole,
    Closing,
    Abandoned,
}

async fn play(stream: &mut TcpStream, answer: &Answer, shared: &Shared) -> Played {
    let mut pending = answer.head().into_bytes();
    // A short answer that has its length leaves in one write, as vendors send theirs.
    let is_joined = matches!(answer.framing, Framing::Length) && answer.steps.len() < 2;
    if !is_joined && stream.write_all(&std::mem::take(&mut pending)).await.is_err() {
        return Played::Abandoned;
    }
    for step in &answer.steps {
        let gone = match step {
            Step::Piece(piece) => {
                let chunked = answer.framing == Framing::Chunked;
                if chunked {
                    pending.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                }
                pending.extend_from_slice(piece);
                if chunked {
                    pending.extend_from_slice(b"\r\n");
                }
                let failed = stream.write_all(&std::mem::take(&mut pending)).await.is_err();
                shared.change(|state| state.sent += piece.len());
                tokio::task::yield_now().await;
                failed
            }
            Step::Pause(duration) => is_left_during(stream, tokio::time::sleep(*duration)).await,
            Step::Wait(gate) => is_left_during(stream, gate.passed()).await,
        };
        if gone {
            return Played::Abandoned;
        }
    }
    if !pending.is_empty() && stream.write_all(&pending).await.is_err() {
        return Played::Abandoned;
    }
    match answer.ending {
        Ending::Silent => {
            is_left_during(stream, std::future::pending()).await;
            Played::Abandoned
        }
        Ending::Reset => {
            let _ = socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
            Played::Closing
        }
        Ending::Closed => Played::Closing,
        Ending::Proper if matches!(answer.framing, Framing::UntilClose | Framing::Raw) => Played::Closing,
        Ending::Proper => {
            if answer.framing == Framing::Chunked && stream.write_all(b"0\r\n\r\n").await.is_err() {
                return Played::Abandoned;
            }
            Played::Whole
        }
    }
}

/// Waits, and tells whether the other side went away meanwhile.
async fn is_left_during(stream: &mut TcpStream, waiting: impl Future<Output = ()>) -> bool {
    let mut byte = [0];
    tokio::select! {
        () = waiting => false,
        read = stream.read(&mut byte) => {
            assert!(!matches!(read, Ok(1..)), "a request comes before the last one is answered");
            true
        }
    }
}

async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>, connection: usize) -> Option<Recorded> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if !matches!(stream.read_buf(buffer).await, Ok(1..)) {
            return None;
        }
    };
    let head = String::from_utf8(buffer.drain(..head_end).collect()).expect("a head is text");
    let mut lines = head.trim_end().split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut request = Recorded { connection, method, target, headers, body: Bytes::new() };
    request.body = match (request.header("content-length"), request.header("transfer-encoding")) {
        (Some(length), _) => read_exactly(stream, buffer, length.parse().expect("a length")).await?,
        (None, Some(_)) => read_chunks(stream, buffer).await?,
        (None, None) => Bytes::new(),
    };
    Some(request)
}

async fn read_exactly(stream: &mut TcpStream, buffer: &mut Vec<u8>, length: usize) -> Option<Bytes> {
    while buffer.len() < length {
        if !matches!(stream.read_buf(buffer).await, Ok(1..)) {
            return None;
        }
    }
    Some(buffer.drain(..length).collect())
}

async fn read_chunks(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Bytes> {
    let mut body = Vec::new();
    loop {
        while !buffer.windows(2).any(|window| window == b"\r\n") {
            if !matches!(stream.read_buf(buffer).await, Ok(1..)) {
                return None;
            }
        }
        let end = buffer.windows(2).position(|window| window == b"\r\n")?;
        let line: Vec<u8> = buffer.drain(..end + 2).collect();
        let size = usize::from_str_radix(std::str::from_utf8(&line).ok()?.trim(), 16).expect("a chunk size");
        let chunk = read_exactly(stream, buffer, size + 2).await?;
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return Some(body.into());
        }
    }
}

/// What no vendor may ever be sent, whatever the client sent.
fn faults(request: &Recorded, address: SocketAddr) -> Vec<String> {
    const NEVER: [&str; 16] = [
        "cookie",
        "expect",
        "forwarded",
        "originator",
        "proxy-authorization",
        "proxy-connection",
        "sec-fetch-mode",
        "session-id",
        "te",
        "thread-id",
        "trailer",
        "upgrade",
        "x-app",
        "x-claude-code-session-id",
        "x-forwarded-for",
        "x-gateway-request-id",
    ];
    let mut faults = Vec::new();
    let head = format!("{} {:?}", request.target, request.headers);
    if head.contains(SUITE_MARK) || String::from_utf8_lossy(&request.body).contains(SUITE_MARK) {
        faults.push("a credential of the gateway".to_owned());
    }
    for (name, _) in &request.headers {
        if NEVER.contains(&name.as_str()) || name.starts_with("x-stainless-") || name.starts_with("x-codex-") {
            faults.push(format!("the header {name}"));
        }
    }
    let credentials = ["authorization", "x-api-key", "x-goog-api-key"];
    if request.headers.iter().filter(|header| credentials.contains(&header.0.as_str())).count() > 1 {
        faults.push("two credentials".to_owned());
    }
    if request.header("host") != Some(&address.to_string()) {
        faults.push(format!("the host {:?}", request.header("host")));
    }
    // A host decodes gzip, and Workers br as well; nothing else may be offered.
    let offered = request.header("accept-encoding").unwrap_or_default();
    if offered.split(',').any(|coding| !["", "identity", "gzip", "br"].contains(&coding.trim())) {
        faults.push(format!("the codings {offered}"));
    }
    // Token endpoints take forms.
    let is_form = request.header("content-type") == Some("application/x-www-form-urlencoded");
    let has_body = request.method != "GET" && !is_form;
    if has_body && serde_json::from_slice::<&serde_json::value::RawValue>(&request.body).is_err() {
        faults.push("a body that is not JSON".to_owned());
    }
    faults
}
