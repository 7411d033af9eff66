//! Whose fault a failure is, told from what an upstream said and did.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::header::HeaderMap;
use serde_json::Value;

use super::deliver::has_type;
use super::failure::{Failure, FailureKind};
use crate::platform::body::BodyError;
use crate::platform::clock::Timestamp;
use crate::platform::fetch::FetchErrorKind;
use crate::protocol::convert::StreamFault;
use crate::protocol::error::is_context_overflow;
use crate::protocol::rate_limits;

/// Words that say that a quota is used up, in small letters.
const QUOTA_WORDS: [&str; 4] = ["usage cap", "usage limit", "quota", "limit exceeded"];

/// The same words about something that soon passes.
const NO_QUOTA_WORDS: [&str; 2] = ["rate limit exceeded", "e.g. check quota"];

/// What an upstream's error says of itself, in the shape of any dialect. It lasts as long as the request: texts of one tenant are
/// never kept for another.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Its types and codes.
    pub(super) kinds: Vec<String>,
    /// Its message, in small letters.
    pub(super) message: String,
    /// The error as it is.
    error: Option<Value>,
}

impl Words {
    fn in_body(text: &str) -> Self {
        let Ok(mut body) = serde_json::from_str::<Value>(text) else { return Self::default() };
        // Gemini wraps those of some streams in an array.
        if let Some(first) = body.get_mut(0) {
            body = first.take();
        }
        let error = match body.get_mut("error") {
            Some(error) if !error.is_null() => error.take(),
            _ => body,
        };
        let of_details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let reasons = of_details.iter().filter_map(|detail| detail.get("reason"));
        let kinds = ["type", "code", "status"].iter().filter_map(|name| error.get(name)).chain(reasons);
        let kinds = kinds.filter_map(Value::as_str).map(str::to_owned).collect();
        let message = error.get("message").or_else(|| error.get("detail")).unwrap_or(&error).as_str();
        let message = message.unwrap_or_default().to_lowercase();
        Self { kinds, message, error: Some(error) }
    }

    fn of_fault(fault: &StreamFault<'_>) -> Self {
        Self { kinds: vec![fault.code.to_string()], message: fault.message.to_lowercase(), error: None }
    }

    fn has_kind(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.kinds.iter().any(|kind| is_it(kind))
    }

    /// Whether the prompt is longer than the model takes.
    pub(super) fn tell_of_overflow(&self) -> bool {
        is_context_overflow(&self.message) || self.has_kind(|kind| kind == "context_length_exceeded")
    }

    fn tell_of_quota(&self) -> bool {
        if self.has_kind(|kind| {
            let kind = kind.to_ascii_lowercase();
            kind.contains("quota") || kind == "usage_limit_reached" || kind.starts_with("billing_")
        }) {
            return true;
        }
        // Google says quota of a minute's limit as well; what is violated stands in the details.
        let details = self.error.as_ref().and_then(|error| error.get("details")?.as_array());
        let violations: Vec<&Value> = details
            .into_iter()
            .flatten()
            .filter_map(|detail| detail.get("violations")?.as_array())
            .flatten()
            .flat_map(|violation| [violation.get("quotaId"), violation.get("quotaMetric")])
            .flatten()
            .collect();
        if !violations.is_empty() {
            let is_daily = |id: &&str| id.contains("PerDay") || id.contains("per_day");
            return violations.iter().filter_map(|id| id.as_str()).any(|id| is_daily(&id));
        }
        let is_google = self.has_kind(|kind| kind == "RESOURCE_EXHAUSTED");
        if is_google && self.message.contains("retry in")
            || NO_QUOTA_WORDS.iter().any(|words| self.message.contains(words))
        {
            return false;
        }
        QUOTA_WORDS.iter().any(|words| self.message.contains(words))
    }

    /// The first type or code that can be shown: a plain word, as vendors have them.
    fn plain_kind(&self) -> Option<&str> {
        let is_plain = |kind: &&String| {
            (1..=48).contains(&kind.len())
                && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        };
        self.kinds.iter().find(is_plain).map(String::as_str)
    }
}

/// Sorts an error answer.
pub(super) fn of_answer(status: StatusCode, headers: &HeaderMap, text: &str, now: Timestamp) -> (Failure, Words) {
    let words = Words::in_body(text);
    let status = status.as_u16();
    if status == 403 && is_from_edge(headers, text) {
        return (Failure { cause: BLOCKED.into(), ..failure(FailureKind::Server, status) }, words);
    }
    let kind = kind(status, &words);
    let error = words.error.as_ref();
    let retry_after = match kind {
        FailureKind::Request => None,
        FailureKind::RateLimited | FailureKind::QuotaUsedUp => rate_limits::wait(headers, error, now.0),
        _ => rate_limits::told(headers, error, now.0),
    };
    (Failure { retry_after, cause: cause(status, &words), ..failure(kind, status) }, words)
}

/// Sorts an error that stood in an answer, or in a stream, with the status of a success.
pub(super) fn of_fault(fault: &StreamFault<'_>) -> (Failure, Words) {
    let words = Words::of_fault(fault);
    let kind = kind(fault.status, &words);
    (Failure { cause: cause(fault.status, &words), ..failure(kind, fault.status) }, words)
}

/// Sorts why there is no answer at all.
pub(super) fn of_fetch(kind: FetchErrorKind) -> Failure {
    let (kind, cause) = match kind {
        FetchErrorKind::Timeout => (FailureKind::Timeout, "no answer in time"),
        FetchErrorKind::Connect => (FailureKind::Network, "no connection"),
        FetchErrorKind::Broken => (FailureKind::Network, "the connection broke before an answer"),
        FetchErrorKind::Forbidden => (FailureKind::Network, "its address is in a private network"),
    };
    Failure { cause: cause.into(), ..failure(kind, 0) }
}

/// Sorts why an answer that began with `status` came to no end.
pub(super) fn of_body(status: u16, error: &BodyError) -> Failure {
    let (kind, cause) = match error {
        BodyError::Timeout => (FailureKind::Timeout, "the answer did not go on in time"),
        BodyError::Broken(_) => (FailureKind::Network, "the answer broke off"),
        BodyError::TooLarge { .. } => (FailureKind::Server, "the answer is too long"),
    };
    Failure { cause: cause.into(), ..failure(kind, status) }
}

/// An answer that says that all is well and is none.
pub(super) fn no_answer(status: u16) -> Failure {
    Failure { cause: "something else than an answer of its API".into(), ..failure(FailureKind::Server, status) }
}

/// The request's own time was up while the upstream was at work, which is nobody's fault.
pub(super) fn out_of_time() -> Failure {
    Failure { cause: "the client's time was up".into(), ..failure(FailureKind::Request, 0) }
}

const BLOCKED: &str = "blocked at the edge";

/// Whether an upstream's network refused the call before its API saw it. That is nobody's account's fault.
pub(super) fn is_blocked(failure: &Failure) -> bool {
    &*failure.cause == BLOCKED
}

fn failure(kind: FailureKind, status: u16) -> Failure {
    Failure { kind, status, retry_after: None::<Duration>, cause: Arc::default() }
}

fn kind(status: u16, words: &Words) -> FailureKind {
    match status {
        401 => FailureKind::Unauthorized,
        // Google's word for a key that it does not know.
        400 if words.has_kind(|kind| kind == "API_KEY_INVALID") => FailureKind::Unauthorized,
        403 | 429 if words.tell_of_quota() => FailureKind::QuotaUsedUp,
        402 | 403 => FailureKind::Refused,
        429 => FailureKind::RateLimited,
        503 | 529 => FailureKind::Overloaded,
        500..=599 if words.has_kind(|kind| kind == "overloaded_error") => FailureKind::Overloaded,
        408 | 500.. => FailureKind::Server,
        ..400 => FailureKind::Server,
        _ => FailureKind::Request,
    }
}

/// Whether a refusal comes from what stands before an API: a web page, a challenge, or Cloudflare's bare words.
fn is_from_edge(headers: &HeaderMap, text: &str) -> bool {
    let text = text.trim_start();
    headers.contains_key("cf-mitigated")
        || (has_type(headers, "text/html") && !text.starts_with('{'))
        || text.starts_with('<')
        || text.starts_with("error code: 1")
}

fn cause(status: u16, words: &Words) -> Arc<str> {
    match words.plain_kind() {
        Some(kind) => format!("{status} {kind}").into(),
        None => format!("{status}").into(),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;
    use FailureKind::*;

    fn classify(status: u16, lines: &[(&'static str, &'static str)], body: &str) -> Failure {
        let headers =
            lines.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        of_answer(StatusCode::from_u16(status).unwrap(), &headers.collect(), body, Timestamp(0)).0
    }

    #[test]
    fn statuses_and_words() {
        let google = |details: &str, message: &str| {
            format!(
                r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","message":"{message}","details":[{details}]}}}}"#
            )
        };
        let violation = |id: &str| format!(r#"{{"violations":[{{"quotaId":"{id}"}}]}}"#);
        let message = |message: &str| format!(r#"{{"error":{{"type":"some_error","message":"{message}"}}}}"#);
        for (status, body, kind) in [
            (400, message("messages: Unexpected role"), Request),
            (400, r#"{"error":{"code":400,"details":[{"reason":"API_KEY_INVALID"}]}}"#.to_owned(), Unauthorized),
            (400, message("quota"), Request),
            (404, message("no such model"), Request),
            (409, String::new(), Request),
            (413, String::new(), Request),
            (422, String::new(), Request),
            (401, message("bad key"), Unauthorized),
            (402, message("pay"), Refused),
            (403, message("not allowed"), Refused),
            (403, String::new(), Refused),
            (403, message("Your Usage Cap is reached"), QuotaUsedUp),
            (403, message("monthly limit exceeded"), QuotaUsedUp),
            (429, message("You exceeded your current quota"), QuotaUsedUp),
            (429, r#"{"error":{"type":"insufficient_quota","message":"pay"}}"#.to_owned(), QuotaUsedUp),
            (429, r#"{"error":{"type":"usage_limit_reached","message":"wait"}}"#.to_owned(), QuotaUsedUp),
            (429, message("Rate limit exceeded"), RateLimited),
            (429, message("slow down"), RateLimited),
            (429, String::new(), RateLimited),
            (429, "<html>".to_owned(), RateLimited),
            (429, google(&violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), "your quota"), QuotaUsedUp),
            (429, google(&violation("GenerateRequestsPerMinutePerProjectPerModel"), "your quota"), RateLimited),
            (429, google("", "Resource has been exhausted (e.g. check quota)."), RateLimited),
            (429, google("", "You exceeded your current quota. Please retry in 45.5s."), RateLimited),
            (429, google("", "You exceeded your current quota"), QuotaUsedUp),
            (429, format!("[{}]", google(&violation("GenerateRequestsPerDay"), "")), QuotaUsedUp),
            (503, String::new(), Overloaded),
            (529, String::new(), Overloaded),
            (500, r#"{"type":"error","error":{"type":"overloaded_error","message":"a"}}"#.to_owned(), Overloaded),
            (500, message("quota"), Server),
            (502, "<html>".to_owned(), Server),
            (504, String::new(), Server),
            (408, String::new(), Server),
            (302, String::new(), Server),
        ] {
            assert_eq!(classify(status, &[], &body).kind, kind, "{status} {body}");
        }
    }

    /// B58: what the edge refuses says nothing of the account.
    #[test]
    fn the_edge_is_told_from_the_api() {
        let html = ("content-type", "text/html; charset=utf-8");
        let json = ("content-type", "application/json");
        for (lines, body, blocked) in [
            (&[html][..], "<html>Attention required", true),
            (&[html, ("cf-mitigated", "challenge")], "", true),
            (&[json], " <!doctype html>", true),
            (&[], "error code: 1020", true),
            (&[json], r#"{"error":{"message":"no"}}"#, false),
            (&[html], r#"{"error":{"message":"no"}}"#, false),
            (&[], "no", false),
        ] {
            let failure = classify(403, lines, body);
            assert_eq!((is_blocked(&failure), failure.kind == Server), (blocked, blocked), "{lines:?} {body}");
        }
        assert!(!is_blocked(&classify(401, &[html], "<html>")));
    }

    #[test]
    fn waits_are_those_of_the_vendor() {
        let resets = ("x-ratelimit-reset-requests", "10s");
        let seconds = |status, lines: &[_]| classify(status, lines, "").retry_after.map(|wait| wait.as_secs());
        assert_eq!(seconds(429, &[("retry-after", "60")]), Some(60));
        assert_eq!(seconds(429, &[("retry-after", "560000")]), Some(560_000));
        assert_eq!(seconds(429, &[resets]), Some(11));
        assert_eq!(seconds(503, &[("retry-after", "5"), resets]), Some(5));
        // These come with every answer and mean nothing here.
        assert_eq!(seconds(500, &[resets]), None);
        assert_eq!(seconds(400, &[("retry-after", "5")]), None);
    }

    /// The cause is kept and shown to operators, so it has no text of a client's in it.
    #[test]
    fn causes_are_plain() {
        let body = r#"{"error":{"type":"rate_limit_error","message":"my prompt"}}"#;
        assert_eq!(&*classify(429, &[], body).cause, "429 rate_limit_error");
        assert_eq!(&*classify(500, &[], r#"{"error":{"type":"what my prompt said"}}"#).cause, "500");
        let fault = StreamFault { status: 529, code: "overloaded_error".into(), message: "my prompt".into() };
        let (failure, words) = of_fault(&fault);
        assert_eq!((failure.kind, &*failure.cause), (Overloaded, "529 overloaded_error"));
        assert_eq!(words.message, "my prompt");
    }
}
