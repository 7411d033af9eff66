//! What is fuzzed.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use tollgate::protocol::convert::editor::StreamEditor;
use tollgate::protocol::convert::media::Media;
use tollgate::protocol::convert::whole::{fold, unfold};
use tollgate::protocol::convert::{self, Context, Reply, ServerTools};
use tollgate::protocol::dialect::Dialect;
use tollgate::protocol::foreign::without_foreign_thinking;
use tollgate::protocol::sse::Parser;

/// What reads an input.
type Reader = Box<dyn Fn(&[u8])>;

/// One thing that reads what others wrote.
pub struct Target {
    /// Its name.
    pub name: String,
    /// What to start from.
    pub seeds: Vec<Vec<u8>>,
    /// Reads an input.
    pub run: Reader,
}

fn seeds(dialect: Dialect, kind: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden").join(dialect.name()).join(kind);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn reply() -> Reply {
    Reply { id: "fuzz".to_owned(), model: "m".to_owned(), created: 1, include_usage: true, ..Reply::default() }
}

/// All targets.
pub fn all() -> Vec<Target> {
    let mut targets = vec![Target {
        name: "sse".to_owned(),
        seeds: Dialect::ALL.into_iter().flat_map(|dialect| seeds(dialect, "stream")).collect(),
        run: Box::new(|input| {
            let mut parser = Parser::default();
            for piece in input.chunks(1 + input.len() % 17) {
                parser.feed(piece, &mut |_| {});
            }
            parser.finish(&mut |_| {});
        }),
    }];
    for from in Dialect::ALL {
        targets.push(Target {
            name: format!("fold.{from}"),
            seeds: seeds(from, "stream"),
            run: Box::new(move |input| drop(fold(from, input))),
        });
        targets.push(Target {
            name: format!("unfold.{from}"),
            seeds: seeds(from, "response"),
            run: Box::new(move |input| drop(unfold(from, &String::from_utf8_lossy(input), &reply()))),
        });
        targets.push(Target {
            name: format!("foreign.{from}"),
            seeds: seeds(from, "request"),
            run: Box::new(move |input| drop(without_foreign_thinking(from, input))),
        });
        for to in Dialect::ALL.into_iter().filter(|to| *to != from) {
            targets.extend(pair(from, to));
        }
    }
    targets
}

fn pair(from: Dialect, to: Dialect) -> [Target; 3] {
    let stream = Target {
        name: format!("stream.{from}_to_{to}"),
        seeds: seeds(from, "stream"),
        run: Box::new(move |input| {
            let reply = Reply { as_array: input.len() % 2 == 0, ..reply() };
            let converter = convert::stream(from, to, Rc::new(reply)).expect("two dialects");
            let mut editor = StreamEditor::new(converter, to);
            for piece in input.chunks(1 + input.len() % 97) {
                editor.feed(piece);
            }
            editor.finish();
        }),
    };
    let response = Target {
        name: format!("response.{from}_to_{to}"),
        seeds: seeds(from, "response"),
        run: Box::new(move |input| drop(convert::response(from, to, &String::from_utf8_lossy(input), &reply()))),
    };
    let request = Target {
        name: format!("request.{from}_to_{to}"),
        seeds: seeds(from, "request"),
        run: Box::new(move |input| {
            let media = Media::new();
            for (model, server_tools) in
                [("claude-sonnet-4-5", ServerTools::Drop), ("gemini-3-pro", ServerTools::Refuse)]
            {
                let context = Context { model, stream: true, server_tools, media: &media };
                drop(convert::request(from, to, &String::from_utf8_lossy(input), &context));
            }
        }),
    };
    [stream, response, request]
}
