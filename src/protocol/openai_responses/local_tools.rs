//! The tools that OpenAI has defined and that the client carries out, as functions for upstreams that have only those.
//!
//! OpenAI knows them by their kind alone; what stands here as their description and their parameters is made of what the items of
//! their calls hold (<https://developers.openai.com/api/docs/guides/tools-shell>,
//! <https://developers.openai.com/api/docs/guides/tools-apply-patch>, <https://developers.openai.com/api/docs/guides/tools-tool-search>).

use std::borrow::Cow;

use serde::Serialize;

use super::wire::context::ToolSearchCall;
use super::wire::item::Item;
use super::wire::local::{ApplyPatchCall, ComputerCall, LocalShellCall, PatchOperation, ShellAction, ShellCall};
use super::wire::tools::Tool;
use crate::protocol::convert::names::ToolKind;
use crate::protocol::wire::{Raw, Text};

/// A tool that the client carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalTool {
    /// Runs commands.
    Shell,
    /// Runs a command, the older tool.
    LocalShell,
    /// Changes a file.
    ApplyPatch,
    /// Finds tools.
    ToolSearch,
    /// Operates a computer. [`LocalTool::of`] leaves it out: its results are images, which not every dialect takes from a tool.
    Computer,
}

impl LocalTool {
    const ALL: [Self; 5] = [Self::Shell, Self::LocalShell, Self::ApplyPatch, Self::ToolSearch, Self::Computer];

    /// The name of the function, which is also the tool's kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::LocalShell => "local_shell",
            Self::ApplyPatch => "apply_patch",
            Self::ToolSearch => "tool_search",
            Self::Computer => "computer",
        }
    }

    /// The tool whose function is called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// What the tool is written down as beside its name.
    pub fn kind(self) -> ToolKind {
        match self {
            Self::Shell => ToolKind::Shell,
            Self::LocalShell => ToolKind::LocalShell,
            Self::ApplyPatch => ToolKind::ApplyPatch,
            Self::ToolSearch => ToolKind::ToolSearch,
            Self::Computer => ToolKind::Computer,
        }
    }

    /// The tool that is written down as `kind`.
    pub fn from_kind(kind: ToolKind) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.kind() == kind)
    }

    /// What the ids of its items begin with.
    pub fn id_prefix(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::LocalShell => "lsh",
            Self::ApplyPatch => "apc",
            Self::ToolSearch => "tsc",
            Self::Computer => "cu",
        }
    }

    /// Whether `tool` is one of these: a shell in a container and a search at the vendor are not.
    pub fn of(tool: &Tool<'_>) -> Option<Self> {
        match tool {
            Tool::Shell(shell) if shell.environment.as_ref().is_none_or(is_local) => Some(Self::Shell),
            Tool::LocalShell(_) => Some(Self::LocalShell),
            Tool::ApplyPatch(_) => Some(Self::ApplyPatch),
            Tool::ToolSearch(search) if search.execution.as_deref() == Some("client") => Some(Self::ToolSearch),
            _ => None,
        }
    }

    /// What the model is told about it.
    pub fn description(self) -> &'static str {
        match self {
            Self::Shell => "Runs shell commands on the user's machine and returns what they print and how they end.",
            Self::LocalShell => "Runs one command on the user's machine and returns what it prints.",
            Self::ApplyPatch => {
                "Creates, changes or deletes a file. `diff` is in the V4A format: for a new file its lines, each after a `+`; for a \
                 changed one hunks that begin with `@@`, with lines after ` `, `-` or `+`. A deletion has no `diff`."
            }
            Self::ToolSearch => "Finds further tools, which can be called from then on.",
            Self::Computer => {
                "Does one thing at a computer with mouse, keyboard and screen. The result is an image of the screen after it."
            }
        }
    }

    /// The JSON Schema of its arguments.
    pub fn parameters(self) -> &'static str {
        match self {
            Self::Shell => {
                r#"{"type":"object","properties":{"commands":{"type":"array","items":{"type":"string"},"description":"One line each; they may run side by side."},"timeout_ms":{"type":"integer"},"max_output_length":{"type":"integer","description":"In characters."}},"required":["commands"],"additionalProperties":false}"#
            }
            Self::LocalShell => {
                r#"{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"},"description":"The program and its arguments."},"env":{"type":"object","additionalProperties":{"type":"string"}},"timeout_ms":{"type":"integer"},"user":{"type":"string"},"working_directory":{"type":"string"}},"required":["command"],"additionalProperties":false}"#
            }
            Self::ApplyPatch => {
                r#"{"type":"object","properties":{"type":{"type":"string","enum":["create_file","update_file","delete_file"]},"path":{"type":"string"},"diff":{"type":"string"}},"required":["type","path"],"additionalProperties":false}"#
            }
            Self::ToolSearch => {
                r#"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}"#
            }
            Self::Computer => {
                r#"{"type":"object","properties":{"type":{"type":"string","enum":["click","double_click","drag","keypress","move","screenshot","scroll","type","wait"]},"x":{"type":"integer","description":"Pixels from the left."},"y":{"type":"integer","description":"Pixels from the top."},"button":{"type":"string","enum":["left","right","wheel","back","forward"],"description":"Of a click."},"keys":{"type":"array","items":{"type":"string"},"description":"Of a keypress: keys pressed together."},"text":{"type":"string","description":"What is typed."},"scroll_x":{"type":"integer","description":"Pixels to the right."},"scroll_y":{"type":"integer","description":"Pixels down."},"path":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}},"required":["x","y"]},"description":"Of a drag."}},"required":["type"]}"#
            }
        }
    }

    /// The item of a call with these arguments; `None` if they are not such as the tool takes.
    pub fn item<'a>(self, id: Text<'a>, call_id: Text<'a>, arguments: &'a str) -> Option<Item<'a>> {
        let (id, status) = (Some(id), Some("completed".into()));
        Some(match self {
            Self::Shell => Item::ShellCall(ShellCall {
                id,
                call_id,
                action: serde_json::from_str::<ShellAction<'a>>(arguments).ok()?,
                environment: Raw::parse(r#"{"type":"local"}"#).ok(),
                caller: None,
                status,
                created_by: None,
            }),
            Self::LocalShell => {
                let action = exec_action(arguments)?;
                Item::LocalShellCall(LocalShellCall { id, call_id, action, status })
            }
            Self::ApplyPatch => Item::ApplyPatchCall(ApplyPatchCall {
                id,
                call_id,
                operation: serde_json::from_str::<PatchOperation<'a>>(arguments).ok().filter(is_known)?,
                caller: None,
                status,
                created_by: None,
            }),
            Self::ToolSearch => Item::ToolSearchCall(ToolSearchCall {
                id,
                call_id: Some(call_id),
                arguments: Raw::parse(arguments).ok()?,
                execution: Some("client".into()),
                status,
                created_by: None,
            }),
            // The older tool's clients read `action`, those of the newer one `actions`.
            Self::Computer => {
                let action = Raw::parse(arguments).ok().filter(|action| has_type(action))?;
                Item::ComputerCall(ComputerCall {
                    id,
                    call_id,
                    actions: Some(vec![action.clone()]),
                    action: Some(action),
                    pending_safety_checks: Some(Vec::new()),
                    status,
                })
            }
        })
    }
}

/// A call that stands in the input.
#[derive(Debug)]
pub struct LocalCall<'a> {
    /// Of what.
    pub tool: LocalTool,
    /// What its output names.
    pub call_id: &'a str,
    /// JSON as text.
    pub arguments: Text<'a>,
}

/// The call that `item` is.
pub fn call<'a>(item: &'a Item<'a>) -> Option<LocalCall<'a>> {
    let (tool, call_id, arguments): (_, &str, _) = match item {
        Item::ShellCall(call) => (LocalTool::Shell, &call.call_id, json(&call.action)),
        Item::LocalShellCall(call) => (LocalTool::LocalShell, &call.call_id, call.action.get().into()),
        Item::ApplyPatchCall(call) => (LocalTool::ApplyPatch, &call.call_id, json(&call.operation)),
        Item::ToolSearchCall(call) => (LocalTool::ToolSearch, call.call_id.as_deref()?, call.arguments.get().into()),
        _ => return None,
    };
    Some(LocalCall { tool, call_id, arguments })
}

/// The output that `item` is: the id of its call, and the text for the model. That of a search is not among them.
pub fn output<'a>(item: &'a Item<'a>) -> Option<(&'a str, Text<'a>)> {
    Some(match item {
        Item::ShellCallOutput(output) => (&output.call_id, json(&output.output)),
        Item::LocalShellCallOutput(output) => {
            (output.call_id.as_deref().or(output.id.as_deref())?, output.output.by_ref())
        }
        Item::ApplyPatchCallOutput(output) => {
            let text = match output.output.as_deref() {
                Some(text) if !text.is_empty() => format!("{}: {text}", &*output.status).into(),
                _ => output.status.by_ref(),
            };
            (&output.call_id, text)
        }
        _ => return None,
    })
}

fn is_local(environment: &Raw<'_>) -> bool {
    #[derive(tollgate_macros::Read)]
    struct Environment<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<Cow<'a, str>>,
    }
    environment.read::<Environment<'_>>().is_ok_and(|environment| environment.kind.as_deref() == Some("local"))
}

fn has_type(action: &Raw<'_>) -> bool {
    #[derive(tollgate_macros::Read)]
    struct Action {
        #[serde(rename = "type")]
        _kind: String,
    }
    action.read::<Action>().is_ok()
}

fn is_known(operation: &PatchOperation<'_>) -> bool {
    !matches!(operation, PatchOperation::Other(_))
}

/// The action of the older shell, which its kind and an environment belong to.
fn exec_action(arguments: &str) -> Option<Raw<'static>> {
    let mut action: serde_json::Map<String, serde_json::Value> = serde_json::from_str(arguments).ok()?;
    action.get("command")?.as_array()?;
    action.insert("type".to_owned(), "exec".into());
    action.entry("env").or_insert_with(|| serde_json::json!({}));
    Raw::of(&action).ok()
}

fn json(value: &impl Serialize) -> Text<'static> {
    // Texts and numbers can always be written.
    serde_json::to_string(value).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_back_as_they_went() {
        for (tool, arguments) in [
            (LocalTool::Shell, r#"{"commands":["ls","cat \"a\""],"timeout_ms":5}"#),
            (LocalTool::ApplyPatch, r#"{"type":"update_file","path":"a","diff":"@@\n-x\n+y\n"}"#),
            (LocalTool::ApplyPatch, r#"{"type":"delete_file","path":"a"}"#),
            (LocalTool::ToolSearch, r#"{"query":"ships"}"#),
        ] {
            let item = tool.item("i".into(), "c".into(), arguments).unwrap();
            let call = call(&item).unwrap();
            assert_eq!((call.tool, call.call_id, &*call.arguments), (tool, "c", arguments));
        }
        let item = LocalTool::LocalShell.item("i".into(), "c".into(), r#"{"command":["ls"]}"#).unwrap();
        let expected = Raw::parse(r#"{"command":["ls"],"env":{},"type":"exec"}"#).unwrap();
        assert_eq!(Raw::parse(&call(&item).unwrap().arguments).unwrap(), expected);
    }

    #[test]
    fn what_the_tool_does_not_take_is_none_of_its_calls() {
        for tool in LocalTool::ALL {
            assert!(tool.item("i".into(), "c".into(), "{\"cut").is_none());
            assert!(Raw::parse(tool.parameters()).is_ok());
            assert_eq!(LocalTool::from_name(tool.name()), Some(tool));
            assert_eq!(LocalTool::from_kind(tool.kind()), Some(tool));
        }
        assert!(LocalTool::ApplyPatch.item("i".into(), "c".into(), r#"{"type":"move"}"#).is_none());
    }
}
