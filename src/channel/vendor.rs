//! What the channels of vendors have in common: the paths and the authentication that belong to a dialect.

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method};

use super::endpoint::{Endpoint, ExtraHeader};
use super::{Call, ChannelError, Dispatch};
use crate::platform::fetch::UpstreamRequest;
use crate::protocol::dialect::Dialect;
use crate::protocol::gemini::path::upstream_path;
use crate::protocol::headers::{ANTHROPIC_VERSION, API_KEY, GOOGLE_API_KEY};
use crate::protocol::operation::Operation;

/// The version that is sent for a client that names none.
const DEFAULT_ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// A request as the dialect's own vendor expects it, at the provider's address.
pub(super) fn prepare(endpoint: &Endpoint, secret: Option<&str>, call: &Call<'_>) -> Result<Dispatch, ChannelError> {
    let origin = endpoint.origin.clone().ok_or(ChannelError::Misconfigured("the provider has no base URL"))?;
    let mut path = path(&endpoint.base_path, call)?;
    if let Some(query) = call.query.filter(|query| !query.is_empty()) {
        path.push('?');
        path.push_str(query);
    }
    let mut headers = call.headers.clone();
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    if call.dialect == Dialect::Claude {
        headers.entry(ANTHROPIC_VERSION).or_insert(DEFAULT_ANTHROPIC_VERSION);
    }
    let mut secret_is_placed = false;
    for (name, value) in &endpoint.headers {
        let value = match value {
            ExtraHeader::Fixed(value) => value.clone(),
            ExtraHeader::AroundSecret(before, after) => {
                secret_is_placed = true;
                let secret = secret.ok_or(ChannelError::Misconfigured(
                    "a header wants a credential's secret, and there is no credential",
                ))?;
                secret_header(format!("{before}{secret}{after}"))?
            }
        };
        headers.insert(name, value);
    }
    if let (Some(secret), false) = (secret, secret_is_placed) {
        let (name, value) = authentication(call.dialect, secret)?;
        headers.insert(name, value);
    }
    Ok(Dispatch::Upstream(UpstreamRequest {
        method: Method::POST,
        origin,
        path,
        headers,
        body: call.body.clone(),
        streamed: call.stream,
        limits: endpoint.limits,
    }))
}

/// The path of a call below a base path. OpenAI's base URL includes the version, as its SDK wants it; those of Claude and
/// Gemini do not, and one that does is understood.
fn path(base: &str, call: &Call<'_>) -> Result<String, ChannelError> {
    let unsupported = ChannelError::Unsupported { dialect: call.dialect, operation: call.operation };
    let openai = if base.is_empty() { "/v1" } else { base };
    let without_version =
        |versions: [&str; 2]| versions.iter().find_map(|version| base.strip_suffix(version)).unwrap_or(base).to_owned();
    Ok(match (call.dialect, call.operation) {
        (Dialect::OpenAiChat, Operation::Generate) => format!("{openai}/chat/completions"),
        (Dialect::OpenAiChat, Operation::Embed) => format!("{openai}/embeddings"),
        (Dialect::OpenAiResponses, Operation::Generate) => format!("{openai}/responses"),
        (Dialect::OpenAiResponses, Operation::CountTokens) => format!("{openai}/responses/input_tokens"),
        (Dialect::Claude, Operation::Generate) => without_version(["/v1", "/v1"]) + "/v1/messages",
        (Dialect::Claude, Operation::CountTokens) => without_version(["/v1", "/v1"]) + "/v1/messages/count_tokens",
        (Dialect::Gemini, operation) => {
            let action = match (operation, call.stream) {
                (Operation::Generate, false) => "generateContent",
                (Operation::Generate, true) => "streamGenerateContent",
                (Operation::CountTokens, _) => "countTokens",
                (Operation::Embed, _) => "embedContent",
                (Operation::EmbedBatch, _) => "batchEmbedContents",
            };
            let base = without_version(["/v1beta", "/v1"]);
            format!("{base}/{}{}", call.version.unwrap_or("v1beta"), upstream_path(call.model, action))
        }
        _ => return Err(unsupported),
    })
}

fn authentication(dialect: Dialect, secret: &str) -> Result<(HeaderName, HeaderValue), ChannelError> {
    Ok(match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiResponses => (AUTHORIZATION, secret_header(format!("Bearer {secret}"))?),
        Dialect::Claude => (API_KEY, secret_header(secret.to_owned())?),
        Dialect::Gemini => (GOOGLE_API_KEY, secret_header(secret.to_owned())?),
    })
}

fn secret_header(text: String) -> Result<HeaderValue, ChannelError> {
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| ChannelError::Misconfigured("the credential's secret cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use std::rc::Rc;

    use super::super::endpoint::{DEFAULT_LIMITS, parse_base_url};
    use super::*;
    use crate::platform::clock::Timestamp;
    use crate::platform::fetch::Network;

    fn endpoint(base_url: &str) -> Endpoint {
        let (origin, base_path) = parse_base_url(base_url, Network::Public).unwrap();
        Endpoint {
            origin: Some(Rc::new(origin)),
            base_path,
            dialects: Dialect::ALL.to_vec(),
            headers: vec![],
            ask_for_usage: true,
            limits: DEFAULT_LIMITS,
        }
    }

    fn send(endpoint: &Endpoint, dialect: Dialect, operation: Operation) -> UpstreamRequest {
        let call = Call {
            dialect,
            operation,
            stream: false,
            model: "m",
            version: None,
            query: None,
            headers: &HeaderMap::new(),
            body: Bytes::new(),
            request_id: "r",
            now: Timestamp(0),
        };
        match prepare(endpoint, Some("key"), &call) {
            Ok(Dispatch::Upstream(request)) => request,
            _ => panic!("a request is expected"),
        }
    }

    #[test]
    fn a_base_url_is_understood_with_and_without_its_version() {
        let check = |base: &str, dialect, path: &str| {
            assert_eq!(send(&endpoint(base), dialect, Operation::Generate).path, path, "{base}");
        };
        check("https://a.example", Dialect::OpenAiChat, "/v1/chat/completions");
        check("https://a.example/v1", Dialect::OpenAiResponses, "/v1/responses");
        check("https://a.example/api/v3/", Dialect::OpenAiChat, "/api/v3/chat/completions");
        check("https://a.example", Dialect::Claude, "/v1/messages");
        check("https://a.example/anthropic/v1", Dialect::Claude, "/anthropic/v1/messages");
        check("https://a.example", Dialect::Gemini, "/v1beta/models/m:generateContent");
        check("https://a.example/x/v1beta", Dialect::Gemini, "/x/v1beta/models/m:generateContent");
    }

    #[test]
    fn each_dialect_has_its_authentication() {
        let endpoint = endpoint("https://a.example");
        let header = |dialect, name| send(&endpoint, dialect, Operation::Generate).headers.get(name).cloned();
        assert_eq!(header(Dialect::OpenAiChat, "authorization").unwrap(), "Bearer key");
        assert_eq!(header(Dialect::Claude, "x-api-key").unwrap(), "key");
        assert_eq!(header(Dialect::Claude, "anthropic-version").unwrap(), "2023-06-01");
        assert_eq!(header(Dialect::Claude, "authorization"), None);
        assert_eq!(header(Dialect::Gemini, "x-goog-api-key").unwrap(), "key");
    }

    #[test]
    fn a_placed_secret_replaces_the_usual_authentication() {
        let mut endpoint = endpoint("https://a.example");
        endpoint.headers = vec![ExtraHeader::parse("api-key", "{secret}").unwrap()];
        let request = send(&endpoint, Dialect::OpenAiChat, Operation::Generate);
        assert_eq!(request.headers["api-key"], "key");
        assert!(!request.headers.contains_key("authorization"));
    }
}
