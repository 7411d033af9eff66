//! The usual set: a vendor, a provider for it and a gateway key, under names that no other case has.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Call, Reply, Stream};
use super::host::{ADMIN_TOKEN, Host};
use super::script::Answer;
use super::upstream::{Recorded, SUITE_MARK, Upstream};
use super::vendors::Wire;

/// A number that no other case of this run has.
pub fn unique() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A gateway key that no other case has.
pub fn new_key() -> String {
    format!("tg-{SUITE_MARK}-{:08}", unique())
}

/// The secret of a vendor's account. It is not one of the gateway's, so it carries no mark.
pub fn new_secret() -> String {
    format!("sk-vendor-{:08}-abcdefgh", unique())
}

/// A vendor, the provider that leads to it, and a key to call it with.
pub struct Stage<'a> {
    pub host: &'a Host,
    pub wire: Wire,
    pub upstream: Upstream,
    /// The provider's name.
    pub provider: String,
    /// The secret of the provider's only credential.
    pub secret: String,
    /// The name of the key.
    pub key_name: String,
    pub key: String,
}

impl Stage<'static> {
    /// A stage on the shared gateway, at a vendor that speaks `wire`.
    pub async fn new(wire: Wire) -> Self {
        Self::on(Host::shared(), wire).await
    }

    /// The same, with members of the provider's document replaced.
    pub async fn with(wire: Wire, members: Value) -> Self {
        Self::on_with(Host::shared(), wire, members).await
    }
}

impl<'a> Stage<'a> {
    /// A stage on a gateway of its own.
    pub async fn on(host: &'a Host, wire: Wire) -> Self {
        Self::on_with(host, wire, json!({})).await
    }

    /// The same, with members of the provider's document replaced.
    pub async fn on_with(host: &'a Host, wire: Wire, members: Value) -> Self {
        let upstream = Upstream::start().await;
        let (provider, key_name) = (format!("provider-{}", unique()), format!("key-{}", unique()));
        let stage = Self { host, wire, upstream, provider, secret: new_secret(), key_name, key: new_key() };
        let mut provider = stage.provider_document();
        for (name, value) in members.as_object().expect("members") {
            provider[name] = value.clone();
        }
        host.import(&json!({
            "providers": [provider],
            "keys": [{"name": stage.key_name, "key": stage.key}],
        }))
        .await;
        stage
    }

    /// The provider as it is described by default.
    pub fn provider_document(&self) -> Value {
        json!({
            "name": self.provider,
            "channel": self.wire.channel(),
            "base_url": self.upstream.url(self.wire.base_path()),
            "network": "private",
            "credentials": [{"name": "account", "secret": self.secret}],
        })
    }

    /// The name of a model of this provider.
    pub fn model(&self) -> String {
        format!("{}/vendor-model", self.provider)
    }

    /// An ordinary request of a client.
    pub fn call(&self, stream: bool) -> Call {
        let model = self.model();
        self.post(&self.wire.target(&model, stream), self.wire.request(&model, stream))
    }

    /// A request with this stage's key.
    pub fn post(&self, target: &str, body: impl Into<bytes::Bytes>) -> Call {
        self.host.post(target, body).key(&self.key)
    }

    /// Sends an ordinary request and has the vendor answer it like this.
    pub async fn answered(&self, answer: Answer) -> Reply {
        self.upstream.answer(answer);
        self.call(false).send().await
    }

    /// Sends an ordinary request for a stream and has the vendor answer it like this.
    pub async fn streamed(&self, answer: Answer) -> Stream {
        self.upstream.answer(answer);
        self.call(true).open().await
    }

    /// Takes the provider for well again, whatever it did.
    pub async fn make_well(&self) {
        let names = json!({"providers": [self.provider]}).to_string();
        self.host.post("/admin/api/health/reset", names).key(ADMIN_TOKEN).send().await.expect(200);
    }

    /// The only request that the vendor has got.
    #[track_caller]
    pub fn recorded(&self) -> Recorded {
        self.upstream.request()
    }

    /// What is on the account of this stage's key once `requests` are settled.
    pub async fn usage(&self, requests: i64) -> Value {
        usage_of(self.host, &self.key_name, requests).await
    }
}

/// What is on the account of a key once `requests` are settled; more is a failure.
pub async fn usage_of(host: &Host, key_name: &str, requests: i64) -> Value {
    let asked = Instant::now();
    loop {
        let report = host.get("/admin/api/usage?group_by=key").key(ADMIN_TOKEN).send().await.expect(200).json();
        let totals = report["totals"].as_array().expect("totals");
        let total = totals.iter().find(|total| total["key"] == key_name).cloned().unwrap_or_default();
        let settled = total["requests"].as_i64().unwrap_or(0);
        assert!(settled <= requests, "settled too often: {total}");
        if settled == requests {
            return total;
        }
        assert!(asked.elapsed() < Duration::from_secs(10), "{requests} requests are not settled: {total}");
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

/// Checks the counts of a total; those that are not named have to be zero.
#[track_caller]
pub fn check_counts(total: &Value, expected: &[(&str, i64)]) {
    for (name, value) in total.as_object().expect("a total").iter().filter(|member| member.1.is_i64()) {
        let wanted = expected.iter().find(|expected| expected.0 == name).map_or(0, |expected| expected.1);
        assert_eq!(value.as_i64(), Some(wanted), "{name} in {total}");
    }
}
