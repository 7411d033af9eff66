//! Parts of messages and of reasoning.

use super::events::{Events, Growing, place};
use crate::protocol::openai_chat::frame;
use crate::protocol::openai_responses::wire::content::{Annotation, LogProb, TopLogProb};
use crate::protocol::wire::Text;

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum PartKind {
    /// Text of a message.
    Text,
    /// A refusal, in a message.
    Refusal,
    /// A section of the summary of reasoning.
    Summary,
    /// Reasoning itself.
    Reasoning,
}

/// The words of a kind.
struct Words {
    part: &'static str,
    text: &'static str,
    index: &'static str,
    added: &'static str,
    delta: &'static str,
    text_done: &'static str,
    done: &'static str,
}

impl PartKind {
    fn words(self) -> Words {
        let of_content = |part, delta, text_done| Words {
            part,
            text: "text",
            index: "content_index",
            added: "response.content_part.added",
            delta,
            text_done,
            done: "response.content_part.done",
        };
        match self {
            Self::Text => of_content("output_text", "response.output_text.delta", "response.output_text.done"),
            Self::Refusal => {
                Words { text: "refusal", ..of_content("refusal", "response.refusal.delta", "response.refusal.done") }
            }
            Self::Reasoning => {
                of_content("reasoning_text", "response.reasoning_text.delta", "response.reasoning_text.done")
            }
            Self::Summary => Words {
                part: "summary_text",
                text: "text",
                index: "summary_index",
                added: "response.reasoning_summary_part.added",
                delta: "response.reasoning_summary_text.delta",
                text_done: "response.reasoning_summary_text.done",
                done: "response.reasoning_summary_part.done",
            },
        }
    }
}

/// A part that is open.
#[derive(Debug)]
pub(in super::super) struct Part {
    pub(in super::super) kind: PartKind,
    place: Vec<u8>,
    text: Growing,
    /// Elements of a list, without its brackets.
    annotations: Vec<u8>,
    annotation_count: u64,
    /// Elements of a list, without its brackets; in the part each has its bytes, in the events none has.
    logprobs: Vec<u8>,
    event_logprobs: Vec<u8>,
}

impl Part {
    /// Opens the part `index` of an item.
    pub(in super::super) fn open(
        kind: PartKind,
        item_id: &str,
        output_index: usize,
        index: u64,
        events: &mut Events,
        out: &mut Vec<u8>,
    ) -> Self {
        let mut place = place(item_id, output_index);
        place.extend_from_slice(b",\"");
        place.extend_from_slice(kind.words().index.as_bytes());
        place.extend_from_slice(b"\":");
        frame::number(&mut place, index);
        let part = Self {
            kind,
            place,
            text: Growing::default(),
            annotations: vec![],
            annotation_count: 0,
            logprobs: vec![],
            event_logprobs: vec![],
        };
        part.event(kind.words().added, events, out);
        out.extend_from_slice(b",\"part\":");
        part.json(out);
        Events::end(out);
        part
    }

    /// Appends a piece of the text.
    pub(in super::super) fn delta(&mut self, piece: &str, events: &mut Events, out: &mut Vec<u8>) {
        self.event(self.kind.words().delta, events, out);
        out.extend_from_slice(b",\"delta\":");
        self.text.piece(piece, out);
        out.extend_from_slice(if self.kind == PartKind::Text { b",\"logprobs\":[]}\n\n" } else { b"}\n\n" });
    }

    /// Appends a piece of an answer's text, and how likely its tokens were.
    pub(in super::super) fn delta_with_logprobs(
        &mut self,
        piece: &str,
        logprobs: &[LogProb<'_>],
        events: &mut Events,
        out: &mut Vec<u8>,
    ) {
        self.event(self.kind.words().delta, events, out);
        out.extend_from_slice(b",\"delta\":");
        self.text.piece(piece, out);
        out.extend_from_slice(b",\"logprobs\":");
        let of_events: Vec<LogProb<'_>> = logprobs.iter().map(without_bytes).collect();
        let start = out.len();
        frame::json(out, &of_events);
        append_elements(&mut self.event_logprobs, out.get(start..).unwrap_or_default());
        Events::end(out);
        let mut of_part = vec![];
        frame::json(&mut of_part, &logprobs.iter().map(with_bytes).collect::<Vec<_>>());
        append_elements(&mut self.logprobs, &of_part);
    }

    /// Adds a note on the text.
    pub(in super::super) fn annotation(&mut self, annotation: &Annotation<'_>, events: &mut Events, out: &mut Vec<u8>) {
        self.event("response.output_text.annotation.added", events, out);
        out.extend_from_slice(b",\"annotation_index\":");
        frame::number(out, self.annotation_count);
        out.extend_from_slice(b",\"annotation\":");
        let start = out.len();
        frame::json(out, annotation);
        if self.annotation_count > 0 {
            self.annotations.push(b',');
        }
        self.annotations.extend_from_slice(out.get(start..).unwrap_or_default());
        self.annotation_count += 1;
        Events::end(out);
    }

    /// Closes the part and appends it to `parts`, the elements of a list.
    pub(in super::super) fn close(self, parts: &mut Vec<u8>, events: &mut Events, out: &mut Vec<u8>) {
        let words = self.kind.words();
        self.event(words.text_done, events, out);
        out.extend_from_slice(b",\"");
        out.extend_from_slice(words.text.as_bytes());
        out.extend_from_slice(b"\":");
        self.text.whole(out);
        if self.kind == PartKind::Text {
            list("logprobs", &self.event_logprobs, out);
        }
        Events::end(out);
        self.event(words.done, events, out);
        out.extend_from_slice(b",\"part\":");
        let start = out.len();
        self.json(out);
        if !parts.is_empty() {
            parts.push(b',');
        }
        parts.extend_from_slice(out.get(start..).unwrap_or_default());
        Events::end(out);
    }

    fn event(&self, kind: &str, events: &mut Events, out: &mut Vec<u8>) {
        events.begin(kind, out);
        out.extend_from_slice(&self.place);
    }

    fn json(&self, out: &mut Vec<u8>) {
        let words = self.kind.words();
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(words.part.as_bytes());
        out.extend_from_slice(b"\",\"");
        out.extend_from_slice(words.text.as_bytes());
        out.extend_from_slice(b"\":");
        self.text.whole(out);
        if self.kind == PartKind::Text {
            list("annotations", &self.annotations, out);
            list("logprobs", &self.logprobs, out);
        }
        out.push(b'}');
    }
}

fn list(name: &str, elements: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":[");
    out.extend_from_slice(elements);
    out.push(b']');
}

/// Appends the elements of `list`, which is JSON, to `elements`.
fn append_elements(elements: &mut Vec<u8>, list: &[u8]) {
    let inside = list.strip_prefix(b"[").and_then(|list| list.strip_suffix(b"]")).unwrap_or_default();
    if !inside.is_empty() && !elements.is_empty() {
        elements.push(b',');
    }
    elements.extend_from_slice(inside);
}

/// As events have it.
fn without_bytes<'a>(logprob: &'a LogProb<'a>) -> LogProb<'a> {
    let top = |top: &'a TopLogProb<'a>| TopLogProb { token: top.token.as_ref().map(Text::by_ref), bytes: None, ..*top };
    LogProb {
        token: logprob.token.by_ref(),
        bytes: None,
        logprob: logprob.logprob,
        top_logprobs: Some(logprob.top_logprobs.iter().flatten().map(top).collect()),
    }
}

/// As a part has it.
fn with_bytes<'a>(logprob: &'a LogProb<'a>) -> LogProb<'a> {
    let bytes = |bytes: &Option<Vec<u8>>, token: &str| Some(bytes.clone().unwrap_or_else(|| token.as_bytes().to_vec()));
    let top = |top: &'a TopLogProb<'a>| TopLogProb {
        token: top.token.as_ref().map(Text::by_ref),
        bytes: bytes(&top.bytes, top.token.as_deref().unwrap_or_default()),
        ..*top
    };
    LogProb {
        token: logprob.token.by_ref(),
        bytes: bytes(&logprob.bytes, &logprob.token),
        logprob: logprob.logprob,
        top_logprobs: Some(logprob.top_logprobs.iter().flatten().map(top).collect()),
    }
}
