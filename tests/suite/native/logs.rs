//! What is logged, and what never is.

use serde_json::Value;

use super::setup;
use crate::support::host::Host;
use crate::support::script::{Answer, Ending};
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// B68: no log line holds a secret, however much is logged and whatever goes wrong.
#[tokio::test]
async fn b68_nothing_secret_is_logged() {
    let host = Host::start(setup().argument("--log", "trace"));
    let mut secrets = vec!["suite-secret".to_owned(), "sk-by-mistake".to_owned()];
    for wire in Wire::ALL {
        let stage = Stage::on(&host, wire).await;
        let model = stage.model();
        let (target, body) = (wire.target(&model, false), wire.request(&model, false));
        for http2 in [false, true] {
            let send = async |call: crate::support::client::Call, answer: Answer| {
                stage.upstream.answer(answer);
                let _ = if http2 { call.http2() } else { call }.send().await;
            };
            let ok = || Answer::json(200, wire.answer());
            send(stage.call(false), ok()).await;
            send(host.post(&target, body.clone()).header("x-api-key", &stage.key), ok()).await;
            send(host.post(&target, body.clone()).header("x-goog-api-key", &stage.key), ok()).await;
            let query = format!("{target}{}key={}", if target.contains('?') { '&' } else { '?' }, stage.key);
            send(host.post(query, body.clone()), ok()).await;
            let words = format!("no such key {}", stage.secret);
            send(stage.call(false), Answer::json(404, wire.vendor_error(404, &words))).await;
            send(stage.call(false), Answer::json(401, wire.vendor_error(401, &words))).await;
            send(stage.call(true), Answer::none(Ending::Reset)).await;
            let _ = host.post(&target, body.clone()).key("sk-by-mistake-0123456789").send().await;
            let _ = host.post(format!("{target}?key=sk-by-mistake-0123456789"), body.clone()).send().await;
        }
        secrets.push(stage.secret.clone());
    }
    host.signal("TERM");
    let exit = host.exit(std::time::Duration::from_secs(10));
    assert!(exit.stderr.lines().count() > 20, "{}", exit.stderr);
    for secret in &secrets {
        let line = exit.stderr.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret}");
    }
}

#[tokio::test]
async fn lines_can_be_json() {
    let host = Host::start(setup().argument("--log-format", "json"));
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.answered(Answer::json(500, Wire::Chat.vendor_error(500, "no"))).await.expect(500);
    host.logged(|line| line.contains(&stage.provider)).await;
    let stderr = host.stderr();
    let lines: Vec<Value> = stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let line = lines.iter().find(|line| line["fields"]["provider"] == stage.provider.as_str()).expect("a line");
    assert_eq!((&line["level"], &line["fields"]["status"]), (&"WARN".into(), &500.into()));
}

/// A request that is fine leaves no line behind.
#[tokio::test]
async fn a_good_request_is_not_logged() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Chat).await;
    let before = host.stderr();
    for _ in 0..3 {
        stage.answered(Answer::json(200, Wire::Chat.answer())).await.expect(200);
    }
    stage.usage(3).await;
    assert_eq!(host.stderr(), before);
}

/// A failure of the gateway's own is found in the log by the id that the client was given.
#[tokio::test]
async fn a_failure_is_found_by_its_id() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Chat).await;
    let reply = stage.answered(Answer::none(Ending::Closed)).await.expect(502);
    let id = reply.request_id();
    host.logged(|line| line.contains(id) && line.contains("upstream_unreachable")).await;
}
