//! Errors that stand inside an answer or a stream, in the shapes that OpenAI and compatible vendors give them
//! (<https://developers.openai.com/api/docs/guides/error-codes>).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::convert::StreamFault;
use crate::protocol::wire::Raw;

/// The word for an error that has none.
const CODE: &str = "upstream_error";

/// The member `error` of a chunk or of an answer: an object, or a text alone.
pub fn read(error: &Raw<'_>) -> StreamFault<'static> {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow)]
        message: Option<Cow<'a, str>>,
        #[serde(borrow, rename = "type")]
        kind: Option<Cow<'a, str>>,
        #[serde(borrow)]
        code: Option<&'a RawValue>,
    }
    if let Ok(message) = error.read::<Cow<'_, str>>() {
        return fault(None, None, Some(&message), None);
    }
    let Ok(members) = error.read::<Members<'_>>() else { return fault(None, None, None, None) };
    let code = members.code.map(RawValue::get);
    let status = code.and_then(|code| code.trim_matches('"').parse().ok());
    let code = code.filter(|_| status.is_none()).and_then(|code| serde_json::from_str::<Cow<'_, str>>(code).ok());
    fault(code.as_deref(), members.kind.as_deref(), members.message.as_deref(), status)
}

/// An error of which this much is known. Without a status it is what the code and the kind mean.
pub fn fault(
    code: Option<&str>,
    kind: Option<&str>,
    message: Option<&str>,
    status: Option<u16>,
) -> StreamFault<'static> {
    let words = [code, kind];
    let word = words.into_iter().flatten().find(|word| !word.is_empty());
    let meant = words.into_iter().flatten().find_map(status_of);
    StreamFault {
        status: status.filter(|status| (400..600).contains(status)).or(meant).unwrap_or(502),
        code: word.unwrap_or(CODE).to_owned().into(),
        message: message
            .filter(|message| !message.is_empty())
            .unwrap_or("the provider reports an error and does not say which; repeat the request")
            .to_owned()
            .into(),
    }
}

/// The HTTP status that a code or a kind has elsewhere.
fn status_of(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error" | "invalid_prompt" | "context_length_exceeded" | "invalid_encrypted_content" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "permission_error" => 403,
        "not_found_error" | "model_not_found" => 404,
        "rate_limit_exceeded" | "rate_limit_error" | "insufficient_quota" => 429,
        "server_error" | "internal_error" | "api_error" => 500,
        "overloaded_error" | "server_is_overloaded" | "slow_down" => 503,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_in_all_their_shapes() {
        for (error, status, code, message) in [
            (
                r#"{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded"}"#,
                429,
                "rate_limit_exceeded",
                "m",
            ),
            (r#"{"message":"m","code":503}"#, 503, "upstream_error", "m"),
            (r#"{"message":"m","code":"502","type":"server_error"}"#, 502, "server_error", "m"),
            (r#"{"message":"m","code":null,"type":"overloaded_error"}"#, 503, "overloaded_error", "m"),
            (r#""overloaded""#, 502, "upstream_error", "overloaded"),
        ] {
            let fault = read(&Raw::parse(error).unwrap());
            assert_eq!((fault.status, &*fault.code, &*fault.message), (status, code, message), "{error}");
        }
        assert!(!read(&Raw::parse("[]").unwrap()).message.is_empty());
    }
}
