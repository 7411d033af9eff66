//! The Worker in workerd, against a Worker that only forwards, each in a process of its own on the same core.
//!
//! Locally D1 is a Durable Object in the same process, and its CPU counts as the Worker's. So Tollgate is also run with a D1
//! that costs nothing, which shows its own share and D1's.

use std::net::SocketAddr;
use std::process::Command;

use crate::cases::{CASES, Case};
use crate::passthrough::{Rounds, document};
use crate::process::{
    Folder, LOAD_CPU, Process, SUBJECT_CPU, free_address, in_repository, measure, request, start_upstream, wait_for,
};
use crate::{Extent, Failure};

const ADMIN_TOKEN: &str = "tga-bench-0123456789abcdef";

/// Runs all cases and prints their figures.
pub fn run(extent: Extent) -> Result<(), Failure> {
    let (_upstream, upstream_address) = start_upstream()?;
    let forwarder = Subject::start("forwarder", "d1-binding.js", upstream_address, None)?;
    let as_is = Subject::start("tollgate", "d1-binding.js", upstream_address, Some(0))?;
    let aged = Subject::start("tollgate", "d1-binding.js", upstream_address, Some(1000))?;
    let without_d1 = Subject::start("tollgate", "d1-remembered.js", upstream_address, Some(0))?;
    for case in CASES {
        run_case(&case, extent, &forwarder, &as_is, &aged, &without_d1)?;
    }
    Ok(())
}

fn run_case(
    case: &Case,
    extent: Extent,
    forwarder: &Subject,
    as_is: &Subject,
    aged: &Subject,
    without_d1: &Subject,
) -> Result<(), Failure> {
    let subjects = [forwarder, as_is, aged, without_d1];
    let mut rounds: [Rounds; 4] = Default::default();
    for _ in 0..extent.rounds {
        for (subject, rounds) in subjects.iter().zip(&mut rounds) {
            let before = subject.process.cpu_micros();
            let figures = measure(case, subject.address, extent.seconds)?;
            rounds.add(figures, subject.process.cpu_micros() - before);
        }
    }
    let [reference, as_is, aged, without_d1] = &rounds;
    let name = format!("edge.{}", case.name);
    for (variant, own) in [("", as_is), ("_max_age_1000", aged), ("_without_d1", without_d1)] {
        let ratio = own.ratio_to(reference, |round| round.figures.rps);
        let cpu_ratio = reference.ratio_to(own, |round| round.cpu_micros);
        let d1_share = 1.0 - without_d1.ratio_to(own, |round| round.cpu_micros);
        println!("{name}{variant} ratio={ratio:.2} cpu_ratio={cpu_ratio:.2} {own} d1_share={d1_share:.2}");
    }
    println!("{name} reference=forwarder {reference}");
    Ok(())
}

struct Subject {
    process: Process,
    address: SocketAddr,
    _folder: Folder,
}

impl Subject {
    /// Starts `worker` of the configuration, with D1 behind `d1`; Tollgate is configured with this staleness.
    fn start(worker: &str, d1: &str, upstream: SocketAddr, max_age_ms: Option<u32>) -> Result<Self, Failure> {
        let folder = Folder::new(&format!("edge-{worker}-{d1}-{}", max_age_ms.unwrap_or(0)))?;
        for file in ["build/index.js", "build/index_bg.wasm"] {
            copy(&folder, file).map_err(|error| format!("{file}: {error}; build the Worker first"))?;
        }
        for file in ["forwarder.js", "d1.js", "d1-binding.js", "d1-remembered.js", "migrate.js"] {
            copy(&folder, &format!("benches/edge/{file}"))?;
        }
        if max_age_ms.is_some() {
            let (_migrate, address) = serve(&folder, "migrate", "d1-binding.js", upstream, LOAD_CPU)?;
            let mut migrations: Vec<_> = std::fs::read_dir(in_repository("migrations"))?.collect::<Result<_, _>>()?;
            migrations.sort_by_key(|entry| entry.file_name());
            for migration in migrations {
                request(address, "POST / HTTP/1.1", &std::fs::read_to_string(migration.path())?)?;
            }
        }
        let (process, address) = serve(&folder, worker, d1, upstream, SUBJECT_CPU)?;
        if let Some(max_age_ms) = max_age_ms {
            let head = format!("POST /admin/api/import HTTP/1.1\r\nauthorization: Bearer {ADMIN_TOKEN}");
            request(address, &head, &document(upstream, max_age_ms))?;
        }
        Ok(Self { process, address, _folder: folder })
    }
}

fn copy(folder: &Folder, file: &str) -> Result<(), Failure> {
    let path = in_repository(file);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    folder.write(&name, std::fs::read(&path)?)?;
    Ok(())
}

fn serve(
    folder: &Folder,
    worker: &str,
    d1: &str,
    upstream: SocketAddr,
    cpu: usize,
) -> Result<(Process, SocketAddr), Failure> {
    let config = std::fs::read_to_string(in_repository("benches/edge/config.capnp"))?
        .replace("@MAIN@", worker)
        .replace("@D1@", d1)
        .replace("@UPSTREAM@", &format!("http://{upstream}"))
        .replace("@ADMIN@", ADMIN_TOKEN);
    let config = folder.write(&format!("{worker}.capnp"), config)?;
    let data = folder.path().join("data");
    std::fs::create_dir_all(&data)?;
    let address = free_address()?;
    let process = Process::start(
        cpu,
        &workerd()?,
        &[
            "serve",
            "--experimental",
            &config.display().to_string(),
            "-I",
            &in_repository("node_modules/workerd").display().to_string(),
            "--directory-path",
            &format!("d1data={}", data.display()),
            "--socket-addr",
            &format!("http={address}"),
        ],
    )?;
    wait_for(address)?;
    Ok((process, address))
}

/// The runtime's own program, not the script that npm puts in front of it.
fn workerd() -> Result<std::path::PathBuf, Failure> {
    let script = "console.log(require.resolve('@cloudflare/workerd-linux-' + (process.arch === 'x64' ? '64' : process.arch) + '/bin/workerd'))";
    let output = Command::new("node").args(["-e", script]).current_dir(in_repository(".")).output()?;
    let path = String::from_utf8(output.stdout)?;
    if path.trim().is_empty() { Err("workerd is not installed; run npm ci".into()) } else { Ok(path.trim().into()) }
}
