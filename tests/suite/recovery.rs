//! A trap in WebAssembly, which is what a panic is there, costs the request in which it happens and no other.

use std::time::Duration;

use crate::support::host::{Host, Kind, kind};
use crate::support::script::{Answer, Gate};
use crate::support::setup::Setup;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// The next request finds a fresh instance, and what is in the database.
#[tokio::test]
async fn a_worker_recovers_from_a_trap() {
    // A process is shared by isolates that a panic ends one task of; there is nothing to recover.
    if kind() == Kind::Native {
        return;
    }
    let host = Host::start(Setup::default().variable("SUITE_TRAPS", "1"));
    let stage = Stage::on(&host, Wire::Claude).await;
    stage.upstream.always(Answer::json(200, Wire::Claude.answer()));
    for _ in 0..3 {
        stage.call(false).send().await.expect(200);
        let trapped = host.get("/suite/trap").send().await;
        assert_eq!(trapped.status, 500, "{}", trapped.text());
        host.logged(|line| line.contains("trap: RuntimeError")).await;
        stage.call(false).send().await.expect(200);
    }
    assert_eq!(stage.usage(6).await["calls"], 6);
}

/// A stream that is under way when another request traps is not held for ever.
#[tokio::test]
async fn a_stream_ends_when_its_instance_is_gone() {
    if kind() == Kind::Native {
        return;
    }
    let host = Host::start(Setup::default().variable("SUITE_TRAPS", "1"));
    let stage = Stage::on(&host, Wire::Claude).await;
    let gate = Gate::new();
    let mut events = Wire::Claude.events();
    let first = events.remove(0);
    let mut stream = stage.streamed(Answer::sse([first.clone()]).wait(&gate).pieces(events)).await;
    stream.expect(&first).await;
    host.get("/suite/trap").send().await;
    gate.open();
    tokio::time::timeout(Duration::from_secs(5), stream.rest()).await.expect("the stream ends");
    stage.upstream.answer(Answer::json(200, Wire::Claude.answer()));
    stage.call(false).send().await.expect(200);
}
