//! The cases and their snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate::protocol::dialect::Dialect;

/// One case of a corpus.
pub struct Case {
    /// Its file.
    pub path: PathBuf,
    /// What the file holds.
    pub text: String,
}

impl Case {
    /// The case's name.
    pub fn name(&self) -> &str {
        self.path.file_stem().unwrap().to_str().unwrap()
    }
}

/// All pairs of two different dialects.
pub fn pairs() -> impl Iterator<Item = (Dialect, Dialect)> {
    let others = |from| Dialect::ALL.into_iter().filter(move |to| *to != from).map(move |to| (from, to));
    Dialect::ALL.into_iter().flat_map(others)
}

/// The cases in `tests/golden/DIALECT/KIND`.
pub fn cases(dialect: Dialect, kind: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(dialect.name()).join(kind);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.into_iter().map(|path| Case { text: fs::read_to_string(&path).unwrap(), path }).collect()
}

/// Compares `now` with the snapshot of `case` for `to`, or writes it. What differs is added to `faults`.
pub fn compare(case: &Case, from: Dialect, to: Dialect, now: &str, faults: &mut Vec<String>) {
    let folder = case.path.parent().unwrap().join(format!("to_{to}"));
    let path = folder.join(case.path.file_name().unwrap());
    let wanted = std::env::var("TOLLGATE_UPDATE_GOLDEN").unwrap_or_default();
    if wanted == "all" || wanted == format!("{from}_to_{to}") {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, now).unwrap();
        return;
    }
    match fs::read_to_string(&path) {
        Ok(before) if before == now => {}
        Ok(before) => {
            let line = before.lines().zip(now.lines()).position(|(before, now)| before != now);
            let line = line.unwrap_or_else(|| before.lines().count().min(now.lines().count()));
            let at = |text: &str| text.lines().nth(line).unwrap_or("the end").to_owned();
            faults.push(format!("{path:?}:{}: {:?} was {:?}", line + 1, at(now), at(&before)));
        }
        Err(_) => faults.push(format!("{path:?} is missing")),
    }
}

/// JSON over several lines, as snapshots have it.
pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

#[track_caller]
pub fn none(faults: &[String]) {
    let shown = faults.iter().take(30).cloned().collect::<Vec<_>>().join("\n  ");
    assert!(faults.is_empty(), "{} faults\n  {shown}\n", faults.len());
}
