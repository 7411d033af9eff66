//! What members of a route can be told: after which failures they are tried, and that their answer stands.

use serde_json::{Value, json};

use super::ask;
use crate::support::script::{Answer, Ending};
use crate::support::stage::{Stage, unique};
use crate::support::vendors::Wire;

/// A route over two stages whose members have these members of their own.
async fn route(stages: [&Stage<'_>; 2], members: [Value; 2]) -> String {
    let name = format!("route-{}", unique());
    let list: Vec<Value> = stages
        .iter()
        .zip(members)
        .enumerate()
        .map(|(tier, (stage, mut member))| {
            member["provider"] = stage.provider.as_str().into();
            member["model"] = "m".into();
            member["tier"] = tier.into();
            member
        })
        .collect();
    stages[0].host.import(&json!({"routes": [{"name": name, "members": list}]})).await;
    name
}

fn error(status: u16) -> Answer {
    Answer::json(status, Wire::Chat.vendor_error(status, "no"))
}

#[tokio::test]
async fn a_member_is_tried_after_its_triggers_only() {
    for (triggers, bad, is_tried) in [
        (json!([]), error(500), true),
        (json!(["rate_limited"]), error(429), true),
        (json!(["rate_limited"]), error(500), false),
        (json!(["error"]), error(500), true),
        (json!(["error"]), error(429), false),
        (json!(["5xx"]), error(502), true),
        // What the request is to blame for moves on to who waits for it, and to nobody else.
        (json!([]), error(404), false),
        (json!(["404"]), error(404), true),
        (json!(["4xx"]), error(400), true),
        (json!(["error"]), error(422), true),
        (json!(["5xx", "timeout"]), error(404), false),
        (json!(["503"]), error(502), false),
        (json!(["network"]), Answer::none(Ending::Closed), true),
        (json!(["timeout"]), Answer::none(Ending::Closed), false),
        (json!(["timeout", "503"]), Answer::none(Ending::Silent), true),
    ] {
        let timeouts = json!({"timeouts": {"first_byte_ms": 400}});
        let (first, second) = (Stage::with(Wire::Chat, timeouts).await, Stage::new(Wire::Chat).await);
        let model = route([&first, &second], [json!({}), json!({"triggers": triggers})]).await;
        let status = if bad.status == 0 { 502 } else { bad.status };
        first.upstream.answer(bad);
        second.upstream.always(Answer::json(200, Wire::Chat.answer()));
        let reply = ask(&first, &model, false).await;
        assert_eq!(reply.status, if is_tried { 200 } else { status }, "{triggers}: {}", reply.text());
        assert_eq!(second.upstream.requests().len(), usize::from(is_tried), "{triggers}");
    }
}

/// A member that nobody could ask has not failed.
#[tokio::test]
async fn a_member_takes_over_for_one_that_cannot_be_asked() {
    let (first, second) = (Stage::with(Wire::Chat, json!({"credentials": []})).await, Stage::new(Wire::Chat).await);
    let model = route([&first, &second], [json!({}), json!({"triggers": ["timeout"]})]).await;
    second.upstream.always(Answer::json(200, Wire::Chat.answer()));
    ask(&first, &model, false).await.expect(200);
}

#[tokio::test]
async fn the_answer_of_a_terminal_member_stands() {
    for status in [400, 429, 500, 503] {
        let (first, second) = (Stage::new(Wire::Chat).await, Stage::new(Wire::Chat).await);
        let model = route([&first, &second], [json!({"terminal": true}), json!({})]).await;
        first.upstream.always(error(status));
        ask(&first, &model, false).await.expect(status);
        assert!(second.upstream.requests().is_empty(), "{status}");
    }
}

/// A member's retries take the place of its provider's.
#[tokio::test]
async fn a_member_has_retries_of_its_own() {
    for (member, calls) in [(json!({}), 2), (json!({"retry": {"max_retries": 2, "initial_delay_ms": 1}}), 3)] {
        let retry = json!({"retry": {"max_retries": 1, "initial_delay_ms": 1}});
        let (first, second) = (Stage::with(Wire::Chat, retry).await, Stage::new(Wire::Chat).await);
        let model = route([&first, &second], [member, json!({})]).await;
        first.upstream.always(error(500));
        second.upstream.always(Answer::json(200, Wire::Chat.answer()));
        ask(&first, &model, false).await.expect(200);
        assert_eq!(first.upstream.requests().len(), calls);
    }
}
