//! What one isolate learns of upstreams, the others know with their next tick.

mod breakers;
mod quotas;
mod reports;
mod rests;
mod writing;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tollgate::engine::failure::{Failure, FailureKind};
use tollgate::engine::health::{Place, Standing};
use tollgate::engine::select::Target;
use tollgate::engine::settle::{Attribution, Settlement};
use tollgate::engine::snapshot::{Credential, Provider};
use tollgate::platform::clock::Timestamp;
use tollgate::protocol::dialect::Dialect;
use tollgate::protocol::meter::{Outcome, Reading};
use tollgate::protocol::operation::Operation;
use tollgate::protocol::request::ClientRequest;
use tollgate::protocol::usage::Usage;
use tollgate::store::{id, revision};

use crate::support::world::{Isolate, KEY, World};

/// The provider of these cases, with members added.
fn provider(members: Value) -> Value {
    let mut provider = json!({
        "name": "vendor",
        "channel": "openai",
        "base_url": "https://vendor.example/v1",
        "credentials": [{"name": "one", "secret": "sk-one"}, {"name": "two", "secret": "sk-two"}],
    });
    for (name, value) in members.as_object().unwrap() {
        provider[name] = value.clone();
    }
    provider
}

/// A world with that provider.
async fn world(members: Value) -> World {
    let world = World::new();
    let document = json!({"providers": [provider(members)], "keys": [{"name": "key", "key": KEY}]});
    world.isolate().import(&document).await;
    world.journal.take();
    world
}

/// How a call ends.
#[derive(Clone, Copy)]
enum End {
    /// With an answer of so many tokens.
    Well(u64),
    /// With a failure, and for how many seconds the vendor wants to be left alone.
    Failed(FailureKind, u64),
    /// The client leaves.
    Left,
}

use End::{Failed, Left, Well};

/// A call that is under way.
struct Call {
    settlement: Settlement,
}

impl Isolate {
    /// Asks the database, as each request does first.
    async fn look(&self) {
        self.gateway.handle.tick(&self.scope, vec![revision::read()]).await.unwrap();
    }

    fn now(&self) -> Timestamp {
        self.scope.clock.now()
    }

    fn provider(&self) -> Rc<Provider> {
        self.gateway.handle.snapshot().unwrap().routing.providers["vendor"].clone()
    }

    fn credential(&self, name: &str) -> Rc<Credential> {
        let snapshot = self.gateway.handle.snapshot().unwrap();
        let all = snapshot.credentials_of(&self.provider()).to_vec();
        all.into_iter().find(|credential| &*credential.name == name).unwrap()
    }

    /// Begins a call of `model` with a credential.
    fn begin(&self, model: &str, credential: &str) -> Call {
        let body = r#"{"model":"pool","messages":[]}"#;
        let request = ClientRequest::from_body(Dialect::OpenAiChat, Operation::Generate, body.into()).unwrap();
        let attribution = Attribution { api_key_id: "k".into(), api_key: "key".into() };
        let health = self.gateway.handle.health();
        let mut settlement = Settlement::begin(&self.scope, health, id::new(&self.scope), attribution, &request);
        let place = format!("{model} {credential}");
        let mut all = self.admitted.borrow_mut();
        if let Some(found) = all.iter().position(|(admitted, _)| *admitted == place) {
            assert!(settlement.admitted(Ok(Some(all.remove(found).1))).is_ok());
        }
        let credential = self.credential(credential);
        let target = Target {
            provider: self.provider(),
            model: model.into(),
            policy: Rc::default(),
            credentials: vec![credential.clone()],
        };
        settlement.call_began(&target, Some(&credential), credential.version);
        Call { settlement }
    }

    /// A tick, a call of `model` with a credential, and its settlement.
    async fn call(&self, model: &str, credential: &str, end: End) {
        self.look().await;
        self.begin(model, credential).end(end);
    }

    /// The standing of a credential after a tick.
    async fn credential_standing(&self, model: &str, credential: &str) -> Standing {
        self.look().await;
        self.gateway.handle.health().of_credential(&self.credential(credential), model, self.now())
    }

    /// The standing of the provider after a tick.
    async fn provider_standing(&self, model: &str) -> Standing {
        self.look().await;
        self.gateway.handle.health().of_provider(&self.provider(), model, self.now())
    }

    /// Whether a call may begin, after a tick.
    async fn admits(&self, model: &str, credential: &str) -> bool {
        self.look().await;
        let (provider, credential, model) = (self.provider(), self.credential(credential), Arc::from(model));
        let place = Place {
            provider: &provider,
            credential: Some(&credential),
            secret_version: credential.version,
            model: &model,
        };
        let admitted = self.gateway.handle.health().admit(&self.scope, place).await;
        let is_admitted = admitted.is_ok();
        if let Ok(Some(probe)) = admitted {
            self.admitted.borrow_mut().push((format!("{model} {}", credential.name), probe));
        }
        is_admitted
    }

    /// What an operator sees of the provider.
    async fn shown(&self) -> Value {
        let status = self.status().await;
        let providers = status["health"].as_array().unwrap();
        providers.iter().find(|provider| provider["name"] == "vendor").unwrap().clone()
    }
}

impl Call {
    fn end(mut self, end: End) {
        match end {
            Well(tokens) => {
                self.settlement.response_began(200);
                let usage = Some(Usage { input: tokens, ..Usage::default() });
                self.settlement.answer_ended("ok", &Reading { usage, outcome: Outcome::Finished, pieces: 0 }, None);
            }
            Failed(kind, seconds) => {
                self.fail(kind, seconds);
                self.settlement.failed(502, "upstream_error");
            }
            Left => drop(self.settlement),
        }
    }

    fn fail(&mut self, kind: FailureKind, seconds: u64) {
        let retry_after = (seconds > 0).then(|| Duration::from_secs(seconds));
        let failure = Failure { kind, status: 500, retry_after, cause: "the test wants it so".into() };
        self.settlement.call_failed("upstream_error", &failure);
    }
}

/// A standing in a word, and for how many seconds it lasts.
fn word(world: &World, standing: &Standing) -> (&'static str, Option<i64>) {
    let now = tollgate::platform::clock::Clock::now(&world.clock);
    (standing.name(), standing.rest().and_then(|rest| rest.until).map(|until| until.millis_since(now) / 1000))
}
