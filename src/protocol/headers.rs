//! Which headers cross the gateway.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::dialect::Dialect;

/// Request headers that any upstream may see.
static COMMON: [HeaderName; 3] = [header::ACCEPT, header::CONTENT_TYPE, header::USER_AGENT];

/// `anthropic-version`.
pub const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
/// `anthropic-beta`.
pub const ANTHROPIC_BETA: HeaderName = HeaderName::from_static("anthropic-beta");
/// `x-goog-api-key`.
pub const GOOGLE_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");
/// `x-api-key`.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// Our own request id, on every response.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-gateway-request-id");
/// What a conversion between dialects could not carry over, on data-plane responses.
pub const CONVERSION_LOSS: HeaderName = HeaderName::from_static("x-gateway-conversion-loss");
/// With `1`, a client would rather have an error than an answer to less than it asked.
pub const STRICT: HeaderName = HeaderName::from_static("x-gateway-strict");
/// How a number of tokens was found out where no vendor counted it: `estimate`.
pub const TOKEN_COUNT: HeaderName = HeaderName::from_static("x-gateway-token-count");
/// The channel that a provider has to have, for a client that wants a certain one.
pub const CHANNEL: HeaderName = HeaderName::from_static("x-gateway-channel");
/// For how many milliseconds a client waits for its answer.
pub const TIMEOUT_MS: HeaderName = HeaderName::from_static("x-gateway-timeout-ms");
/// How many upstream calls a request took, on data-plane responses.
pub const ATTEMPTS: HeaderName = HeaderName::from_static("x-gateway-attempts");
/// Where the time went, on data-plane responses.
pub const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
/// The provider that answered, on data-plane responses.
pub const PROVIDER: HeaderName = HeaderName::from_static("x-provider");

/// Request headers that a vendor defines and only that vendor should see.
fn defined_by_vendor(dialect: Dialect) -> &'static [HeaderName] {
    static OPENAI: [HeaderName; 5] = [
        HeaderName::from_static("openai-organization"),
        HeaderName::from_static("openai-project"),
        HeaderName::from_static("openai-beta"),
        HeaderName::from_static("x-client-request-id"),
        HeaderName::from_static("idempotency-key"),
    ];
    static CLAUDE: [HeaderName; 5] = [
        ANTHROPIC_VERSION,
        ANTHROPIC_BETA,
        HeaderName::from_static("anthropic-user-profile-id"),
        HeaderName::from_static("anthropic-workspace-id"),
        HeaderName::from_static("idempotency-key"),
    ];
    static GEMINI: [HeaderName; 2] =
        [HeaderName::from_static("x-goog-api-client"), HeaderName::from_static("x-server-timeout")];
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => &OPENAI,
        Dialect::Claude => &CLAUDE,
        Dialect::Gemini => &GEMINI,
    }
}

/// The headers of a client's request that go on to an upstream of the same dialect. What is not known stays here:
/// credentials, cookies, hop-by-hop headers and everything that clients send about themselves.
pub fn to_upstream(dialect: Dialect, client: &HeaderMap) -> HeaderMap {
    let vendor = defined_by_vendor(dialect);
    let mut headers = HeaderMap::with_capacity(COMMON.len() + vendor.len() + 2);
    for name in COMMON.iter().chain(vendor) {
        let Some(first) = client.get(name) else { continue };
        if *name == ANTHROPIC_BETA {
            // Given twice, or with repetitions: hosts may have joined what came as several headers.
            if let Some(merged) = merge_tokens(client.get_all(name).iter()) {
                headers.insert(name, merged);
            }
        } else {
            headers.insert(name, first.clone());
        }
    }
    headers
}

/// One comma-separated list out of several, each token once, in the order of first appearance.
fn merge_tokens<'a>(values: impl Iterator<Item = &'a HeaderValue>) -> Option<HeaderValue> {
    let mut tokens: Vec<&str> = Vec::new();
    for token in values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')) {
        let token = token.trim();
        if !token.is_empty() && !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    HeaderValue::from_str(&tokens.join(",")).ok()
}

/// Response headers of an upstream that are held back: they belong to the connection, set state in a browser, or tell whose
/// account the gateway uses. Others go on, also unknown ones, so that rate limits, request ids and what vendors add tomorrow
/// arrive. In the order of the alphabet.
pub static HELD_BACK: [&str; 46] = [
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "access-control-max-age",
    "alt-svc",
    "anthropic-organization-id",
    "anthropic-workspace-id",
    "api-key",
    "authorization",
    "cf-cache-status",
    "cf-connecting-ip",
    "cf-mitigated",
    "cf-placement",
    "cf-ray",
    "connection",
    "content-length",
    "date",
    "keep-alive",
    "nel",
    "openai-organization",
    "openai-project",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "report-to",
    "reporting-endpoints",
    "server",
    "set-cookie",
    "set-cookie2",
    "strict-transport-security",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "www-authenticate",
    "x-api-key",
    "x-gateway-attempts",
    "x-gateway-conversion-loss",
    "x-gateway-request-id",
    "x-gateway-token-count",
    "x-goog-api-key",
    "x-powered-by",
    "x-provider",
];

/// All request headers of clients that anything in the core looks at. A host on which each header costs need not hand over
/// any other.
pub static READ_FROM_CLIENT: [&str; 27] = [
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "content-encoding",
    "content-type",
    "accept",
    "user-agent",
    "openai-organization",
    "openai-project",
    "openai-beta",
    "x-client-request-id",
    "idempotency-key",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-user-profile-id",
    "anthropic-workspace-id",
    "x-goog-api-client",
    "x-server-timeout",
    "x-gateway-strict",
    "x-gateway-channel",
    "x-session-id",
    "x-claude-code-session-id",
    "session-id",
    "thread-id",
    "session_id",
    "x-gateway-timeout-ms",
    "x-gateway-tag",
];

/// All headers of a successful answer that anything in the core looks at or changes.
pub static READ_FROM_UPSTREAM: [&str; 4] = ["content-type", "content-encoding", "content-length", "server-timing"];

/// The headers of an upstream's answer that go on to the client.
pub fn to_client(upstream: &HeaderMap) -> HeaderMap {
    let named_by_connection: Vec<&str> = upstream
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let mut headers = HeaderMap::with_capacity(upstream.len() + 2);
    for (name, value) in upstream {
        if HELD_BACK.binary_search(&name.as_str()).is_err()
            && !named_by_connection.iter().any(|other| other.eq_ignore_ascii_case(name.as_str()))
        {
            headers.append(name, value.clone());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).fold(
            HeaderMap::new(),
            |mut map, (name, value)| {
                map.append(name, value);
                map
            },
        )
    }

    #[test]
    fn a_vendor_sees_its_own_headers_and_no_credential() {
        let client = headers(&[
            ("authorization", "Bearer tg-1"),
            ("x-api-key", "tg-1"),
            ("cookie", "a=b"),
            ("connection", "keep-alive"),
            ("x-stainless-lang", "python"),
            ("content-type", "application/json"),
            ("anthropic-version", "2026-10-21"),
            ("openai-organization", "org-1"),
        ]);
        let claude = to_upstream(Dialect::Claude, &client);
        assert_eq!(claude, headers(&[("content-type", "application/json"), ("anthropic-version", "2026-10-21")]));
        let openai = to_upstream(Dialect::OpenAiChat, &client);
        assert_eq!(openai, headers(&[("content-type", "application/json"), ("openai-organization", "org-1")]));
    }

    /// B55: betas given in two headers are one list without repetition.
    #[test]
    fn betas_are_merged() {
        let client = headers(&[("anthropic-beta", "a-1, b-2"), ("anthropic-beta", "b-2,c-3")]);
        assert_eq!(to_upstream(Dialect::Claude, &client)["anthropic-beta"], "a-1,b-2,c-3");
        assert!(to_upstream(Dialect::Gemini, &client).is_empty());
    }

    #[test]
    fn what_an_upstream_may_see_is_read_from_the_client() {
        for dialect in Dialect::ALL {
            for name in COMMON.iter().chain(defined_by_vendor(dialect)) {
                assert!(READ_FROM_CLIENT.contains(&name.as_str()), "{name}");
            }
        }
    }

    #[test]
    fn what_names_a_conversation_is_read_from_the_client() {
        assert!(crate::protocol::session::SESSION_HEADERS.iter().all(|name| READ_FROM_CLIENT.contains(name)));
    }

    #[test]
    fn the_held_back_are_in_order() {
        assert!(HELD_BACK.is_sorted());
    }

    #[test]
    fn a_client_sees_limits_and_ids_but_no_account() {
        let upstream = headers(&[
            ("connection", "x-hop"),
            ("x-hop", "1"),
            ("retry-after", "3"),
            ("x-ratelimit-remaining-tokens", "9"),
            ("request-id", "req_1"),
            ("set-cookie", "a=b"),
            ("openai-organization", "org-1"),
            ("transfer-encoding", "chunked"),
        ]);
        let expected = headers(&[("retry-after", "3"), ("x-ratelimit-remaining-tokens", "9"), ("request-id", "req_1")]);
        assert_eq!(to_client(&upstream), expected);
    }
}
