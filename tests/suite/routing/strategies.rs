//! Who among equals goes first.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{accounts, secrets_used};
use crate::check;
use crate::support::client::Call;
use crate::support::host::Host;
use crate::support::script::{Answer, Gate};
use crate::support::setup::Setup;
use crate::support::stage::{Stage, new_key, unique};
use crate::support::vendors::Wire;

async fn with_accounts<'a>(host: &'a Host, wire: Wire, strategy: &str, accounts: Value) -> Stage<'a> {
    let stage = Stage::on_with(host, wire, json!({"strategy": strategy, "credentials": accounts})).await;
    stage.upstream.always(Answer::json(200, wire.answer()));
    stage
}

#[tokio::test]
async fn accounts_take_turns() {
    let host = Host::start(Setup::default().one_isolate());
    for (strategy, expected) in [
        ("weighted", ["sk-account-a", "sk-account-b"].repeat(4)),
        ("round_robin", ["sk-account-a", "sk-account-b"].repeat(4)),
        ("priority", ["sk-account-a"].repeat(8)),
    ] {
        let stage = with_accounts(&host, Wire::Chat, strategy, accounts(&["b", "a"])).await;
        for _ in 0..8 {
            stage.call(false).send().await.expect(200);
        }
        assert_eq!(secrets_used(&stage), expected, "{strategy}");
    }
}

#[tokio::test]
async fn the_heaviest_has_priority() {
    let mut list = accounts(&["a", "b", "c"]);
    list[1]["weight"] = 101.into();
    let stage = with_accounts(Host::shared(), Wire::Chat, "priority", list).await;
    stage.upstream.answer(Answer::json(429, Wire::Chat.vendor_error(429, "slow down")));
    stage.call(false).send().await.expect(200);
    assert_eq!(secrets_used(&stage), ["sk-account-b", "sk-account-a"]);
}

#[tokio::test]
async fn members_of_a_tier_follow_the_strategy_of_their_route() {
    let host = Host::start(Setup::default().one_isolate());
    let (first, second) = (Stage::on(&host, Wire::Chat).await, Stage::on(&host, Wire::Chat).await);
    for stage in [&first, &second] {
        stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    }
    for (strategy, counts) in [("priority", [0, 8]), ("round_robin", [4, 4]), ("weighted", [2, 6])] {
        let route = format!("route-{}", unique());
        let member =
            |stage: &Stage<'_>, weight: u32| json!({"provider": stage.provider, "model": "m", "weight": weight});
        let members = [member(&first, 1), member(&second, 3)];
        host.import(&json!({"routes": [{"name": route, "strategy": strategy, "members": members}]})).await;
        let before = [first.upstream.requests().len(), second.upstream.requests().len()];
        for _ in 0..8 {
            first.post("/v1/chat/completions", Wire::Chat.request(&route, false)).send().await.expect(200);
        }
        let after = [first.upstream.requests().len(), second.upstream.requests().len()];
        assert_eq!([after[0] - before[0], after[1] - before[1]], counts, "{strategy}");
    }
}

/// While one call is under way, the other account is the less busy one.
#[tokio::test]
async fn the_least_busy_account_goes_first() {
    let host = Host::start(Setup::default().one_isolate());
    let stage = with_accounts(&host, Wire::Chat, "least_in_flight", accounts(&["a", "b"])).await;
    let gate = Gate::new();
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()).wait_first(&gate));
    let held = tokio::spawn(stage.call(false).send());
    stage.upstream.received(1).await;
    for _ in 0..4 {
        stage.call(false).send().await.expect(200);
    }
    gate.open();
    held.await.unwrap().expect(200);
    let secrets = secrets_used(&stage);
    assert!(secrets[1..].iter().all(|secret| *secret != secrets[0]), "{secrets:?}");
}

#[tokio::test]
async fn an_account_has_no_more_calls_than_it_may() {
    let host = Host::start(Setup::default().one_isolate());
    let mut list = accounts(&["only"]);
    list[0]["max_concurrency"] = 1.into();
    let stage = with_accounts(&host, Wire::Chat, "weighted", list).await;
    let gate = Gate::new();
    stage.upstream.answer(Answer::json(200, Wire::Chat.answer()).wait_first(&gate));
    let held = tokio::spawn(stage.call(false).send());
    stage.upstream.received(1).await;
    let busy = stage.call(false).send().await;
    check::error(&busy, Wire::Chat, 503, "no_target");
    assert_eq!(busy.header("retry-after"), Some("1"));
    gate.open();
    held.await.unwrap().expect(200);
    stage.call(false).send().await.expect(200);
    assert_eq!(stage.upstream.requests().len(), 2);
}

/// The requests of one conversation, as a client names it or as they begin, all meet the same account; on all isolates, since the
/// shared gateway has two.
#[tokio::test]
async fn a_conversation_stays_with_its_account() {
    let names: Vec<String> = (0..8).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let user = |session: u32| json!({"user_id": json!({"session_id": format!("s{session}")}).to_string()});
    for (name, of) in [
        ("x-session-id", None),
        ("x-claude-code-session-id", None),
        ("metadata", Some(json!({"metadata": user(0)}))),
        ("beginning", Some(json!({}))),
    ] {
        let stage = with_accounts(Host::shared(), Wire::Claude, "session", accounts(&names)).await;
        let ask = |session: u32, turn: u32| -> Call {
            let mut body =
                json!({"model": stage.model(), "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
            match (&of, name) {
                (None, _) => body["messages"][0]["content"] = format!("turn {turn}").into(),
                (Some(_), "metadata") => {
                    body["metadata"] = user(session);
                    body["messages"][0]["content"] = format!("turn {turn}").into();
                }
                _ => {
                    body["system"] = format!("conversation {session}").into();
                    for turn in 0..turn {
                        let role = if turn % 2 == 0 { "assistant" } else { "user" };
                        body["messages"].as_array_mut().unwrap().push(json!({"role": role, "content": "more"}));
                    }
                }
            }
            let call = stage.post("/v1/messages", body.to_string());
            if of.is_none() { call.header(name, &format!("s{session}")) } else { call }
        };
        for session in 0..12 {
            for turn in 0..3 {
                ask(session, turn).send().await.expect(200);
            }
        }
        let secrets = secrets_used(&stage);
        for conversation in secrets.chunks(3) {
            assert!(conversation.iter().all(|secret| *secret == conversation[0]), "{name}: {secrets:?}");
        }
        assert!(secrets.iter().collect::<HashSet<_>>().len() > 3, "{name}: {secrets:?}");
    }
}

/// Two keys that name their conversations alike have different ones.
#[tokio::test]
async fn conversations_of_two_keys_are_not_the_same() {
    let names: Vec<String> = (0..8).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let stage = with_accounts(Host::shared(), Wire::Chat, "session", accounts(&names)).await;
    let keys: Vec<String> = (0..12).map(|_| new_key()).collect();
    let list: Vec<Value> = keys.iter().map(|key| json!({"name": format!("key-{}", unique()), "key": key})).collect();
    stage.host.import(&json!({"keys": list})).await;
    for key in &keys {
        let call = stage.host.post("/v1/chat/completions", Wire::Chat.request(&stage.model(), false)).key(key);
        call.header("x-session-id", "the same").send().await.expect(200);
    }
    assert!(secrets_used(&stage).iter().collect::<HashSet<_>>().len() > 2);
}

/// The client may say which channel serves it.
#[tokio::test]
async fn a_channel_can_be_asked_for() {
    let (claude, chat) = (Stage::new(Wire::Claude).await, Stage::new(Wire::Chat).await);
    let route = format!("route-{}", unique());
    let members =
        json!([{"provider": claude.provider, "model": "m"}, {"provider": chat.provider, "model": "m", "tier": 1}]);
    claude.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    chat.upstream.always(Answer::json(200, Wire::Chat.answer()));
    let ask = |channel: &str| {
        let call = chat.post("/v1/chat/completions", Wire::Chat.request(&route, false));
        call.header("x-gateway-channel", channel).send()
    };
    assert_eq!(ask("openai").await.expect(200).header("x-provider"), Some(chat.provider.as_str()));
    assert!(claude.upstream.requests().is_empty());
    check::error(&ask("gemini").await, Wire::Chat, 503, "no_target");
    let message = check::error(&ask("nonsense").await, Wire::Chat, 400, "invalid_request");
    assert!(message.contains("openai, claude, gemini"), "{message}");
}
