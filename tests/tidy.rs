//! Keeps the house as its map says. It reads the source as text, so it needs no tool and judges both hosts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    missing_docs
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the ground first: each uses only those before it. `worker` is the host in the Workers runtime.
const LAYERS: [&str; 9] = ["platform", "protocol", "channel", "store", "engine", "sdk", "app", "http", "worker"];

/// No file should have more lines.
const MAX_LINES: usize = 500;

/// Files that have more all the same, and how many. The list may only shrink: nothing is added, and no figure goes up.
const LONG_FILES: [(&str, usize); 0] = [];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// The files below `folder` with this extension, as paths from the root.
fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// The lines of a file that are code, numbered from 1: no comments, and no tests at its end.
fn code(path: &str) -> Vec<(usize, String)> {
    let text = read(path);
    let before_tests = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
    let lines = before_tests.lines().enumerate();
    lines.filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(at, line)| (at + 1, line.to_owned())).collect()
}

/// The identifier that `text` begins with.
fn word(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len());
    &text[..end]
}

/// The layer that a file of the core belongs to; `None` for `src/lib.rs`.
fn layer_of(path: &str) -> Option<usize> {
    let name = word(path.strip_prefix("src/")?);
    let layer = LAYERS.iter().position(|layer| *layer == name);
    assert!(layer.is_some() || name == "lib", "{path} belongs to no layer");
    layer
}

#[track_caller]
fn none(faults: &[String], rule: &str) {
    assert!(faults.is_empty(), "{rule}\n  {}\n", faults.join("\n  "));
}

#[test]
fn a_layer_uses_only_those_before_it() {
    let mut faults = Vec::new();
    for path in files("src", "rs") {
        let Some(layer) = layer_of(&path) else { continue };
        for (number, line) in code(&path) {
            for (at, _) in line.match_indices("crate::") {
                let used = word(&line[at + "crate::".len()..]);
                // Macros that are exported stand at the root of the crate.
                if LAYERS.iter().position(|name| *name == used).is_some_and(|used| used > layer) {
                    faults.push(format!("{path}:{number}: {} uses {used}", LAYERS[layer]));
                }
            }
        }
    }
    none(&faults, "a layer uses only those before it; see ARCHITECTURE.md");
}

#[test]
fn the_core_lists_its_layers_in_their_order() {
    let listed: Vec<String> = code("src/lib.rs")
        .iter()
        .filter_map(|(_, line)| line.trim().trim_start_matches("pub ").strip_prefix("mod "))
        .map(|rest| word(rest).to_owned())
        .collect();
    let expected: Vec<&str> = LAYERS.into_iter().filter(|layer| listed.iter().any(|name| name == layer)).collect();
    assert_eq!(listed, expected, "src/lib.rs lists the layers, the ground first");
}

#[test]
fn only_the_worker_knows_the_target() {
    let mut faults = Vec::new();
    for path in files("src", "rs").into_iter().chain(files("native-shim/src", "rs")) {
        if path.starts_with("src/worker/") || path == "src/lib.rs" {
            continue;
        }
        for (number, line) in code(&path) {
            if line.contains("target_arch") || line.contains("target_family") || line.contains("wasm_bindgen") {
                faults.push(format!("{path}:{number}"));
            }
        }
    }
    none(&faults, "only src/worker/, and src/lib.rs that names it, may depend on the target");
}

/// What is not reached by `mod` is compiled by nobody.
#[test]
fn every_file_is_reached() {
    let mut faults = Vec::new();
    for (crate_root, folder) in [
        ("src/lib.rs", "src"),
        ("macros/src/lib.rs", "macros/src"),
        ("native-shim/src/lib.rs", "native-shim/src"),
        ("benches/src/main.rs", "benches/src"),
        ("benches/convert/src/lib.rs", "benches/convert/src"),
        ("benches/select/src/main.rs", "benches/select/src"),
        ("fuzz/src/main.rs", "fuzz/src"),
        ("tests/suite/main.rs", "tests/suite"),
        ("tests/core/main.rs", "tests/core"),
        ("tests/conversion/main.rs", "tests/conversion"),
        ("tests/vendor/main.rs", "tests/vendor"),
        ("tests/support/mod.rs", "tests/support"),
    ] {
        let mut reached = BTreeSet::from([crate_root.to_owned()]);
        let mut waiting = vec![crate_root.to_owned()];
        while let Some(path) = waiting.pop() {
            for child in modules_of(&path) {
                if reached.insert(child.clone()) {
                    waiting.push(child);
                }
            }
        }
        // A binary beside a library is a root of its own; the last is named by a `path` in src/protocol/mod.rs.
        let is_root = |path: &String| {
            ["native-shim/src/main.rs", "benches/convert/src/main.rs", "tests/support/golden.rs"].contains(&&**path)
        };
        faults.extend(files(folder, "rs").into_iter().filter(|path| !reached.contains(path) && !is_root(path)));
    }
    none(&faults, "these files are reached by no `mod`");
}

/// The files that a file declares as its modules.
fn modules_of(path: &str) -> Vec<String> {
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| path.ends_with(&format!("/{name}")));
    let parent = path.rsplit_once('/').unwrap().0;
    let folder = if is_root { parent.to_owned() } else { path.trim_end_matches(".rs").to_owned() };
    let declared = read(path);
    let mut found = Vec::new();
    for line in declared.lines() {
        let line = line.trim_start();
        let rest =
            line.split_once("mod ").filter(|(before, _)| ["", "pub ", "pub(crate) ", "pub(super) "].contains(before));
        let Some((_, rest)) = rest else { continue };
        let name = word(rest);
        if !rest[name.len()..].starts_with(';') {
            continue;
        }
        let candidates = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
        found.extend(candidates.into_iter().filter(|candidate| root().join(candidate).exists()));
    }
    found
}

#[test]
fn files_stay_short() {
    let folders = ["src", "native-shim/src", "benches/src", "tests"];
    let mut faults = Vec::new();
    for path in folders.iter().flat_map(|folder| files(folder, "rs")) {
        let lines = read(&path).lines().count();
        let allowed = LONG_FILES.iter().find(|file| file.0 == path).map_or(MAX_LINES, |file| file.1);
        if lines > allowed {
            faults.push(format!("{path} has {lines} lines, {allowed} are allowed: split it by subject"));
        }
    }
    for (path, allowed) in LONG_FILES {
        let lines = if root().join(path).exists() { read(path).lines().count() } else { 0 };
        if lines < allowed {
            faults
                .push(format!("{path} has {lines} lines by now: put its figure down in tests/tidy.rs, or take it out"));
        }
    }
    none(&faults, "files of one subject, mostly 70 to 250 lines");
}

#[test]
fn nothing_is_left_to_be_done() {
    let unfinished: Vec<String> =
        ["todo", "unimplemented", "dbg"].iter().map(|name| format!("{name}!")).chain(["FIXME".to_owned()]).collect();
    let mut faults = Vec::new();
    for folder in ["src", "native-shim/src", "benches/src", "tests"] {
        for path in files(folder, "rs").into_iter().filter(|path| path != "tests/tidy.rs") {
            for (number, line) in read(&path).lines().enumerate() {
                if unfinished.iter().any(|word| line.contains(word)) {
                    faults.push(format!("{path}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    none(&faults, "nothing is left to be done");
}

/// Below the hosts only the ports touch the world, which is what lets a test replay a run.
#[test]
fn the_core_touches_the_world_only_through_its_ports() {
    const WORLD: [&str; 11] = [
        "SystemTime",
        "Instant",
        "std::net::Tcp",
        "std::fs",
        "std::env::",
        "std::thread",
        "getrandom",
        "tokio",
        "thread_rng",
        "Timestamp::now",
        "println!",
    ];
    let mut faults = Vec::new();
    for path in files("src", "rs").into_iter().filter(|path| !path.starts_with("src/worker/")) {
        for (number, line) in code(&path) {
            faults.extend(
                WORLD.iter().filter(|word| line.contains(**word)).map(|word| format!("{path}:{number}: {word}")),
            );
        }
    }
    none(&faults, "below the hosts only src/platform leads to the world");
}

#[test]
fn only_the_store_speaks_sql() {
    let mut faults = Vec::new();
    for path in files("src", "rs").into_iter().filter(|path| !path.starts_with("src/store/")) {
        for (number, line) in code(&path) {
            if ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE "].iter().any(|verb| line.contains(verb)) {
                faults.push(format!("{path}:{number}"));
            }
        }
    }
    none(&faults, "every SQL statement is in src/store/");
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let list = read("src/store/migration.rs");
    let migrations = files("migrations", "sql");
    for (place, path) in migrations.iter().enumerate() {
        let prefix = format!("migrations/{:04}_", place + 1);
        assert!(path.starts_with(&prefix), "{path} should begin with {prefix}");
        assert!(list.contains(path.as_str()), "{path} is not in src/store/migration.rs");
    }
    let newest = format!("SCHEMA_VERSION: i64 = {};", migrations.len());
    assert!(read("src/store/settings.rs").contains(&newest), "src/store/settings.rs should have {newest}");
}

#[test]
fn every_error_code_is_documented() {
    let documentation = read("docs/errors.md");
    let mut codes = BTreeSet::new();
    for path in ["src/http/error.rs", "src/engine/error.rs", "src/engine/stream.rs", "src/engine/settle.rs"]
        .into_iter()
        .map(str::to_owned)
        .chain(files("src/engine", "rs"))
    {
        for (_, line) in code(&path) {
            codes.extend(codes_in(&line));
        }
    }
    assert!(codes.len() > 20, "the codes are written in another way than this test knows: {codes:?}");
    let missing: Vec<String> = codes.into_iter().filter(|code| !documentation.contains(&format!("`{code}`"))).collect();
    none(&missing, "docs/errors.md lists every code; these are missing");
}

/// The codes in a line: `(StatusCode::…, "code")`, `Self::… => "code"` and `code: "code"`.
fn codes_in(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["=> \"", "code: \"", ", \""] {
        for (at, _) in line.match_indices(start) {
            let code = word(&line[at + start.len()..]);
            let rest = &line[at + start.len() + code.len()..];
            let is_status = start == ", \"" && !(line.contains("StatusCode::") && rest.starts_with("\")"));
            let is_name = code.len() > 3 && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if is_name && rest.starts_with('"') && !is_status {
                found.push(code.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_table_is_documented() {
    let documentation = read("docs/storage.md");
    let mut missing = Vec::new();
    for path in files("migrations", "sql") {
        for line in read(&path).lines().filter_map(|line| line.trim().strip_prefix("CREATE TABLE ")) {
            let table = word(line.trim_start_matches("IF NOT EXISTS "));
            if !documentation.contains(&format!("| `{table}` |")) {
                missing.push(table.to_owned());
            }
        }
    }
    none(&missing, "docs/storage.md tells the purpose, the life and the writer of every table; these are missing");
}

/// A test that is not built guards nothing.
#[test]
fn every_test_crate_is_registered() {
    let manifests = [("native-shim/Cargo.toml", "../"), ("Cargo.toml", "")].map(|(file, up)| (read(file), up));
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let path = entry.unwrap().path();
        if path.join("main.rs").exists() {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let is_built =
                |(manifest, up): &(String, &str)| manifest.contains(&format!("path = \"{up}tests/{name}/main.rs\""));
            assert!(manifests.iter().any(is_built), "tests/{name} is built by nobody");
        }
    }
}
