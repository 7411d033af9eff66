//! Isolates share nothing but the database, and see each other's writes with their next request.

use serde_json::json;

use super::setup;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts, new_key, usage_of};
use crate::support::vendors::Wire;

/// More than enough connections to meet every isolate.
const CONNECTIONS: usize = 24;

#[tokio::test]
async fn isolates_of_one_process_see_each_others_writes() {
    let host = Host::start(setup().argument("--threads", 2));
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for round in 0..5 {
        let enabled = round % 2 == 0;
        host.import(&json!({"keys": [{"name": stage.key_name, "enabled": enabled}]})).await;
        for _ in 0..CONNECTIONS {
            assert_eq!(stage.call(false).send().await.status, if enabled { 200 } else { 401 }, "round {round}");
        }
    }
    let requests = 3 * CONNECTIONS as i64;
    let counts = [("requests", requests), ("calls", requests), ("input", 11 * requests), ("output", 5 * requests)];
    check_counts(&stage.usage(requests).await, &counts);
}

/// The staleness that an operator allows ends with a write of the same process.
#[tokio::test]
async fn a_write_of_the_same_process_ends_allowed_staleness() {
    let host = Host::start(setup().argument("--threads", 2));
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    host.import(&json!({"settings": {"tick": {"max_age_ms": 3_600_000}}})).await;
    for enabled in [true, false, true] {
        host.import(&json!({"keys": [{"name": stage.key_name, "enabled": enabled}]})).await;
        for _ in 0..CONNECTIONS {
            assert_eq!(stage.call(false).send().await.status, if enabled { 200 } else { 401 });
        }
    }
}

#[tokio::test]
async fn two_processes_on_one_database_see_each_others_writes() {
    let one = Host::start(setup());
    let other = Host::start(one.setup.clone());
    let stage = Stage::on(&one, Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    let ask = async |host: &Host, key: &str| {
        let body = Wire::Claude.request(&stage.model(), false);
        host.post("/v1/messages", body).key(key).send().await.status
    };
    assert_eq!(ask(&other, &stage.key).await, 200);
    // A change at either is in force at both with the next request.
    let mut key = stage.key.clone();
    for host in [&one, &other, &one] {
        let new = new_key();
        host.import(&json!({"keys": [{"name": stage.key_name, "key": new}]})).await;
        for host in [&one, &other] {
            assert_eq!(ask(host, &new).await, 200);
            assert_eq!(ask(host, &key).await, 401);
        }
        let mut provider = stage.provider_document();
        provider["credentials"][0]["secret"] = format!("sk-for-{}", &new[new.len() - 8..]).into();
        host.import(&json!({"providers": [provider]})).await;
        for host in [&one, &other] {
            assert_eq!(ask(host, &new).await, 200);
            let sent = stage.upstream.requests().pop().unwrap();
            assert_eq!(sent.header("x-api-key"), provider["credentials"][0]["secret"].as_str());
        }
        key = new;
    }
    for host in [&one, &other] {
        let counts = [("requests", 13), ("calls", 13), ("input", 143), ("output", 65)];
        check_counts(&usage_of(host, &stage.key_name, 13).await, &counts);
    }
}

#[tokio::test]
async fn two_processes_do_not_lose_each_others_writes() {
    let one = Host::start(setup().argument("--threads", 2));
    let other = Host::start(one.setup.clone());
    let before = one.admin("/admin/api/status").await["revision"].as_i64().unwrap();
    let hosts = [&one, &other];
    let imports = (0..10).map(async |number| {
        let document = json!({"providers": [{"name": format!("p{number}"), "channel": "echo"}]});
        hosts[number % 2].import(&document).await
    });
    futures_util::future::join_all(imports.collect::<Vec<_>>()).await;
    for host in hosts {
        assert_eq!(host.admin("/admin/api/status").await["revision"], before + 10);
        let export = host.admin("/admin/api/export").await.to_string();
        for number in 0..10 {
            assert!(export.contains(&format!("\"p{number}\"")), "p{number} is lost");
        }
    }
}

/// An isolate that nobody asks anything looks by itself.
#[tokio::test]
async fn an_idle_isolate_hears_of_changes() {
    let idle = Host::start(setup().one_isolate().argument("--poll-seconds", 1).argument("--log", "debug"));
    let mut other = idle.setup.clone();
    other.arguments.clear();
    let other = Host::start(other);
    let report = other.import(&json!({"keys": [{"name": "somebody", "key": new_key()}]})).await;
    let news = format!("a newer configuration is in use revision={}", report["revision"]);
    idle.logged(|line| line.contains(&news)).await;
}
