//! The native gateway on one core, with authentication, tick, usage and settlement on, against nginx on the same core.

use std::net::SocketAddr;

use crate::cases::{CASES, CONVERTED, Case, KEY};
use crate::load::Figures;
use crate::process::{
    Folder, Process, SUBJECT_CPU, free_address, has_program, in_repository, measure, request, start_upstream, wait_for,
};
use crate::{Extent, Failure};

const ADMIN_TOKEN: &str = "tga-bench-0123456789abcdef";

/// Runs all cases and prints their figures.
pub fn run(extent: Extent) -> Result<(), Failure> {
    if !has_program("nginx") {
        return Err("nginx is the reference; install it (Debian: apt-get install nginx-light)".into());
    }
    let folder = Folder::new("passthrough")?;
    let (_upstream, upstream_address) = start_upstream()?;
    let nginx = start_nginx(&folder, upstream_address)?;
    let tollgate = start_tollgate(&folder, upstream_address)?;
    let mut answered = 0.0;
    for case in CASES {
        answered += run_case(&case, extent, upstream_address, &nginx, &tollgate)?;
    }
    let settled = settled_requests(tollgate.address)?;
    println!("passthrough.settled requests={answered} settled={settled}");
    if settled < answered {
        return Err("some requests were not settled".into());
    }
    Ok(())
}

/// Runs the same stream for clients of all dialects in turns; `slower` is how many times slower than the one that passes it is.
pub fn run_converted(extent: Extent) -> Result<(), Failure> {
    let folder = Folder::new("converted")?;
    let (_upstream, upstream_address) = start_upstream()?;
    let tollgate = start_tollgate(&folder, upstream_address)?;
    let mut all: Vec<Rounds> = CONVERTED.iter().map(|_| Rounds::default()).collect();
    for _ in 0..extent.rounds {
        for (case, rounds) in CONVERTED.iter().zip(&mut all) {
            let before = tollgate.process.cpu_micros();
            let figures = measure(case, tollgate.address, extent.seconds)?;
            rounds.add(figures, tollgate.process.cpu_micros() - before);
        }
    }
    let Some(passing) = all.first() else { return Ok(()) };
    for (case, rounds) in CONVERTED.iter().zip(&all) {
        println!("converted.{} slower={:.2} {rounds}", case.name, passing.ratio_to(rounds, |round| round.figures.rps));
    }
    Ok(())
}

struct Subject {
    process: Process,
    address: SocketAddr,
}

/// Runs one case in turns; returns how many requests Tollgate has answered.
fn run_case(
    case: &Case,
    extent: Extent,
    upstream: SocketAddr,
    nginx: &Subject,
    tollgate: &Subject,
) -> Result<f64, Failure> {
    let (mut direct, mut reference, mut own) = (Rounds::default(), Rounds::default(), Rounds::default());
    for _ in 0..extent.rounds {
        direct.add(measure(case, upstream, extent.seconds)?, 0);
        for (subject, rounds) in [(nginx, &mut reference), (tollgate, &mut own)] {
            let before = subject.process.cpu_micros();
            let figures = measure(case, subject.address, extent.seconds)?;
            rounds.add(figures, subject.process.cpu_micros() - before);
        }
    }
    let name = format!("passthrough.{}", case.name);
    println!(
        "{name} ratio={:.2} cpu_ratio={:.2} {own} direct_ratio={:.2}",
        own.ratio_to(&reference, |round| round.figures.rps),
        reference.ratio_to(&own, |round| round.cpu_micros),
        own.ratio_to(&direct, |round| round.figures.rps),
    );
    println!("{name} reference=nginx {reference}");
    println!("{name} reference=direct {direct}");
    Ok(own.0.iter().map(|round| round.figures.answered).sum())
}

/// The rounds of one case and one subject.
#[derive(Default)]
pub struct Rounds(Vec<Round>);

/// One round.
#[derive(Clone, Copy)]
pub struct Round {
    /// What the load generator saw.
    pub figures: Figures,
    /// CPU time of the subject for a request, in microseconds.
    pub cpu_micros: f64,
}

impl Rounds {
    /// Adds a round, in which the subject used `cpu_micros` in all.
    pub fn add(&mut self, figures: Figures, cpu_micros: u64) {
        let cpu_micros = cpu_micros as f64 / figures.answered.max(1.0);
        self.0.push(Round { figures, cpu_micros });
    }

    /// The median over the rounds of what stands here divided by what stands there in the same round.
    pub fn ratio_to(&self, other: &Self, of: impl Fn(&Round) -> f64) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(own, other)| of(own) / of(other)).collect())
    }

    /// The median over the rounds.
    pub fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(self.0.iter().map(of).collect())
    }
}

impl std::fmt::Display for Rounds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "rps={:.0} p50_us={:.0} p99_us={:.0} cpu_us={:.1} failures={:.0}",
            self.median(|round| round.figures.rps),
            self.median(|round| round.figures.p50_us),
            self.median(|round| round.figures.p99_us),
            self.median(|round| round.cpu_micros),
            self.0.iter().map(|round| round.figures.failures).sum::<f64>(),
        )
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn start_nginx(folder: &Folder, upstream: SocketAddr) -> Result<Subject, Failure> {
    let address = free_address()?;
    let here = folder.path().display();
    let config = format!(
        "worker_processes 1; daemon off; master_process off; pid {here}/nginx.pid; error_log {here}/nginx.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; tcp_nodelay on;
  client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
  upstream vendor {{ server {upstream}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen {address}; client_max_body_size 50m; client_body_buffer_size 1m;
    location / {{
      proxy_pass http://vendor; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off;
    }}
  }}
}}
"
    );
    let file = folder.write("nginx.conf", config)?;
    let process = Process::start(SUBJECT_CPU, "nginx".as_ref(), &["-c", &file.display().to_string()])?;
    wait_for(address)?;
    Ok(Subject { process, address })
}

fn start_tollgate(folder: &Folder, upstream: SocketAddr) -> Result<Subject, Failure> {
    let address = free_address()?;
    let config = folder.write("tollgate.json", document(upstream, 0))?;
    let binary = in_repository("target/release/tollgate");
    let process = Process::start(
        SUBJECT_CPU,
        "env".as_ref(),
        &[
            &format!("TOLLGATE_ADMIN_TOKEN={ADMIN_TOKEN}"),
            &binary.display().to_string(),
            "--threads",
            "1",
            "--log",
            "error",
            "--port",
            &address.port().to_string(),
            "--data-dir",
            &folder.path().join("data").display().to_string(),
            "--config",
            &config.display().to_string(),
        ],
    )?;
    wait_for(address)?;
    Ok(Subject { process, address })
}

/// A document with the mock vendor as a provider.
pub fn document(upstream: SocketAddr, max_age_ms: u32) -> String {
    format!(
        r#"{{"settings":{{"tick":{{"max_age_ms":{max_age_ms}}}}},"providers":[{{"name":"bench","channel":"custom","base_url":"http://{upstream}/v1","network":"private","dialects":["openai_chat"],"credentials":[{{"name":"one","secret":"sk-bench-credential"}}]}}],"keys":[{{"name":"bench","key":"{KEY}"}}]}}"#
    )
}

/// How many requests are settled, when all have been.
fn settled_requests(address: SocketAddr) -> Result<f64, Failure> {
    std::thread::sleep(std::time::Duration::from_millis(500));
    let head = format!("GET /admin/api/usage HTTP/1.1\r\nauthorization: Bearer {ADMIN_TOKEN}");
    let usage = request(address, &head, "")?;
    let number = usage.split("\"requests\":").nth(1).and_then(|rest| rest.split(',').next());
    Ok(number.ok_or("no usage")?.trim_matches('}').parse()?)
}
