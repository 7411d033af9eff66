//! How much memory it takes to do nothing, and to wait.
//!
//! `TOLLGATE_SUITE_BINARY` puts a release to the test. A build without optimization is itself larger, a stream in it is not.

use super::setup;
use crate::support::host::Host;
use crate::support::script::{Answer, Ending};
use crate::support::setup::is_optimized;
use crate::support::stage::Stage;
use crate::support::vendors::Wire;

/// Resident memory of the process, in KiB.
fn resident(host: &Host) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn an_idle_gateway_is_small() {
    let host = Host::start(setup().argument("--threads", 2));
    host.get("/health").send().await.expect(200);
    let resident = resident(&host);
    let bar = if is_optimized() { 30 } else { 48 };
    assert!(resident <= bar * 1024, "{resident} KiB");
}

#[tokio::test]
async fn an_idle_stream_is_small() {
    const STREAMS: usize = 300;
    let host = Host::start(setup().one_isolate());
    let stage = Stage::on(&host, Wire::Chat).await;
    // The response begins with the first content.
    let beginning = Wire::Chat.events()[..2].concat();
    stage.upstream.always(Answer::sse([beginning.clone()]).ending(Ending::Silent));
    let mut streams = Vec::new();
    let mut before = 0;
    for number in 0..STREAMS + 10 {
        let mut stream = stage.call(true).open().await;
        stream.expect(&beginning).await;
        streams.push(stream);
        if number == 9 {
            before = resident(&host);
        }
    }
    let each = resident(&host).saturating_sub(before) / STREAMS;
    assert!(each <= 60, "{each} KiB a stream");
}
