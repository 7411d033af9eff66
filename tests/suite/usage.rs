//! What is written on whose account.

use serde_json::{Value, json};

use crate::check;
use crate::support::client::End;
use crate::support::host::{ADMIN_TOKEN, Host};
use crate::support::script::Answer;
use crate::support::stage::{Stage, check_counts, unique};
use crate::support::vendors::{Wire, chat, claude, data, event, gemini, responses};

/// Checks that `usage`, where the vendor puts it, is read as `expected`, from a document and from a stream.
async fn check_usage(wire: Wire, usage: &str, expected: &[(&str, i64)]) {
    let stage = Stage::new(wire).await;
    let document = match wire {
        Wire::Chat => format!(r#"{{"choices":[{{"message":{{"content":"\"usage\":{{"}}}}],"usage" : {usage}}}"#),
        Wire::Gemini => format!(r#"{{"candidates":[{{"finishReason":"STOP"}}],"usageMetadata":{usage}}}"#),
        _ => format!(r#"{{"usage":{usage},"metadata":{{"usage":{{}}}}}}"#),
    };
    stage.answered(Answer::json(200, document)).await.expect(200);
    check_counts(&stage.usage(1).await, &[&[("requests", 1), ("calls", 1)], expected].concat());
    let events = match wire {
        Wire::Chat => vec![
            chat::delta("a"),
            chat::finish("stop"),
            data(&format!(r#"{{"choices":[],"usage":{usage}}}"#)),
            chat::DONE.to_owned(),
        ],
        Wire::Responses => {
            vec![responses::created(), event("response.completed", &format!(r#""response":{{"usage":{usage}}}"#))]
        }
        Wire::Claude => vec![
            event("message_start", &format!(r#""message":{{"usage":{usage}}}"#)),
            event("message_delta", &format!(r#""usage":{usage}"#)),
            claude::message_stop(),
        ],
        Wire::Gemini => vec![
            data(&gemini::chunk("a", "", &gemini::usage_object(1, 0))),
            data(&gemini::chunk("b", r#","finishReason":"STOP""#, usage)),
        ],
    };
    let mut stream = stage.streamed(Answer::sse(events)).await;
    assert_eq!(stream.rest().await.1, End::Complete);
    let doubled: Vec<(&str, i64)> = expected.iter().map(|(name, count)| (*name, 2 * count)).collect();
    check_counts(&stage.usage(2).await, &[&[("requests", 2), ("calls", 2)], &doubled[..]].concat());
}

#[tokio::test]
async fn chat_details_are_taken_out_of_the_totals() {
    check_usage(
        Wire::Chat,
        r#"{"prompt_tokens":1200,"completion_tokens":340,"total_tokens":1540,"prompt_tokens_details":{"cached_tokens":1024,"cache_write_tokens":128,"audio_tokens":8,"text_tokens":1192},"completion_tokens_details":{"reasoning_tokens":256,"audio_tokens":4,"accepted_prediction_tokens":1}}"#,
        &[
            ("input", 40),
            ("cache_read", 1024),
            ("cache_write_short", 128),
            ("audio_input", 8),
            ("output", 80),
            ("reasoning", 256),
            ("audio_output", 4),
        ],
    )
    .await;
    let nulls =
        r#"{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":null,"completion_tokens_details":{}}"#;
    check_usage(Wire::Chat, nulls, &[("input", 9), ("output", 3)]).await;
}

/// Compatible vendors report details that are larger than the total.
#[tokio::test]
async fn details_beyond_the_total_do_not_wrap_around() {
    let usage = r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":12},"completion_tokens_details":{"reasoning_tokens":9}}"#;
    check_usage(Wire::Chat, usage, &[("cache_read", 12), ("reasoning", 9)]).await;
}

#[tokio::test]
async fn responses_details_are_taken_out_of_the_totals() {
    check_usage(
        Wire::Responses,
        r#"{"input_tokens":1200,"input_tokens_details":{"cached_tokens":1024,"cache_write_tokens":128,"cache_write_tokens_details":{"ttl_30m_tokens":100,"ttl_12h_tokens":28}},"output_tokens":340,"output_tokens_details":{"reasoning_tokens":256},"total_tokens":1540}"#,
        &[
            ("input", 48),
            ("cache_read", 1024),
            ("cache_write_short", 100),
            ("cache_write_long", 28),
            ("output", 84),
            ("reasoning", 256),
        ],
    )
    .await;
}

/// B37: each token of a cached Claude prompt stands in one class.
#[tokio::test]
async fn b37_claude_cache_tokens_are_counted_once() {
    check_usage(
        Wire::Claude,
        r#"{"input_tokens":12,"cache_creation_input_tokens":2000,"cache_read_input_tokens":50000,"cache_creation":{"ephemeral_5m_input_tokens":1500,"ephemeral_1h_input_tokens":500},"output_tokens":80}"#,
        &[
            ("input", 12),
            ("cache_read", 50_000),
            ("cache_write_short", 1500),
            ("cache_write_long", 500),
            ("output", 80),
        ],
    )
    .await;
    check_usage(
        Wire::Claude,
        r#"{"input_tokens":48,"cache_creation_input_tokens":128,"output_tokens":340,"output_tokens_details":{"thinking_tokens":256},"service_tier":"standard","server_tool_use":{"web_search_requests":1}}"#,
        &[("input", 48), ("cache_write_short", 128), ("output", 84), ("reasoning", 256)],
    )
    .await;
}

/// B38: Gemini's thoughts stand beside its candidates, unless the total says that they are within.
#[tokio::test]
async fn b38_gemini_thoughts_are_counted() {
    check_usage(
        Wire::Gemini,
        r#"{"promptTokenCount":20,"cachedContentTokenCount":8,"candidatesTokenCount":198,"thoughtsTokenCount":405,"toolUsePromptTokenCount":0,"totalTokenCount":623}"#,
        &[("input", 12), ("cache_read", 8), ("output", 198), ("reasoning", 405)],
    )
    .await;
    let only_thoughts = r#"{"promptTokenCount":20,"thoughtsTokenCount":405,"totalTokenCount":425}"#;
    check_usage(Wire::Gemini, only_thoughts, &[("input", 20), ("reasoning", 405)]).await;
    let within = r#"{"promptTokenCount":20,"candidatesTokenCount":600,"thoughtsTokenCount":400,"totalTokenCount":620}"#;
    check_usage(Wire::Gemini, within, &[("input", 20), ("output", 200), ("reasoning", 400)]).await;
    let tools = r#"{"promptTokenCount":20,"toolUsePromptTokenCount":30,"candidatesTokenCount":5,"totalTokenCount":55,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":6},{"modality":"TEXT","tokenCount":14}]}"#;
    check_usage(Wire::Gemini, tools, &[("input", 44), ("audio_input", 6), ("output", 5)]).await;
}

/// B76: figures that no vendor means do no harm.
#[tokio::test]
async fn b76_absurd_figures_do_no_harm() {
    let stage = Stage::new(Wire::Chat).await;
    for (settled, usage) in [
        r#"{"prompt_tokens":-5,"completion_tokens":3}"#,
        r#"{"prompt_tokens":1e400,"completion_tokens":3}"#,
        r#"{"prompt_tokens":"many"}"#,
        r#"{"prompt_tokens":18446744073709551615,"completion_tokens":18446744073709551615}"#,
        r#"{"prompt_tokens":1.5}"#,
        r#"[]"#,
        r#""usage""#,
        r#"0"#,
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(r#"{{"choices":[],"usage":{usage}}}"#);
        let reply = stage.answered(Answer::json(200, body.clone())).await;
        assert_eq!((reply.status, reply.text()), (200, body.as_str()));
        let total = stage.usage(settled as i64 + 1).await;
        assert!(total["input"].as_i64() >= Some(0) && total["input"].as_i64() < Some(1 << 53), "{usage}: {total}");
    }
}

/// Requests that never reached a vendor are requests without a call.
#[tokio::test]
async fn requests_without_a_call_are_counted_as_such() {
    let stage = Stage::new(Wire::Chat).await;
    stage.post("/v1/chat/completions", Wire::Chat.request("nobody/knows", false)).send().await.expect(404);
    check_counts(&stage.usage(1).await, &[("requests", 1)]);
    // What cannot be read, or whoever is not let in, is not a request on anybody's account.
    stage.post("/v1/chat/completions", "{").send().await.expect(400);
    stage.call(false).header("x-test", "1").send().await;
    assert_eq!(stage.usage(2).await["calls"], 1);
}

#[tokio::test]
async fn a_failed_call_is_counted_without_tokens() {
    let stage = Stage::new(Wire::Claude).await;
    for status in [400, 429, 500, 529] {
        stage.answered(Answer::json(status, Wire::Claude.vendor_error(status, "no"))).await.expect(status);
    }
    check_counts(&stage.usage(4).await, &[("requests", 4), ("calls", 4), ("failed_calls", 4)]);
}

#[tokio::test]
async fn totals_can_be_made_by_model_provider_key_and_day() {
    let (one, other) = (Stage::new(Wire::Chat).await, Stage::new(Wire::Claude).await);
    let route = format!("route-{}", unique());
    let members = [json!({"provider": one.provider, "model": "m"})];
    one.host.import(&json!({"routes": [{"name": route, "members": members}]})).await;
    for stage in [&one, &other] {
        stage.upstream.always(Answer::json(200, stage.wire.answer()));
        stage.call(false).send().await.expect(200);
    }
    one.post("/v1/chat/completions", Wire::Chat.request(&route, false)).send().await.expect(200);
    one.usage(2).await;
    other.usage(1).await;
    let totals = async |query: &str| -> Vec<Value> {
        let report = Host::shared().admin(&format!("/admin/api/usage{query}")).await;
        report["totals"].as_array().unwrap().clone()
    };
    let find = |totals: &[Value], member: &str, name: &str| -> Value {
        totals.iter().find(|total| total[member] == name).cloned().unwrap_or_default()
    };
    let by_model = totals("?group_by=model").await;
    assert_eq!(find(&by_model, "model", &route)["requests"], 1);
    assert_eq!(find(&by_model, "model", &one.model())["input"], 11);
    let by_provider = totals("?group_by=provider").await;
    assert_eq!(find(&by_provider, "provider", &one.provider)["input"], 22);
    let by_key = totals("?group_by=key").await;
    assert_eq!(find(&by_key, "key", &other.key_name)["output"], 5);
    let by_all = totals("?group_by=day,%20model,provider,key").await;
    let total = find(&by_all, "model", &route);
    let members: Vec<&str> = total.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members[..4], ["day", "model", "provider", "key"]);
    assert_eq!((&total["provider"], &total["key"]), (&json!(one.provider), &json!(one.key_name)));
    let day = total["day"].as_str().unwrap();
    assert!(day.len() == 10 && day.starts_with("20"), "{day}");
    let whole = totals("").await;
    assert_eq!(whole.len(), 1);
    assert!(whole[0]["requests"].as_i64() >= Some(3) && whole[0].get("day").is_none(), "{whole:?}");
}

#[tokio::test]
async fn totals_can_be_bounded_in_time() {
    let stage = Stage::new(Wire::Chat).await;
    stage.answered(Answer::json(200, Wire::Chat.answer())).await.expect(200);
    stage.usage(1).await;
    for (query, found) in [
        ("&from=2020-01-01", true),
        ("&from=2020-01-01T00:00:00Z&until=2020-01-02", false),
        ("&until=2099-01-01T00:00:00%2B02:00", true),
        ("&from=2099-01-01", false),
    ] {
        let report = stage.host.admin(&format!("/admin/api/usage?group_by=key{query}")).await;
        let totals = report["totals"].as_array().unwrap();
        assert_eq!(totals.iter().any(|total| total["key"] == stage.key_name), found, "{query}");
        assert!(report["from"].as_str().unwrap() < "2100" && report["until"].is_string(), "{report}");
    }
    let report = stage.host.admin("/admin/api/usage?from=2026-11-30&until=2026-12-01T12:30:00Z").await;
    assert_eq!((&report["from"], &report["until"]), (&json!("2026-11-30T00:00:00Z"), &json!("2026-12-01T12:30:00Z")));
}

#[tokio::test]
async fn a_query_that_makes_no_sense_is_refused() {
    for query in ["group_by=user", "group_by=day;model", "from=yesterday", "until=2026-13-01", "from=1790000000"] {
        let call = Host::shared().get(format!("/admin/api/usage?{query}")).key(ADMIN_TOKEN);
        let message = check::admin_error(&call.send().await, 400, "invalid_request");
        let name = query.split('=').next().unwrap();
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
}
