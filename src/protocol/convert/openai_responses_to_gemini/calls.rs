//! Calls of functions, and of the tools that are functions for Gemini.

use serde::Serialize;

use crate::protocol::convert::ConvertError;
use crate::protocol::convert::names::{CUSTOM_INPUT, Charset, ToolKind, ToolNames};
use crate::protocol::gemini::wire::content::{FunctionCall, Part};
use crate::protocol::openai_responses::wire::item::Item;
use crate::protocol::wire::{Raw, Text};

/// A call that the client carries out.
pub(super) struct Call<'a> {
    /// Ties the output to it.
    pub(super) id: &'a str,
    /// The function at Gemini.
    pub(super) name: Text<'a>,
    /// The arguments, an object.
    args: Raw<'a>,
}

impl<'a> Call<'a> {
    /// The part that stands for it.
    pub(super) fn part(self) -> Part<'a> {
        let call = FunctionCall { id: Some(self.id.into()), name: Some(self.name), args: Some(self.args) };
        Part { function_call: Some(call), ..Part::default() }
    }
}

/// The call in `item`, if it is one that the client carries out.
pub(super) fn call<'a>(
    item: &'a Item<'a>,
    path: &str,
    names: &mut ToolNames,
) -> Result<Option<Call<'a>>, ConvertError> {
    let mut named =
        |namespace: Option<&str>, name: &'a str, kind| Text(names.upstream(Charset::GEMINI, namespace, name, kind));
    let (id, name, args) = match item {
        Item::FunctionCall(call) => {
            let name = named(call.namespace.as_deref(), &call.name, ToolKind::Function);
            (&*call.call_id, name, arguments(&call.arguments, &call.call_id, path)?)
        }
        Item::CustomToolCall(call) => {
            let name = named(call.namespace.as_deref(), &call.name, ToolKind::Custom);
            (&*call.call_id, name, json(&[(CUSTOM_INPUT, &*call.input)].into_iter().collect::<Members<'_>>())?)
        }
        Item::ToolSearchCall(call) => {
            let Some(id) = call.call_id.as_deref() else { return Ok(None) };
            let name = named(None, "tool_search", ToolKind::ToolSearch);
            (id, name, arguments(call.arguments.get(), id, path)?)
        }
        Item::LocalShellCall(call) => {
            let name = named(None, "local_shell", ToolKind::LocalShell);
            (&*call.call_id, name, arguments(call.action.get(), &call.call_id, path)?)
        }
        Item::ShellCall(call) => {
            let name = named(None, "shell", ToolKind::Shell);
            (&*call.call_id, name, json(&call.action)?)
        }
        Item::ComputerCall(call) => {
            let name = named(None, "computer", ToolKind::Computer);
            let args = match (&call.action, call.actions.as_deref()) {
                (None | Some(_), Some([action])) | (Some(action), _) => action.by_ref(),
                (None, actions) => json(&Actions { actions: actions.unwrap_or_default() })?,
            };
            (&*call.call_id, name, args)
        }
        Item::ApplyPatchCall(call) => {
            let name = named(None, "apply_patch", ToolKind::ApplyPatch);
            (&*call.call_id, name, json(&call.operation)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(Call { id, name, args }))
}

/// Several things done at a computer at once.
#[derive(Serialize)]
struct Actions<'b, 'a> {
    actions: &'b [Raw<'a>],
}

type Members<'a> = std::collections::BTreeMap<&'a str, &'a str>;

/// B08: the empty text is an object without members; what is no object at all is the request's fault.
fn arguments<'a>(text: &'a str, id: &str, path: &str) -> Result<Raw<'a>, ConvertError> {
    object(text).ok_or_else(|| {
        let message =
            format!("the arguments of the call {id:?} are not a JSON object; send them whole, or drop the call");
        ConvertError::invalid(format!("{path}.arguments"), message)
    })
}

/// The JSON object that `text` holds; the empty text is one without members.
pub(super) fn object(text: &str) -> Option<Raw<'_>> {
    let text = text.trim();
    if text.is_empty() {
        return Raw::parse("{}").ok();
    }
    Raw::parse(text).ok().filter(|_| text.starts_with('{'))
}

fn json(value: &impl Serialize) -> Result<Raw<'static>, ConvertError> {
    Raw::of(value).map_err(|error| ConvertError::invalid("", error.to_string()))
}
