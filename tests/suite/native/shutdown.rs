//! The end: answers under way may finish, but not for ever, and everything is settled.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use super::setup;
use crate::support::client::End;
use crate::support::host::Host;
use crate::support::raw::Raw;
use crate::support::script::{Answer, Ending, Gate};
use crate::support::stage::{Stage, check_counts, usage_of};
use crate::support::vendors::{Wire, sse};

/// An orderly end takes no longer, when nothing is under way.
const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_signal_ends_it_properly() {
    for signal in ["TERM", "INT"] {
        let host = Host::start(setup());
        host.signal(signal);
        let exit = host.exit(SOON);
        assert!(exit.status.success(), "{exit:?}");
    }
}

#[tokio::test]
async fn streams_under_way_may_finish() {
    for http2 in [false, true] {
        let host = Host::start(setup().argument("--threads", 2));
        let gate = Gate::new();
        let mut streams = Vec::new();
        let mut stages = Vec::new();
        for wire in Wire::ALL {
            let stage = Stage::on(&host, wire).await;
            let events = wire.events();
            stage.upstream.answer(Answer::sse(events[..3].to_vec()).wait(&gate).pieces(events[3..].to_vec()));
            let call = stage.call(true);
            let mut stream = if http2 { call.http2() } else { call }.open().await;
            stream.expect(&sse(&events[..3])).await;
            streams.push((wire, stream));
            stages.push((stage.key_name, stage.upstream));
        }
        host.signal("TERM");
        until_refused(&host).await;
        (0..4).for_each(|_| gate.open());
        for (wire, mut stream) in streams {
            let rest = sse(&wire.events_for_client()[3..]);
            assert_eq!(stream.rest_text().await, (rest, End::Complete), "{wire:?}, HTTP/2 {http2}");
        }
        let setup = host.setup.clone();
        let exit = host.exit(SOON);
        assert!(exit.status.success(), "{exit:?}");
        // What they took was written before the end.
        let host = Host::start(setup);
        for (key_name, _upstream) in &stages {
            let counts = [("requests", 1), ("calls", 1), ("input", 11), ("output", 5)];
            check_counts(&usage_of(&host, key_name, 1).await, &counts);
        }
    }
}

async fn until_refused(host: &Host) {
    let asked = Instant::now();
    while TcpStream::connect(host.address).await.is_ok() {
        assert!(asked.elapsed() < SOON, "it goes on accepting connections");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What does not finish is cut off after the time that it was given, and settled all the same.
#[tokio::test]
async fn the_end_does_not_wait_for_ever() {
    let host = Host::start(setup().argument("--shutdown-timeout-seconds", 1));
    let stage = Stage::on(&host, Wire::Claude).await;
    let first = Wire::Claude.events().swap_remove(0);
    let mut stream = stage.streamed(Answer::sse([first.clone()]).ending(Ending::Silent)).await;
    stream.expect(&first).await;
    let waiting = stage.call(false);
    stage.upstream.answer(Answer::none(Ending::Silent));
    let waiting = tokio::spawn(async move { waiting.try_open().await.is_err() });
    stage.upstream.received(2).await;
    host.signal("TERM");
    let (_, end) = stream.rest().await;
    assert_eq!(end, End::Broken);
    assert!(waiting.await.unwrap(), "the other client has no answer");
    let (key_name, upstream, setup) = (stage.key_name, stage.upstream, host.setup.clone());
    let exit = host.exit(SOON);
    assert!(exit.status.success(), "{exit:?}");
    upstream.abandoned(2, SOON).await;
    let host = Host::start(setup);
    let total = usage_of(&host, &key_name, 2).await;
    assert_eq!((&total["calls"], &total["failed_calls"]), (&2.into(), &2.into()), "{total}");
}

/// Connections on which nothing is under way do not hold it.
#[tokio::test]
async fn idle_connections_do_not_hold_the_end() {
    let host = Host::start(setup());
    let mut clients = Vec::new();
    for _ in 0..5 {
        let mut client = Raw::connect(host.address).await;
        client.write("GET /health HTTP/1.1\r\nhost: a\r\n\r\n").await;
        client.read_until("\"ok\"}").await;
        clients.push(client);
        clients.push(Raw::connect(host.address).await);
    }
    host.signal("TERM");
    let exit = host.exit(SOON);
    assert!(exit.status.success(), "{exit:?}");
}

/// Settlements that still wait for company are written at the end.
#[tokio::test]
async fn nothing_that_was_answered_is_lost() {
    let host = Host::start(setup());
    let stage = Stage::on(&host, Wire::Chat).await;
    stage.upstream.always(Answer::json(200, Wire::Chat.answer()));
    for _ in 0..10 {
        stage.call(false).send().await.expect(200);
    }
    let (key_name, setup) = (stage.key_name.clone(), host.setup.clone());
    host.signal("TERM");
    drop(stage);
    host.exit(SOON);
    let host = Host::start(setup);
    check_counts(
        &usage_of(&host, &key_name, 10).await,
        &[("requests", 10), ("calls", 10), ("input", 110), ("output", 50)],
    );
}
