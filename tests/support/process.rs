//! Keeping hold of a child process: what it writes, and that it does not outlive the tests.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// Kills a gateway with all its processes, and removes its data, when the tests end without having dropped it: statics
/// never are. It is a shell that waits for its input to close, which the system does for it.
pub struct Guard(Option<Child>);

impl Guard {
    /// Guards `child`, which gets `grace` seconds to end by itself, and `folder`.
    pub fn over(child: &Child, folder: &Path, grace: u32) -> Self {
        let script = r#"cat > /dev/null; sleep "$2"; kill -s KILL -- "-$0" 2> /dev/null; rm -rf "$1""#;
        let guard = Command::new("sh")
            .args(["-c", script, &child.id().to_string()])
            .arg(folder)
            .arg(grace.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(Some(guard.expect("sh is there")))
    }

    /// Lets go of both.
    pub fn release(&mut self) {
        if let Some(mut guard) = self.0.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.release();
    }
}

/// Kills a process that leads a group, and the group with it.
pub fn kill_group(leader: &Child) {
    let _ =
        Command::new("kill").args(["-s", "KILL", "--", &format!("-{}", leader.id())]).stderr(Stdio::null()).status();
}

/// What a process writes, as it comes.
pub struct Output {
    text: Arc<Mutex<String>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Output {
    /// Reads `pipe` to its end, beside everything else.
    pub fn follow(pipe: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let reader = std::thread::spawn({
            let text = text.clone();
            move || {
                let mut lines = BufReader::new(pipe);
                let mut line = Vec::new();
                while matches!(lines.read_until(b'\n', &mut line), Ok(1..)) {
                    text.lock().expect("nobody panics within").push_str(&String::from_utf8_lossy(&line));
                    line.clear();
                }
            }
        });
        Self { text, reader: Some(reader) }
    }

    /// What has come so far.
    pub fn text(&self) -> String {
        self.text.lock().expect("nobody panics within").clone()
    }

    /// Everything, when the process has ended.
    pub fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader ends with the pipe");
        }
        self.text()
    }
}
