//! Measures how long it takes from a request to a plan where a provider has many credentials, and prints a line for each case:
//! `select.STRATEGY.CREDENTIALS.RESTING ns=… ratio=…`. The reference is a plain copy of the list of credentials in the same run, which is
//! the least that every way of sorting them would have to do; `ratio` is how many such copies a choice takes.

use std::collections::HashSet;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tollgate::engine::health::{Rest, Standing};
use tollgate::engine::select::{Reach, Standings};
use tollgate::engine::snapshot::{Credential, Credentials, Provider, Routing, Snapshot};
use tollgate::platform::clock::Timestamp;
use tollgate::sdk::Question;
use tollgate::store::credential::CredentialRow;
use tollgate::store::options::CredentialPolicy;
use tollgate::store::provider::ProviderRow;
use tollgate::store::revision::Revisions;
use tollgate::store::settings::Settings;

/// How long one slice is.
const SLICE: Duration = Duration::from_millis(2);

/// Credentials that rest, by their ids, as an isolate's view of health has them.
struct Resting(HashSet<String>, Arc<str>);

impl Standings for Resting {
    fn of_provider(&self, _: &Provider, _: &str, _: Timestamp) -> Standing {
        Standing::Ready
    }

    fn of_credential(&self, credential: &Credential, _: &str, _: Timestamp) -> Standing {
        if self.0.contains(&*credential.id) {
            Standing::Resting(Rest { until: Some(Timestamp(1)), cause: self.1.clone() })
        } else {
            Standing::Ready
        }
    }
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.3);
    let time = Duration::from_secs_f64(seconds);
    let mut slowest: (f64, String) = (0.0, String::new());
    for strategy in ["weighted", "round_robin", "priority", "least_in_flight", "session"] {
        for is_uniform in [true, false] {
            for (count, resting) in [(500, 0), (500, 50), (500, 250), (500, 490)] {
                let snapshot = snapshot(strategy, count, is_uniform);
                let resting = Resting((0..resting).map(|place| id(place * count / resting)).collect(), "rests".into());
                let mut session = 0_u64;
                let nanos = best(time, || {
                    session = session.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    black_box(choose(&snapshot, &resting, session));
                });
                let list = snapshot.credentials_of(&snapshot.routing.providers["p"]).to_vec();
                let reference = best(time, || drop(black_box(list.clone())));
                let weights = if is_uniform { "equal" } else { "weights" };
                let name = format!("select.{strategy}.{weights}.{count}.{}", resting.0.len());
                println!("{name} ns={nanos:.0} ratio={:.2}", nanos / reference);
                println!("  copy ns={reference:.0}");
                if nanos > slowest.0 {
                    slowest = (nanos, name);
                }
            }
        }
    }
    println!("select.slowest {} ns={:.0}", slowest.1, slowest.0);
}

fn choose(snapshot: &Snapshot, resting: &Resting, session: u64) -> usize {
    let question = Question {
        model: "p/model",
        namespace: None,
        reach: &Reach::default(),
        owner: None,
        session: &|| Some(session),
        health: resting,
        now: Timestamp(0),
        is_rehearsal: false,
    };
    snapshot.resolve(&question).map_or(0, |plan| plan.targets.len())
}

/// Nanoseconds a run: the best of many short slices, since others share the machine.
fn best(time: Duration, mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    let end = Instant::now() + time;
    while Instant::now() < end {
        let started = Instant::now();
        let mut runs = 0;
        while started.elapsed() < SLICE {
            (0..16).for_each(|_| run());
            runs += 16;
        }
        best = best.min(started.elapsed().as_nanos() as f64 / f64::from(runs));
    }
    best
}

fn id(place: usize) -> String {
    format!("01KBCDEFGH{place:016}")
}

fn snapshot(strategy: &str, count: usize, is_uniform: bool) -> Snapshot {
    let provider = ProviderRow {
        id: "id-p".into(),
        name: "p".into(),
        channel: "openai".into(),
        base_url: None,
        enabled: true,
        options: serde_json::from_value(json!({"policy": {"strategy": strategy}})).unwrap(),
        created_at: Timestamp(0),
    };
    let credentials = (0..count).map(|place| CredentialRow {
        id: id(place).into(),
        provider_id: "id-p".into(),
        name: format!("account-{place:04}").into(),
        secret: "".into(),
        secret_digest: "".into(),
        enabled: true,
        weight: if is_uniform { 100 } else { 1 + (place as u32 * 7919) % 100 },
        policy: CredentialPolicy::default(),
        version: 0,
    });
    Snapshot {
        revisions: Revisions::default(),
        settings: Settings::default(),
        routing: Rc::new(Routing::assemble(vec![provider], vec![], vec![], vec![], vec![], None)),
        credentials: Rc::new(Credentials::assemble(credentials.collect(), vec![], None)),
    }
}
