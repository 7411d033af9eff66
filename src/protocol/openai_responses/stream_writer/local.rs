//! Calls of tools that OpenAI has defined and that the client carries out, such as `apply_patch`.

use super::events::Events;
use crate::protocol::convert::Reply;
use crate::protocol::openai_chat::frame;
use crate::protocol::openai_responses::ids;
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::item::{FunctionCall, Item};

/// Such a call, whose item is made of the whole arguments: nothing is written before they are there.
#[derive(Debug)]
pub(super) struct LocalCall {
    pub(super) tool: LocalTool,
    pub(super) call_id: String,
    /// As the upstream called it.
    pub(super) name: String,
    pub(super) arguments: String,
    /// Whether all arguments have come.
    pub(super) ended: bool,
}

impl LocalCall {
    /// Writes the item and returns it. Arguments that are none of the tool's are those of a function, so that the client can
    /// tell the model.
    pub(super) fn close(self, reply: &Reply, output_index: usize, events: &mut Events, out: &mut Vec<u8>) -> Vec<u8> {
        let mut json = vec![];
        frame::json(&mut json, &self.item(reply, output_index));
        for moment in ["added", "done"] {
            events.item(moment, output_index, out, |out| out.extend_from_slice(&json));
        }
        json
    }

    fn item<'a>(&'a self, reply: &Reply, output_index: usize) -> Item<'a> {
        let id = ids::item(self.tool.id_prefix(), reply, output_index);
        self.tool.item(id.into(), self.call_id.as_str().into(), &self.arguments).unwrap_or_else(|| {
            Item::FunctionCall(FunctionCall {
                id: Some(ids::function_call(reply, output_index).into()),
                call_id: self.call_id.as_str().into(),
                name: self.name.as_str().into(),
                arguments: self.arguments.as_str().into(),
                status: Some("completed".into()),
                ..FunctionCall::default()
            })
        })
    }
}
