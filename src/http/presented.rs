//! The credential that a request brings along, and the query without it.

use http::header::AUTHORIZATION;
use http::request::Parts;
use percent_encoding::percent_decode_str;

use crate::app::identity::{ADMIN_TOKEN_PREFIX, KEY_PREFIX};
use crate::protocol::headers::{API_KEY, GOOGLE_API_KEY};

/// What a request presents.
#[derive(Debug, Default)]
pub(super) struct Presented {
    credential: Option<String>,
    /// Whether the query holds a key, as only Gemini's clients send it.
    key_in_query: bool,
    /// The query as it may go on: without a key.
    query: Option<String>,
}

impl Presented {
    /// Looks where the vendors' SDKs put a key: `authorization`, `x-api-key`, `x-goog-api-key`, `?key=`. Some clients send
    /// two; the one that looks like ours counts, else the first.
    pub(super) fn from(parts: &Parts) -> Self {
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = header(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.trim().split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let (query, key) = parts.uri.query().map(without_credentials).unwrap_or_default();
        let candidates = [bearer, header(API_KEY), header(GOOGLE_API_KEY), key.as_deref()];
        let candidates = || candidates.iter().copied().flatten().filter(|candidate| !candidate.is_empty());
        let ours = candidates()
            .find(|candidate| candidate.starts_with(KEY_PREFIX) || candidate.starts_with(ADMIN_TOKEN_PREFIX));
        let credential = ours.or_else(|| candidates().next()).map(str::to_owned);
        Self { credential, key_in_query: key.is_some(), query }
    }

    /// The credential.
    pub(super) fn credential(&self) -> Option<&str> {
        self.credential.as_deref()
    }

    /// Whether the credential looks like an admin token.
    pub(super) fn is_admin_token(&self) -> bool {
        self.credential().is_some_and(|credential| credential.starts_with(ADMIN_TOKEN_PREFIX))
    }

    /// Whether the query holds a key, as only Gemini's clients send it.
    pub(super) fn key_in_query(&self) -> bool {
        self.key_in_query
    }

    /// The query without a key, if anything is left of it.
    pub(super) fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }
}

/// Takes every parameter out of a query that is a credential, however its name is spelt; `key` may be the gateway's.
fn without_credentials(query: &str) -> (Option<String>, Option<String>) {
    let mut key = None;
    let mut kept = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if percent_decode_str(name).eq(b"key".iter().copied()) {
            key = percent_decode_str(value).decode_utf8().ok().map(Into::into);
        } else if percent_decode_str(name).eq(b"access_token".iter().copied()) {
            // Google takes it for a credential, and it can be none of the gateway's.
        } else {
            kept.push(pair);
        }
    }
    ((!kept.is_empty()).then(|| kept.join("&")), key)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn presented(uri: &str, headers: &[(&str, &str)]) -> Presented {
        let request = headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
        Presented::from(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_key_is_found_in_each_place() {
        for (uri, headers) in [
            ("/", &[("authorization", "Bearer tg-1")] as &[_]),
            ("/", &[("authorization", "bearer  tg-1 ")]),
            ("/", &[("x-api-key", "tg-1")]),
            ("/", &[("x-goog-api-key", "tg-1")]),
            ("/?key=tg-1", &[]),
            ("/?alt=sse&k%65y=tg%2D1", &[]),
            ("/", &[("x-api-key", "sk-ant-other"), ("authorization", "Bearer tg-1")]),
            ("/", &[("authorization", "Bearer sk-other"), ("x-api-key", "tg-1")]),
        ] {
            assert_eq!(presented(uri, headers).credential(), Some("tg-1"), "{uri} {headers:?}");
        }
        for headers in
            [&[] as &[_], &[("authorization", "Basic tg-1")], &[("authorization", "tg-1")], &[("x-api-key", "")]]
        {
            assert_eq!(presented("/", headers).credential(), None, "{headers:?}");
        }
    }

    #[test]
    fn the_query_goes_on_without_the_key() {
        assert_eq!(presented("/?alt=sse&key=tg-1&%6b%65%79=tg-2", &[]).query(), Some("alt=sse"));
        assert_eq!(presented("/?key=tg-1", &[]).query(), None);
        assert_eq!(presented("/?beta=true", &[]).query(), Some("beta=true"));
    }
}
