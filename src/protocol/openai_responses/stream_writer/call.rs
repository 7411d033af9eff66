//! Calls of functions and of custom tools.

use super::events::{Events, Growing, place};
use crate::protocol::convert::custom_input::CustomInput;
use crate::protocol::openai_chat::frame;

/// What is called.
#[derive(Debug)]
pub(super) enum CallKind {
    /// A function.
    Function,
    /// A custom tool of the client that the upstream sees as a function.
    WrappedCustom(CustomInput),
    /// A custom tool that the upstream knows as such.
    Custom,
}

/// A call that is open.
#[derive(Debug)]
pub(super) struct Call {
    output_index: usize,
    kind: CallKind,
    place: Vec<u8>,
    /// The item up to its status.
    head: Vec<u8>,
    text: Growing,
    /// Whether all arguments have come.
    pub(super) ended: bool,
}

/// Where a call's item stands and what it is called by.
pub(super) struct Identity<'a> {
    pub(super) output_index: usize,
    pub(super) item_id: &'a str,
    pub(super) call_id: &'a str,
    pub(super) name: &'a str,
    pub(super) namespace: Option<&'a str>,
}

impl Call {
    /// Opens the item of a call.
    pub(super) fn open(identity: &Identity<'_>, kind: CallKind, events: &mut Events, out: &mut Vec<u8>) -> Self {
        let Identity { output_index, item_id, call_id, name, namespace } = *identity;
        let mut head = b"{\"id\":".to_vec();
        frame::string(&mut head, item_id);
        head.extend_from_slice(match kind {
            CallKind::Function => b",\"type\":\"function_call\",\"call_id\":",
            CallKind::Custom | CallKind::WrappedCustom(_) => b",\"type\":\"custom_tool_call\",\"call_id\":",
        });
        frame::string(&mut head, call_id);
        head.extend_from_slice(b",\"name\":");
        frame::string(&mut head, name);
        if let Some(namespace) = namespace {
            head.extend_from_slice(b",\"namespace\":");
            frame::string(&mut head, namespace);
        }
        let place = place(item_id, output_index);
        let call = Self { output_index, kind, place, head, text: Growing::default(), ended: false };
        events.item("added", output_index, out, |out| call.json("in_progress", out));
        call
    }

    /// Appends to the arguments. `input` is memory for what is decoded.
    pub(super) fn arguments(&mut self, piece: &str, input: &mut String, events: &mut Events, out: &mut Vec<u8>) {
        if let CallKind::WrappedCustom(custom) = &mut self.kind {
            input.clear();
            custom.feed(piece, input);
            self.delta(input, events, out);
        } else {
            self.delta(piece, events, out);
        }
    }

    /// Closes the item and returns it. A function without arguments gets `{}`, since clients read them as JSON.
    pub(super) fn close(mut self, is_cut: bool, events: &mut Events, out: &mut Vec<u8>) -> Vec<u8> {
        match &mut self.kind {
            CallKind::Function if self.text.is_empty() && !is_cut => self.delta("{}", events, out),
            CallKind::WrappedCustom(custom) => {
                let mut rest = String::new();
                custom.finish(&mut rest);
                self.delta(&rest, events, out);
            }
            CallKind::Function | CallKind::Custom => {}
        }
        let is_cut = is_cut && !(self.is_function() && self.text.holds_json());
        let kind = if self.is_function() {
            "response.function_call_arguments.done"
        } else {
            "response.custom_tool_call_input.done"
        };
        events.begin(kind, out);
        out.extend_from_slice(&self.place);
        self.text_member(out);
        Events::end(out);
        let mut item = vec![];
        self.json(if is_cut { "incomplete" } else { "completed" }, &mut item);
        events.item("done", self.output_index, out, |out| out.extend_from_slice(&item));
        item
    }

    fn is_function(&self) -> bool {
        matches!(self.kind, CallKind::Function)
    }

    fn delta(&mut self, piece: &str, events: &mut Events, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        let kind = if self.is_function() {
            "response.function_call_arguments.delta"
        } else {
            "response.custom_tool_call_input.delta"
        };
        events.begin(kind, out);
        out.extend_from_slice(&self.place);
        out.extend_from_slice(b",\"delta\":");
        self.text.piece(piece, out);
        Events::end(out);
    }

    fn json(&self, status: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b",\"status\":\"");
        out.extend_from_slice(status.as_bytes());
        out.push(b'"');
        self.text_member(out);
        out.push(b'}');
    }

    fn text_member(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_function() { b",\"arguments\":" } else { b",\"input\":" });
        self.text.whole(out);
    }
}
