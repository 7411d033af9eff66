//! Round trips to the database: one before a request is dispatched and one after it, whatever the request.

use serde_json::json;

use crate::support::client::Call;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::script::Answer;
use crate::support::setup::Setup;
use crate::support::stage::{Stage, new_key};
use crate::support::vendors::Wire;

/// How many round trips the one isolate has made, this question itself included.
async fn round_trips(host: &Host) -> i64 {
    host.admin("/admin/api/status").await["database_round_trips"].as_i64().unwrap()
}

/// Checks what `call` costs, once it is settled `settled` times.
async fn check(stage: &Stage<'_>, call: Call, settled: i64, expected: i64) {
    let before = round_trips(stage.host).await;
    call.send().await;
    // Settling may go on beside the answer, so it is waited for; the questions are counted off.
    let mut questions = 0;
    loop {
        let report = stage.host.get("/admin/api/usage?group_by=key").key(ADMIN_TOKEN).send().await.expect(200).json();
        questions += 1;
        let totals = report["totals"].as_array().unwrap();
        if totals.iter().any(|total| total["key"] == stage.key_name && total["requests"] == settled) || settled == 0 {
            break;
        }
        assert!(questions < 1000, "the request is not settled");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    // A question for usage takes two, the one for the status one.
    let spent = round_trips(stage.host).await - before - 2 * questions - 1;
    assert_eq!(spent, expected);
}

#[tokio::test]
async fn a_request_makes_one_before_and_one_after() {
    let host = Host::start(Setup::default().one_isolate());
    for wire in Wire::ALL {
        let stage = Stage::on(&host, wire).await;
        let model = stage.model();
        // The first one has to read its key as well, in the same round trip.
        stage.upstream.answer(Answer::json(200, wire.answer()));
        check(&stage, stage.call(false), 1, 2).await;
        stage.upstream.answer(Answer::json(200, wire.answer()));
        check(&stage, stage.call(false), 2, 2).await;
        stage.upstream.answer(Answer::sse(wire.events()));
        check(&stage, stage.call(true), 3, 2).await;
        stage.upstream.answer(Answer::json(400, wire.vendor_error(400, "no")));
        check(&stage, stage.call(false), 4, 2).await;
        stage.upstream.answer(Answer::json(401, wire.vendor_error(401, "no")));
        check(&stage, stage.call(true), 5, 2).await;
        let unknown = stage.post(&wire.target("nobody/knows", false), wire.request("nobody/knows", false));
        check(&stage, unknown, 6, 2).await;
        // Nothing to settle: one to see who asks.
        check(&stage, stage.post(&wire.target(&model, false), "{"), 0, 1).await;
    }
}

/// A failover costs no more; all its calls are settled together.
#[tokio::test]
async fn a_failover_makes_no_more() {
    let host = Host::start(Setup::default().one_isolate());
    let credentials: Vec<_> =
        (0..3).map(|number| json!({"name": format!("c{number}"), "secret": format!("sk-{number}")})).collect();
    let stage = Stage::on_with(&host, Wire::Chat, json!({"credentials": credentials})).await;
    stage.upstream.answer(Answer::json(500, Wire::Chat.vendor_error(500, "no")));
    stage.upstream.answer(Answer::json(429, Wire::Chat.vendor_error(429, "no")));
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()));
    check(&stage, stage.call(false), 1, 2).await;
    assert_eq!(stage.usage(1).await["calls"], 3);
}

#[tokio::test]
async fn what_is_not_a_call_makes_one_or_none() {
    let host = Host::start(Setup::default().one_isolate());
    let stage = Stage::on(&host, Wire::Chat).await;
    check(&stage, host.get("/v1/models").key(&stage.key), 0, 1).await;
    check(&stage, host.get("/v1/models").key("tg-unknown-0123456789"), 0, 1).await;
    check(&stage, host.get("/health"), 0, 0).await;
    check(&stage, host.get("/v1/models"), 0, 0).await;
    check(&stage, host.post("/v1/messages", "{}"), 0, 0).await;
}

/// After a change of what it uses, a request reads once more; after one of the keys, its own key.
#[tokio::test]
async fn a_change_is_read_once() {
    let host = Host::start(Setup::default().one_isolate());
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    check(&stage, stage.call(false), 1, 2).await;
    // The isolate that writes loads its own write.
    host.import(&json!({"providers": [{"name": "another", "channel": "echo"}]})).await;
    check(&stage, stage.call(false), 2, 2).await;
    host.import(&json!({"keys": [{"name": "another", "key": new_key()}]})).await;
    check(&stage, stage.call(false), 3, 2).await;
}

/// An operator may allow an isolate to be a little behind; it then asks nothing before it dispatches.
#[tokio::test]
async fn allowed_staleness_saves_the_one_before() {
    let host = Host::start(Setup::default().one_isolate());
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    host.import(&json!({"settings": {"tick": {"max_age_ms": 3_600_000}}})).await;
    check(&stage, stage.call(false), 1, 2).await;
    check(&stage, stage.call(false), 2, 1).await;
    check(&stage, stage.call(true), 3, 1).await;
}
