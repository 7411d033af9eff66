//! The process: its database, its isolates, its end.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread::JoinHandle;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::{mpsc, watch};
use tollgate::app::{Gateway, HostOptions};
use tollgate::platform::Scope;
use tollgate::store::vault::Vault;

use crate::cli::{Failure, Options};
use crate::database::connection::Connection;
use crate::database::migrate::migrate;
use crate::database::writer::Writer;
use crate::database::{self, NativeDatabase};
use crate::fetch::NativeFetch;
use crate::local::{Environment, LocalTasks, ProcessNotices, SystemClock, system_random};
use crate::{first_start, isolate, manage, master_key};

/// What all isolates share, and what each is made from.
#[derive(Clone)]
pub struct Shared {
    /// The command line.
    pub options: Options,
    master_key: String,
    database_path: PathBuf,
    writer: Writer,
    notices: ProcessNotices,
}

/// One isolate's gateway and ports.
pub struct Parts {
    /// The gateway.
    pub gateway: Gateway,
    /// The ports.
    pub scope: Scope,
    /// The fetch port once more, to be swept.
    pub fetch: Rc<NativeFetch>,
    /// The tasks once more, to be waited for.
    pub tasks: LocalTasks,
}

/// The database's thread, to be ended last.
pub struct Database {
    writer: Writer,
    thread: JoinHandle<()>,
}

impl Database {
    /// Waits until everything is written.
    pub fn close(self) {
        self.writer.close();
        if self.thread.join().is_err() {
            tracing::error!("the database's thread ended badly");
        }
    }
}

/// Opens the instance in the data folder: makes the folder, the master key and the database where there are none, and
/// brings the schema up to date.
pub fn open(options: &Options) -> Result<(Shared, Database), Failure> {
    let data_dir = &options.data_dir;
    make_folder(data_dir).map_err(|error| format!("the folder {} cannot be made: {error}", data_dir.display()))?;
    let master_key = master_key::load_or_make(data_dir)?;
    Vault::new(&master_key)?;
    let database_path = database::path_in(data_dir);
    let unusable = |error| format!("the database {} cannot be used: {error}", database_path.display());
    make_file(&database_path).map_err(|error| format!("{} cannot be made: {error}", database_path.display()))?;
    let connection = Connection::open(&database_path).map_err(unusable)?;
    for version in migrate(&connection).map_err(unusable)? {
        tracing::info!(version, "the schema is brought up to date");
    }
    let (writer, thread) = Writer::start(connection)?;
    let shared = Shared {
        options: options.clone(),
        master_key,
        database_path,
        writer: writer.clone(),
        notices: ProcessNotices::default(),
    };
    Ok((shared, Database { writer, thread }))
}

/// Makes the database's file, for its owner only; SQLite gives the files beside it the same mode.
fn make_file(path: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Makes the data folder, for its owner only.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

impl Shared {
    /// Makes an isolate's parts, on the thread that will use them.
    pub fn assemble(&self) -> Result<Parts, Failure> {
        let fetch = Rc::new(NativeFetch::new());
        let tasks = LocalTasks::default();
        let scope = Scope {
            database: Rc::new(NativeDatabase::open(&self.database_path, self.writer.clone())?),
            fetch: fetch.clone(),
            clock: Rc::new(SystemClock),
            random: Rc::new(system_random()),
            tasks: Rc::new(tasks.clone()),
            notices: Rc::new(self.notices.clone()),
            variables: Rc::new(Environment),
        };
        let host_options = HostOptions {
            max_body_bytes: self.options.max_body_bytes,
            migration_hint: "restart the gateway, which brings it up to date",
        };
        let gateway = Gateway::new(Vault::new(&self.master_key)?, host_options, &scope)?;
        Ok(Parts { gateway, scope, fetch, tasks })
    }
}

/// Runs the gateway until it is asked to end.
pub fn serve(options: &Options) -> Result<(), Failure> {
    let (shared, database) = open(options)?;
    let result = run(&shared);
    database.close();
    result
}

fn run(shared: &Shared) -> Result<(), Failure> {
    let options = &shared.options;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let threads = options
        .threads
        .map_or_else(|| std::thread::available_parallelism().map_or(1, |cores| cores.get()), |threads| threads.get());
    // All isolates listen on one port; the system spreads the connections. The first one finds out which port that is.
    let wanted = SocketAddr::new(options.host, options.port);
    check_unused(wanted)?;
    let first = listen(wanted)?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    for _ in 1..threads {
        listeners.push(listen(address)?);
    }
    // Read before anything is shown that is shown but once.
    let document = options.config.as_deref().map(manage::read_document).transpose()?;
    runtime.block_on(async {
        let parts = shared.assemble()?;
        parts.gateway.handle.tick(&parts.scope, vec![]).await?;
        first_start::greet(&parts, address).await?;
        if let Some(document) = &document {
            manage::apply(&parts, document, Default::default()).await?;
        }
        Ok::<(), Failure>(())
    })?;
    let (stop, stopped) = watch::channel(false);
    let (ended, mut any_ended) = mpsc::unbounded_channel();
    let mut isolates = Vec::with_capacity(threads);
    for (number, listener) in listeners.into_iter().enumerate() {
        let (shared, stopped) = (shared.clone(), stopped.clone());
        let ended = TellsEnd(ended.clone());
        let run = move || {
            let _ended = ended;
            isolate::run(&shared, listener, stopped)
        };
        isolates.push(std::thread::Builder::new().name(format!("isolate-{number}")).spawn(run)?);
    }
    println!("tollgate listens on http://{address}");
    runtime.block_on(async {
        tokio::select! {
            result = until_asked_to_end() => result,
            // Better to end, and be started again, than to answer with fewer isolates than one believes.
            _ = any_ended.recv() => {
                tracing::error!("an isolate has ended by itself; the process ends too");
                Ok(())
            }
        }
    })?;
    tracing::info!("ending; answers under way may finish");
    let _ = stop.send(true);
    for isolate in isolates {
        match isolate.join() {
            Ok(result) => result?,
            Err(_) => return Err("an isolate ended badly; the log tells why".into()),
        }
    }
    Ok(())
}

/// Tells that a thread ends, in whatever way.
struct TellsEnd(mpsc::UnboundedSender<()>);

impl Drop for TellsEnd {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// Makes sure that no other process listens there. One that shares its port, as we do, would let us in silently.
fn check_unused(address: SocketAddr) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("cannot listen on {address}: {error}");
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP)).map_err(failed)?;
    socket.set_reuse_address(true).map_err(failed)?;
    socket.bind(&address.into()).map_err(failed)?;
    Ok(())
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let failed = |error: std::io::Error| format!("cannot listen on {address}: {error}");
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP)).map_err(failed)?;
    socket.set_reuse_address(true).map_err(failed)?;
    #[cfg(unix)]
    socket.set_reuse_port(true).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    socket.bind(&address.into()).map_err(failed)?;
    socket.listen(1024).map_err(failed)?;
    Ok(socket.into())
}

#[cfg(unix)]
async fn until_asked_to_end() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        result = tokio::signal::ctrl_c() => result,
    }
}

#[cfg(not(unix))]
async fn until_asked_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
