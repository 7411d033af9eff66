//! Each row of the table in docs/failover.md: whether another credential, another provider, or nobody is asked.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ask, route_over};
use crate::check;
use crate::support::script::{Answer, Ending};
use crate::support::stage::{Stage, check_counts};
use crate::support::vendors::{Wire, data};

/// Who is asked after a failure of the first credential of the first provider, which has two.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Next {
    Nobody,
    Credential,
    Provider,
}

fn two_credentials() -> Value {
    json!({"credentials": [{"name": "a", "secret": "sk-first-account"}, {"name": "b", "secret": "sk-second-account"}]})
}

fn error(wire: Wire, status: u16, message: &str) -> Answer {
    Answer::json(status, wire.vendor_error(status, message))
}

fn page(status: u16) -> Answer {
    Answer::new(status).header("content-type", "text/html").header("cf-mitigated", "challenge").piece("<html>no</html>")
}

#[tokio::test]
async fn each_failure_has_its_next_step() {
    for wire in Wire::ALL {
        let slow = || Answer::none(Ending::Silent);
        for (what, bad, next) in [
            ("400", error(wire, 400, "Unexpected role"), Next::Nobody),
            ("404", error(wire, 404, "no such model"), Next::Nobody),
            ("413", error(wire, 413, "too large"), Next::Nobody),
            ("422", error(wire, 422, "not that"), Next::Nobody),
            ("401", error(wire, 401, "bad key"), Next::Credential),
            ("402", error(wire, 402, "pay"), Next::Credential),
            ("403", error(wire, 403, "not allowed"), Next::Credential),
            ("403, a cap", error(wire, 403, "your usage cap is reached"), Next::Credential),
            ("403 from the edge", page(403), Next::Provider),
            ("429", error(wire, 429, "slow down"), Next::Credential),
            ("429, told", error(wire, 429, "slow down").header("retry-after", "60"), Next::Credential),
            ("429, a quota", error(wire, 429, "the quota of this month"), Next::Credential),
            ("408", error(wire, 408, "too slow"), Next::Provider),
            ("500", error(wire, 500, "oops"), Next::Provider),
            ("502", error(wire, 502, "oops"), Next::Provider),
            ("503", error(wire, 503, "busy"), Next::Provider),
            ("529", error(wire, 529, "busy"), Next::Provider),
            ("no answer in time", slow(), Next::Provider),
            ("reset", Answer::none(Ending::Reset), Next::Provider),
            ("closed", Answer::none(Ending::Closed), Next::Provider),
        ] {
            // What has failed may rest, so each case has providers of its own.
            let mut members = two_credentials();
            members["timeouts"] = json!({"first_byte_ms": 400});
            let (first, second) = (Stage::with(wire, members).await, Stage::new(wire).await);
            let model = route_over(&[&first, &second], json!({})).await;
            first.upstream.answer(bad);
            first.upstream.always(Answer::json(200, wire.answer()));
            second.upstream.always(Answer::json(200, wire.answer()));
            let reply = ask(&first, &model, false).await;
            let asked = (first.upstream.requests().len(), second.upstream.requests().len());
            let expected = match next {
                Next::Nobody => (1, 0),
                Next::Credential => (2, 0),
                Next::Provider => (1, 1),
            };
            assert_eq!(asked, expected, "{wire:?}: {what}: {}", reply.text());
            assert_eq!(reply.status == 200, next != Next::Nobody, "{wire:?}: {what}");
            let calls = (asked.0 + asked.1).to_string();
            assert_eq!(reply.header("x-gateway-attempts"), Some(&*calls), "{wire:?}: {what}");
            assert!(reply.header("server-timing").is_some_and(|timing| timing.starts_with("gateway;dur=")), "{what}");
            let secrets: Vec<String> =
                first.upstream.requests().iter().map(|request| format!("{:?}", request.headers)).collect();
            assert!(secrets.len() < 2 || secrets[0] != secrets[1], "{wire:?}: {what}: the same credential twice");
        }
    }
}

/// Where there is no other provider, another credential may help after all.
#[tokio::test]
async fn the_last_resort_is_another_credential() {
    for bad in [error(Wire::Claude, 529, "busy"), Answer::none(Ending::Closed)] {
        let stage = Stage::with(Wire::Claude, two_credentials()).await;
        stage.upstream.answer(bad);
        stage.upstream.answer(Answer::json(200, Wire::Claude.answer()));
        stage.call(false).send().await.expect(200);
        assert_eq!(stage.upstream.requests().len(), 2);
    }
    // Nor do providers that cannot be asked count as others.
    let (first, second) =
        (Stage::with(Wire::Chat, two_credentials()).await, Stage::with(Wire::Chat, json!({"credentials": []})).await);
    let model = route_over(&[&first, &second], json!({})).await;
    first.upstream.answer(error(Wire::Chat, 500, "oops"));
    first.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    ask(&first, &model, false).await.expect(200);
}

/// B58: the edge's page reaches nobody, and is not told as the credential's fault.
#[tokio::test]
async fn b58_a_page_from_the_edge_is_not_passed_on() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        stage.upstream.always(page(403));
        let message = check::error(&stage.call(true).send().await, wire, 502, "upstream_blocked");
        assert!(!message.contains("html"), "{message}");
    }
}

/// A target is granted as many calls as it has credentials, but each after it is left one.
#[tokio::test]
async fn a_target_leaves_calls_to_those_after_it() {
    let keys = |number: usize| {
        let keys = (0..number).map(|key| json!({"name": format!("key-{key}"), "secret": format!("sk-key-{key}")}));
        json!({"credentials": keys.collect::<Vec<_>>()})
    };
    for (number, status, budget, expected) in [
        (2, 500, 3, [1, 1, 1]),
        (6, 500, 6, [1, 1, 1]),
        (6, 429, 6, [4, 1, 1]),
        (6, 429, 2, [1, 1, 0]),
        (6, 429, 1, [1, 0, 0]),
    ] {
        let first = Stage::with(Wire::Chat, keys(number)).await;
        let stages = [first, Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await];
        let [first, second, third] = &stages;
        let model = route_over(&[first, second, third], json!({"max_attempts": budget})).await;
        for stage in &stages {
            stage.upstream.always(error(Wire::Chat, status, "oops"));
        }
        ask(first, &model, false).await.expect(status);
        let asked = [first, second, third].map(|stage| stage.upstream.requests().len());
        assert_eq!(asked, expected, "{number} {status} {budget}");
        let calls = expected.iter().sum::<usize>() as i64;
        check_counts(&first.usage(1).await, &[("requests", 1), ("calls", calls), ("failed_calls", calls)]);
    }
    // Who cannot be asked is left none.
    let bare = Stage::with(Wire::Chat, json!({"credentials": []})).await;
    let first = Stage::with(Wire::Chat, keys(2)).await;
    let model = route_over(&[&first, &bare], json!({"max_attempts": 2})).await;
    first.upstream.answer(error(Wire::Chat, 429, "slow down"));
    first.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    ask(&first, &model, false).await.expect(200);
}

/// Lists of a provider take the place of the defaults.
#[tokio::test]
async fn a_providers_lists_decide_where_they_are_given() {
    let lists =
        json!({"failover": {"status_codes": [418], "error_types": [], "error_message_patterns": ["Credit Balance"]}});
    for (bad, moves_on) in [
        (error(Wire::Chat, 418, "a teapot"), true),
        (error(Wire::Chat, 400, "your credit BALANCE is too low"), true),
        (error(Wire::Chat, 400, "quota"), false),
        (error(Wire::Chat, 500, "oops"), false),
        (error(Wire::Chat, 429, "slow down"), true),
        (error(Wire::Chat, 503, "busy"), true),
        (Answer::none(Ending::Closed), true),
    ] {
        let (first, second) = (Stage::with(Wire::Chat, lists.clone()).await, Stage::new(Wire::Chat).await);
        let model = route_over(&[&first, &second], json!({})).await;
        let status = bad.status;
        first.upstream.answer(bad);
        second.upstream.always(Answer::json(200, Wire::Chat.answer()));
        let reply = ask(&first, &model, false).await;
        assert_eq!(reply.status, if moves_on { 200 } else { status }, "{status}: {}", reply.text());
    }
}

/// The same credential is asked again where retries are configured, with pauses between that grow.
#[tokio::test]
async fn retries_ask_the_same_credential_again() {
    let retry = json!({"retry": {"max_retries": 2, "initial_delay_ms": 100, "jitter": false}});
    let (first, second) = (Stage::with(Wire::Claude, retry.clone()).await, Stage::new(Wire::Claude).await);
    let model = route_over(&[&first, &second], json!({})).await;
    first.upstream.answer(error(Wire::Claude, 500, "oops"));
    first.upstream.answer(error(Wire::Claude, 529, "busy").header("retry-after", "1"));
    first.upstream.answer(Answer::json(200, Wire::Claude.answer()));
    let started = std::time::Instant::now();
    ask(&first, &model, false).await.expect(200);
    // The second pause is the vendor's wish.
    assert!(started.elapsed() >= Duration::from_millis(1100), "{:?}", started.elapsed());
    assert_eq!((first.upstream.requests().len(), second.upstream.requests().len()), (3, 0));

    // A wish that is longer than any pause is not waited for, and what concerns the account is not tried again.
    for bad in [error(Wire::Claude, 503, "busy").header("retry-after", "60"), error(Wire::Claude, 429, "slow down")] {
        let (first, second) = (Stage::with(Wire::Claude, retry.clone()).await, Stage::new(Wire::Claude).await);
        let model = route_over(&[&first, &second], json!({})).await;
        first.upstream.always(bad);
        second.upstream.always(Answer::json(200, Wire::Claude.answer()));
        ask(&first, &model, false).await.expect(200);
        assert_eq!((first.upstream.requests().len(), second.upstream.requests().len()), (1, 1));
    }
}

/// An error in a stream that has begun with a 200 is no other than the status it stands for.
#[tokio::test]
async fn an_error_in_a_stream_has_its_row_too() {
    for (event, next) in [
        (
            r#"{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"slow down"}}"#,
            Next::Credential,
        ),
        (r#"{"error":{"type":"overloaded_error","message":"busy"}}"#, Next::Provider),
        (r#"{"error":{"type":"invalid_request_error","message":"not so"}}"#, Next::Nobody),
    ] {
        let (first, second) = (Stage::with(Wire::Chat, two_credentials()).await, Stage::new(Wire::Chat).await);
        let model = route_over(&[&first, &second], json!({})).await;
        first.upstream.answer(Answer::sse([data(event)]));
        first.upstream.always(Answer::sse(Wire::Chat.events()));
        second.upstream.always(Answer::sse(Wire::Chat.events()));
        let reply = ask(&first, &model, true).await;
        let asked = (first.upstream.requests().len(), second.upstream.requests().len());
        let expected = match next {
            Next::Nobody => (400, (1, 0)),
            Next::Credential => (200, (2, 0)),
            Next::Provider => (200, (1, 1)),
        };
        assert_eq!((reply.status, asked), expected, "{event}: {}", reply.text());
    }
}

/// A status of 200 does not make an answer of what is an error, or nothing, or no JSON.
#[tokio::test]
async fn an_error_under_a_200_is_no_answer() {
    for wire in Wire::ALL {
        let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
        let model = route_over(&[&first, &second], json!({})).await;
        second.upstream.always(Answer::json(200, wire.answer()));
        for bad in [wire.vendor_error(529, "busy"), String::new(), "hello".to_owned()] {
            first.make_well().await;
            first.upstream.answer(Answer::json(200, bad.clone()));
            let reply = ask(&first, &model, false).await;
            assert_eq!((reply.status, reply.text()), (200, wire.answer().as_str()), "{wire:?} after {bad:?}");
            assert_eq!(reply.header("x-gateway-attempts"), Some("2"), "{wire:?} after {bad:?}");
        }
    }
}

/// A provider whose only account is disabled is not asked without one.
#[tokio::test]
async fn a_disabled_account_is_not_done_without() {
    for members in [json!({}), json!({"headers": {"x-key": "{secret}"}})] {
        let mut members = members;
        members["channel"] = json!("custom");
        members["dialects"] = json!([Wire::Chat.dialect()]);
        members["credentials"] = json!([{"name": "account", "secret": "sk-of-nobody-0001", "enabled": false}]);
        let stage = Stage::with(Wire::Chat, members).await;
        stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
        let reply = stage.call(false).send().await;
        assert_eq!(reply.status, 503, "{}", reply.text());
        assert!(stage.upstream.requests().is_empty());
    }
}
