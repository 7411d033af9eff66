//! The death of the process in the middle of its work.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::setup;
use crate::support::client::Call;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::stage::{new_key, usage_of};

/// What may be lost of settlements.
const MAY_BE_LOST: Duration = Duration::from_millis(100);

type Times = Arc<Mutex<Vec<Instant>>>;

/// Sends a request over and over until it gets no answer; notes when each answer was there.
async fn load(call: Call, answered: Times) {
    while let Ok(mut stream) = call.clone().try_open().await {
        let (body, _) = stream.rest().await;
        if stream.status != 200 || body.is_empty() {
            return;
        }
        answered.lock().unwrap().push(Instant::now());
    }
}

/// Writes configuration over and over; notes what was acknowledged.
async fn write(host: std::net::SocketAddr, writer: usize, acknowledged: Arc<Mutex<Vec<String>>>) {
    for number in 0.. {
        let name = format!("written-{writer}-{number}");
        let document = json!({"providers": [{"name": name, "channel": "echo"}]});
        let call = Call::new(host, http::Method::POST, "/admin/api/import").key(ADMIN_TOKEN).json(document.to_string());
        let Ok(mut stream) = call.try_open().await else { return };
        let (body, _) = stream.rest().await;
        match stream.status {
            200 if body.ends_with(b"}") => acknowledged.lock().unwrap().push(name),
            409 => {}
            _ => return,
        }
    }
}

#[tokio::test]
async fn after_a_kill_under_load_nothing_acknowledged_is_missing() {
    let host = Host::start(setup().argument("--threads", 2));
    let key = new_key();
    let keys = json!([{"name": "load", "key": key}]);
    host.import(&json!({"providers": [{"name": "mirror", "channel": "echo"}], "keys": keys})).await;
    let (answered, acknowledged) = (Times::default(), Arc::new(Mutex::new(Vec::new())));
    let mut tasks = Vec::new();
    for stream in [false, true, false, true] {
        let body = json!({"model": "mirror/m", "stream": stream, "messages": [{"role": "user", "content": "one two"}]});
        let call = host.post("/v1/chat/completions", body.to_string()).key(&key);
        let answered = answered.clone();
        tasks.push(tokio::spawn(load(call, answered)));
    }
    for writer in 0..2 {
        tasks.push(tokio::spawn(write(host.address, writer, acknowledged.clone())));
    }
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let killed = Instant::now();
    let setup = host.kill();
    for task in tasks {
        task.await.unwrap();
    }
    let host = Host::start(setup);
    let export = host.admin("/admin/api/export").await.to_string();
    let acknowledged = acknowledged.lock().unwrap().clone();
    assert!(acknowledged.len() > 3, "{acknowledged:?}");
    for name in &acknowledged {
        assert!(export.contains(&format!("\"{name}\"")), "{name} was acknowledged and is gone");
    }
    let answered = answered.lock().unwrap().clone();
    let have_to_be_there = answered.iter().filter(|time| **time + MAY_BE_LOST < killed).count() as i64;
    assert!(have_to_be_there > 20, "{have_to_be_there}");
    let report = host.admin("/admin/api/usage?group_by=key").await;
    let total = report["totals"].as_array().unwrap().iter().find(|total| total["key"] == "load").unwrap();
    let settled = total["requests"].as_i64().unwrap();
    assert!(settled >= have_to_be_there, "{settled} of {have_to_be_there} are settled");
    // Four requests may have been under way.
    assert!(settled <= answered.len() as i64 + 4, "{settled} of {} are settled", answered.len());
    // And it goes on as if nothing had been.
    let body = json!({"model": "mirror/m", "messages": [{"role": "user", "content": "still here"}]});
    host.post("/v1/chat/completions", body.to_string()).key(&key).send().await.expect(200);
    usage_of(&host, "load", settled + 1).await;
}
