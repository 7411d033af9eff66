//! How a gateway is started: arguments, environment, folder.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

use super::host::{ADMIN_TOKEN, Kind, MASTER_KEY, kind};

/// How a gateway is to be started.
#[derive(Clone)]
pub struct Setup {
    /// Arguments of the native command, beside the port and the data folder.
    pub arguments: Vec<String>,
    /// Variables of its environment. On Workers they are variables of the Worker.
    pub variables: Vec<(String, String)>,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The folder of the database; the same for every start of this set-up.
    pub data_dir: PathBuf,
    /// Whether the native command gets arguments at all.
    bare: bool,
    pub(super) folder: Arc<TempDir>,
}

impl Default for Setup {
    fn default() -> Self {
        let folder = tempfile::Builder::new().prefix("suite-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let folder = Arc::new(folder.expect("a temporary folder"));
        Self {
            arguments: vec![],
            variables: vec![
                ("TOLLGATE_ADMIN_TOKEN".to_owned(), ADMIN_TOKEN.to_owned()),
                ("TOLLGATE_MASTER_KEY".to_owned(), MASTER_KEY.to_owned()),
            ],
            port: 0,
            data_dir: folder.path().join("data"),
            bare: false,
            folder,
        }
    }
}

impl Setup {
    /// Adds an argument with its value.
    pub fn argument(mut self, name: &str, value: impl ToString) -> Self {
        self.arguments.extend([name.to_owned(), value.to_string()]);
        self
    }

    /// Sets a variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a variable unset.
    pub fn without(mut self, name: &str) -> Self {
        self.variables.retain(|variable| variable.0 != name);
        self
    }

    /// One isolate only, so that what it remembers is what the test has made it see.
    pub fn one_isolate(self) -> Self {
        self.argument("--threads", 1)
    }

    /// No argument at all; the environment has to say what is needed.
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// Writes a file beside the data folder, which is the folder that the command runs in.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a writable folder");
        path
    }

    /// The native command, to be run to its end.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program();
        command.args(arguments).arg("--data-dir").arg(&self.data_dir);
        command
    }

    fn program(&self) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.folder.path());
        self.set_environment(&mut command);
        command
    }

    /// What runs the gateway on the host of this run.
    pub(super) fn serve(&self) -> Command {
        let mut command = match kind() {
            Kind::Native if self.bare => self.program(),
            Kind::Native => {
                let mut command = self.command(&[]);
                command.args(["--port", &self.port.to_string()]).args(&self.arguments);
                command
            }
            // It keeps its D1 in the data folder and ends when its standard input closes.
            Kind::Worker => {
                let mut command = Command::new("node");
                command.arg("scripts/worker-host.mjs").current_dir(repository());
                self.set_environment(&mut command);
                command.env("TOLLGATE_DATA_DIR", &self.data_dir);
                command
            }
        };
        // A group of its own, so that nothing of it is left behind.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn set_environment(&self, command: &mut Command) {
        for (name, _) in
            std::env::vars().filter(|(name, _)| name.starts_with("TOLLGATE_") || name.ends_with("_API_KEY"))
        {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().cloned());
    }
}

/// The native command: the one of this build, or another that `TOLLGATE_SUITE_BINARY` names, such as a release.
fn binary() -> PathBuf {
    std::env::var_os("TOLLGATE_SUITE_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_tollgate").into(), PathBuf::from)
}

/// Whether the command is built for speed, as far as is known.
pub fn is_optimized() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("TOLLGATE_SUITE_BINARY").is_some()
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the shim is a folder of the repository").to_owned()
}
