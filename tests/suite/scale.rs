//! A configuration of the size that a large instance has.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

const PROVIDERS: usize = 2_000;
const KEYS: usize = 20_000;

fn large_document() -> Value {
    let providers: Vec<Value> = (0..PROVIDERS)
        .map(|number| {
            let credentials = json!([{"name": "account", "secret": format!("sk-{number}")}]);
            json!({"name": format!("filler-{number}"), "channel": "openai", "credentials": credentials})
        })
        .collect();
    let keys: Vec<Value> =
        (0..KEYS).map(|number| json!({"name": format!("filler-{number}"), "key": key(number)})).collect();
    json!({"providers": providers, "keys": keys})
}

fn key(number: usize) -> String {
    format!("tg-suite-secret-filler-{number:06}")
}

/// The best of many, which is what the work itself takes.
async fn best_time(stage: &Stage<'_>) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..60 {
        let call = stage.call(false);
        let started = Instant::now();
        call.send().await.expect(200);
        best = best.min(started.elapsed());
    }
    best
}

#[tokio::test]
async fn thousands_of_providers_and_keys() {
    let host = Host::start(Setup::default().one_isolate());
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    let small = best_time(&stage).await;

    let document = large_document();
    let report = host.import(&document).await;
    assert_eq!(report["changes"].as_array().unwrap().len(), 2 * PROVIDERS + KEYS);
    stage.call(false).send().await.expect(200);

    // The warm path does not depend on their number. Generous, since it is a machine with other work that measures.
    let large = best_time(&stage).await;
    assert!(large < 3 * small + Duration::from_millis(2), "{small:?} before, {large:?} with a large configuration");

    // Each of the keys opens, whether it has been seen or not.
    for number in [0, 1, KEYS / 2, KEYS - 1] {
        let body = Wire::Chat.request(&stage.model(), false);
        host.post("/v1/chat/completions", body).key(&key(number)).send().await.expect(200);
    }
    host.get("/v1/models").key(&key(KEYS)).send().await.expect(401);

    // A fresh isolate loads all of it with its first request.
    let (provider, model, stage_key) = (stage.provider.clone(), stage.model(), stage.key.clone());
    let upstream = stage.upstream;
    let host = host.restart();
    for key in [stage_key, key(7)] {
        let reply = host.post("/v1/chat/completions", Wire::Chat.request(&model, false)).key(&key).send().await;
        assert_eq!((reply.status, reply.text()), (200, Wire::Chat.answer().as_str()));
        assert_eq!(reply.header("x-provider"), Some(provider.as_str()));
    }
    let status = host.admin("/admin/api/status").await;
    assert!(status["providers"].as_u64() >= Some(PROVIDERS as u64), "{status}");
    assert_eq!(status["skipped_rows"], json!([]));
    assert_eq!(host.import(&document).await["changes"], json!([]));
    drop(upstream);
}
