//! What is known of providers and credentials: shown to operators, and reset by them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::Reply;
use crate::support::host::ADMIN_TOKEN;
use crate::support::script::Answer;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// What is shown of a stage's provider, once it is as expected: what one isolate has learnt is written beside the answer.
async fn shown(stage: &Stage<'_>, expected: impl Fn(&Value) -> bool) -> Value {
    let asked = Instant::now();
    loop {
        let reply = stage.host.get("/admin/api/health").key(ADMIN_TOKEN).send().await.expect(200);
        assert!(!reply.text().contains(&stage.secret), "a secret is shown");
        let health = reply.json();
        let providers = health["providers"].as_array().unwrap();
        let provider = providers.iter().find(|provider| provider["name"] == stage.provider).unwrap();
        if expected(provider) {
            return provider.clone();
        }
        assert!(asked.elapsed() < Duration::from_secs(10), "{provider}");
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

fn credential_is(state: &str) -> impl Fn(&Value) -> bool {
    move |provider| provider["credentials"][0]["state"] == state
}

async fn reset(stage: &Stage<'_>, target: &str, body: Value) -> Reply {
    stage.host.post(target, body.to_string()).key(ADMIN_TOKEN).send().await
}

/// Seconds from now until a time that is shown, such as `2026-11-30T12:00:00.25Z`.
fn seconds_until(time: &Value) -> i64 {
    let text = time.as_str().unwrap_or_else(|| panic!("{time} is no time"));
    let numbers: Vec<i64> =
        text.split(|character: char| !character.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second, ..] = numbers[..] else { panic!("{text} is no time") };
    // Days since 1970 of a civil date, by years that begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    days * 86_400 + hour * 3600 + minute * 60 + second - now.as_secs() as i64
}

#[tokio::test]
async fn a_rate_limit_is_shown_and_reset() {
    for wire in Wire::ALL {
        let stage = Stage::new(wire).await;
        shown(&stage, credential_is("ready")).await;
        let limited = Answer::json(429, wire.vendor_error(429, "slow down")).header("retry-after", "7200");
        stage.answered(limited).await.expect(429);
        let provider = shown(&stage, credential_is("resting")).await;
        let credential = &provider["credentials"][0];
        assert_eq!(credential["name"], "account", "{wire:?}");
        // The vendor's word is taken for half an hour, and shown whole.
        assert!((1700..=1800).contains(&seconds_until(&credential["until"])), "{credential}");
        assert!((7100..=7200).contains(&seconds_until(&credential["hint"])), "{credential}");
        assert!(!credential["cause"].as_str().unwrap().is_empty(), "{credential}");
        let rest = &credential["rests"][0];
        assert_eq!((&rest["kind"], &rest["model"]), (&json!("limited"), &json!("vendor-model")), "{credential}");
        reset(&stage, "/api/reset", json!({"providers": [stage.provider]})).await.expect(200);
        shown(&stage, credential_is("ready")).await;
    }
}

#[tokio::test]
async fn a_dead_credential_is_shown_and_reset() {
    let stage = Stage::new(Wire::Claude).await;
    stage.answered(Answer::json(401, Wire::Claude.vendor_error(401, "invalid x-api-key"))).await.expect(502);
    let provider = shown(&stage, credential_is("out")).await;
    assert_eq!(provider["credentials"][0]["rests"][0]["kind"], "dead");
    let body = json!({"provider": stage.provider, "credential": "account"});
    let reply = reset(&stage, "/admin/api/health/reset", body).await.expect(200);
    assert_eq!(reply.json(), json!({"status": "ok"}));
    shown(&stage, credential_is("ready")).await;
    stage.answered(Answer::json(200, Wire::Claude.answer())).await.expect(200);
}

#[tokio::test]
async fn a_breaker_is_shown_and_reset() {
    let stage = Stage::with(Wire::Chat, json!({"breaker": {"failure_threshold": 1}})).await;
    stage.answered(Answer::json(500, Wire::Chat.vendor_error(500, "no"))).await;
    let provider = shown(&stage, |provider| provider["breakers"][0]["state"] == "open").await;
    let breaker = &provider["breakers"][0];
    assert_eq!((&breaker["model"], &breaker["failure_count"]), (&json!("vendor-model"), &json!(1)));
    assert_eq!((&breaker["success_count"], &breaker["current_recovery_seconds"]), (&json!(0), &json!(300)));
    assert!((200..=300).contains(&seconds_until(&breaker["until"])), "{breaker}");
    assert!((-100..=1).contains(&seconds_until(&breaker["last_failure_time"])), "{breaker}");
    reset(&stage, "/api/reset", json!({"vendors": [stage.provider]})).await.expect(200);
    shown(&stage, |provider| provider["breakers"][0]["state"] == "closed").await;
}

/// What a bad request teaches is nothing.
#[tokio::test]
async fn a_bad_request_is_not_shown() {
    let stage = Stage::with(Wire::Chat, json!({"breaker": {"failure_threshold": 1}})).await;
    for status in [400, 404, 413, 422] {
        stage.answered(Answer::json(status, Wire::Chat.vendor_error(status, "no"))).await.expect(status);
    }
    stage.usage(4).await;
    let provider = shown(&stage, credential_is("ready")).await;
    assert_eq!(provider["breakers"], json!([]));
}

#[tokio::test]
async fn a_quota_is_shown_and_reset() {
    let quotas =
        json!([{"budget": 20, "window_hours": 5, "threshold_percent": 50}, {"budget": 1000, "window_hours": 168}]);
    let stage = Stage::with(Wire::Chat, json!({"quotas": quotas})).await;
    let provider = shown(&stage, |provider| provider["quotas"][0]["state"] == "within_quota").await;
    assert_eq!(provider["quotas"][0]["window_usage_tokens"], 0);
    stage.answered(Answer::json(200, Wire::Chat.answer())).await.expect(200);
    let provider = shown(&stage, |provider| provider["quotas"][0]["state"] == "quota_exceeded").await;
    let quota = &provider["quotas"][0];
    assert_eq!((&quota["window_usage_tokens"], &quota["budget_tokens"]), (&json!(16), &json!(20)));
    assert_eq!((&quota["usage_percent"], &quota["threshold_percent"]), (&json!(80.0), &json!(50.0)));
    let weekly = &provider["quotas"][1];
    assert_eq!((&weekly["state"], &weekly["window_usage_tokens"]), (&json!("within_quota"), &json!(16)));
    reset(&stage, "/admin/api/health/reset", json!({"provider": stage.provider, "quotas": true})).await.expect(200);
    shown(&stage, |provider| provider["quotas"][0]["window_usage_tokens"] == 0).await;
}

/// The status tells the same, beside what it always told.
#[tokio::test]
async fn the_status_has_it_too() {
    let stage = Stage::new(Wire::Gemini).await;
    for path in ["/api/status", "/admin/api/status"] {
        let status = stage.host.admin(path).await;
        assert!(status["providers"].is_u64() && status["revision"].is_u64(), "{status}");
        let health = status["health"].as_array().unwrap();
        assert!(health.iter().any(|provider| provider["name"] == stage.provider), "{status}");
    }
}

#[tokio::test]
async fn a_reset_of_what_is_not_there_is_refused() {
    let stage = Stage::new(Wire::Chat).await;
    for (target, body) in [
        ("/api/reset", json!({"providers": ["nobody"]})),
        ("/admin/api/health/reset", json!({"provider": stage.provider, "credential": "nobody"})),
        ("/admin/api/health/reset", json!({"unknown": true})),
        ("/api/reset", json!(3)),
    ] {
        let reply = reset(&stage, target, body).await.expect(400);
        assert_eq!(reply.json()["error"]["code"], "invalid_request");
    }
    // Nobody else may.
    let reply = stage.host.post("/api/reset", "{}").key(&stage.key).send().await.expect(401);
    assert_eq!(reply.json()["error"]["code"], "invalid_admin_token");
}
