//! A closed-loop HTTP/1.1 load generator: each connection sends its next request when the answer is complete.

use std::cell::RefCell;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http1::{self, Progress};

/// One scenario: what to send, how many connections send it, and for how long.
#[derive(Clone)]
pub struct Load {
    pub address: SocketAddr,
    pub connections: usize,
    pub warm_up: Duration,
    pub measure: Duration,
    /// The complete request, head and body, as bytes.
    pub request: Rc<[u8]>,
}

/// What a scenario gave. Latencies are in microseconds, sorted.
#[derive(Default)]
pub struct Report {
    pub latencies: Vec<u32>,
    /// Answers in all, those of the warming up included.
    pub answered: u64,
    pub failures: u64,
    pub seconds: f64,
}

impl Report {
    fn figures(&self) -> Figures {
        Figures {
            rps: self.latencies.len() as f64 / self.seconds,
            p50_us: f64::from(self.percentile(0.5)),
            p99_us: f64::from(self.percentile(0.99)),
            answered: self.answered as f64,
            failures: self.failures as f64,
        }
    }

    /// The latency below which `share` of the requests stayed, in microseconds.
    fn percentile(&self, share: f64) -> u32 {
        let index = (self.latencies.len().saturating_sub(1) as f64 * share).round() as usize;
        self.latencies.get(index).copied().unwrap_or(0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { rps, p50_us, p99_us, answered, failures } = self.figures();
        write!(formatter, "{rps} {p50_us} {p99_us} {answered} {failures}")
    }
}

/// A scenario in figures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Requests per second.
    pub rps: f64,
    /// Half of the requests were answered within these microseconds.
    pub p50_us: f64,
    /// 99 of 100 were.
    pub p99_us: f64,
    /// Answers in all.
    pub answered: f64,
    /// Requests that failed.
    pub failures: f64,
}

impl Figures {
    /// Reads what a report prints.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [rps, p50_us, p99_us, answered, failures] = numbers[..] else { return None };
        Some(Self { rps, p50_us, p99_us, answered, failures })
    }
}

/// Runs one scenario to its end on the current thread.
pub async fn run(load: &Load) -> Report {
    let report = Rc::new(RefCell::new(Report::default()));
    let start = Instant::now() + load.warm_up;
    let end = start + load.measure;
    let tasks: Vec<_> = (0..load.connections)
        .map(|_| {
            let (load, report) = (load.clone(), report.clone());
            tokio::task::spawn_local(async move {
                while Instant::now() < end {
                    if connection(&load, &report, start, end).await.is_err() {
                        report.borrow_mut().failures += 1;
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a load task does not panic");
    }
    let mut report = report.take();
    report.seconds = load.measure.as_secs_f64();
    report.latencies.sort_unstable();
    report
}

async fn connection(load: &Load, report: &Rc<RefCell<Report>>, start: Instant, end: Instant) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(load.address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    loop {
        let sent = Instant::now();
        if sent >= end {
            return Ok(());
        }
        stream.write_all(&load.request).await?;
        let success = read_response(&mut stream, &mut buffer).await?;
        let done = Instant::now();
        report.borrow_mut().answered += 1;
        if !success {
            report.borrow_mut().failures += 1;
        } else if sent >= start && done < end {
            let micros = (done - sent).as_micros().min(u32::MAX as u128) as u32;
            report.borrow_mut().latencies.push(micros);
        }
    }
}

/// Reads one response whole; `true` when its status is 200.
async fn read_response(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<bool> {
    buffer.clear();
    let mut reader = http1::MessageReader::default();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if let Progress::Complete { .. } = reader.advance(buffer)? {
            return Ok(buffer.starts_with(b"HTTP/1.1 200"));
        }
    }
}
