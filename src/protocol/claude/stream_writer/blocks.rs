//! The blocks of a stream, one after another.

use std::io::Write;

use super::super::unfold;
use super::super::wire::citation::Citation;
use super::super::wire::content::ContentBlock;
use super::super::wire::stream::{CitationsDelta, ContentBlockDelta, ContentBlockStart, Delta, StreamEvent};
use super::event;
use crate::protocol::json;

/// Opens and closes blocks, and counts them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The place of the block that is open, or of the next one.
    index: u64,
    open: Option<Kind>,
    /// What every delta of the open block begins with.
    delta_head: Vec<u8>,
}

/// A block that can be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
}

impl Blocks {
    /// Opens a text block, unless one is open.
    pub(super) fn ensure_text(&mut self, out: &mut Vec<u8>) {
        if self.open != Some(Kind::Text) {
            self.begin(Kind::Text, r#"{"type":"text","text":""}"#, out);
            self.set_delta_head("text_delta", "text");
        }
    }

    /// Opens a thinking block, unless one is open.
    pub(super) fn ensure_thinking(&mut self, out: &mut Vec<u8>) {
        if self.open != Some(Kind::Thinking) {
            self.begin(Kind::Thinking, r#"{"type":"thinking","thinking":"","signature":""}"#, out);
            self.set_delta_head("thinking_delta", "thinking");
        }
    }

    /// Opens a call.
    pub(super) fn open_call(&mut self, id: &str, name: &str, out: &mut Vec<u8>) {
        let [id, name] = [id, name].map(json::quote);
        self.begin(Kind::Call, &format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{{}}}}"#), out);
        self.set_delta_head("input_json_delta", "partial_json");
    }

    /// Adds to the block that is open.
    pub(super) fn delta(&self, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.delta_head);
        json::append(out, text);
        out.extend_from_slice(b"}}\n\n");
    }

    /// Closes the thinking block that is open with its signature.
    pub(super) fn sign(&mut self, signature: &str, out: &mut Vec<u8>) {
        self.set_delta_head("signature_delta", "signature");
        self.delta(signature, out);
        self.close(out);
    }

    /// Adds a citation to the text block that is open.
    pub(super) fn citation(&self, citation: &Citation<'_>, out: &mut Vec<u8>) {
        let delta = Delta::Citations(Box::new(CitationsDelta { citation: citation.clone() }));
        event(&StreamEvent::ContentBlockDelta(ContentBlockDelta { index: self.index, delta }), out);
    }

    /// A block from its start to its stop.
    pub(super) fn whole(&mut self, block: &ContentBlock<'_>, out: &mut Vec<u8>) {
        self.close(out);
        let (content_block, deltas) = unfold::block(block);
        let index = self.index;
        event(&StreamEvent::ContentBlockStart(ContentBlockStart { index, content_block }), out);
        for delta in deltas {
            event(&StreamEvent::ContentBlockDelta(ContentBlockDelta { index, delta }), out);
        }
        self.stop(out);
    }

    /// Closes what is open.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            self.stop(out);
        }
    }

    /// Begins a block, which is given as JSON.
    fn begin(&mut self, kind: Kind, block: &str, out: &mut Vec<u8>) {
        self.close(out);
        self.open = Some(kind);
        out.extend_from_slice(b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":");
        json::append(out, &self.index);
        out.extend_from_slice(b",\"content_block\":");
        out.extend_from_slice(block.as_bytes());
        out.extend_from_slice(b"}\n\n");
    }

    fn stop(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":");
        json::append(out, &self.index);
        out.extend_from_slice(b"}\n\n");
        self.index += 1;
    }

    /// Prepares the deltas of the open block: `kind` with one text in `member`.
    fn set_delta_head(&mut self, kind: &str, member: &str) {
        self.delta_head.clear();
        let index = self.index;
        // Writing to memory cannot fail.
        let _ = write!(
            self.delta_head,
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{index},\
             \"delta\":{{\"type\":\"{kind}\",\"{member}\":"
        );
    }
}
