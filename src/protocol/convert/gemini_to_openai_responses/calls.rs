//! Calls in an answer, as the items that the client knows.

use crate::protocol::convert::Reply;
use crate::protocol::convert::custom_input;
use crate::protocol::convert::names::{Charset, ToolKind, made_up_call_id};
use crate::protocol::gemini::wire::content::FunctionCall;
use crate::protocol::gemini::wire::proto::Members;
use crate::protocol::openai_responses::ids;
use crate::protocol::openai_responses::wire::context::ToolSearchCall;
use crate::protocol::openai_responses::wire::item::{CustomToolCall, FunctionCall as CallItem, Item};
use crate::protocol::openai_responses::wire::local::{
    ApplyPatchCall, LocalShellCall, PatchOperation, ShellAction, ShellCall,
};
use crate::protocol::wire::{Raw, Text};

/// The call's id; one is made where Gemini gave none. `count` is how many calls the answer had before.
pub(super) fn call_id(call: &FunctionCall<'_>, reply: &Reply, count: usize) -> String {
    match call.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => Charset::OPENAI.fit(id).into_owned(),
        None => made_up_call_id(&reply.id, count),
    }
}

/// B08: arguments are always an object.
pub(super) fn arguments<'a>(call: &'a FunctionCall<'_>) -> &'a str {
    call.args.as_ref().map_or("{}", |args| args.get())
}

/// The kind of the tool that is called.
pub(super) fn kind(name: &str, reply: &Reply) -> ToolKind {
    reply.tools.client(name).map_or(ToolKind::Function, |tool| tool.kind)
}

/// The item of a call. `index` is its place in the output.
pub(super) fn item<'a>(call: &'a FunctionCall<'a>, call_id: String, reply: &'a Reply, index: usize) -> Item<'a> {
    let upstream = call.name.as_deref().unwrap_or_default();
    let tool = reply.tools.client(upstream);
    let name = tool.map_or(upstream, |tool| &tool.name);
    let namespace = tool.and_then(|tool| tool.namespace.as_deref()).map(Text::from);
    let completed = || Some("completed".into());
    let id = |prefix| Some(ids::item(prefix, reply, index).into());
    let special = match kind(upstream, reply) {
        ToolKind::Function | ToolKind::Computer => None,
        ToolKind::Custom => Some(Item::CustomToolCall(CustomToolCall {
            id: id("ctc"),
            call_id: call_id.clone().into(),
            name: name.into(),
            namespace: namespace.clone(),
            input: custom_input::text(arguments(call)).into(),
            status: completed(),
            ..CustomToolCall::default()
        })),
        ToolKind::ToolSearch => Raw::parse(arguments(call)).ok().map(|arguments| {
            Item::ToolSearchCall(ToolSearchCall {
                id: id("tsc"),
                call_id: Some(call_id.clone().into()),
                arguments,
                execution: Some("client".into()),
                status: completed(),
                created_by: None,
            })
        }),
        ToolKind::LocalShell => exec_action(arguments(call)).map(|action| {
            Item::LocalShellCall(LocalShellCall {
                id: id("lsh"),
                call_id: call_id.clone().into(),
                action,
                status: completed(),
            })
        }),
        ToolKind::Shell => serde_json::from_str::<ShellAction<'_>>(arguments(call)).ok().map(|action| {
            Item::ShellCall(ShellCall {
                id: id("sh"),
                call_id: call_id.clone().into(),
                action,
                environment: None,
                caller: None,
                status: completed(),
                created_by: None,
            })
        }),
        ToolKind::ApplyPatch => patch(arguments(call)).map(|operation| {
            Item::ApplyPatchCall(ApplyPatchCall {
                id: id("apc"),
                call_id: call_id.clone().into(),
                operation,
                caller: None,
                status: completed(),
                created_by: None,
            })
        }),
    };
    special.unwrap_or_else(|| {
        Item::FunctionCall(CallItem {
            id: id("fc"),
            call_id: call_id.into(),
            name: name.into(),
            namespace,
            arguments: arguments(call).into(),
            status: completed(),
            ..CallItem::default()
        })
    })
}

/// The action of a local shell; its client reads `type`, `command` and `env` always.
fn exec_action(arguments: &str) -> Option<Raw<'static>> {
    let mut members: Members<'_, Raw<'_>> = serde_json::from_str(arguments).ok()?;
    let has_command = members.0.iter().any(|(name, _)| **name == *"command");
    members.0.retain(|(name, _)| **name != *"type");
    members.0.insert(0, ("type".into(), Raw::parse("\"exec\"").ok()?));
    if !members.0.iter().any(|(name, _)| **name == *"env") {
        members.0.push(("env".into(), Raw::parse("{}").ok()?));
    }
    Raw::of(&members).ok().filter(|_| has_command)
}

fn patch(arguments: &str) -> Option<PatchOperation<'_>> {
    let operation = serde_json::from_str(arguments).ok()?;
    (!matches!(operation, PatchOperation::Other(_))).then_some(operation)
}
