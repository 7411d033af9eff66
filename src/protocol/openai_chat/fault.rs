//! Errors inside the streams of OpenAI's two dialects, and of those who speak them too
//! (<https://developers.openai.com/api/docs/guides/error-codes>).

use std::borrow::Cow;

use tollgate_macros::Read;

use crate::protocol::convert::StreamFault;
use crate::protocol::wire::{Raw, Text};

/// What is known of an error.
#[derive(Debug, Default, Clone)]
pub struct Parts<'a> {
    /// The vendor's word, such as `rate_limit_exceeded`.
    pub code: Option<&'a str>,
    /// The kind of error, such as `server_error`.
    pub kind: Option<&'a str>,
    /// For people.
    pub message: Option<&'a str>,
    /// The HTTP status, where the error tells it.
    pub status: Option<u64>,
}

/// The error as a fault. The status follows from the vendor's words where it is not told; 502 is what says nothing.
pub fn fault(parts: &Parts<'_>) -> StreamFault<'static> {
    let word = |word: Option<&str>| word.filter(|word| !word.is_empty()).map(str::to_owned);
    let told = parts.status.or_else(|| parts.code?.parse().ok()).and_then(|status| u16::try_from(status).ok());
    let told = told.filter(|status| (400..600).contains(status));
    let status = told.or_else(|| status(parts.code?)).or_else(|| status(parts.kind?)).unwrap_or(502);
    let code = word(parts.code.filter(|code| code.parse::<u64>().is_err())).or_else(|| word(parts.kind));
    StreamFault {
        status,
        code: code.map_or(Cow::Borrowed("upstream_error"), Cow::Owned),
        message: word(parts.message)
            .map_or(Cow::Borrowed("the provider reported an error without saying which"), Cow::Owned),
    }
}

/// The error that stands in the member `error` of a chunk or of an answer: an object, or a string at some vendors.
pub fn of_member(error: &Raw<'_>) -> StreamFault<'static> {
    #[derive(Read)]
    struct Members<'a> {
        #[serde(borrow)]
        code: Option<Raw<'a>>,
        #[serde(borrow, rename = "type")]
        kind: Option<Text<'a>>,
        #[serde(borrow)]
        message: Option<Text<'a>>,
    }
    if let Ok(message) = error.read::<Text<'_>>() {
        return fault(&Parts { message: Some(&message), ..Parts::default() });
    }
    let Ok(Members { code, kind, message }) = error.read::<Members<'_>>() else { return fault(&Parts::default()) };
    let code = code.as_ref().map(|code| code.get().trim_matches('"')).filter(|code| *code != "null");
    fault(&Parts { code, kind: kind.as_deref(), message: message.as_deref(), status: None })
}

/// The status that goes with a vendor's word.
fn status(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error"
        | "invalid_prompt"
        | "invalid_encrypted_content"
        | "context_length_exceeded"
        | "string_above_max_length"
        | "content_policy_violation"
        | "cyber_policy"
        | "bio_policy"
        | "content_filter" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "permission_error" | "access_denied" => 403,
        "not_found_error" | "model_not_found" | "previous_response_not_found" => 404,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "tokens" | "requests" => 429,
        "server_error" | "internal_error" | "api_error" => 500,
        "overloaded"
        | "overloaded_error"
        | "server_overloaded"
        | "server_is_overloaded"
        | "slow_down"
        | "service_unavailable"
        | "service_unavailable_error" => 503,
        "timeout" | "timeout_error" | "vector_store_timeout" => 504,
        // Codes of `ResponseError` that are about an image of the request.
        _ if word.contains("image") => 400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_all_shapes() {
        for (error, status, code, message) in [
            (r#"{"message":"a","type":"server_error","param":null,"code":null}"#, 500, "server_error", "a"),
            (r#"{"message":"a","type":"x","code":"rate_limit_exceeded"}"#, 429, "rate_limit_exceeded", "a"),
            (r#"{"code":502,"message":"a"}"#, 502, "upstream_error", "a"),
            (r#"{"code":"429","type":"tokens"}"#, 429, "tokens", "the provider reported an error without saying which"),
            (r#""overloaded""#, 502, "upstream_error", "overloaded"),
            (r#"{"message":["a"]}"#, 502, "upstream_error", "the provider reported an error without saying which"),
        ] {
            let expected = StreamFault { status, code: code.into(), message: message.into() };
            assert_eq!(of_member(&Raw::parse(error).unwrap()), expected, "{error}");
        }
    }
}
