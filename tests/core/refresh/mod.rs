//! Tokens that end: refreshed once however many isolates want it, and never lost.

mod races;
mod trouble;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use http::Method;
use serde_json::{Value, json};
use tollgate::platform::database::Value as Column;
use tollgate::platform::fetch::UpstreamRequest;

use crate::support::clock::BEGINNING;
use crate::support::fetch::{FakeAnswer, Piece};
use crate::support::host::ADMIN_TOKEN;
use crate::support::vendors::Wire;
use crate::support::world::{Isolate, KEY, Whole, World};

/// A vendor that takes each refresh token once, and only its newest access token.
#[derive(Clone, Default)]
struct Vendor(Rc<State>);

#[derive(Default)]
struct State {
    /// The number of the newest tokens: `access-0` and `refresh-0` at first.
    number: Cell<u32>,
    /// How often the token endpoint was asked.
    asked: Cell<u32>,
    /// What the token endpoint does instead.
    instead: RefCell<VecDeque<FakeAnswer>>,
    /// What the token endpoint waits for before it answers.
    gates: RefCell<VecDeque<tokio::sync::oneshot::Receiver<()>>>,
    /// Whether no access token is good enough.
    refuses_all: Cell<bool>,
    /// The form that the token endpoint got last.
    form: RefCell<String>,
}

impl Vendor {
    fn answer(&self, request: &UpstreamRequest) -> FakeAnswer {
        let State { number, asked, instead, gates, refuses_all, form } = &*self.0;
        if request.origin.host == "login.example" {
            asked.set(asked.get() + 1);
            *form.borrow_mut() = String::from_utf8(request.body.to_vec()).unwrap();
            if let Some(answer) = instead.borrow_mut().pop_front() {
                return answer;
            }
            let is_current = form.borrow().contains(&format!("refresh_token=refresh-{}&", number.get()));
            let (status, body) = if is_current {
                number.set(number.get() + 1);
                let number = number.get();
                let (access, refresh) = (format!("access-{number}"), format!("refresh-{number}"));
                (200, json!({"access_token": access, "refresh_token": refresh, "expires_in": 3600}))
            } else {
                (400, json!({"error": "invalid_grant"}))
            };
            let gate = gates.borrow_mut().pop_front().map(Piece::Wait);
            let pieces = gate.into_iter().chain([Piece::Bytes(body.to_string().into())]).collect();
            return FakeAnswer::Respond(status, "application/json", pieces);
        }
        let token = request.headers["authorization"].to_str().unwrap();
        let is_good = token == format!("Bearer access-{}", number.get()) || token == "Bearer access-other";
        if is_good && !refuses_all.get() {
            FakeAnswer::json(200, Wire::Chat.answer())
        } else {
            FakeAnswer::json(401, Wire::Chat.vendor_error(401, "expired"))
        }
    }

    fn instead(&self, answer: FakeAnswer) {
        self.0.instead.borrow_mut().push_back(answer);
    }

    /// Has the next answer of the token endpoint wait until the sender is used or dropped. What it does to the tokens is done at once.
    fn hold_next(&self) -> tokio::sync::oneshot::Sender<()> {
        let (release, released) = tokio::sync::oneshot::channel();
        self.0.gates.borrow_mut().push_back(released);
        release
    }

    fn asked(&self) -> u32 {
        self.0.asked.get()
    }
}

/// Tokens that end so many seconds after the beginning of the world.
fn tokens(number: u32, seconds: i64) -> Value {
    json!({
        "access_token": format!("access-{number}"),
        "refresh_token": format!("refresh-{number}"),
        "expires_at": BEGINNING.0 + seconds * 1000,
    })
}

fn document(credentials: Value) -> Value {
    json!({"providers": [{
        "name": "login",
        "channel": "custom",
        "base_url": "https://vendor.example/v1",
        "dialects": ["openai_chat"],
        "oauth": {"token_url": "https://login.example/token", "client_id": "client", "client_secret": "hush"},
        "credentials": credentials,
    }]})
}

/// A world in which a provider has these credentials.
async fn world(credentials: Value) -> (World, Vendor) {
    let world = World::configured().await;
    let vendor = Vendor::default();
    let answering = vendor.clone();
    world.fetch.always(move |request| answering.answer(request));
    world.isolate().import(&document(credentials)).await;
    world.journal.take();
    (world, vendor)
}

/// A world with one account, whose access token ends so many seconds after the beginning.
async fn world_with(seconds: i64) -> (World, Vendor) {
    world(json!([{"name": "account", "secret": tokens(0, seconds)}])).await
}

async fn ask(isolate: &Isolate) -> Whole {
    Whole::of(isolate.open_with(Wire::Chat, "login/m", false, KEY).await).await
}

/// The access tokens that calls were made with, in their order.
fn used(world: &World) -> Vec<String> {
    let calls = world.fetch.requests().into_iter().filter(|request| request.origin.host == "vendor.example");
    calls.map(|request| request.headers["authorization"].to_str().unwrap().replace("Bearer ", "")).collect()
}

fn version(world: &World) -> i64 {
    match world.store.run("SELECT MAX(version) FROM credentials")[0][0] {
        Column::Integer(version) => version,
        ref other => panic!("{other:?}"),
    }
}

fn leases(world: &World) -> usize {
    world.store.run("SELECT subject FROM leases").len()
}

/// A token that lasts is used as it is, and costs no round trip.
#[tokio::test]
async fn a_token_that_lasts_costs_nothing() {
    let (world, vendor) = world_with(61).await;
    let isolate = world.isolate();
    assert_eq!(ask(&isolate).await.status, 200);
    world.journal.take();
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!(world.journal.take(), ["read 1", "fetch", "deferred 1"]);
    assert_eq!((vendor.asked(), used(&world)), (0, vec!["access-0".to_owned(); 2]));
}

/// One that ends within the margin is made anew first: a batch for the lease, one to store the new tokens before they are used.
#[tokio::test]
async fn a_token_that_ends_soon_is_made_anew_before_it_is_used() {
    let (world, vendor) = world_with(60).await;
    let isolate = world.isolate();
    isolate.status().await;
    world.journal.take();
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!(world.journal.take(), ["read 2", "write 2", "fetch", "write 3", "fetch", "deferred 1"]);
    let form = "grant_type=refresh_token&refresh_token=refresh-0&client_id=client&client_secret=hush";
    assert_eq!(*vendor.0.form.borrow(), form);
    assert_eq!(used(&world), ["access-1"]);
    assert_eq!((version(&world), leases(&world)), (1, 0));
    // The next request loads the credentials, and nothing else.
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!(world.journal.take(), ["read 1", "read 2", "fetch", "deferred 1"]);
    assert_eq!((vendor.asked(), used(&world).len()), (1, 2));
    // Other isolates have it from the database, new ones and old ones.
    assert_eq!(ask(&world.isolate()).await.status, 200);
    assert_eq!(vendor.asked(), 1);
}

/// Without an access token the first call fetches one.
#[tokio::test]
async fn a_refresh_token_alone_is_enough() {
    let (world, vendor) = world(json!([{"name": "account", "secret": r#"{"refresh_token":"refresh-0"}"#}])).await;
    assert_eq!(ask(&world.isolate()).await.status, 200);
    assert_eq!((vendor.asked(), used(&world)), (1, vec!["access-1".to_owned()]));
}

/// An access token may end before its time: it is made anew once, and the same credential tried once more.
#[tokio::test]
async fn a_refused_token_is_made_anew_once() {
    let (world, vendor) = world_with(3000).await;
    vendor.0.number.set(7);
    world
        .isolate()
        .import(&document(json!([{"name": "account", "secret": {
        "access_token": "access-6", "refresh_token": "refresh-7", "expires_at": BEGINNING.0 + 3_000_000}}])))
        .await;
    let isolate = world.isolate();
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!((vendor.asked(), used(&world)), (1, vec!["access-6".to_owned(), "access-8".to_owned()]));
    // A second refusal stands.
    vendor.0.refuses_all.set(true);
    let reply = ask(&isolate).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (502, &json!("upstream_credential_refused")));
    assert_eq!((vendor.asked(), used(&world).len()), (2, 4));
    // Each call is a row of its own.
    assert_eq!(world.store.run("SELECT COUNT(*) FROM usage")[0][0], Column::Integer(4));
}

/// A 403 only means an ended token where the provider says so.
#[tokio::test]
async fn a_403_is_taken_for_an_ended_token_where_that_is_said() {
    for (statuses, asked) in [(json!([401]), 0), (json!([401, 403]), 1)] {
        let (world, vendor) = world_with(3000).await;
        let mut changed = document(json!([{"name": "account"}]));
        changed["providers"][0]["oauth"]["refresh_statuses"] = statuses;
        world.isolate().import(&changed).await;
        world.fetch.answer(FakeAnswer::json(403, Wire::Chat.vendor_error(403, "no")));
        let reply = ask(&world.isolate()).await;
        assert_eq!((reply.status, vendor.asked()), (if asked == 1 { 200 } else { 502 }, asked));
    }
}

/// The same document applied again is no change and does not bring the first tokens back.
#[tokio::test]
async fn the_document_does_not_bring_old_tokens_back() {
    let (world, vendor) = world_with(10).await;
    let isolate = world.isolate();
    assert_eq!(ask(&isolate).await.status, 200);
    let mut again = tokens(0, 10);
    // In another order, and with the time in another form, they are the same tokens.
    again = json!({"expires_at": again["expires_at"].take(), "refresh_token": "refresh-0", "access_token": "access-0"});
    let same = document(json!([{"name": "account", "secret": again.to_string()}]));
    assert_eq!(isolate.import(&same).await["changes"], json!([]));
    // Another attribute is written without the secret being touched.
    let heavier = document(json!([{"name": "account", "secret": tokens(0, 10), "weight": 7}]));
    assert_eq!(isolate.import(&heavier).await["changes"][0]["fields"], json!(["weight"]));
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!((vendor.asked(), version(&world)), (1, 1));
    // New tokens are new.
    vendor.0.number.set(5);
    let new = document(json!([{"name": "account", "secret": tokens(5, 3000), "weight": 7}]));
    assert_eq!(isolate.import(&new).await["changes"][0]["fields"], json!(["secret"]));
    assert_eq!(ask(&isolate).await.status, 200);
    assert_eq!((vendor.asked(), version(&world), used(&world).pop().unwrap()), (1, 2, "access-5".to_owned()));
}

/// Neither tokens nor the client's secret leave the database as they are.
#[tokio::test]
async fn nothing_secret_is_told() {
    let (world, _) = world_with(10).await;
    let isolate = world.isolate();
    assert_eq!(ask(&isolate).await.status, 200);
    let export = Whole::of(isolate.send(Method::GET, "/admin/api/export", ADMIN_TOKEN, "").await).await;
    let oauth = json!({"token_url": "https://login.example/token", "client_id": "client"});
    let providers = export.json()["providers"].clone();
    let provider = providers.as_array().unwrap().iter().find(|provider| provider["name"] == "login").unwrap();
    assert_eq!((&provider["oauth"], &provider["credentials"]), (&oauth, &json!([{"name": "account"}])));
    let stored =
        format!("{:?}{:?}", world.store.run("SELECT * FROM credentials"), world.store.run("SELECT * FROM providers"));
    for secret in ["access-", "refresh-0", "refresh-1", "hush"] {
        assert!(!export.text.contains(secret) && !stored.contains(secret), "{secret}");
    }
    // The export applied again keeps the client's secret.
    assert_eq!(isolate.import(&export.json()).await["changes"], json!([]));
    let mut without = document(json!([{"name": "account"}]));
    without["providers"][0]["oauth"]["client_secret"] = "".into();
    assert_eq!(isolate.import(&without).await["changes"][0]["fields"], json!(["oauth"]));
}
