//! What is converted, and how often: the same on both hosts.

mod history;
mod streams;

use std::hint::black_box;
use std::rc::Rc;

use tollgate::protocol::convert::editor::StreamEditor;
use tollgate::protocol::convert::media::Media;
use tollgate::protocol::convert::{self, Context, Reply, ServerTools};
use tollgate::protocol::dialect::Dialect;

/// One thing to measure, for one pair.
pub struct Case {
    /// The name that it is printed under.
    pub name: String,
    /// How many events or requests one run has.
    pub units: usize,
    work: Work,
}

enum Work {
    Stream { from: Dialect, to: Dialect, bytes: Vec<u8> },
    Request { from: Dialect, to: Dialect, body: String },
}

impl Case {
    /// Converts once.
    pub fn run(&self) {
        match &self.work {
            Work::Stream { from, to, bytes } => {
                let reply = Rc::new(Reply { id: "bench".to_owned(), model: "m".to_owned(), ..Reply::default() });
                let converter = convert::stream(*from, *to, reply).expect("two dialects");
                let mut editor = StreamEditor::new(converter, *to);
                // As they come from a network: a few events at once.
                for piece in bytes.chunks(1400) {
                    black_box(editor.feed(piece));
                }
                black_box(editor.finish());
            }
            Work::Request { from, to, body } => {
                let media = Media::new();
                let context = Context { model: "m", stream: true, server_tools: ServerTools::Drop, media: &media };
                black_box(convert::request(*from, *to, body, &context)).expect("a request that can be converted");
            }
        }
    }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for from in Dialect::ALL {
        for to in Dialect::ALL.into_iter().filter(|to| *to != from) {
            for (kind, bytes) in [("text", streams::text(from)), ("tools", streams::tools(from))] {
                let units = bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"data: ")).count();
                cases.push(Case {
                    name: format!("{kind}.{from}_to_{to}"),
                    units,
                    work: Work::Stream { from, to, bytes },
                });
            }
            let body = history::request(from);
            cases.push(Case {
                name: format!("history.{from}_to_{to}"),
                units: 1,
                work: Work::Request { from, to, body },
            });
        }
    }
    cases
}

/// The cases for JavaScript, which has a clock.
#[cfg(target_arch = "wasm32")]
mod exports {
    use wasm_bindgen::prelude::*;

    /// The cases, built once.
    #[wasm_bindgen]
    pub struct Cases(Vec<super::Case>);

    #[wasm_bindgen]
    impl Cases {
        /// Builds them.
        #[wasm_bindgen(constructor)]
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self(super::cases())
        }

        /// How many there are.
        pub fn count(&self) -> usize {
            self.0.len()
        }

        /// The name of one.
        pub fn name(&self, index: usize) -> String {
            self.0[index].name.clone()
        }

        /// Its units for each run.
        pub fn units(&self, index: usize) -> usize {
            self.0[index].units
        }

        /// Runs it so many times.
        pub fn run(&self, index: usize, times: usize) {
            (0..times).for_each(|_| self.0[index].run());
        }
    }
}
