//! The way to the vendors: a pool of connections for each isolate, HTTP/1.1 and HTTP/2, TLS by rustls.

mod body;
mod connect;
mod exchange;
mod gunzip;
mod pool;

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HOST};
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use tollgate::platform::body::Body;
use tollgate::platform::fetch::{Fetch, FetchError, FetchErrorKind, Origin, UpstreamRequest, UpstreamResponse};

use body::{Patience, UpstreamBody};
use connect::{Connector, Protocol};
use exchange::Http1;
use pool::{Http2, Pool};

/// The bytes that go out.
type Outgoing = Full<bytes::Bytes>;

/// An isolate's fetch port.
pub struct NativeFetch(Rc<Inner>);

struct Inner {
    connector: Connector,
    pool: Rc<Pool>,
}

impl NativeFetch {
    /// A port without connections yet.
    pub fn new() -> Self {
        Self(Rc::new(Inner { connector: Connector::new(), pool: Rc::new(Pool::default()) }))
    }

    /// Closes connections that have been idle for long.
    pub fn sweep(&self) {
        self.0.pool.sweep();
    }
}

impl Default for NativeFetch {
    fn default() -> Self {
        Self::new()
    }
}

impl Fetch for NativeFetch {
    fn fetch(&self, request: UpstreamRequest) -> LocalBoxFuture<'static, Result<UpstreamResponse, FetchError>> {
        let inner = self.0.clone();
        Box::pin(async move { inner.fetch(request).await })
    }
}

impl Inner {
    async fn fetch(&self, request: UpstreamRequest) -> Result<UpstreamResponse, FetchError> {
        let limits = request.limits;
        let limit = limits.total.map_or(limits.head, |total| total.min(limits.head));
        let response = match tokio::time::timeout(limit, self.exchange(request)).await {
            Ok(result) => result?,
            Err(_) => return Err(FetchError::new(FetchErrorKind::Timeout, "no answer in time")),
        };
        Ok(decoded(response))
    }

    async fn exchange(&self, request: UpstreamRequest) -> Result<UpstreamResponse, FetchError> {
        let origin = request.origin.clone();
        let limits = request.limits;
        let patience = Patience::new(&limits);
        let mut outgoing = relative(request)?;
        if let Some(connection) = self.pool.http2(&origin) {
            match send_http2(connection, absolute(&origin, outgoing)?).await {
                Ok(answer) => return Ok(received_http2(answer, patience)),
                Err((_, Some(unsent))) => outgoing = relative_again(&origin, unsent)?,
                Err((error, None)) => return Err(error),
            }
        }
        // A kept connection may have been closed by the other side while it was idle. Then nothing of the request was sent,
        // and it goes out on the next one.
        while let Some(mut connection) = self.pool.take(&origin).await {
            match connection.send(outgoing).await {
                Ok(response) => return Ok(self.received(&origin, response, connection, patience)),
                Err((_, Some(unsent))) => outgoing = unsent,
                Err((error, None)) => return Err(error),
            }
        }
        match self.connector.connect(&origin, limits.connect).await? {
            Protocol::Http1(mut connection) => match connection.send(outgoing).await {
                Ok(response) => Ok(self.received(&origin, response, connection, patience)),
                Err((error, _)) => Err(error),
            },
            Protocol::Http2(connection) => {
                self.pool.keep_http2(&origin, connection.clone());
                let outgoing = absolute(&origin, outgoing)?;
                let answer = send_http2(connection, outgoing).await.map_err(|(error, _)| error)?;
                Ok(received_http2(answer, patience))
            }
        }
    }

    fn received(
        &self,
        origin: &Rc<Origin>,
        response: Response<Incoming>,
        connection: Box<Http1>,
        patience: Patience,
    ) -> UpstreamResponse {
        let (parts, body) = response.into_parts();
        let body = UpstreamBody::http1(body, connection, self.pool.clone(), origin.clone(), patience);
        UpstreamResponse { status: parts.status, headers: parts.headers, body: Body::Stream(Box::new(body)) }
    }
}

/// Sends a request; one of which nothing was sent comes back with the error.
async fn send_http2(
    mut connection: Http2,
    request: Request<Outgoing>,
) -> Result<(Response<Incoming>, Rc<()>), (FetchError, Option<Request<Outgoing>>)> {
    let broken = |error| FetchError::new(FetchErrorKind::Broken, error);
    if let Err(error) = connection.sender.ready().await {
        return Err((broken(error), Some(request)));
    }
    let response = connection.sender.try_send_request(request).await.map_err(|mut error| {
        let unsent = error.take_message();
        (broken(error.into_error()), unsent)
    })?;
    Ok((response, connection.into_stream()))
}

fn received_http2((response, stream): (Response<Incoming>, Rc<()>), patience: Patience) -> UpstreamResponse {
    let (parts, body) = response.into_parts();
    let body = Body::Stream(Box::new(UpstreamBody::http2(body, stream, patience)));
    UpstreamResponse { status: parts.status, headers: parts.headers, body }
}

/// The request as HTTP/1.1 has it: the path in the first line, the host in a header.
fn relative(request: UpstreamRequest) -> Result<Request<Outgoing>, FetchError> {
    let uri = request.path.parse::<Uri>().map_err(|error| FetchError::new(FetchErrorKind::Broken, error))?;
    let host = host_of(&request.origin)?;
    let mut outgoing = Request::new(Full::new(request.body));
    *outgoing.method_mut() = request.method;
    *outgoing.uri_mut() = uri;
    *outgoing.headers_mut() = request.headers;
    outgoing.headers_mut().insert(HOST, host);
    Ok(outgoing)
}

/// The same request as HTTP/2 has it: scheme and host in the URI.
fn absolute(origin: &Origin, mut request: Request<Outgoing>) -> Result<Request<Outgoing>, FetchError> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let uri = format!("{origin}{path}").parse().map_err(|error| FetchError::new(FetchErrorKind::Broken, error))?;
    *request.uri_mut() = uri;
    request.headers_mut().remove(HOST);
    Ok(request)
}

/// The same request as HTTP/1.1 has it once more.
fn relative_again(origin: &Rc<Origin>, request: Request<Outgoing>) -> Result<Request<Outgoing>, FetchError> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let uri = path.parse::<Uri>().map_err(|error| FetchError::new(FetchErrorKind::Broken, error))?;
    let mut request = Request::from_parts(parts, body);
    *request.uri_mut() = uri;
    request.headers_mut().insert(HOST, host_of(origin)?);
    Ok(request)
}

fn host_of(origin: &Origin) -> Result<HeaderValue, FetchError> {
    HeaderValue::try_from(origin.authority()).map_err(|error| FetchError::new(FetchErrorKind::Broken, error))
}

/// Undoes gzip, which no request offers but some upstreams send all the same.
fn decoded(response: UpstreamResponse) -> UpstreamResponse {
    let coding = response.headers.get(CONTENT_ENCODING);
    let is_gzip = coding.is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"gzip"));
    match response {
        UpstreamResponse { status, mut headers, body: Body::Stream(stream) } if is_gzip => {
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
            UpstreamResponse { status, headers, body: Body::Stream(Box::new(gunzip::Gunzip::new(stream))) }
        }
        other => other,
    }
}
