//! What is spent of quotas, over all isolates.

use serde_json::{Value, json};
use tollgate::engine::failure::FailureKind;
use tollgate::engine::health::Standing;

use super::{Failed, Left, Well, provider, word, world};
use crate::support::fetch::FakeAnswer;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole};

/// 1000 tokens in 64 minutes, so that a slice is a minute.
fn quota(members: Value) -> Value {
    let mut quota = json!({"budget": 1000, "window_hours": 64.0 / 60.0, "threshold_percent": 90.0});
    for (name, value) in members.as_object().unwrap() {
        quota[name] = value.clone();
    }
    json!([quota])
}

async fn shown(isolate: &Isolate) -> (Value, Value) {
    let quota = isolate.shown().await["quotas"][0].clone();
    (quota["state"].clone(), quota["window_usage_tokens"].clone())
}

#[tokio::test]
async fn what_one_spends_all_know() {
    let world = world(json!({"quotas": quota(json!({}))})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Well(500)).await;
    second.call("other", "two", Well(399)).await;
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(shown(isolate).await, (json!("within_quota"), json!(899)));
        assert_eq!(isolate.provider_standing("m").await, Standing::Ready);
    }
    // One that has not looked since still counts on what is there.
    first.begin("m", "one").end(Well(1));
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(shown(isolate).await, (json!("quota_exceeded"), json!(900)));
        assert_eq!(isolate.provider_standing("m").await.name(), "probing");
    }
    // One request each interval, over all isolates.
    assert!(first.admits("m", "one").await);
    for isolate in [&first, &second, &world.isolate()] {
        assert!(!isolate.admits("m", "one").await);
        assert_eq!(word(&world, &isolate.provider_standing("m").await), ("out", Some(300)));
    }
    first.begin("m", "one").end(Well(1));
    assert!(!second.admits("m", "one").await);
    world.advance(300_000);
    assert!(second.admits("m", "one").await);
    // As the window slides on, there is room again.
    world.advance(59 * 60_000);
    assert_eq!(first.provider_standing("m").await.name(), "probing");
    world.advance(60_000);
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(isolate.provider_standing("m").await, Standing::Ready);
        assert_eq!(shown(isolate).await.1, 0);
    }
}

/// The whole way: an isolate that starts knows what was spent before.
#[tokio::test]
async fn a_restart_does_not_misjudge() {
    let world = world(json!({"quotas": quota(json!({"budget": 40}))})).await;
    for expected in [16, 32, 48] {
        let isolate = world.isolate();
        world.fetch.answer(FakeAnswer::json(200, Wire::Chat.answer()));
        let reply = Whole::of(isolate.open_with(Wire::Chat, "vendor/m", false, KEY).await).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(shown(&world.isolate()).await.1, expected);
    }
    assert_eq!(world.isolate().provider_standing("m").await.name(), "probing");
}

#[tokio::test]
async fn a_credential_has_quotas_of_its_own() {
    let quotas = quota(json!({"unit": "requests", "budget": 3, "threshold_percent": 100, "probe_interval_seconds": 0}));
    let one = json!({"name": "one", "secret": "sk-one", "quotas": quotas});
    let world = world(json!({"credentials": [one, {"name": "two", "secret": "sk-two"}]})).await;
    let (first, second) = (world.isolate(), world.isolate());
    // Every call counts, however it ends.
    for end in [Well(1000), Left, Failed(FailureKind::Server, 0)] {
        assert_eq!(second.credential_standing("m", "one").await, Standing::Ready);
        first.call("m", "one", end).await;
    }
    assert_eq!(word(&world, &second.credential_standing("m", "one").await), ("out", Some(65 * 60)));
    assert!(!second.admits("m", "one").await);
    assert_eq!(second.credential_standing("m", "two").await, Standing::Ready);
}

/// What counts nothing costs nothing.
#[tokio::test]
async fn a_quota_that_is_off_is_not_counted() {
    for members in [json!({"enabled": false}), json!({"budget": 0})] {
        let world = world(json!({"quotas": quota(members)})).await;
        let isolate = world.isolate();
        isolate.look().await;
        world.journal.take();
        isolate.call("m", "one", Well(5000)).await;
        assert_eq!(world.journal.take(), ["read 2", "deferred 1"]);
        assert_eq!(isolate.provider_standing("m").await, Standing::Ready);
    }
}

/// One statement more to read, two to write; and the first call in a slice deletes what has left the window.
#[tokio::test]
async fn what_a_quota_costs() {
    let world = world(json!({"quotas": quota(json!({}))})).await;
    let isolate = world.isolate();
    isolate.look().await;
    for expected in ["deferred 4", "deferred 3", "deferred 3"] {
        world.journal.take();
        isolate.call("m", "one", Well(5)).await;
        assert_eq!(world.journal.take(), ["read 3", expected]);
    }
    world.advance(66 * 60_000);
    isolate.call("m", "one", Well(5)).await;
    assert_eq!(world.store.run("SELECT amount FROM quota_usage"), [vec![5.into()]]);
}

/// A quota that is new to an isolate is known at once.
#[tokio::test]
async fn a_quota_that_comes_later() {
    let world = world(json!({})).await;
    let (first, second) = (world.isolate(), world.isolate());
    second.look().await;
    first.import(&json!({"providers": [provider(json!({"quotas": quota(json!({}))}))]})).await;
    first.call("m", "one", Well(950)).await;
    assert_eq!(second.provider_standing("m").await.name(), "probing");
}

/// When the vendor says so, a quota is used up, and only a call that goes well says otherwise.
#[tokio::test]
async fn the_vendor_says_that_it_is_used_up() {
    let world = world(json!({"quotas": quota(json!({}))})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Failed(FailureKind::QuotaUsedUp, 0)).await;
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(word(&world, &isolate.provider_standing("m").await), ("out", Some(300)));
    }
    world.advance(300_000);
    assert!(second.admits("m", "two").await);
    assert!(!first.admits("m", "two").await);
    // A tenth later than the vendor says.
    second.begin("m", "two").end(Failed(FailureKind::QuotaUsedUp, 1000));
    assert_eq!(word(&world, &first.provider_standing("m").await), ("out", Some(1100)));
    world.advance(5 * 3_600_000);
    assert_eq!(first.provider_standing("m").await.name(), "probing", "no window is waited for");
    assert!(first.admits("m", "two").await);
    first.begin("m", "two").end(Well(5));
    for isolate in [&first, &second, &world.isolate()] {
        assert_eq!(isolate.provider_standing("m").await, Standing::Ready);
    }
}

/// A reset that leaves what was spent lets one try again at once, in every isolate.
#[tokio::test]
async fn a_reset_ends_what_refuses_the_others() {
    let world = world(json!({"quotas": quota(json!({}))})).await;
    let (first, second) = (world.isolate(), world.isolate());
    first.call("m", "one", Well(950)).await;
    assert!(first.admits("m", "one").await);
    assert!(!second.admits("m", "one").await);
    first.gateway.handle.reset_health(&first.scope, &tollgate::sdk::HealthReset::default()).await.unwrap();
    assert!(second.admits("m", "one").await);
    assert_eq!(shown(&second).await.1, 950);
}
