//! A gateway as a process of its own, on the host that `TOLLGATE_SUITE_HOST` names: `native`, the default, or `worker`,
//! the same cases in the Workers runtime.

use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::Value;

use super::client::{Call, Reply};
use super::process::{Guard, Output, kill_group};
use super::setup::Setup;

/// What opens the admin API of every gateway here. It carries the mark by which a leak is told.
pub const ADMIN_TOKEN: &str = "tga-suite-secret-admin-0123456789";
/// What every gateway here seals secrets under.
pub const MASTER_KEY: &str = "suite-secret-master-key-0123456789abcdef";

/// How long a gateway may take to start; the Workers runtime is the slower one.
const START_LIMIT: Duration = Duration::from_secs(60);
const LISTENS: &str = "tollgate listens on http://";

/// Which host the suite runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Native,
    Worker,
}

/// The host that this run is for.
pub fn kind() -> Kind {
    match std::env::var("TOLLGATE_SUITE_HOST").as_deref() {
        Err(_) | Ok("" | "native") => Kind::Native,
        Ok("worker") => Kind::Worker,
        Ok(other) => panic!("TOLLGATE_SUITE_HOST is native or worker, not {other}"),
    }
}

/// Whether a host can break a response off: the Workers runtime on one's own machine ends every stream properly, whatever became
/// of it.
pub fn breaks_responses_off() -> bool {
    kind() == Kind::Native
}

/// Whether a host learns at once that a client has left: the Workers runtime on one's own machine tells it by a failed write only.
pub fn learns_of_leaving_clients() -> bool {
    kind() == Kind::Native
}

/// Seconds that a gateway gets to end by itself: the Workers runtime is a tree of processes, which its root ends.
fn grace() -> u32 {
    if kind() == Kind::Native { 0 } else { 10 }
}

/// A running gateway. Dropped, it is ended.
pub struct Host {
    pub address: SocketAddr,
    pub setup: Setup,
    child: Child,
    guard: Guard,
    stdout: Output,
    stderr: Output,
}

/// The one gateway that most cases share; each brings its own providers, routes and keys.
static SHARED: LazyLock<Host> = LazyLock::new(|| Host::start(Setup::default().argument("--threads", 2)));

impl Host {
    /// The gateway that most cases share.
    pub fn shared() -> &'static Self {
        &SHARED
    }

    /// Starts a gateway of its own.
    pub fn start(setup: Setup) -> Self {
        Self::try_start(setup).unwrap_or_else(|failure| panic!("the gateway does not start: {failure:?}"))
    }

    /// Starts a gateway that may refuse to.
    pub fn try_start(setup: Setup) -> Result<Self, Exit> {
        let mut child = setup.serve().spawn().expect("the gateway's program is there");
        let guard = Guard::over(&child, setup.folder.path(), grace());
        let mut stdout = Output::follow(child.stdout.take().expect("piped"));
        let mut stderr = Output::follow(child.stderr.take().expect("piped"));
        let started = Instant::now();
        loop {
            if let Some(address) = stdout.text().lines().find_map(|line| line.strip_prefix(LISTENS)) {
                let address = address.parse().expect("an address");
                return Ok(Self { address, setup, child, guard, stdout, stderr });
            }
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                drop(guard);
                return Err(Exit { status, stdout: stdout.whole(), stderr: stderr.whole() });
            }
            assert!(started.elapsed() < START_LIMIT, "the gateway does not start: {}", stderr.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A request to it.
    pub fn call(&self, method: Method, target: impl Into<String>) -> Call {
        Call::new(self.address, method, target)
    }

    /// A GET.
    pub fn get(&self, target: impl Into<String>) -> Call {
        self.call(Method::GET, target)
    }

    /// A POST of JSON.
    pub fn post(&self, target: impl Into<String>, body: impl Into<bytes::Bytes>) -> Call {
        self.call(Method::POST, target).json(body)
    }

    /// Applies a document, which has to go well.
    pub async fn import(&self, document: &Value) -> Value {
        self.try_import("", document).await.expect(200).json()
    }

    /// Applies a document, with a query such as `?dry_run=1`. What others write at the same time is no failure.
    pub async fn try_import(&self, query: &str, document: &Value) -> Reply {
        let call = self.post(format!("/admin/api/import{query}"), document.to_string()).key(ADMIN_TOKEN);
        loop {
            let reply = call.clone().send().await;
            if reply.status != 409 {
                return reply;
            }
        }
    }

    /// An operation of the admin API that only reads.
    pub async fn admin(&self, target: &str) -> Value {
        self.get(target).key(ADMIN_TOKEN).send().await.expect(200).json()
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// What it has logged so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits for a line of its log; lines take their way through a pipe.
    pub async fn logged(&self, holds: impl Fn(&str) -> bool) -> String {
        let asked = Instant::now();
        loop {
            let log = self.stderr();
            if let Some(line) = log.lines().find(|line| holds(line)) {
                return line.to_owned();
            }
            assert!(asked.elapsed() < Duration::from_secs(5), "it is not in the log: {log}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Its process id.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.expect("kill is there").success());
    }

    /// Kills it as a power cut would.
    pub fn kill(mut self) -> Setup {
        self.child.kill().expect("it is running");
        self.child.wait().expect("it can be waited for");
        self.setup.clone()
    }

    /// Whether it is still running.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    /// Waits for its end.
    pub fn exit(mut self, limit: Duration) -> Exit {
        let asked = Instant::now();
        while self.is_running() {
            assert!(asked.elapsed() < limit, "the gateway does not end: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
        let status = self.child.wait().expect("it has ended");
        Exit { status, stdout: self.stdout.whole(), stderr: self.stderr.whole() }
    }

    /// Ends it properly and starts it again on the same data.
    pub fn restart(mut self) -> Self {
        let setup = self.setup.clone();
        match kind() {
            Kind::Native => self.signal("TERM"),
            Kind::Worker => drop(self.child.stdin.take()),
        }
        self.exit(Duration::from_secs(30));
        Self::start(setup)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.guard.release();
        drop(self.child.stdin.take());
        let asked = Instant::now();
        while self.is_running() && asked.elapsed() < Duration::from_secs(grace().into()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        kill_group(&self.child);
        let _ = self.child.wait();
    }
}

/// How a gateway ended.
#[derive(Debug)]
pub struct Exit {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}
