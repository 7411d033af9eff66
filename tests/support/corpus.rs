//! The corpora of `tests/golden/`, for tests that send and answer what vendors document.

use std::fs;
use std::path::{Path, PathBuf};

use tollgate::protocol::dialect::Dialect;
use tollgate::protocol::sse::{Event, Parser};

use super::vendors::Wire;

impl Wire {
    /// The dialect, as the core names it.
    pub fn dialect_of_core(self) -> Dialect {
        match self {
            Self::Chat => Dialect::OpenAiChat,
            Self::Responses => Dialect::OpenAiResponses,
            Self::Claude => Dialect::Claude,
            Self::Gemini => Dialect::Gemini,
        }
    }

    /// The other dialects.
    pub fn others(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |other| *other != self)
    }

    /// What the corpus has of a kind: names, and texts.
    pub fn cases(self, kind: &str) -> Vec<(String, String)> {
        let folder = folder(self, kind);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
        paths.sort();
        let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
    }

    /// One case of the corpus.
    pub fn case(self, kind: &str, name: &str) -> String {
        let extension = if kind == "stream" { "sse" } else { "json" };
        let path = folder(self, kind).join(format!("{name}.{extension}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }
}

fn folder(wire: Wire, kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden").join(wire.dialect()).join(kind)
}

/// The names and the data of a stream's events.
pub fn events(stream: &[u8]) -> Vec<(String, String)> {
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        events.push((text(event.name), text(event.data)));
    };
    let mut parser = Parser::default();
    parser.feed(stream, &mut sink);
    parser.finish(&mut sink);
    events
}
