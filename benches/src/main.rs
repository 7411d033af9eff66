//! Measures Tollgate against references in the same run; `scripts/bench` is the way in.

mod http1;
mod load;
mod upstream;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;

#[derive(Parser)]
enum Command {
    /// Runs the mock vendor.
    Upstream {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long, default_value_t = 100)]
        events: usize,
        #[arg(long, default_value_t = 10)]
        burst: usize,
    },
    /// Runs one load scenario and prints its figures.
    Load {
        #[arg(long)]
        address: SocketAddr,
        #[arg(long, default_value_t = 16)]
        connections: usize,
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
        #[arg(long)]
        stream: bool,
    },
}

fn main() -> std::io::Result<()> {
    let command = Command::parse();
    let runtime = tokio::runtime::LocalRuntime::new()?;
    runtime.block_on(async {
        match command {
            Command::Upstream { listen, events, burst } => {
                let listener = tokio::net::TcpListener::bind(listen).await?;
                upstream::serve(listener, upstream::StreamShape { events, burst }).await
            }
            Command::Load { address, connections, seconds, stream } => {
                let body = format!(
                    r#"{{"model":"bench/gpt-bench","stream":{stream},"stream_options":{{"include_usage":true}},"messages":[{{"role":"system","content":"You are a helpful assistant."}},{{"role":"user","content":"Say something about a fox and a dog."}}]}}"#
                );
                let request = format!(
                    "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer tg-bench-0123456789abcdef\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                let load = load::Load {
                    address,
                    connections,
                    warm_up: Duration::from_millis(500),
                    measure: Duration::from_secs_f64(seconds),
                    request: Rc::from(request.into_bytes()),
                };
                let report = load::run(&load).await;
                println!(
                    "rps={:.0} p50_us={} p99_us={} failures={}",
                    report.requests_per_second(),
                    report.percentile(0.5),
                    report.percentile(0.99),
                    report.failures
                );
                Ok(())
            }
        }
    })
}
