//! The command line.

use std::net::IpAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{instance, log, manage};

/// What ends the process with words for a person.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A gateway in front of LLM providers.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, about)]
pub struct Arguments {
    /// What every command understands.
    #[command(flatten)]
    pub options: Options,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command understands, before or after its name.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// The address to listen on.
    #[arg(long, env = "TOLLGATE_HOST", default_value = "127.0.0.1", global = true)]
    pub host: IpAddr,
    /// The port to listen on; 0 takes a free one.
    #[arg(long, env = "TOLLGATE_PORT", default_value_t = 8787, global = true)]
    pub port: u16,
    /// The folder of the database and of the master key.
    #[arg(long, env = "TOLLGATE_DATA_DIR", default_value = "data", global = true)]
    pub data_dir: PathBuf,
    /// How many isolates to run, each on a thread of its own; all cores by default.
    #[arg(long, env = "TOLLGATE_THREADS", global = true)]
    pub threads: Option<NonZeroUsize>,
    /// A document (JSON or YAML) that is applied at the start.
    #[arg(long, env = "TOLLGATE_CONFIG", global = true)]
    pub config: Option<PathBuf>,
    /// Most bytes that the body of a request may have.
    #[arg(long, env = "TOLLGATE_MAX_BODY_BYTES", default_value_t = 50 * 1024 * 1024, global = true)]
    pub max_body_bytes: usize,
    /// Seconds that a client may take for the head of a request, and that a connection may be idle.
    #[arg(long, env = "TOLLGATE_HEADER_TIMEOUT_SECONDS", default_value_t = 75, global = true)]
    pub header_timeout_seconds: u64,
    /// Seconds that a client may pause within the body of a request.
    #[arg(long, env = "TOLLGATE_BODY_TIMEOUT_SECONDS", default_value_t = 30, global = true)]
    pub body_timeout_seconds: u64,
    /// Seconds that answers under way get to finish when the process is asked to end.
    #[arg(long, env = "TOLLGATE_SHUTDOWN_TIMEOUT_SECONDS", default_value_t = 30, global = true)]
    pub shutdown_timeout_seconds: u64,
    /// Seconds after which an isolate without requests looks whether the configuration has changed.
    #[arg(long, env = "TOLLGATE_POLL_SECONDS", default_value = "30", global = true)]
    pub poll_seconds: NonZeroU64,
    /// What is logged: error, warn, info, debug or trace.
    #[arg(long, env = "TOLLGATE_LOG", default_value = "info", global = true)]
    pub log: tracing::Level,
    /// How it is logged.
    #[arg(long, env = "TOLLGATE_LOG_FORMAT", default_value = "text", global = true)]
    pub log_format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What to do; `serve` when left out.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs the gateway.
    Serve,
    /// Applies a document to the database in the data folder; a gateway that runs on it takes it up with the next request.
    Import {
        /// A file in JSON or YAML, `-` for the standard input.
        file: PathBuf,
        /// Only tell what would change.
        #[arg(long)]
        dry_run: bool,
        /// Delete what the document's sections do not name.
        #[arg(long)]
        prune: bool,
    },
    /// Prints the configuration as a document, secrets left out.
    Export {
        /// The format.
        #[arg(long, default_value = "yaml")]
        format: DocumentFormat,
    },
    /// Prints the JSON Schema of the document.
    Schema,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

/// Runs a command.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { options, command } = arguments;
    log::start(options.log, options.log_format);
    match command.unwrap_or(Command::Serve) {
        Command::Serve => instance::serve(&options),
        Command::Import { file, dry_run, prune } => manage::import(&options, &file, dry_run, prune),
        Command::Export { format } => manage::export(&options, format),
        Command::Schema => manage::schema(),
    }
}
