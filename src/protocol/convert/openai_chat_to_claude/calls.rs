//! Calls of a stream, whose fragments vendors tell apart in different ways.

use super::answer;
use crate::protocol::claude::stream_writer::StreamWriter;
use crate::protocol::convert::Reply;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, made_up_call_id};
use crate::protocol::json;
use crate::protocol::openai_chat::wire::stream::{FunctionCallDelta, ToolCallDelta};

/// The calls so far.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    /// The vendor's index.
    index: Option<u64>,
    /// The vendor's id; empty where it gave none.
    id: String,
    name: String,
    is_custom: bool,
    is_open: bool,
    /// Arguments that came before the name.
    early: String,
}

impl Calls {
    /// A fragment of a call.
    pub fn delta(&mut self, delta: &ToolCallDelta<'_>, reply: &Reply, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        let (name, arguments) = match (&delta.function, &delta.custom) {
            (Some(function), _) => (function.name.as_deref(), function.arguments.as_deref()),
            (None, Some(custom)) => (custom.name.as_deref(), custom.input.as_deref()),
            (None, None) => (None, None),
        };
        let id = delta.id.as_deref().unwrap_or_default();
        let key = self.find(delta.index, id, name.unwrap_or_default(), delta.custom.is_some(), writer, out);
        if let Some(signature) = answer::gemini_signature(delta.extra_content.as_ref()) {
            writer.signature(&signature, out);
        }
        self.feed(key, name.unwrap_or_default(), arguments.unwrap_or_default(), reply, writer, out);
    }

    /// A fragment of a call in its legacy form, of which there is one.
    pub fn function_call(
        &mut self,
        delta: &FunctionCallDelta<'_>,
        reply: &Reply,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) {
        let name = delta.name.as_deref().unwrap_or_default();
        let key = self.find(Some(0), "", name, false, writer, out);
        self.feed(key, name, delta.arguments.as_deref().unwrap_or_default(), reply, writer, out);
    }

    /// All calls are complete.
    pub fn finish(&mut self, reply: &Reply, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        for key in 0..self.calls.len() {
            self.open(key, reply, writer, out);
            self.close(key, writer, out);
        }
    }

    /// The call that a fragment belongs to, which may be a new one. Its place is what the writer tells it apart by.
    ///
    /// OpenAI numbers its calls. Some vendors do not, and some number all calls alike: there a new id begins a new call. Some repeat
    /// id and name in each fragment.
    fn find(
        &mut self,
        index: Option<u64>,
        id: &str,
        name: &str,
        is_custom: bool,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) -> usize {
        let last = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        if let Some(key) = last
            && let Some(call) = self.calls.get_mut(key)
        {
            let is_other = !id.is_empty() && !call.id.is_empty() && call.id != id;
            let is_nameless = index.is_none() && id.is_empty() && !name.is_empty() && call.is_open;
            if !is_other && !is_nameless {
                if call.id.is_empty() && !call.is_open {
                    id.clone_into(&mut call.id);
                }
                return key;
            }
            self.close(key, writer, out);
        }
        let (id, name, early) = (id.to_owned(), String::new(), String::new());
        self.calls.push(Call { index, id, name, is_custom, is_open: false, early });
        self.calls.len() - 1
    }

    fn feed(
        &mut self,
        key: usize,
        name: &str,
        arguments: &str,
        reply: &Reply,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if !call.is_open {
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
            if call.name.is_empty() {
                return call.early.push_str(arguments);
            }
            self.open(key, reply, writer, out);
        }
        self.arguments(key, arguments, writer, out);
    }

    fn open(&mut self, key: usize, reply: &Reply, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        let Some(call) = self.calls.get_mut(key).filter(|call| !call.is_open) else { return };
        call.is_open = true;
        let id = match &*call.id {
            "" => made_up_call_id(&reply.id, key).into(),
            id => Charset::CLAUDE.fit(id),
        };
        writer.tool_use(key, &id, reply.tools.client_name(&call.name), out);
        if call.is_custom {
            writer.input_json(key, &format!("{{\"{CUSTOM_INPUT}\":\""), out);
        }
        let early = std::mem::take(&mut call.early);
        self.arguments(key, &early, writer, out);
    }

    fn arguments(&self, key: usize, piece: &str, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        if self.calls.get(key).is_some_and(|call| call.is_custom) {
            let quoted = json::quote(piece);
            let inner = quoted.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or_default();
            writer.input_json(key, inner, out);
        } else {
            writer.input_json(key, piece, out);
        }
    }

    fn close(&mut self, key: usize, writer: &mut StreamWriter, out: &mut Vec<u8>) {
        if let Some(call) = self.calls.get_mut(key).filter(|call| call.is_open) {
            if std::mem::take(&mut call.is_custom) {
                writer.input_json(key, "\"}", out);
            }
            writer.call_end(key, out);
        }
    }
}
