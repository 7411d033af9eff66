//! The corpora of `tests/golden/`, for the tests of the wire types: what a vendor documents has to survive being read and written.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::protocol::sse::Parser;

/// Reads and writes one text again.
pub(crate) type Again<'a> = &'a dyn Fn(&str) -> Result<String, serde_json::Error>;

/// Checks every file of `tests/golden/FOLDER`: one JSON document each, which has to come out as it went in. Members that are null
/// count as absent.
pub(crate) fn check_documents(folder: &str, at_least: usize, again: Again<'_>) {
    let files = files(folder, "json");
    assert!(files.len() >= at_least, "{folder} has {} files, {at_least} are wanted", files.len());
    for path in files {
        check(&path, &fs::read_to_string(&path).unwrap(), again);
    }
}

/// Checks every file of `tests/golden/FOLDER`: one stream of events each, whose data has to come out as it went in.
pub(crate) fn check_streams(folder: &str, at_least: usize, again: Again<'_>) {
    let files = files(folder, "sse");
    assert!(files.len() >= at_least, "{folder} has {} files, {at_least} are wanted", files.len());
    for path in files {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        let text = fs::read(&path).unwrap();
        parser.feed(&text, &mut |event| events.push(String::from_utf8(event.data.to_vec()).unwrap()));
        assert!(parser.at_border() && !events.is_empty(), "{path:?} is no whole stream");
        events.iter().filter(|data| *data != "[DONE]").for_each(|data| check(&path, data, again));
    }
}

/// Hands the name and the bytes of every stream of `tests/golden/FOLDER` to `sink`.
pub(crate) fn each_stream(folder: &str, sink: &mut dyn FnMut(&str, &[u8])) {
    for path in files(folder, "sse") {
        sink(path.file_stem().unwrap().to_str().unwrap(), &fs::read(&path).unwrap());
    }
}

/// The name and the text of every file of `tests/golden/FOLDER`.
pub(crate) fn texts(folder: &str, extension: &str) -> Vec<(String, String)> {
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files(folder, extension).iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[track_caller]
fn check(path: &Path, text: &str, again: Again<'_>) {
    let written = again(text).unwrap_or_else(|error| panic!("{path:?}: {error} in {text}"));
    let (before, after) = (value(text), value(&written));
    assert_eq!(before, after, "{path:?}: what was read is not what is written");
}

fn value(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    remove_nulls(&mut value);
    value
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    for path in &paths {
        assert!(path.extension().is_some_and(|found| found == extension), "{path:?} does not belong here");
    }
    paths
}
