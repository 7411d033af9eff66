//! Conversations that a vendor keeps stay with the account that it keeps them for.

use serde_json::{Value, json};

use super::{accounts, secrets_used};
use crate::check;
use crate::support::host::Host;
use crate::support::script::Answer;
use crate::support::stage::{Stage, unique};
use crate::support::vendors::{Wire, sse};

fn answer(id: &str) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    json!({"id": id, "object": "response", "status": "completed", "output": [], "usage": usage}).to_string()
}

fn events(id: &str) -> String {
    sse(Wire::Responses.events()).replace("resp_1", id)
}

/// A stage with four accounts that take turns.
async fn stage(wire: Wire) -> Stage<'static> {
    Stage::with(wire, json!({"credentials": accounts(&["a", "b", "c", "d"])})).await
}

async fn respond(stage: &Stage<'_>, members: Value) -> crate::support::client::Reply {
    let mut body = json!({"model": stage.model(), "input": "Hi"});
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    stage.post("/v1/responses", body.to_string()).send().await
}

/// However often and wherever the next turn comes, it meets the account of the first.
#[tokio::test]
async fn an_answer_is_continued_where_it_was_given() {
    for streamed in [false, true] {
        let stage = stage(Wire::Responses).await;
        let id = format!("resp_{}", unique());
        let first = if streamed { Answer::sse([events(&id)]) } else { Answer::json(200, answer(&id)) };
        stage.upstream.answer(first);
        respond(&stage, json!({"stream": streamed})).await.expect(200);
        // The note is written when the answer has ended.
        stage.usage(1).await;
        for number in 0..8 {
            stage.upstream.answer(Answer::json(200, answer(&format!("resp_{}", unique()))));
            respond(&stage, json!({"previous_response_id": id})).await.expect(200);
            let sent = stage.upstream.requests().pop().unwrap();
            assert_eq!(sent.json()["previous_response_id"], id.as_str());
            assert_eq!(secrets_used(&stage)[number + 1], secrets_used(&stage)[0], "{streamed}");
        }
    }
}

/// Claude's threads, as its SDK's tool runner uses them.
#[tokio::test]
async fn a_thread_is_continued_where_it_was_made() {
    let stage = stage(Wire::Claude).await;
    let id = format!("msg_{}", unique());
    let answer = |id: &str| {
        let mut answer: Value = serde_json::from_str(&Wire::Claude.answer()).unwrap();
        answer["id"] = id.into();
        Answer::json(200, answer.to_string())
    };
    let ask = async |thread: Value| {
        let turns = json!([{"role": "user", "content": "Hi"}]);
        let body = json!({"model": stage.model(), "max_tokens": 9, "messages": turns, "thread": thread});
        stage.post("/v1/messages", body.to_string()).send().await
    };
    stage.upstream.answer(answer(&id));
    ask(json!({"type": "create"})).await.expect(200);
    stage.usage(1).await;
    for _ in 0..6 {
        stage.upstream.answer(answer(&format!("msg_{}", unique())));
        ask(json!({"type": "continue", "previous_message_id": id})).await.expect(200);
    }
    let secrets = secrets_used(&stage);
    assert!(secrets.iter().all(|secret| *secret == secrets[0]), "{secrets:?}");
}

/// What is not known goes to anybody, and whoever answers has it from then on.
#[tokio::test]
async fn an_unknown_id_is_passed_on_and_then_known() {
    let stage = stage(Wire::Responses).await;
    let conversation = format!("conv_{}", unique());
    for number in 0..6 {
        stage.upstream.answer(Answer::json(200, answer(&format!("resp_{}", unique()))));
        respond(&stage, json!({"conversation": conversation, "store": false})).await.expect(200);
        if number == 0 {
            stage.usage(1).await;
        }
    }
    let secrets = secrets_used(&stage);
    assert!(secrets.iter().all(|secret| *secret == secrets[0]), "{secrets:?}");
    let gemini = Stage::new(Wire::Gemini).await;
    let body =
        json!({"contents": [{"parts": [{"text": "Hi"}]}], "cachedContent": "cachedContents/unknown"}).to_string();
    gemini.upstream.answer(Answer::json(200, Wire::Gemini.answer()));
    gemini.post(&Wire::Gemini.target(&gemini.model(), false), body.clone()).send().await.expect(200);
    assert_eq!(gemini.recorded().text(), body);
}

/// S-193: no silent beginning anew.
#[tokio::test]
async fn without_its_account_a_conversation_cannot_be_continued() {
    for wire in [Wire::Responses, Wire::Claude] {
        let first = Stage::with(wire, json!({"credentials": accounts(&["a"])})).await;
        let id = format!("id_{}", unique());
        let thread = |thread: Value| {
            let turns = json!([{"role": "user", "content": "Hi"}]);
            json!({"model": first.model(), "max_tokens": 9, "messages": turns, "thread": thread}).to_string()
        };
        let (making, continuing) = match wire {
            Wire::Claude => {
                (thread(json!({"type": "create"})), thread(json!({"type": "continue", "previous_message_id": id})))
            }
            _ => (
                json!({"model": first.model(), "input": "Hi"}).to_string(),
                json!({"model": first.model(), "input": "Hi", "previous_response_id": id}).to_string(),
            ),
        };
        let mut made: Value = serde_json::from_str(&wire.answer()).unwrap();
        made["id"] = id.as_str().into();
        first.upstream.answer(Answer::json(200, made.to_string()));
        first.post(&wire.target("", false), making).send().await.expect(200);
        first.usage(1).await;
        let mut provider = first.provider_document();
        provider["credentials"] = accounts(&["b"]);
        first.host.import(&json!({"providers": [provider]})).await;
        let reply = first.post(&wire.target("", false), continuing).send().await;
        check::error(&reply, wire, 400, "continuation_unavailable");
        assert_eq!(first.upstream.requests().len(), 1);
    }
}

/// Only what a vendor keeps is noted, and only what continues something costs a read more.
#[tokio::test]
async fn an_answer_that_is_not_kept_is_not_noted() {
    let host = Host::shared();
    let stage = Stage::on_with(host, Wire::Responses, json!({"credentials": accounts(&["a", "b", "c", "d"])})).await;
    let id = format!("resp_{}", unique());
    stage.upstream.answer(Answer::json(200, answer(&id)));
    respond(&stage, json!({"store": false})).await.expect(200);
    stage.usage(1).await;
    let explained = host
        .post(
            "/admin/api/explain",
            json!({"path": "/v1/responses", "body": {"model": stage.model(), "previous_response_id": id, "input": "a"}}).to_string(),
        )
        .key(crate::support::host::ADMIN_TOKEN)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(explained["continuation"], json!({"known": false}));
}
