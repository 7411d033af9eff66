//! Tokens that end and are made anew: the refresh-token grant of OAuth 2.0 (RFC 6749, section 6), for any channel.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::endpoint::{EndpointError, parse_base_url};
use super::{Refresh, RefreshError};
use crate::platform::clock::Timestamp;
use crate::platform::fetch::{FetchLimits, Network, Origin, UpstreamRequest};

/// How long a token endpoint is waited for. The lease under which it is asked lasts longer.
const LIMITS: FetchLimits = FetchLimits {
    connect: Duration::from_secs(5),
    head: Duration::from_secs(10),
    idle: Duration::from_secs(4),
    total: Some(Duration::from_secs(15)),
};

/// Numbers below it are seconds since the epoch, others milliseconds; as seconds it is in the year 5138.
const LEAST_MILLIS: f64 = 100_000_000_000.0;

/// The longest life of a token that is believed: ten years.
const MAX_LIFETIME_MS: f64 = 315_360_000_000.0;

/// What need not be encoded in a form.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// By which words token endpoints say that a refresh token is of no more use: the standard's, and OpenAI's.
const REJECTED: [&str; 4] =
    ["invalid_grant", "refresh_token_expired", "refresh_token_reused", "refresh_token_invalidated"];

/// What a credential's secret holds where it can be refreshed.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// What calls are made with; `None` before the first refresh.
    pub access_token: Option<String>,
    /// What the next tokens are had for.
    pub refresh_token: String,
    /// When the access token ends, if that is known.
    pub expires_at: Option<Timestamp>,
    /// How long the access token lives altogether, in milliseconds, if that is known.
    pub lifetime_ms: Option<i64>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tokens(…, expires_at: {:?})", self.expires_at)
    }
}

impl Tokens {
    /// Reads a secret: `{"refresh_token", "access_token"?, "expires_at"?}`, where the time is in seconds or milliseconds since the
    /// epoch or as in `2027-01-31T00:00:00Z`; `None` if it is none of that. Other members are read over, so that a token endpoint's
    /// whole answer can be given.
    pub fn parse(secret: &str) -> Option<Self> {
        let members: Map<String, Value> = serde_json::from_str(secret).ok()?;
        let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_visible = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let access_token = match members.get("access_token") {
            None | Some(Value::Null) => None,
            Some(_) => Some(text("access_token").filter(is_visible)?.to_owned()),
        };
        let expires_at = match members.get("expires_at") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(Timestamp(text.parse::<jiff::Timestamp>().ok()?.as_millisecond())),
            Some(number) => {
                let number = number.as_f64().filter(|number| (0.0..=1e15).contains(number))?;
                Some(Timestamp((if number < LEAST_MILLIS { number * 1000.0 } else { number }) as i64))
            }
        };
        Some(Self {
            access_token,
            refresh_token: text("refresh_token")?.to_owned(),
            expires_at,
            lifetime_ms: members.get("lifetime_ms").and_then(Value::as_i64).filter(|lifetime| *lifetime > 0),
        })
    }

    /// The secret that [`Tokens::parse`] reads; the same for the same tokens.
    pub fn to_text(&self) -> String {
        let mut members = Map::new();
        if let Some(token) = &self.access_token {
            members.insert("access_token".to_owned(), json!(token));
        }
        members.insert("refresh_token".to_owned(), json!(self.refresh_token));
        if let Some(time) = self.expires_at {
            members.insert("expires_at".to_owned(), json!(time.0));
        }
        if let Some(lifetime) = self.lifetime_ms {
            members.insert("lifetime_ms".to_owned(), json!(lifetime));
        }
        Value::Object(members).to_string()
    }

    /// Whether the access token is missing or ends within `margin`. A margin beyond half of its life would have every call refresh.
    pub fn is_due(&self, margin: Duration, now: Timestamp) -> bool {
        if self.access_token.is_none() {
            return true;
        }
        let margin = i64::try_from(margin.as_millis()).unwrap_or(i64::MAX);
        let margin = self.lifetime_ms.map_or(margin, |lifetime| margin.min(lifetime / 2));
        self.expires_at.is_some_and(|end| now.0.saturating_add(margin) >= end.0)
    }

    /// The access token, where it has not ended.
    pub fn usable(&self, now: Timestamp) -> Option<&str> {
        let is_over = self.expires_at.is_some_and(|end| now >= end);
        self.access_token.as_deref().filter(|_| !is_over)
    }
}

/// A token endpoint, and as whom it is asked.
#[derive(Debug, Clone)]
pub struct OAuth {
    origin: Rc<Origin>,
    path: String,
    client_id: String,
    scope: Option<String>,
    margin: Duration,
    statuses: Vec<u16>,
}

impl OAuth {
    /// Checks a token endpoint's address as that of a provider. `margin` is how long before its end a token is made anew, `statuses` by
    /// which an upstream may mean that a token has ended.
    pub fn new(
        token_url: &str,
        network: Network,
        client_id: String,
        scope: Option<String>,
        margin: Duration,
        statuses: Vec<u16>,
    ) -> Result<Self, EndpointError> {
        let (origin, mut path) = parse_base_url(token_url, network)?;
        if path.is_empty() || token_url.ends_with('/') {
            path.push('/');
        }
        Ok(Self { origin: Rc::new(origin), path, client_id, scope, margin, statuses })
    }
}

impl Refresh for OAuth {
    fn margin(&self) -> Duration {
        self.margin
    }

    fn may_have_ended(&self, status: u16) -> bool {
        self.statuses.contains(&status)
    }

    fn request(&self, tokens: &Tokens, client_secret: Option<&str>) -> UpstreamRequest {
        let mut form = String::from("grant_type=refresh_token");
        let members = [
            ("refresh_token", Some(tokens.refresh_token.as_str())),
            ("client_id", Some(self.client_id.as_str())),
            ("client_secret", client_secret),
            ("scope", self.scope.as_deref()),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                form.push('&');
                form.push_str(name);
                form.push('=');
                form.extend(utf8_percent_encode(value, PLAIN));
            }
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        UpstreamRequest {
            method: Method::POST,
            origin: self.origin.clone(),
            path: self.path.clone(),
            headers,
            body: Bytes::from(form),
            streamed: false,
            limits: LIMITS,
        }
    }

    fn read(&self, former: &Tokens, status: StatusCode, body: &[u8], now: Timestamp) -> Result<Tokens, RefreshError> {
        let unavailable = |what: &str| {
            Err(RefreshError::Unavailable(format!(
                "the token endpoint answered with status {} {what}",
                status.as_u16()
            )))
        };
        let Ok(members) = serde_json::from_slice::<Map<String, Value>>(body) else {
            return unavailable("and no JSON object");
        };
        if !status.is_success() {
            return match error_word(&members) {
                Some(word) if status.is_client_error() && REJECTED.contains(&word) => Err(RefreshError::Rejected),
                // The words are from elsewhere, so only such as can be a code are repeated.
                Some(word) if is_word(word) => unavailable(&format!("and the error {word}")),
                _ => unavailable("and no known error"),
            };
        }
        let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_visible = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let Some(access_token) = text("access_token").or_else(|| text("token")).filter(is_visible) else {
            return unavailable("and no access token");
        };
        let seconds = |name: &str| match members.get(name)? {
            Value::String(text) => text.parse::<f64>().ok(),
            number => number.as_f64(),
        };
        let lifetime_ms = seconds("expires_in")
            .or_else(|| seconds("refresh_in"))
            .map(|seconds| seconds * 1000.0)
            .filter(|millis| *millis >= 1.0)
            .map(|millis| millis.min(MAX_LIFETIME_MS) as i64);
        Ok(Tokens {
            access_token: Some(access_token.to_owned()),
            // One that is not replaced stays good.
            refresh_token: text("refresh_token").unwrap_or(&former.refresh_token).to_owned(),
            expires_at: lifetime_ms.map(|lifetime| Timestamp(now.0.saturating_add(lifetime))),
            lifetime_ms,
        })
    }
}

/// The code of an error: `{"error": "code"}` by the standard, `{"error": {"code": "code"}}` or its type elsewhere.
fn error_word(members: &Map<String, Value>) -> Option<&str> {
    match members.get("error")? {
        Value::String(word) => Some(word),
        error => ["code", "type", "status"].iter().find_map(|name| error.get(*name)?.as_str()),
    }
}

fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn oauth(token_url: &str) -> OAuth {
        let margin = Duration::from_secs(60);
        OAuth::new(token_url, Network::Public, "client".to_owned(), Some("a b".to_owned()), margin, vec![401]).unwrap()
    }

    fn tokens(secret: &str) -> Tokens {
        Tokens::parse(secret).unwrap()
    }

    #[test]
    fn secrets_are_read_in_all_spellings() {
        let expires = |text: &str| tokens(&format!(r#"{{"refresh_token":"r","expires_at":{text}}}"#)).expires_at;
        for (text, expected) in [
            ("1800000000", Some(1_800_000_000_000)),
            ("1800000000000", Some(1_800_000_000_000)),
            ("1800000000.5", Some(1_800_000_000_500)),
            (r#""2027-01-15T08:00:00Z""#, Some(1_800_000_000_000)),
            ("null", None),
        ] {
            assert_eq!(expires(text), expected.map(Timestamp), "{text}");
        }
        for secret in [
            "",
            "sk-1",
            "{}",
            "[]",
            r#"{"access_token":"a"}"#,
            r#"{"refresh_token":""}"#,
            r#"{"refresh_token":7}"#,
            r#"{"refresh_token":"r","access_token":"a b"}"#,
            r#"{"refresh_token":"r","access_token":7}"#,
            r#"{"refresh_token":"r","expires_at":"soon"}"#,
            r#"{"refresh_token":"r","expires_at":-1}"#,
            r#"{"refresh_token":"r","expires_at":1e300}"#,
        ] {
            assert_eq!(Tokens::parse(secret), None, "{secret}");
        }
        let one = tokens(r#"{"token_type":"x","expires_at":1800000000,"refresh_token":"r","access_token":"a"}"#);
        assert_eq!(one.to_text(), r#"{"access_token":"a","refresh_token":"r","expires_at":1800000000000}"#);
        assert_eq!(tokens(&one.to_text()), one);
        assert_eq!(format!("{one:?}"), "Tokens(…, expires_at: Some(Timestamp(1800000000000)))");
    }

    #[test]
    fn tokens_are_due_before_they_end() {
        let margin = Duration::from_secs(60);
        for (access, left, lifetime, is_due, is_usable) in [
            (true, Some(61_000), None, false, true),
            (true, Some(60_000), None, true, true),
            (true, Some(1), None, true, true),
            (true, Some(0), None, true, false),
            (true, None, None, false, true),
            (false, None, None, true, false),
            (false, Some(100_000), None, true, false),
            // One that lives for less than the margin is not due from its beginning.
            (true, Some(30_000), Some(30_000), false, true),
            (true, Some(15_000), Some(30_000), true, true),
        ] {
            let tokens = Tokens {
                access_token: access.then(|| "a".to_owned()),
                refresh_token: "r".to_owned(),
                expires_at: left.map(|left: i64| Timestamp(NOW.0 + left)),
                lifetime_ms: lifetime,
            };
            assert_eq!((tokens.is_due(margin, NOW), tokens.usable(NOW).is_some()), (is_due, is_usable), "{tokens:?}");
        }
    }

    #[test]
    fn the_request_is_that_of_the_standard() {
        let request =
            oauth("https://login.example/oauth/token").request(&tokens(r#"{"refresh_token":"r+/="}"#), Some("s&"));
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/oauth/token"));
        assert_eq!(request.origin.to_string(), "https://login.example");
        assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
        let form = "grant_type=refresh_token&refresh_token=r%2B%2F%3D&client_id=client&client_secret=s%26&scope=a%20b";
        assert_eq!(request.body, form);
        for (url, path) in [("https://a.example", "/"), ("https://a.example/t/", "/t/")] {
            assert_eq!(oauth(url).request(&tokens(r#"{"refresh_token":"r"}"#), None).path, path);
        }
        let refused = OAuth::new("http://10.0.0.1/t", Network::Public, String::new(), None, Duration::ZERO, vec![]);
        assert!(refused.is_err());
    }

    #[test]
    fn answers_are_read_in_both_shapes() {
        let former = tokens(r#"{"refresh_token":"old"}"#);
        let read = |body: &str| oauth("https://a.example").read(&former, StatusCode::OK, body.as_bytes(), NOW);
        for (body, access, refresh, lifetime) in [
            (r#"{"access_token":"a","expires_in":3600,"refresh_token":"new"}"#, "a", "new", Some(3_600_000)),
            (r#"{"access_token":"a","expires_in":"3600"}"#, "a", "old", Some(3_600_000)),
            (r#"{"token":"t","refresh_in":1500,"expires_at":1}"#, "t", "old", Some(1_500_000)),
            (r#"{"access_token":"a"}"#, "a", "old", None),
            (r#"{"access_token":"a","expires_in":0}"#, "a", "old", None),
            (r#"{"access_token":"a","expires_in":-5,"refresh_token":""}"#, "a", "old", None),
            (r#"{"access_token":"a","expires_in":1e300}"#, "a", "old", Some(MAX_LIFETIME_MS as i64)),
        ] {
            let found = read(body).unwrap();
            assert_eq!(
                (found.access_token.as_deref(), found.refresh_token.as_str()),
                (Some(access), refresh),
                "{body}"
            );
            assert_eq!(found.lifetime_ms, lifetime, "{body}");
            assert_eq!(found.expires_at, lifetime.map(|lifetime| Timestamp(NOW.0 + lifetime)), "{body}");
        }
        for body in ["", "<html>", "[]", "{}", r#"{"access_token":""}"#, r#"{"access_token":"a\nb"}"#] {
            assert!(matches!(read(body), Err(RefreshError::Unavailable(_))), "{body}");
        }
    }

    #[test]
    fn only_a_refused_refresh_token_is_told_as_one() {
        let former = tokens(r#"{"refresh_token":"old"}"#);
        for (status, body, is_rejected) in [
            (400, r#"{"error":"invalid_grant","error_description":"x"}"#, true),
            (401, r#"{"error":{"code":"refresh_token_reused","message":"x"}}"#, true),
            (400, r#"{"error":"invalid_client"}"#, false),
            (400, r#"{"error":"unauthorized_client"}"#, false),
            (400, "invalid_grant", false),
            (403, "<html>invalid_grant", false),
            (429, r#"{"error":"slow_down"}"#, false),
            (500, r#"{"error":"invalid_grant"}"#, false),
            (302, "", false),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let error = oauth("https://a.example").read(&former, status, body.as_bytes(), NOW).unwrap_err();
            assert_eq!(error == RefreshError::Rejected, is_rejected, "{status} {body}");
        }
        let body = br#"{"error":"The token sk-123 is bad"}"#;
        let error = oauth("https://a.example").read(&former, StatusCode::BAD_REQUEST, body, NOW).unwrap_err();
        assert!(!format!("{error:?}").contains("sk-123"));
    }
}
