//! An HTTP client that sends what a test says and nothing else, on a connection of its own for each request, so that a
//! dropped answer is a client that has left.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

/// No answer and no piece of one takes longer; a test that would hang fails instead.
pub const LIMIT: Duration = Duration::from_secs(30);

/// A request to be sent.
#[derive(Clone)]
pub struct Call {
    address: SocketAddr,
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
    http2: bool,
}

impl Call {
    /// `target` goes into the request line as it is.
    pub fn new(address: SocketAddr, method: Method, target: impl Into<String>) -> Self {
        Self { address, method, target: target.into(), headers: HeaderMap::new(), body: Bytes::new(), http2: false }
    }

    /// Adds a header, beside those of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.append(
            HeaderName::from_bytes(name.as_bytes()).expect("a header name"),
            HeaderValue::from_str(value).expect("a header value"),
        );
        self
    }

    /// Presents a credential as most clients do.
    pub fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    /// Sets the body, and calls it JSON.
    pub fn json(self, body: impl Into<Bytes>) -> Self {
        self.header("content-type", "application/json").body(body)
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Speaks HTTP/2 without having asked first.
    pub fn http2(mut self) -> Self {
        self.http2 = true;
        self
    }

    /// Sends it and reads the whole answer, which must end properly.
    pub async fn send(self) -> Reply {
        let what = format!("{} {}", self.method, self.target);
        let mut stream = self.open().await;
        let (body, end) = stream.rest().await;
        assert_eq!(end, End::Complete, "{what} broke off after {body:?}");
        Reply { status: stream.status, headers: stream.headers.clone(), body }
    }

    /// Sends it and reads the head of the answer.
    pub async fn open(self) -> Stream {
        let what = format!("{} {}", self.method, self.target);
        self.try_open().await.unwrap_or_else(|error| panic!("{what} has no answer: {error}"))
    }

    /// Sends it and reads the head of the answer, or learns that there is none.
    pub async fn try_open(self) -> Result<Stream, Box<dyn std::error::Error + Send + Sync>> {
        let transport = TcpStream::connect(self.address).await?;
        transport.set_nodelay(true)?;
        let transport = TokioIo::new(transport);
        let (response, driver) = if self.http2 {
            let uri: Uri = format!("http://{}{}", self.address, self.target).parse()?;
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), transport).await?;
            let driver = tokio::spawn(async { connection.await.unwrap_or_default() }).abort_handle();
            (timely(sender.send_request(self.request(uri)?)).await?, driver)
        } else {
            let (mut sender, connection) = hyper::client::conn::http1::handshake(transport).await?;
            let driver = tokio::spawn(async { connection.await.unwrap_or_default() }).abort_handle();
            let mut request = self.request(self.target.parse()?)?;
            if !request.headers().contains_key(HOST) {
                request.headers_mut().insert(HOST, HeaderValue::from_str(&self.address.to_string())?);
            }
            (timely(sender.send_request(request)).await?, driver)
        };
        Ok(Stream::new(response, driver))
    }

    fn request(&self, uri: Uri) -> Result<Request<Full<Bytes>>, http::Error> {
        let mut request = Request::builder().method(&self.method).uri(uri).body(Full::new(self.body.clone()))?;
        *request.headers_mut() = self.headers.clone();
        Ok(request)
    }
}

/// Waits for something that has to happen soon.
pub async fn timely<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens in time")
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }

    /// A header that is there at most once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let values: Vec<_> = self.headers.get_all(name).iter().collect();
        assert!(values.len() < 2, "{name} is there {} times", values.len());
        values.first().map(|value| value.to_str().expect("a header of text"))
    }

    /// The gateway's id of the request.
    pub fn request_id(&self) -> &str {
        self.header("x-gateway-request-id").expect("every response has a request id")
    }

    /// The answer, if its status is `status`.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }
}

/// An answer whose body is still coming. Dropped, it is a client that leaves.
pub struct Stream {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
    driver: AbortHandle,
}

impl Stream {
    fn new(response: Response<Incoming>, driver: AbortHandle) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status.as_u16(), headers: parts.headers, body, driver }
    }

    /// The next piece, `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        loop {
            let frame = timely(self.body.frame()).await?;
            match frame.map(hyper::body::Frame::into_data) {
                Ok(Ok(data)) if data.is_empty() => {}
                Ok(Ok(data)) => return Some(Ok(data)),
                Ok(Err(_trailers)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Reads until `expected` has arrived, which must be all that has.
    pub async fn expect(&mut self, expected: &str) {
        let mut read = Vec::new();
        while read.len() < expected.len() {
            match self.next().await {
                Some(Ok(piece)) => read.extend_from_slice(&piece),
                other => panic!("{other:?} instead of {expected:?}, after {:?}", String::from_utf8_lossy(&read)),
            }
        }
        assert_eq!(String::from_utf8_lossy(&read), expected);
    }

    /// Reads the rest, and tells how it ended.
    pub async fn rest(&mut self) -> (Bytes, End) {
        let mut read = Vec::new();
        let end = loop {
            match self.next().await {
                None => break End::Complete,
                Some(Ok(piece)) => read.extend_from_slice(&piece),
                Some(Err(_)) => break End::Broken,
            }
        };
        (read.into(), end)
    }

    /// Reads the rest as text.
    pub async fn rest_text(&mut self) -> (String, End) {
        let (body, end) = self.rest().await;
        (String::from_utf8_lossy(&body).into_owned(), end)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").field("status", &self.status).field("headers", &self.headers).finish()
    }
}

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As HTTP says that it ends.
    Complete,
    /// In the middle.
    Broken,
}
