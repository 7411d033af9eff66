//! Calls in an answer, as the items that the client knows.

use crate::protocol::convert::Reply;
use crate::protocol::convert::custom_input;
use crate::protocol::convert::names::{ToolKind, made_up_call_id, openai_call_id};
use crate::protocol::gemini::wire::content::FunctionCall;
use crate::protocol::openai_responses::ids;
use crate::protocol::openai_responses::local_tools::LocalTool;
use crate::protocol::openai_responses::wire::item::{CustomToolCall, FunctionCall as CallItem, Item};
use crate::protocol::wire::Text;

/// The call's id; one is made where Gemini gave none. `count` is how many calls the answer had before.
pub(super) fn call_id(call: &FunctionCall<'_>, reply: &Reply, count: usize) -> String {
    match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => openai_call_id(id).into_owned(),
        None => made_up_call_id(&reply.id, count),
    }
}

/// B08: arguments are always an object.
pub(super) fn arguments<'a>(call: &'a FunctionCall<'_>) -> &'a str {
    call.args.as_ref().map_or("{}", |args| args.get())
}

/// The item of a call. `index` is its place in the output.
pub(super) fn item<'a>(call: &'a FunctionCall<'a>, call_id: String, reply: &'a Reply, index: usize) -> Item<'a> {
    let upstream = call.name.as_deref().unwrap_or_default();
    let tool = reply.tools.client(upstream);
    let name = tool.map_or(upstream, |tool| &tool.name);
    let namespace = tool.and_then(|tool| tool.namespace.as_deref()).map(Text::from);
    if let Some(local) = tool.and_then(|tool| LocalTool::from_kind(tool.kind)) {
        let id = ids::item(local.id_prefix(), reply, index);
        if let Some(item) = local.item(id.into(), call_id.clone().into(), arguments(call)) {
            return item;
        }
    }
    if tool.is_some_and(|tool| tool.kind == ToolKind::Custom) {
        return Item::CustomToolCall(CustomToolCall {
            id: Some(ids::custom_tool_call(reply, index).into()),
            call_id: call_id.into(),
            name: name.into(),
            namespace,
            input: custom_input::text(arguments(call)).into(),
            status: Some("completed".into()),
            ..CustomToolCall::default()
        });
    }
    Item::FunctionCall(CallItem {
        id: Some(ids::function_call(reply, index).into()),
        call_id: call_id.into(),
        name: name.into(),
        namespace,
        arguments: arguments(call).into(),
        status: Some("completed".into()),
        ..CallItem::default()
    })
}
