//! Fetches the files that a request names by their URL, for upstreams that want the bytes.
//!
//! Whoever has a gateway key can name any URL. So the address is checked like a provider's, no credential is sent, a redirect is
//! not followed, and size, number and type are bounded.

use std::rc::Rc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Uri};

use crate::channel::endpoint::parse_base_url;
use crate::platform::Scope;
use crate::platform::body::BodyError;
use crate::platform::fetch::{FetchErrorKind, FetchLimits, Network, UpstreamRequest};
use crate::protocol::convert::media::{Media, MediaFile};
use crate::store::settings::{DEFAULT_MEDIA_BYTES, MediaSettings};

/// Most files of one request. The free plan of Workers allows 50 requests to elsewhere in all.
const MAX_FILES: usize = 16;

/// A request that waits for a file keeps its client waiting.
const LIMITS: FetchLimits = FetchLimits {
    connect: Duration::from_secs(5),
    head: Duration::from_secs(15),
    idle: Duration::from_secs(10),
    total: None,
};

/// The types that models read.
const TYPES: [&str; 5] = ["image/", "audio/", "video/", "text/", "application/pdf"];

/// What is among these types and is none of it: pages, which servers answer instead of a file, and drawings.
const NOT_READ: [&str; 2] = ["text/html", "image/svg+xml"];

/// Fetches all of `urls`. The error is for the client and tells what to do.
pub(super) async fn fetch_all(scope: &Scope, urls: &[String], settings: &MediaSettings) -> Result<Media, String> {
    if urls.len() > MAX_FILES {
        return Err(format!(
            "the request names {} files by URL, at most {MAX_FILES} are fetched; send their bytes",
            urls.len()
        ));
    }
    let mut left = settings.max_bytes.unwrap_or(DEFAULT_MEDIA_BYTES) as usize;
    let mut media = Media::new();
    for url in urls {
        let file = fetch(scope, url, settings, left).await.map_err(|reason| {
            // What a client sent may be long, and a query may hold a secret.
            let shown: String = url.split('?').next().unwrap_or_default().chars().take(200).collect();
            format!("the file at {shown} cannot be fetched: {reason}; send its bytes instead of its URL")
        })?;
        left = left.saturating_sub(file.data.len() / 4 * 3);
        media.insert(url.clone(), file);
    }
    Ok(media)
}

async fn fetch(scope: &Scope, url: &str, settings: &MediaSettings, limit: usize) -> Result<MediaFile, String> {
    let uri: Uri = url.parse().map_err(|_| "that is no URL".to_owned())?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err("that is no URL".to_owned());
    };
    let network = if settings.private_network { Network::Private } else { Network::Public };
    let (origin, _) = parse_base_url(&format!("{scheme}://{authority}"), network)
        .map_err(|_| "its address is not allowed".to_owned())?;
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("image/*,audio/*,video/*,application/pdf,text/*"));
    let request = UpstreamRequest {
        method: Method::GET,
        origin: Rc::new(origin),
        path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        headers,
        body: Bytes::new(),
        streamed: false,
        limits: LIMITS,
    };
    let response = scope.fetch.fetch(request).await.map_err(|error| {
        match error.kind {
            FetchErrorKind::Forbidden => "its address is not allowed",
            FetchErrorKind::Timeout => "its server did not answer in time",
            FetchErrorKind::Connect | FetchErrorKind::Broken => "its server could not be reached",
        }
        .to_owned()
    })?;
    if response.status.is_redirection() {
        return Err("its server redirects elsewhere, which is not followed".to_owned());
    }
    if !response.status.is_success() {
        return Err(format!("its server answered with status {}", response.status.as_u16()));
    }
    let media_type = response.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !TYPES.iter().any(|known| media_type.starts_with(known)) || NOT_READ.contains(&&*media_type) {
        return Err("it is neither an image nor anything else that models read".to_owned());
    }
    let bytes = response.body.collect(limit).await.map_err(|error| match error {
        BodyError::TooLarge { .. } => "it is too large".to_owned(),
        BodyError::Timeout | BodyError::Broken(_) => "its server broke off".to_owned(),
    })?;
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    Ok(MediaFile { media_type, data: STANDARD.encode(&bytes) })
}
