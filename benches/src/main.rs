//! Measures Tollgate against references in the same run; `scripts/bench` is the way in.
//!
//! Everything under test is pinned to the first CPU, the mock vendor and the load generator to the second. Subjects take turns
//! within each round, and what is printed is the median over the rounds: on a shared machine only ratios count.

mod cases;
mod edge;
mod http1;
mod load;
mod passthrough;
mod process;
mod upstream;

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;

#[derive(Parser)]
enum Command {
    /// Tollgate natively, against nginx and against the upstream itself.
    Passthrough {
        #[command(flatten)]
        extent: Extent,
        /// Compares streams that are converted with one that passes, instead.
        #[arg(long)]
        convert: bool,
    },
    /// Tollgate in workerd, against a Worker that only forwards.
    Edge(Extent),
    /// Runs the mock vendor.
    Upstream {
        /// Where to listen.
        #[arg(long)]
        listen: SocketAddr,
    },
    /// Runs one case against one subject.
    Load {
        /// The subject.
        #[arg(long)]
        address: SocketAddr,
        /// The case's name.
        #[arg(long)]
        case: String,
        /// Seconds that count, after half a second of warming up.
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
    },
}

/// How long to measure.
#[derive(clap::Args, Clone, Copy)]
struct Extent {
    /// How often each case is run against each subject.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds for each of these.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    match Command::parse() {
        Command::Passthrough { extent, convert: false } => passthrough::run(extent),
        Command::Passthrough { extent, convert: true } => passthrough::run_converted(extent),
        Command::Edge(extent) => edge::run(extent),
        Command::Upstream { listen } => tokio::runtime::LocalRuntime::new()?.block_on(async {
            let listener = tokio::net::TcpListener::bind(listen).await?;
            Ok(upstream::serve(listener, upstream::StreamShape::default()).await?)
        }),
        Command::Load { address, case, seconds } => {
            let case = cases::by_name(&case).ok_or("there is no such case")?;
            let load = load::Load {
                address,
                connections: case.connections,
                warm_up: Duration::from_millis(500),
                measure: Duration::from_secs_f64(seconds),
                request: case.request(address),
            };
            let report = tokio::runtime::LocalRuntime::new()?.block_on(load::run(&load));
            println!("{report}");
            Ok(())
        }
    }
}
