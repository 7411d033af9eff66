//! Errors inside a stream of Chat Completions.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::protocol::convert::StreamFault;
use crate::protocol::wire::{Raw, Text};

/// The error as far as vendors agree on it: an object with `message`, `type` and `code`, which may be a status; or a text.
pub(super) fn read<'a>(error: &'a Raw<'a>) -> StreamFault<'a> {
    #[derive(Deserialize)]
    struct Error<'a> {
        #[serde(borrow, default)]
        message: Option<Text<'a>>,
        #[serde(borrow, default, rename = "type")]
        kind: Option<Text<'a>>,
        #[serde(default)]
        code: Option<Value>,
    }
    if let Ok(message) = error.read::<Text<'a>>() {
        return StreamFault { status: 502, code: "upstream_error".into(), message: message.0 };
    }
    let Ok(error) = error.read::<Error<'a>>() else { return StreamFault::unreadable() };
    let kind = error.kind.as_deref().unwrap_or_default().to_owned();
    let (status, code) = match &error.code {
        Some(Value::Number(code)) => (code.as_u64().and_then(|code| u16::try_from(code).ok()), None),
        Some(Value::String(code)) => {
            (code.parse().ok(), Some(code.clone()).filter(|code| code.parse::<u16>().is_err()))
        }
        _ => (None, None),
    };
    let word = code.filter(|code| !code.is_empty()).or((!kind.is_empty()).then_some(kind));
    let status = status.filter(|status| (400..600).contains(status));
    let status = status.unwrap_or_else(|| word.as_deref().map_or(502, status_of));
    StreamFault {
        status,
        code: word.map_or("upstream_error".into(), Cow::Owned),
        message: error.message.map_or("the provider reported an error".into(), |message| message.0),
    }
}

/// The status that goes with one of OpenAI's words (<https://developers.openai.com/api/docs/guides/error-codes>).
fn status_of(word: &str) -> u16 {
    let has = |part: &str| word.contains(part);
    if has("rate_limit") || has("insufficient_quota") || has("too_many_requests") {
        429
    } else if has("invalid_request") || has("context_length") || has("content_policy") || has("content_filter") {
        400
    } else if has("authentication") || has("invalid_api_key") {
        401
    } else if has("permission") {
        403
    } else if has("not_found") {
        404
    } else if has("overloaded") || has("unavailable") {
        503
    } else if has("timeout") {
        504
    } else {
        500
    }
}
