//! What follows from a failure: the one table of both levels of failover. docs/failover.md shows it.

use super::classify::Words;
use super::failure::{Failure, FailureKind};
use crate::store::options::{Failover, Trigger};

/// What follows from failures of one kind.
pub struct Row {
    /// The kind.
    pub kind: FailureKind,
    /// The same in words.
    pub what: &'static str,
    /// Whether the same credential is tried again, where retries are configured.
    pub again: bool,
    /// Whether another credential of the provider is tried.
    pub credential: Another,
    /// Whether another provider is tried.
    pub provider: bool,
    /// What is left alone afterwards, and for how long.
    pub rests: &'static str,
}

/// Whether another credential of the same provider is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Another {
    /// No: it would fare the same.
    Never,
    /// Yes, before another provider.
    First,
    /// Only where there is no other provider.
    Last,
}

/// Every kind of failure, and what follows from it.
pub const TABLE: [Row; 9] = [
    Row {
        kind: FailureKind::Request,
        what: "The request is at fault: any other 4xx",
        again: false,
        credential: Another::Never,
        provider: false,
        rests: "nobody",
    },
    Row {
        kind: FailureKind::Unauthorized,
        what: "401, a key that the vendor does not know",
        again: false,
        credential: Another::First,
        provider: true,
        rests: "the credential: `rest.dead_seconds`",
    },
    Row {
        kind: FailureKind::Refused,
        what: "402, 403",
        again: false,
        credential: Another::First,
        provider: true,
        rests: "the credential: `rest.refused_seconds`",
    },
    Row {
        kind: FailureKind::QuotaUsedUp,
        what: "403 or 429 whose words say that a quota is used up",
        again: false,
        credential: Another::First,
        provider: true,
        rests: "the credential: as told, else `rest.quota_seconds`",
    },
    Row {
        kind: FailureKind::RateLimited,
        what: "any other 429",
        again: false,
        credential: Another::First,
        provider: true,
        rests: "the credential: as told, else `rest.rate_limited_seconds`",
    },
    Row {
        kind: FailureKind::Overloaded,
        what: "503, 529, `overloaded_error`",
        again: true,
        credential: Another::Last,
        provider: true,
        rests: "the provider's model: `breaker`",
    },
    Row {
        kind: FailureKind::Server,
        what: "other 5xx, 408, a redirect, a web page, a 403 from the edge",
        again: true,
        credential: Another::Last,
        provider: true,
        rests: "the provider's model: `breaker`",
    },
    Row {
        kind: FailureKind::Timeout,
        what: "no answer, or no next piece of it, in time",
        again: true,
        credential: Another::Last,
        provider: true,
        rests: "the provider's model: `breaker`",
    },
    Row {
        kind: FailureKind::Network,
        what: "no connection, or it broke before the first content",
        again: true,
        credential: Another::Last,
        provider: true,
        rests: "the provider's model: `breaker`",
    },
];

/// What a provider's lists have where they are left out.
const STATUS_CODES: [u16; 5] = [429, 403, 503, 500, 529];
const ERROR_TYPES: [&str; 3] = ["rate_limit_error", "overloaded_error", "api_error"];
const MESSAGE_PATTERNS: [&str; 5] = ["quota", "limit exceeded", "usage cap", "capacity", "internal network failure"];

/// Statuses after which the next provider is tried whatever a provider's lists say.
const ALWAYS: [u16; 2] = [429, 503];

/// What may be tried after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    /// The same credential again.
    pub(super) again: bool,
    /// Another credential.
    pub(super) credential: Another,
    /// Another provider.
    pub(super) provider: bool,
}

/// What may be tried after `failure`, by the table and by the provider's lists.
pub(super) fn steps(failure: &Failure, words: &Words, lists: &Failover) -> Steps {
    let row = TABLE.iter().find(|row| row.kind == failure.kind);
    let (again, credential, moves_on) =
        row.map_or((false, Another::Never, false), |row| (row.again, row.credential, row.provider));
    // Only an error answer can be listed; whoever gave none at all is passed over.
    let is_answer = failure.status >= 300 && !matches!(failure.kind, FailureKind::Timeout | FailureKind::Network);
    if !is_answer || ALWAYS.contains(&failure.status) {
        return Steps { again, credential, provider: moves_on };
    }
    let is_default = *lists == Failover::default();
    // A conversation that is too long is too long for others; vendors have many words for that, some of which are in the lists.
    let is_listed = match is_listed(failure.status, words, lists) {
        Listed::ByStatus => true,
        Listed::ByWords => !words.tell_of_overflow(),
        Listed::No => false,
    };
    let provider = is_listed || (is_default && moves_on);
    let credential = match credential {
        Another::Last if !provider => Another::Never,
        credential => credential,
    };
    Steps { again, credential, provider }
}

enum Listed {
    ByStatus,
    ByWords,
    No,
}

fn is_listed(status: u16, words: &Words, lists: &Failover) -> Listed {
    let is_status = lists.status_codes.as_deref().unwrap_or(&STATUS_CODES).contains(&status);
    if is_status {
        return Listed::ByStatus;
    }
    let has_kind = |wanted: &str| words.kinds.iter().any(|kind| kind.eq_ignore_ascii_case(wanted));
    let is_type = match &lists.error_types {
        Some(types) => types.iter().any(|wanted| has_kind(wanted)),
        None => ERROR_TYPES.into_iter().any(has_kind),
    };
    let is_said = match &lists.error_message_patterns {
        Some(patterns) => patterns.iter().any(|pattern| words.message.contains(&pattern.to_lowercase())),
        None => MESSAGE_PATTERNS.iter().any(|pattern| words.message.contains(pattern)),
    };
    if is_type || is_said { Listed::ByWords } else { Listed::No }
}

/// Whether a member with these triggers is tried after `failure`, after which the table `moves_on` or does not. Who waits for a failure
/// is tried after it whatever the table says.
pub(super) fn is_tried(triggers: &[Trigger], failure: &Failure, moves_on: bool) -> bool {
    if triggers.is_empty() { moves_on } else { is_triggered(triggers, failure) }
}

fn is_triggered(triggers: &[Trigger], failure: &Failure) -> bool {
    let status = failure.status;
    let is_answer = status >= 300 && !matches!(failure.kind, FailureKind::Timeout | FailureKind::Network);
    triggers.iter().any(|trigger| match *trigger {
        // What says that all is well and is no answer is an error like any other.
        Trigger::Error => status != 429 && !matches!(failure.kind, FailureKind::Timeout | FailureKind::Network),
        Trigger::RateLimited => is_answer && status == 429,
        Trigger::Timeout => failure.kind == FailureKind::Timeout,
        Trigger::Network => failure.kind == FailureKind::Network,
        Trigger::Status(wanted) => is_answer && status == wanted,
        Trigger::Class(class) => is_answer && status / 100 == class,
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, StatusCode};

    use super::super::classify::{no_answer, of_answer, of_fetch};
    use super::*;
    use crate::platform::clock::Timestamp;
    use crate::platform::fetch::FetchErrorKind;

    const DOCUMENT: &str = include_str!("../../docs/failover.md");

    fn answer(status: u16, body: &str) -> (Failure, Words) {
        of_answer(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body, Timestamp(0))
    }

    fn said(kind: &str, message: &str) -> String {
        format!(r#"{{"error":{{"type":"{kind}","message":"{message}"}}}}"#)
    }

    #[test]
    fn the_document_shows_the_table() {
        let rows: Vec<String> = TABLE
            .iter()
            .map(|row| {
                let again = if row.again { "if `retry` says so" } else { "no" };
                let credential = match row.credential {
                    Another::Never => "no",
                    Another::First => "yes, first",
                    Another::Last => "only without another provider",
                };
                let provider = if row.provider { "yes" } else { "no" };
                format!("| {} | {again} | {credential} | {provider} | {} |", row.what, row.rests)
            })
            .collect();
        assert!(DOCUMENT.contains(&rows.join("\n")), "docs/failover.md has to show these rows:\n{}", rows.join("\n"));
        for status in STATUS_CODES {
            assert!(DOCUMENT.contains(&format!("`{status}`")), "{status}");
        }
        for words in ERROR_TYPES.iter().chain(&MESSAGE_PATTERNS) {
            assert!(DOCUMENT.contains(&format!("`{words}`")), "{words}");
        }
    }

    #[test]
    fn each_kind_has_one_row() {
        for (at, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..at].iter().all(|other| other.kind != row.kind));
        }
    }

    #[test]
    fn what_follows_by_default() {
        for (status, body, again, credential, provider) in [
            (400, said("invalid_request_error", "Unexpected role"), false, Another::Never, false),
            (404, said("not_found_error", "no such model"), false, Another::Never, false),
            (413, String::new(), false, Another::Never, false),
            (422, String::new(), false, Another::Never, false),
            (400, said("x", "the Capacity of this model"), false, Another::Never, true),
            (400, said("rate_limit_error", "a"), false, Another::Never, true),
            (400, said("x", "token limit exceeded: prompt is too long"), false, Another::Never, false),
            (401, String::new(), false, Another::First, true),
            (402, String::new(), false, Another::First, true),
            (403, String::new(), false, Another::First, true),
            (429, String::new(), false, Another::First, true),
            (408, String::new(), true, Another::Last, true),
            (500, String::new(), true, Another::Last, true),
            (502, String::new(), true, Another::Last, true),
            (503, String::new(), true, Another::Last, true),
            (529, String::new(), true, Another::Last, true),
            (302, String::new(), true, Another::Last, true),
        ] {
            let (failure, words) = answer(status, &body);
            let expected = Steps { again, credential, provider };
            assert_eq!(steps(&failure, &words, &Failover::default()), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_list_that_is_given_replaces_its_defaults() {
        let lists = Failover {
            status_codes: Some(vec![418, 500]),
            error_types: Some(vec!["Teapot".to_owned()]),
            error_message_patterns: Some(vec!["Credit Balance".to_owned()]),
        };
        for (status, body, provider) in [
            (418, String::new(), true),
            (500, String::new(), true),
            (502, String::new(), false),
            (529, String::new(), false),
            (403, String::new(), false),
            (401, String::new(), false),
            (400, said("teapot", "a"), true),
            (400, said("x", "your CREDIT balance is too low"), true),
            (400, said("api_error", "quota"), false),
            (429, String::new(), true),
            (503, String::new(), true),
        ] {
            let (failure, words) = answer(status, &body);
            assert_eq!(steps(&failure, &words, &lists).provider, provider, "{status} {body}");
        }
        let none =
            Failover { status_codes: Some(vec![]), error_types: Some(vec![]), error_message_patterns: Some(vec![]) };
        for kind in [FetchErrorKind::Timeout, FetchErrorKind::Connect, FetchErrorKind::Broken] {
            assert!(steps(&of_fetch(kind), &Words::default(), &none).provider, "{kind:?}");
        }
        assert!(steps(&no_answer(200), &Words::default(), &none).provider);
        // A provider that may not be left is not asked with another credential either.
        let (failure, words) = answer(500, "");
        assert_eq!(steps(&failure, &words, &none), Steps { again: true, credential: Another::Never, provider: false });
    }

    #[test]
    fn triggers_are_about_the_failure_before() {
        use Trigger::{Class, Error, Network, RateLimited, Status, Timeout};
        let failure = |status| answer(status, "").0;
        for (failure, matching) in [
            (failure(429), &[RateLimited, Status(429), Class(4)][..]),
            (failure(503), &[Error, Status(503), Class(5)]),
            (failure(400), &[Error, Status(400), Class(4)]),
            (of_fetch(FetchErrorKind::Timeout), &[Timeout]),
            (of_fetch(FetchErrorKind::Connect), &[Network]),
            (no_answer(200), &[Error]),
        ] {
            assert!(is_tried(&[], &failure, true) && !is_tried(&[], &failure, false));
            for trigger in
                [Error, RateLimited, Timeout, Network, Status(429), Status(503), Status(400), Class(4), Class(5)]
            {
                for moves_on in [true, false] {
                    assert_eq!(
                        is_tried(&[trigger], &failure, moves_on),
                        matching.contains(&trigger),
                        "{trigger} {failure:?}"
                    );
                }
            }
        }
    }
}
