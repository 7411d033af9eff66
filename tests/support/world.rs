//! Puts the fakes together: a world with one database, vendors, a clock, and any number of isolates in it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::poll_fn;
use http::{HeaderMap, Method, Request, Response};
use serde_json::{Value, json};
use tollgate::app::{Gateway, HostOptions};
use tollgate::engine::health::Probe;
use tollgate::platform::Scope;
use tollgate::platform::body::{Body, BodyError, ByteStream};
use tollgate::platform::notices::{NoNotices, Notices};
use tollgate::store::vault::Vault;

use super::clock::FakeClock;
use super::database::{FakeDatabase, Store};
use super::fetch::FakeFetch;
use super::host::{ADMIN_TOKEN, MASTER_KEY};
use super::notices::FakeNotices;
use super::random::FakeRandom;
use super::tasks::FakeTasks;
use super::variables::FakeVariables;
use super::vendors::Wire;

/// The gateway key that a configured world has.
pub const KEY: &str = "tg-suite-secret-key-of-the-world";
/// What an operator is told to do when the schema is behind.
pub const MIGRATION_HINT: &str = "run the command of this test";

/// What happened, in order, in all isolates.
#[derive(Clone, Default)]
pub struct Journal(Rc<RefCell<Vec<String>>>);

impl Journal {
    pub fn note(&self, what: impl Into<String>) {
        self.0.borrow_mut().push(what.into());
    }

    /// What happened since the last time that somebody asked.
    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// Everything around the isolates.
pub struct World {
    pub journal: Journal,
    pub store: Rc<Store>,
    pub fetch: FakeFetch,
    pub clock: FakeClock,
    pub tasks: FakeTasks,
    pub variables: FakeVariables,
    process_notices: FakeNotices,
    isolates: RefCell<u64>,
}

impl World {
    /// A world whose database has no table yet.
    pub fn without_schema() -> Self {
        let journal = Journal::default();
        let variables = FakeVariables::default();
        variables.set("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN);
        Self {
            store: Store::empty(journal.clone()),
            fetch: FakeFetch::new(journal.clone()),
            clock: FakeClock::new(),
            tasks: FakeTasks::default(),
            variables,
            process_notices: FakeNotices::new(journal.clone()),
            isolates: RefCell::new(0),
            journal,
        }
    }

    /// A world with an empty configuration.
    pub fn new() -> Self {
        let world = Self::without_schema();
        world.store.migrate();
        world
    }

    /// A world with a provider for each dialect, named like it, and a key.
    pub async fn configured() -> Self {
        let world = Self::new();
        let providers: Vec<Value> = Wire::ALL.into_iter().map(provider).collect();
        let document = json!({"providers": providers, "keys": [{"name": "key", "key": KEY}]});
        world.isolate().import(&document).await;
        world.journal.take();
        world
    }

    /// An isolate that has served nothing yet and hears of others only through the database.
    pub fn isolate(&self) -> Isolate {
        self.assemble(MASTER_KEY, Rc::new(NoNotices))
    }

    /// An isolate beside others in one process.
    pub fn isolate_of_process(&self) -> Isolate {
        self.assemble(MASTER_KEY, Rc::new(self.process_notices.clone()))
    }

    /// An isolate under another master key.
    pub fn isolate_under(&self, master_key: &str) -> Isolate {
        self.assemble(master_key, Rc::new(NoNotices))
    }

    fn assemble(&self, master_key: &str, notices: Rc<dyn Notices>) -> Isolate {
        *self.isolates.borrow_mut() += 1;
        let scope = Scope {
            database: Rc::new(FakeDatabase::new(self.store.clone())),
            fetch: Rc::new(self.fetch.clone()),
            clock: Rc::new(self.clock.clone()),
            random: Rc::new(FakeRandom::new(*self.isolates.borrow())),
            tasks: Rc::new(self.tasks.clone()),
            notices,
            variables: Rc::new(self.variables.clone()),
        };
        let options = HostOptions { max_body_bytes: 1 << 20, migration_hint: MIGRATION_HINT };
        let vault = Vault::new(master_key).expect("a master key");
        Isolate { gateway: Gateway::new(vault, options, &scope).unwrap(), scope, admitted: RefCell::default() }
    }

    /// Lets time pass.
    pub fn advance(&self, milliseconds: u64) {
        self.clock.advance(Duration::from_millis(milliseconds));
    }
}

/// The provider of a configured world that speaks `wire`.
pub fn provider(wire: Wire) -> Value {
    json!({
        "name": wire.dialect(),
        "channel": wire.channel(),
        "base_url": format!("https://vendor.example{}", wire.base_path()),
        "credentials": [{"name": "account", "secret": format!("sk-{}", wire.dialect())}],
    })
}

/// One isolate.
pub struct Isolate {
    pub gateway: Gateway,
    pub scope: Scope,
    /// The leases of calls that a test has had admitted and not begun, with whose they are.
    pub admitted: RefCell<Vec<(String, Probe)>>,
}

impl Isolate {
    /// Hands a request to the core, as a host does.
    pub async fn send(&self, method: Method, target: &str, key: &str, body: impl Into<Bytes>) -> Response<Body> {
        let request = Request::builder().method(method).uri(target).header("authorization", format!("Bearer {key}"));
        tollgate::http::handle(&self.gateway, &self.scope, request.body(Body::Whole(body.into())).expect("a request"))
            .await
    }

    /// Asks for an ordinary answer of the provider that speaks `wire`; the body is not read yet.
    pub async fn open(&self, wire: Wire, stream: bool) -> Response<Body> {
        self.open_with(wire, &format!("{}/m", wire.dialect()), stream, KEY).await
    }

    /// The same of any model with any key.
    pub async fn open_with(&self, wire: Wire, model: &str, stream: bool, key: &str) -> Response<Body> {
        self.send(Method::POST, &wire.target(model, stream), key, wire.request(model, stream)).await
    }

    /// Asks and reads everything.
    pub async fn ask(&self, wire: Wire, stream: bool) -> Whole {
        Whole::of(self.open(wire, stream).await).await
    }

    /// Asks with a key of its own.
    pub async fn ask_as(&self, key: &str) -> Whole {
        Whole::of(self.open_with(Wire::Chat, "openai_chat/m", false, key).await).await
    }

    /// Applies a document.
    pub async fn try_import(&self, document: &Value) -> Whole {
        Whole::of(self.send(Method::POST, "/admin/api/import", ADMIN_TOKEN, document.to_string()).await).await
    }

    /// Applies a document, which has to go well.
    pub async fn import(&self, document: &Value) -> Value {
        let reply = self.try_import(document).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }

    /// What the isolate tells of itself.
    pub async fn status(&self) -> Value {
        Whole::of(self.send(Method::GET, "/admin/api/status", ADMIN_TOKEN, "").await).await.json()
    }
}

/// An answer that was read to its end.
#[derive(Debug)]
pub struct Whole {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    /// Whether the body broke off.
    pub broken: bool,
}

impl Whole {
    pub async fn of(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let (bytes, end) = match body {
            Body::Whole(bytes) => (bytes.to_vec(), Ok(())),
            Body::Stream(mut stream) => read(&mut *stream).await,
        };
        Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(bytes).expect("text"),
            broken: end.is_err(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

async fn read(stream: &mut dyn ByteStream) -> (Vec<u8>, Result<(), BodyError>) {
    let mut read = Vec::new();
    loop {
        match next(stream).await {
            None => return (read, Ok(())),
            Some(Err(error)) => return (read, Err(error)),
            Some(Ok(piece)) => read.extend_from_slice(&piece),
        }
    }
}

/// The next piece of a stream.
pub async fn next(stream: &mut dyn ByteStream) -> Option<Result<Bytes, BodyError>> {
    poll_fn(|context| stream.poll_next(context)).await
}

/// Takes a future as far as it gets without waiting; `None` when it is not done then.
pub fn step<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    future.now_or_never()
}
