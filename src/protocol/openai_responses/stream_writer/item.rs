//! Items that consist of parts: messages and reasoning.

use super::events::Events;
use super::part::{Part, PartKind};
use crate::protocol::openai_chat::frame;

/// An item that is open, and its part that is open.
#[derive(Debug)]
pub(super) struct PartedItem {
    pub(super) output_index: usize,
    id: String,
    /// Whether it is reasoning, not a message.
    pub(super) is_reasoning: bool,
    /// Elements of `content`, without brackets.
    content: Vec<u8>,
    content_count: u64,
    /// Elements of `summary`, without brackets.
    summary: Vec<u8>,
    summary_count: u64,
    part: Option<Part>,
    /// Of reasoning.
    pub(super) encrypted_content: Option<String>,
}

impl PartedItem {
    /// Opens an item.
    pub(super) fn open(
        is_reasoning: bool,
        output_index: usize,
        id: String,
        events: &mut Events,
        out: &mut Vec<u8>,
    ) -> Self {
        let item = Self {
            output_index,
            id,
            is_reasoning,
            content: vec![],
            content_count: 0,
            summary: vec![],
            summary_count: 0,
            part: None,
            encrypted_content: None,
        };
        events.item("added", output_index, out, |out| item.json("in_progress", out));
        item
    }

    /// The open part, if it is of this `kind`; else a new one, after the open one is closed.
    pub(super) fn part(&mut self, kind: PartKind, events: &mut Events, out: &mut Vec<u8>) -> &mut Part {
        if self.part.as_ref().is_some_and(|part| part.kind != kind) {
            self.close_part(events, out);
        }
        let Self { part, id, output_index, content_count, summary_count, .. } = self;
        part.get_or_insert_with(|| {
            let count = if kind == PartKind::Summary { summary_count } else { content_count };
            let index = *count;
            *count += 1;
            Part::open(kind, id, *output_index, index, events, out)
        })
    }

    /// The open part of text, if there is one.
    pub(super) fn open_text(&mut self) -> Option<&mut Part> {
        self.part.as_mut().filter(|part| part.kind == PartKind::Text)
    }

    /// Closes the open part; what follows is another one.
    pub(super) fn close_part(&mut self, events: &mut Events, out: &mut Vec<u8>) {
        if let Some(part) = self.part.take() {
            let parts = if part.kind == PartKind::Summary { &mut self.summary } else { &mut self.content };
            part.close(parts, events, out);
        }
    }

    /// Closes the item and returns it.
    pub(super) fn close(mut self, is_cut: bool, events: &mut Events, out: &mut Vec<u8>) -> Vec<u8> {
        self.close_part(events, out);
        let mut item = vec![];
        self.json(if is_cut { "incomplete" } else { "completed" }, &mut item);
        events.item("done", self.output_index, out, |out| out.extend_from_slice(&item));
        item
    }

    fn json(&self, status: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":");
        frame::string(out, &self.id);
        if !self.is_reasoning {
            out.extend_from_slice(b",\"type\":\"message\",\"status\":\"");
            out.extend_from_slice(status.as_bytes());
            out.extend_from_slice(b"\",\"role\":\"assistant\",\"content\":[");
            out.extend_from_slice(&self.content);
            out.extend_from_slice(b"]}");
            return;
        }
        out.extend_from_slice(b",\"type\":\"reasoning\",\"summary\":[");
        out.extend_from_slice(&self.summary);
        out.push(b']');
        if !self.content.is_empty() {
            out.extend_from_slice(b",\"content\":[");
            out.extend_from_slice(&self.content);
            out.push(b']');
        }
        if let Some(encrypted_content) = &self.encrypted_content {
            out.extend_from_slice(b",\"encrypted_content\":");
            frame::string(out, encrypted_content);
        }
        out.push(b'}');
    }
}
