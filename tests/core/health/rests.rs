//! Credentials that are left alone for a while.

use serde_json::json;
use tollgate::engine::failure::FailureKind;
use tollgate::engine::health::Standing;

use super::{Failed, Left, Well, provider, word, world};
use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{KEY, Whole};

/// The whole way: a vendor's 429, and another isolate that heard of it only through the database.
#[tokio::test]
async fn a_rate_limit_is_known_to_the_others_with_their_next_tick() {
    let world = world(json!({"credentials": [{"name": "one", "secret": "sk-one"}]})).await;
    let (first, second) = (world.isolate(), world.isolate());
    assert_eq!(second.credential_standing("m", "one").await, Standing::Ready);
    let limited = r#"{"error":{"code":429,"message":"slow down","details":[{"retryDelay":"60s"}]}}"#;
    world.fetch.answer(FakeAnswer::json(429, limited));
    let reply = Whole::of(first.open_with(Wire::Chat, "vendor/m", false, KEY).await).await;
    assert_eq!(reply.status, 429, "{}", reply.text);
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(word(&world, &isolate.credential_standing("m", "one").await), ("resting", Some(60)));
        // It is about the model.
        assert_eq!(isolate.credential_standing("other", "one").await, Standing::Ready);
    }
    world.advance(60_000);
    assert_eq!(second.credential_standing("m", "one").await, Standing::Ready);
}

#[tokio::test]
async fn each_failure_has_its_rest() {
    for (kind, hint, model, expected) in [
        (FailureKind::RateLimited, 0, "m", ("resting", Some(30))),
        (FailureKind::RateLimited, 0, "other", ("ready", None)),
        (FailureKind::Refused, 0, "other", ("resting", Some(300))),
        (FailureKind::QuotaUsedUp, 0, "other", ("resting", Some(300))),
        (FailureKind::QuotaUsedUp, 900, "other", ("resting", Some(900))),
        (FailureKind::Unauthorized, 0, "other", ("out", Some(1800))),
        (FailureKind::Request, 60, "m", ("ready", None)),
        (FailureKind::Server, 60, "m", ("ready", None)),
    ] {
        let world = world(json!({})).await;
        let (first, second) = (world.isolate(), world.isolate());
        first.call("m", "one", Failed(kind, hint)).await;
        for isolate in [&first, &second] {
            let standing = isolate.credential_standing(model, "one").await;
            assert_eq!(word(&world, &standing), expected, "{kind:?} {hint} {model}");
            assert_eq!(isolate.credential_standing(model, "two").await, Standing::Ready, "{kind:?}");
        }
    }
}

/// B43: nothing is remembered of a request that nobody would take, and nothing is written.
#[tokio::test]
async fn a_bad_request_teaches_nothing() {
    let world = world(json!({})).await;
    let isolate = world.isolate();
    isolate.look().await;
    for end in [Failed(FailureKind::Request, 60), Left, Well(5)] {
        world.journal.take();
        isolate.begin("m", "one").end(end);
        assert_eq!(world.journal.take(), ["deferred 1"]);
    }
    assert!(world.store.run("SELECT * FROM health").is_empty());
}

/// B44: a vendor's word is taken for so long; then one may try, and what the vendor said stays on view.
#[tokio::test]
async fn a_very_long_hint_is_tried_after_a_while() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::RateLimited, 560_000)).await;
    assert_eq!(word(&world, &second.credential_standing("m", "one").await), ("resting", Some(1800)));
    world.advance(1_800_000);
    assert_eq!(word(&world, &second.credential_standing("m", "one").await), ("probing", Some(558_200)));
    // One at a time, whoever it is.
    assert!(first.admits("m", "one").await);
    assert!(!second.admits("m", "one").await);
    assert!(second.admits("m", "two").await);
    first.begin("m", "one").end(Failed(FailureKind::RateLimited, 558_200));
    assert_eq!(word(&world, &second.credential_standing("m", "one").await), ("resting", Some(1800)));
    world.advance(1_800_000);
    assert!(second.admits("m", "one").await);
    second.begin("m", "one").end(Well(5));
    for isolate in [&first, &second] {
        assert_eq!(isolate.credential_standing("m", "one").await, Standing::Ready);
    }
}

#[tokio::test]
async fn rests_in_a_row_grow_and_a_success_ends_that() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    for expected in [30, 60, 120] {
        // By turns: each goes on where the other was.
        let isolate = if expected == 60 { &second } else { &first };
        isolate.call("m", "one", Failed(FailureKind::RateLimited, 0)).await;
        assert_eq!(word(&world, &first.credential_standing("m", "one").await), ("resting", Some(expected)));
        world.advance(expected as u64 * 1000);
    }
    second.call("m", "one", Well(5)).await;
    first.call("m", "one", Failed(FailureKind::RateLimited, 0)).await;
    assert_eq!(word(&world, &first.credential_standing("m", "one").await), ("resting", Some(30)));
}

/// Calls that fail while it is known that they do write nothing more.
#[tokio::test]
async fn a_burst_is_one_failure() {
    for kind in [FailureKind::RateLimited, FailureKind::Refused, FailureKind::Unauthorized, FailureKind::QuotaUsedUp] {
        let world = world(json!({"quotas": [{"budget": 5, "unit": "tokens"}]})).await;
        let isolate = world.isolate();
        isolate.look().await;
        let calls: Vec<_> = (0..5).map(|_| isolate.begin("m", "one")).collect();
        for (number, call) in calls.into_iter().enumerate() {
            world.journal.take();
            call.end(Failed(kind, 0));
            assert_eq!(world.journal.take() == ["deferred 1"], number > 0, "{kind:?} {number}");
            world.advance(100);
        }
        let rows = world.store.run("SELECT failures FROM health WHERE kind <> 'quota'");
        assert_eq!(rows, [vec![1.into()]], "{kind:?}");
    }
}

/// Two isolates learn at the same time; the longer rest counts, whoever writes last.
#[tokio::test]
async fn a_shorter_rest_does_not_replace_a_longer_one() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.look().await;
    second.look().await;
    first.begin("m", "one").end(Failed(FailureKind::RateLimited, 600));
    second.begin("m", "one").end(Failed(FailureKind::RateLimited, 5));
    for isolate in [&first, &world.isolate()] {
        assert_eq!(word(&world, &isolate.credential_standing("m", "one").await), ("resting", Some(600)));
    }
    first.call("m", "one", Failed(FailureKind::RateLimited, 7)).await;
    assert_eq!(word(&world, &first.credential_standing("m", "one").await), ("resting", Some(600)));
}

/// A call that began before the limit was run into says nothing of it.
#[tokio::test]
async fn an_older_call_that_goes_well_ends_no_rest() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.look().await;
    let long = first.begin("m", "one");
    world.advance(1000);
    second.call("m", "one", Failed(FailureKind::RateLimited, 60)).await;
    first.look().await;
    long.end(Well(5));
    assert_eq!(word(&world, &second.credential_standing("m", "one").await), ("resting", Some(60)));
}

/// A dead credential is tried once in a while by one, and lives again with a new secret at once.
#[tokio::test]
async fn a_dead_credential() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::Unauthorized, 0)).await;
    assert_eq!(word(&world, &second.credential_standing("m", "one").await), ("out", Some(1800)));
    assert!(!second.admits("m", "one").await);
    world.advance(1_800_000);
    assert_eq!(second.credential_standing("m", "one").await.name(), "probing");
    assert!(second.admits("m", "one").await);
    assert!(!first.admits("m", "one").await);
    // The client left before anything was known: the next may try.
    second.begin("m", "one").end(Left);
    assert!(!first.admits("m", "one").await, "it knows that the lease lasts for a while");
    assert!(world.isolate().admits("m", "one").await);
    world.advance(60_000);
    assert!(first.admits("m", "one").await);
    first.begin("m", "one").end(Failed(FailureKind::Unauthorized, 0));
    assert_eq!(second.credential_standing("m", "one").await.name(), "out");
    let secret = json!([{"name": "one", "secret": "sk-new"}, {"name": "two"}]);
    second.import(&json!({"providers": [provider(json!({"credentials": secret}))]})).await;
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(isolate.credential_standing("m", "one").await, Standing::Ready);
    }
}

/// A call with the former secret that fails late does not make the new one dead.
#[tokio::test]
async fn a_former_secret_that_is_refused_late() {
    let world = world(json!({"rest": {"dead_seconds": 0}})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.look().await;
    let late = first.begin("m", "one");
    let secret = json!([{"name": "one", "secret": "sk-new"}, {"name": "two"}]);
    let document = provider(json!({"credentials": secret, "rest": {"dead_seconds": 0}}));
    second.import(&json!({"providers": [document]})).await;
    late.end(Failed(FailureKind::Unauthorized, 0));
    assert_eq!(second.credential_standing("m", "one").await, Standing::Ready);
    // The new one may be refused as well, for good then.
    second.call("m", "one", Failed(FailureKind::Unauthorized, 0)).await;
    world.advance(1_000_000_000);
    assert_eq!(word(&world, &first.credential_standing("m", "one").await), ("out", None));
}

#[tokio::test]
async fn a_credential_has_so_many_calls_at_a_time() {
    let world = world(json!({"credentials": [{"name": "one", "secret": "sk-one", "max_concurrency": 2}]})).await;
    let isolate = world.isolate();
    isolate.look().await;
    let calls = [isolate.begin("m", "one"), isolate.begin("other", "one")];
    assert_eq!(word(&world, &isolate.credential_standing("m", "one").await), ("resting", None));
    let [one, _other] = calls;
    one.end(Left);
    assert_eq!(isolate.credential_standing("m", "one").await, Standing::Ready);
}

/// Clients name models: beyond so many a credential and a provider are each blamed as a whole, and nothing about a credential is refused.
#[tokio::test]
async fn no_more_models_are_told_apart_than_is_useful() {
    let world = world(json!({"breaker": {"failure_threshold": 1}})).await;
    let isolate = world.isolate();
    isolate.look().await;
    for number in 0..70 {
        isolate.begin(&format!("m{number}"), "one").end(Failed(FailureKind::RateLimited, 600));
        isolate.begin(&format!("m{number}"), "two").end(Failed(FailureKind::Server, 0));
    }
    for kind in ["limited", "breaker"] {
        let rows = world.store.run(&format!("SELECT COUNT(*), COUNT(model) FROM health WHERE kind = '{kind}'"));
        assert_eq!(rows, [vec![65.into(), 64.into()]], "{kind}");
    }
    for isolate in [&isolate, &world.isolate()] {
        assert_eq!(isolate.credential_standing("m99", "one").await.name(), "resting");
        assert_eq!(isolate.credential_standing("m99", "two").await.name(), "ready");
        assert_eq!(isolate.provider_standing("m99").await.name(), "resting");
    }
    isolate.begin("m99", "two").end(Failed(FailureKind::Unauthorized, 0));
    assert_eq!(world.isolate().credential_standing("m99", "two").await.name(), "out");
}
