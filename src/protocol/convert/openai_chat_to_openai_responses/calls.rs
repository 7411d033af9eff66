//! The calls of a stream, whose fragments vendors tell apart in different ways.

use crate::protocol::convert::Reply;
use crate::protocol::convert::names::{made_up_call_id, openai_call_id};
use crate::protocol::openai_chat::wire::stream::{CustomCallDelta, FunctionCallDelta, ToolCallDelta};
use crate::protocol::openai_responses::stream_writer::StreamWriter;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    /// `None` where the vendor gives none.
    index: Option<u64>,
    /// As the vendor gave it; empty if it did not.
    id: String,
    /// Its place in the output.
    place: usize,
}

/// The index of the legacy form, of which there is one only.
const LEGACY: u64 = u64::MAX;

impl Calls {
    /// Takes a fragment; `seal` is Gemini's signature in it.
    pub(super) fn tool_call(
        &mut self,
        delta: &ToolCallDelta<'_>,
        seal: Option<String>,
        reply: &Reply,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) {
        let id = delta.id.as_deref().unwrap_or_default();
        let (name, piece, is_custom) = match (&delta.function, &delta.custom) {
            (None, Some(CustomCallDelta { name, input })) => (name, input, true),
            (Some(FunctionCallDelta { name, arguments }), _) => (name, arguments, false),
            (None, None) => (&None, &None, false),
        };
        let name = name.as_deref().unwrap_or_default();
        if let Some(seal) = seal {
            writer.seal_reasoning(seal, out);
        }
        let place = match self.find(delta.index, id, name) {
            Some(place) => place,
            // Without a name there is nothing to call.
            None if name.is_empty() => return,
            None => {
                let call_id =
                    if id.is_empty() { made_up_call_id(&reply.id, self.0.len()).into() } else { openai_call_id(id) };
                let place = if is_custom {
                    writer.custom_call(&call_id, name, out)
                } else {
                    writer.tool_call(&call_id, name, out)
                };
                self.0.push(Call { index: delta.index, id: id.to_owned(), place });
                place
            }
        };
        writer.arguments(place, piece.as_deref().unwrap_or_default(), out);
    }

    /// Takes a fragment of the legacy form.
    pub(super) fn function_call(
        &mut self,
        delta: &FunctionCallDelta<'_>,
        reply: &Reply,
        writer: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) {
        let (name, arguments) = (delta.name.clone(), delta.arguments.clone());
        let function = Some(FunctionCallDelta { name, arguments });
        let delta = ToolCallDelta { index: Some(LEGACY), function, ..ToolCallDelta::default() };
        self.tool_call(&delta, None, reply, writer, out);
    }

    /// The call that a fragment belongs to. Some vendors repeat ids; some give all calls the index 0, or none, but each its id.
    fn find(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let call = match index {
            Some(_) => self.0.iter().rev().find(|call| call.index == index)?,
            None => self.0.last()?,
        };
        let is_same = match (id.is_empty(), index) {
            (false, _) => id == call.id || name.is_empty(),
            // Each of them is whole.
            (true, None) => name.is_empty(),
            (true, Some(_)) => true,
        };
        is_same.then_some(call.place)
    }
}
