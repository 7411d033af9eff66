//! A converter as the editor of a body: bytes in, bytes out.

use bytes::Bytes;

use super::{Losses, StreamConverter};
use crate::protocol::dialect::Dialect;
use crate::protocol::json;
use crate::protocol::sse::{Event, Parser, heartbeat};

/// Feeds a converter with the bytes of its source.
pub struct StreamEditor {
    parser: Parser,
    converter: Box<dyn StreamConverter>,
    target: Dialect,
    out: Vec<u8>,
    /// The most that a chunk became so far.
    most: usize,
}

impl StreamEditor {
    /// An editor around `converter`, which writes `target`.
    pub fn new(converter: Box<dyn StreamConverter>, target: Dialect) -> Self {
        Self { parser: Parser::default(), converter, target, out: Vec::new(), most: 0 }
    }

    /// What `chunk` becomes.
    ///
    /// A chunk that becomes nothing although it ends with a whole event was a sign of life, a comment or something that the target
    /// does not show; the reader gets a sign of life for it.
    pub fn feed(&mut self, chunk: &[u8]) -> Bytes {
        let Self { parser, converter, out, most, .. } = self;
        out.reserve(*most);
        parser.feed(chunk, &mut |event| convert(&mut **converter, event, out));
        if out.is_empty() && parser.at_border() && !converter.is_over() {
            return heartbeat(self.target);
        }
        self.most = self.most.max(self.out.len());
        std::mem::take(&mut self.out).into()
    }

    /// What is left when the source has ended.
    pub fn finish(&mut self) -> Bytes {
        self.end();
        std::mem::take(&mut self.out).into()
    }

    /// Learns that the source has ended, and keeps what is left until [`StreamEditor::finish`].
    pub fn end(&mut self) {
        let Self { parser, converter, out, .. } = self;
        parser.finish(&mut |event| convert(&mut **converter, event, out));
        if !converter.is_over() {
            converter.finish(out);
        }
    }

    /// What of the events so far could not be carried.
    pub fn losses(&self) -> &Losses {
        self.converter.losses()
    }
}

fn convert(converter: &mut dyn StreamConverter, event: Event<'_>, out: &mut Vec<u8>) {
    match std::str::from_utf8(event.data) {
        Ok(data) => converter.event(&json::without_lone_surrogates(data), out),
        Err(_) => converter.event(&json::without_lone_surrogates(&String::from_utf8_lossy(event.data)), out),
    }
}
