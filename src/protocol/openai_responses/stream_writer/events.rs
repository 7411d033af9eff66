//! The frames of events.

use crate::protocol::openai_chat::frame;

/// Numbers the events of a stream.
#[derive(Debug, Default)]
pub(in super::super) struct Events {
    next: u64,
}

impl Events {
    /// Appends the beginning of an event, up to and with its number; further members begin with a comma.
    pub(in super::super) fn begin(&mut self, kind: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\ndata: {\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"sequence_number\":");
        frame::number(out, self.next);
        self.next += 1;
    }

    /// Appends the end of an event.
    pub(in super::super) fn end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"}\n\n");
    }

    /// Appends the event that shows an item, `added` or `done`; `item` appends it.
    pub(in super::super) fn item(
        &mut self,
        moment: &str,
        output_index: usize,
        out: &mut Vec<u8>,
        item: impl FnOnce(&mut Vec<u8>),
    ) {
        self.begin(if moment == "added" { ADDED } else { DONE }, out);
        out.extend_from_slice(b",\"output_index\":");
        frame::number(out, output_index as u64);
        out.extend_from_slice(b",\"item\":");
        item(out);
        Self::end(out);
    }
}

const ADDED: &str = "response.output_item.added";
const DONE: &str = "response.output_item.done";

/// The members that say where a delta belongs, with a comma before them.
pub(in super::super) fn place(item_id: &str, output_index: usize) -> Vec<u8> {
    let mut place = b",\"item_id\":".to_vec();
    frame::string(&mut place, item_id);
    place.extend_from_slice(b",\"output_index\":");
    frame::number(&mut place, output_index as u64);
    place
}

/// Text that grows: what stands in its JSON string, without the quotes. It is escaped once, when its piece is written.
#[derive(Debug, Default)]
pub(super) struct Growing(Vec<u8>);

impl Growing {
    /// Appends `piece` as a JSON string to `out` and remembers it.
    pub(super) fn piece(&mut self, piece: &str, out: &mut Vec<u8>) {
        let start = out.len() + 1;
        frame::string(out, piece);
        self.0.extend_from_slice(out.get(start..out.len() - 1).unwrap_or_default());
    }

    /// Appends the whole as a JSON string.
    pub(super) fn whole(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(&self.0);
        out.push(b'"');
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the text is JSON.
    pub(super) fn holds_json(&self) -> bool {
        let mut text = Vec::with_capacity(self.0.len() + 2);
        self.whole(&mut text);
        serde_json::from_slice::<String>(&text)
            .is_ok_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok())
    }
}
