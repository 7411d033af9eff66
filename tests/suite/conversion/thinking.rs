//! Thinking that one vendor sealed does not reach another, also where nothing else is converted.

use serde_json::{Value, json};

use super::{call, stage};
use crate::support::script::Answer;
use crate::support::vendors::Wire;

/// B13: a signature that Gemini made, or nobody, is taken out before Claude sees it; everything else keeps its bytes.
#[tokio::test]
async fn b13_claude_sees_no_foreign_signature() {
    let stage = stage(Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.case("response", "text")));
    for signature in ["", "tollgate-gemini:c2ln"] {
        let body = json!({"max_tokens": 9000, "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": signature}, {"type": "text", "text": "ok"}]},
            {"role": "user", "content": "next"}]});
        call(&stage, Wire::Claude, &body.to_string(), false).send().await.expect(200);
        let sent = stage.upstream.requests().pop().expect("a request").json();
        assert_eq!(sent["messages"][1]["content"], json!([{"type": "text", "text": "ok"}]));
    }
}

/// Claude's thinking goes through a Gemini client and comes back to Claude, and to nobody else.
#[tokio::test]
async fn thinking_comes_back_to_the_family_that_made_it() {
    for client in [Wire::Gemini, Wire::Responses] {
        let claude = stage(Wire::Claude).await;
        let answer = Wire::Claude.case("response", "thinking-tool-use");
        let block: Value = serde_json::from_str::<Value>(&answer).unwrap()["content"][0].clone();
        let signature = block["signature"].as_str().expect("a signature").to_owned();
        claude.upstream.always(Answer::json(200, answer));
        let reply = call(&claude, client, super::minimal(client), false).send().await.expect(200).json();
        let next = match client {
            Wire::Gemini => {
                let mut contents = vec![json!({"role": "user", "parts": [{"text": "Hi"}]})];
                let content = reply["candidates"][0]["content"].clone();
                let calls = content["parts"].as_array().unwrap().iter().filter(|part| part["functionCall"].is_object());
                let results: Vec<Value> = calls
                    .map(|part| {
                        let call = &part["functionCall"];
                        json!({"functionResponse": {"id": call["id"], "name": call["name"], "response": {"output": "1"}}})
                    })
                    .collect();
                contents.push(content);
                contents.push(json!({"role": "user", "parts": results}));
                json!({"contents": contents, "generationConfig": {"thinkingConfig": {"thinkingBudget": 4000}}})
            }
            _ => {
                let mut items = vec![json!({"role": "user", "content": "Hi"})];
                for item in reply["output"].as_array().unwrap() {
                    items.push(item.clone());
                }
                let calls: Vec<Value> = items.iter().filter(|item| item["type"] == "function_call").cloned().collect();
                for call in calls {
                    items.push(json!({"type": "function_call_output", "call_id": call["call_id"], "output": "1"}));
                }
                json!({"input": items, "reasoning": {"effort": "medium"}})
            }
        };
        call(&claude, client, &next.to_string(), false).send().await.expect(200);
        let sent = claude.upstream.requests().pop().expect("a request").text().to_owned();
        assert!(sent.contains(&format!("\"signature\":\"{signature}\"")), "{client:?}: {sent}");
        for vendor in [Wire::Gemini, Wire::Responses, Wire::Chat] {
            let other = stage(vendor).await;
            other.upstream.always(Answer::json(200, vendor.case("response", "text")));
            call(&other, client, &next.to_string(), false).send().await.expect(200);
            let sent = other.recorded().text().to_owned();
            assert!(!sent.contains(&signature) && !sent.contains("tollgate-"), "{client:?} to {vendor:?}: {sent}");
            assert!(!sent.contains("dG9sbGdhdGUt"), "{client:?} to {vendor:?}: {sent}");
        }
    }
}
