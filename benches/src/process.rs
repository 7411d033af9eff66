//! Processes under test, pinned to a CPU and ended with their owner.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;
use crate::cases::Case;
use crate::http1::{MessageReader, Progress};
use crate::load::Figures;

/// The CPU of what is measured.
pub const SUBJECT_CPU: usize = 0;
/// The CPU of the load generator and the mock vendor.
pub const LOAD_CPU: usize = 1;

/// A process that ends when this is dropped.
pub struct Process(Child);

impl Process {
    /// Starts a program on one CPU.
    pub fn start(cpu: usize, program: &Path, arguments: &[&str]) -> Result<Self, Failure> {
        let child = Command::new("taskset")
            .args(["-c", &cpu.to_string()])
            .arg(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self(child))
    }

    /// CPU time that it and its children have used so far, in microseconds.
    pub fn cpu_micros(&self) -> u64 {
        family(self.0.id()).into_iter().map(cpu_micros_of).sum()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// A process and those that it started.
fn family(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok()).flat_map(family);
    std::iter::once(pid).chain(children).collect()
}

fn cpu_micros_of(pid: u32) -> u64 {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may hold spaces; what follows it does not. User and system time are the 14th and 15th fields of all.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    (ticks(11) + ticks(12)) * 1_000_000 / TICKS_PER_SECOND
}

/// The mock vendor, on the load's CPU.
pub fn start_upstream() -> Result<(Process, SocketAddr), Failure> {
    let address = free_address()?;
    let process = Process::start(LOAD_CPU, &std::env::current_exe()?, &["upstream", "--listen", &address.to_string()])?;
    wait_for(address)?;
    Ok((process, address))
}

/// Runs a case against a subject, on the load's CPU.
pub fn measure(case: &Case, address: SocketAddr, seconds: f64) -> Result<Figures, Failure> {
    let output = Command::new("taskset")
        .args(["-c", &LOAD_CPU.to_string()])
        .arg(std::env::current_exe()?)
        .args(["load", "--case", case.name, "--address", &address.to_string(), "--seconds", &seconds.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    Figures::parse(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| "the load generator failed".into())
}

/// A port that is free now.
pub fn free_address() -> Result<SocketAddr, Failure> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Waits until something listens.
pub fn wait_for(address: SocketAddr) -> Result<(), Failure> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("nothing listens on {address}").into())
}

/// Sends one request and returns the body of the answer, which has to be a 200.
pub fn request(address: SocketAddr, head: &str, body: &str) -> Result<String, Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(stream, "{head}\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    let (mut buffer, mut reader) = (Vec::new(), MessageReader::default());
    let mut piece = [0; 16 * 1024];
    loop {
        let count = stream.read(&mut piece)?;
        buffer.extend_from_slice(&piece[..count]);
        match reader.advance(&buffer)? {
            Progress::Complete { body, end } if buffer.starts_with(b"HTTP/1.1 200") => {
                return Ok(String::from_utf8_lossy(&buffer[body..end]).into_owned());
            }
            Progress::Complete { .. } => return Err(String::from_utf8_lossy(&buffer).into()),
            Progress::Partial if count == 0 => return Err("the connection closed early".into()),
            Progress::Partial => {}
        }
    }
}

/// A folder that is removed at the end, in memory where the system has such a place: a benchmark is not to measure a disk.
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty folder.
    pub fn new(name: &str) -> Result<Self, Failure> {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let path = parent.join(format!("tollgate-bench-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        std::fs::write(&path, content)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The path of a file of the repository.
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Whether `program` can be run.
pub fn has_program(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| BufReader::new(&output.stdout[..]).lines().next().is_some())
}
