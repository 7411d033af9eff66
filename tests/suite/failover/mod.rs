//! Who is tried, in which order, and how often.

mod members;
mod opening;
mod table;
mod time;

use serde_json::{Value, json};

use crate::check;
use crate::support::client::Reply;
use crate::support::host::Host;
use crate::support::script::{Answer, Ending};
use crate::support::setup::Setup;
use crate::support::stage::{Stage, check_counts, unique};
use crate::support::vendors::{Wire, sse};

/// A route over several stages, one tier each.
pub async fn route_over(stages: &[&Stage<'_>], members: Value) -> String {
    let name = format!("route-{}", unique());
    let list: Vec<Value> = stages
        .iter()
        .enumerate()
        .map(|(tier, stage)| json!({"provider": stage.provider, "model": format!("model-{tier}"), "tier": tier}))
        .collect();
    let mut route = json!({"name": name, "members": list});
    for (member, value) in members.as_object().unwrap() {
        route[member] = value.clone();
    }
    stages[0].host.import(&json!({"routes": [route]})).await;
    name
}

/// Asks for `model` with the key of `stage`.
pub async fn ask(stage: &Stage<'_>, model: &str, stream: bool) -> Reply {
    stage.post(&stage.wire.target(model, stream), stage.wire.request(model, stream)).send().await
}

#[tokio::test]
async fn another_provider_is_tried_after_what_is_not_the_requests_fault() {
    for wire in Wire::ALL {
        let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
        let model = route_over(&[&first, &second], json!({})).await;
        let mut requests = 0;
        for stream in [false, true] {
            let (good, expected) = if stream {
                (Answer::sse(wire.events()), sse(wire.events_for_client()))
            } else {
                (Answer::json(200, wire.answer()), wire.answer())
            };
            for bad in [
                Answer::json(429, wire.vendor_error(429, "slow down")),
                Answer::json(500, wire.vendor_error(500, "oops")),
                Answer::json(529, wire.vendor_error(529, "overloaded")),
                Answer::json(401, wire.vendor_error(401, "bad key")),
                Answer::json(403, wire.vendor_error(403, "not allowed")),
                Answer::json(502, "<html>bad gateway</html>"),
                Answer::new(302).header("location", "http://127.0.0.1:1/"),
                Answer::none(Ending::Closed),
                Answer::none(Ending::Reset),
                Answer::raw("SSH-2.0-nonsense\r\n\r\n"),
            ] {
                let status = bad.status;
                first.upstream.answer(bad);
                second.upstream.answer(good.clone());
                let reply = ask(&first, &model, stream).await;
                assert_eq!((reply.status, reply.text()), (200, expected.as_str()), "{wire:?} after {status}");
                assert_eq!(reply.header("x-provider"), Some(second.provider.as_str()));
                requests += 1;
                assert_eq!((first.upstream.requests().len(), second.upstream.requests().len()), (requests, requests));
                first.make_well().await;
            }
        }
        let requests = requests as i64;
        check_counts(
            &first.usage(requests).await,
            &[
                ("requests", requests),
                ("calls", 2 * requests),
                ("failed_calls", requests),
                ("input", 11 * requests),
                ("output", 5 * requests),
            ],
        );
    }
}

#[tokio::test]
async fn a_vendor_that_cannot_be_reached_is_passed_over() {
    let (first, second) = (Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await);
    let model = route_over(&[&first, &second], json!({})).await;
    // A port on which nobody listens any more.
    let closed = crate::support::upstream::Upstream::start().await.url("/v1");
    let mut provider = first.provider_document();
    provider["base_url"] = closed.into();
    first.host.import(&json!({"providers": [provider]})).await;
    second.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    ask(&first, &model, false).await.expect(200);
    let counts = [("requests", 1), ("calls", 2), ("failed_calls", 1), ("input", 11), ("output", 5)];
    check_counts(&first.usage(1).await, &counts);
}

#[tokio::test]
async fn an_error_of_the_request_is_the_answer() {
    for wire in Wire::ALL {
        let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
        let model = route_over(&[&first, &second], json!({})).await;
        for status in [400, 404, 409, 413, 422] {
            let body = wire.vendor_error(status, "messages: Unexpected role");
            first.upstream.answer(Answer::json(status, body.clone()));
            let reply = ask(&first, &model, false).await;
            assert_eq!((reply.status, reply.text()), (status, body.as_str()), "{wire:?}");
            assert!(second.upstream.requests().is_empty(), "{wire:?} after {status}");
        }
    }
}

/// When nobody answers well, the last answer stands.
#[tokio::test]
async fn the_last_error_stands() {
    let (first, second) = (Stage::new(Wire::Claude).await, Stage::new(Wire::Claude).await);
    let model = route_over(&[&first, &second], json!({})).await;
    let last = Wire::Claude.vendor_error(529, "Overloaded");
    first.upstream.answer(Answer::json(429, Wire::Claude.vendor_error(429, "slow down")).header("retry-after", "9"));
    second.upstream.answer(Answer::json(529, last.clone()).header("retry-after", "4"));
    let reply = ask(&first, &model, true).await;
    assert_eq!((reply.status, reply.text()), (529, last.as_str()));
    assert_eq!(reply.header("retry-after"), Some("4"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    check_counts(&first.usage(1).await, &[("requests", 1), ("calls", 2), ("failed_calls", 2)]);
}

#[tokio::test]
async fn calls_never_exceed_the_routes_budget() {
    for budget in [1, 2, 3] {
        let stages = [Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await];
        let [first, second, third] = &stages;
        let model = route_over(&[first, second, third], json!({"max_attempts": budget})).await;
        for stage in &stages {
            stage.upstream.always(Answer::json(500, Wire::Chat.vendor_error(500, "oops")));
        }
        ask(first, &model, false).await.expect(500);
        let calls: usize = stages.iter().map(|stage| stage.upstream.requests().len()).sum();
        assert_eq!(calls, budget);
        let budget = budget as i64;
        check_counts(&first.usage(1).await, &[("requests", 1), ("calls", budget), ("failed_calls", budget)]);
    }
}

/// Each credential is tried once, whatever the budget would allow.
#[tokio::test]
async fn each_credential_is_tried_once() {
    let credentials: Vec<Value> =
        (0..3).map(|number| json!({"name": format!("c{number}"), "secret": format!("sk-number-{number}")})).collect();
    let stage = Stage::with(Wire::Chat, json!({"credentials": credentials})).await;
    stage.upstream.always(Answer::json(429, Wire::Chat.vendor_error(429, "slow down")));
    stage.call(false).send().await.expect(429);
    let mut used: Vec<String> =
        stage.upstream.requests().iter().map(|request| request.header("authorization").unwrap().to_owned()).collect();
    used.sort_unstable();
    assert_eq!(used, ["Bearer sk-number-0", "Bearer sk-number-1", "Bearer sk-number-2"]);
}

#[tokio::test]
async fn a_disabled_credential_is_not_used() {
    let stage = Stage::with(
        Wire::Chat,
        json!({"credentials": [
            {"name": "off", "secret": "sk-off", "enabled": false},
            {"name": "on", "secret": "sk-on"},
        ]}),
    )
    .await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for _ in 0..4 {
        stage.call(false).send().await.expect(200);
    }
    for request in stage.upstream.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer sk-on"));
    }
}

#[tokio::test]
async fn disabled_members_and_providers_are_passed_over() {
    let (first, second) = (Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await);
    second.upstream.always(Answer::json(200, Wire::Chat.answer()));
    let route = format!("route-{}", unique());
    let member =
        |stage: &Stage<'_>, enabled: bool| json!({"provider": stage.provider, "model": "m", "enabled": enabled});
    let members = [member(&first, false), member(&second, true)];
    first.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    ask(&first, &route, false).await.expect(200);
    let mut provider = first.provider_document();
    provider["enabled"] = false.into();
    let members = [member(&first, true), member(&second, true)];
    first.host.import(&json!({"providers": [provider], "routes": [{"name": route, "members": members}]})).await;
    ask(&first, &route, false).await.expect(200);
    assert!(first.upstream.requests().is_empty());
    check::error(&ask(&first, &first.model(), false).await, Wire::Chat, 404, "model_not_found");
}

#[tokio::test]
async fn a_route_without_a_usable_member_says_so() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        let route = format!("route-{}", unique());
        stage.host.import(&json!({"routes": [{"name": route, "members": []}]})).await;
        let message = check::error(&ask(&stage, &route, true).await, wire, 503, "no_target");
        assert!(message.contains(&route), "{message}");
        check_counts(&stage.usage(1).await, &[("requests", 1)]);
    }
}

#[tokio::test]
async fn a_provider_without_a_usable_credential_says_so() {
    for wire in Wire::ALL {
        let stage = Stage::with(wire, json!({"credentials": []})).await;
        check::error(&stage.call(false).send().await, wire, 503, "no_credential");
        check_counts(&stage.usage(1).await, &[("requests", 1)]);
    }
}

/// The channel `custom` may have an upstream that wants no key.
#[tokio::test]
async fn a_custom_provider_may_need_no_credential() {
    for wire in Wire::ALL {
        let members = json!({"channel": "custom", "dialects": [wire.dialect()], "credentials": []});
        let stage = Stage::with(wire, members).await;
        stage.answered(Answer::json(200, wire.answer())).await.expect(200);
        let recorded = stage.recorded();
        assert_eq!(recorded.target, wire.target("vendor-model", false));
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(recorded.header(name), None, "{wire:?}");
        }
    }
}

/// What an upstream has answered is not hidden by members that nobody could ask.
#[tokio::test]
async fn a_member_that_cannot_be_asked_hides_no_answer() {
    for wire in Wire::ALL {
        let (first, second) = (Stage::new(wire).await, Stage::with(wire, json!({"credentials": []})).await);
        let model = route_over(&[&first, &second], json!({})).await;
        let limited = Answer::json(429, wire.vendor_error(429, "slow down")).header("retry-after", "7");
        first.upstream.answer(limited);
        let reply = ask(&first, &model, false).await;
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("7")), "{wire:?}: {}", reply.text());
    }
}

/// Members that cannot be asked, not even by conversion, are passed over.
#[tokio::test]
async fn a_member_that_has_no_such_operation_is_passed_over() {
    let (claude, chat) = (Stage::new(Wire::Claude).await, Stage::new(Wire::Chat).await);
    let model = route_over(&[&claude, &chat], json!({})).await;
    let answer = r#"{"object":"list","data":[],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}"#;
    chat.upstream.answer(Answer::json(200, answer));
    let reply = chat.post("/v1/embeddings", format!(r#"{{"model":"{model}","input":"a"}}"#)).send().await;
    assert_eq!((reply.status, reply.text()), (200, answer));
    assert!(claude.upstream.requests().is_empty());
}

/// Over many requests each member of a tier is first as often as its weight says; a later tier never is.
#[tokio::test]
async fn a_tier_is_shared_by_weight() {
    let host = Host::start(Setup::default().one_isolate());
    let stages =
        [Stage::on(&host, Wire::Chat).await, Stage::on(&host, Wire::Chat).await, Stage::on(&host, Wire::Chat).await];
    for stage in &stages {
        stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    }
    let [light, heavy, later] = &stages;
    let members = [
        json!({"provider": light.provider, "model": "m", "weight": 1}),
        json!({"provider": heavy.provider, "model": "m", "weight": 3}),
        json!({"provider": later.provider, "model": "m", "weight": 1000, "tier": 1}),
    ];
    host.import(&json!({"routes": [{"name": "shared", "members": members}]})).await;
    for _ in 0..40 {
        ask(light, "shared", false).await.expect(200);
    }
    let counts = stages.map(|stage| stage.upstream.requests().len());
    assert!((8..=12).contains(&counts[0]) && (28..=32).contains(&counts[1]) && counts[2] == 0, "{counts:?}");
}

#[tokio::test]
async fn credentials_are_shared_by_weight() {
    let host = Host::start(Setup::default().one_isolate());
    let members = json!({"credentials": [
        {"name": "a", "secret": "sk-a", "weight": 1},
        {"name": "b", "secret": "sk-b", "weight": 3},
        {"name": "c", "secret": "sk-c", "weight": 0},
    ]});
    let stage = Stage::on_with(&host, Wire::Chat, members).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for _ in 0..40 {
        stage.call(false).send().await.expect(200);
    }
    let used = |secret: &str| {
        let bearer = format!("Bearer {secret}");
        stage.upstream.requests().iter().filter(|request| request.header("authorization") == Some(&bearer)).count()
    };
    let counts = [used("sk-a"), used("sk-b"), used("sk-c")];
    assert!((8..=12).contains(&counts[0]) && (28..=32).contains(&counts[1]) && counts[2] == 0, "{counts:?}");
}

/// What says that all is well but is no answer of the API, such as a proxy's login page, is none.
#[tokio::test]
async fn a_web_page_is_no_answer() {
    for wire in Wire::ALL {
        for stream in [false, true] {
            let (first, second) = (Stage::new(wire).await, Stage::new(wire).await);
            let page =
                || Answer::new(200).header("content-type", "text/html; charset=utf-8").piece("<html>log in</html>");
            first.upstream.answer(page());
            check::error(&first.call(stream).send().await, wire, 502, "upstream_error");
            first.upstream.answer(Answer::new(204));
            check::error(&first.call(stream).send().await, wire, 502, "upstream_error");
            let model = route_over(&[&first, &second], json!({})).await;
            first.upstream.answer(page());
            second.upstream.answer(if stream { Answer::sse(wire.events()) } else { Answer::json(200, wire.answer()) });
            ask(&first, &model, stream).await.expect(200);
        }
    }
}
