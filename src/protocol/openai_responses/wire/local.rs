//! Items of the tools that the vendor has defined and that act at the client or in a container.
//!
//! <https://developers.openai.com/api/reference/resources/responses>, `ResponseComputerToolCall` and its like of openai (Python) 3.57.0.

use serde::Serialize;
use tollgate_macros::Read;

use super::common::Bare;
use super::item::Caller;
use crate::protocol::wire::{Raw, Text};
use crate::tagged;

/// Actions at the computer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ComputerCall<'a> {
    /// `cu_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Ties the output to the call.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// One action of the older tool, by `type`: `click`, `type`, `screenshot` and others.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Raw<'a>>,
    /// Several actions.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<Raw<'a>>>,
    /// What the user has to confirm.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub pending_safety_checks: Option<Vec<SafetyCheck<'a>>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

/// What the user has to confirm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct SafetyCheck<'a> {
    /// The check.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// Its kind.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Text<'a>>,
    /// What it is about.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text<'a>>,
}

/// What the computer shows.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ComputerCallOutput<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The call's.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The screen.
    #[serde(borrow)]
    pub output: Screenshot<'a>,
    /// What was confirmed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_safety_checks: Option<Vec<SafetyCheck<'a>>>,
    /// `in_progress`, `completed`, `incomplete`, `failed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// An image of the screen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct Screenshot<'a> {
    /// `computer_screenshot`
    #[serde(borrow)]
    pub r#type: Text<'a>,
    /// An `https` URL or a data URL.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<Text<'a>>,
    /// A file at the vendor.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Text<'a>>,
}

/// Commands.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ShellCall<'a> {
    /// `sh_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Ties the output to the call.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The commands.
    #[serde(borrow)]
    pub action: ShellAction<'a>,
    /// Where they run: `{type: "local"}` or `{type: "container_reference", container_id}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Raw<'a>>,
    /// Who calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// Commands, which may run side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ShellAction<'a> {
    /// One line each.
    #[serde(borrow)]
    pub commands: Vec<Text<'a>>,
    /// Bound on their time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Bound on what they print, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_length: Option<u64>,
}

/// What the commands printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Read)]
pub struct ShellCallOutput<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The call's.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// One for each command.
    #[serde(borrow)]
    pub output: Vec<ShellOutput<'a>>,
    /// As in the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_length: Option<u64>,
    /// Who called.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ShellOutput<'a> {
    /// Its output.
    #[serde(borrow)]
    pub stdout: Text<'a>,
    /// Its errors.
    #[serde(borrow)]
    pub stderr: Text<'a>,
    /// How it ended.
    #[serde(borrow)]
    pub outcome: ShellOutcome<'a>,
    /// Who made it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

tagged! {
    /// How a command ended.
    pub enum ShellOutcome<'a> {
        /// By itself.
        "exit" => Exit(Exit),
        /// It was stopped.
        "timeout" => Timeout(Bare),
    }
}

/// An end.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct Exit {
    /// 0 is success.
    pub exit_code: i64,
}

/// A command, the older tool.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct LocalShellCall<'a> {
    /// `lsh_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Ties the output to the call.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// `{type: "exec", command, env, timeout_ms, user, working_directory}`.
    #[serde(borrow)]
    pub action: Raw<'a>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

/// What a command printed. It has no `call_id` in the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct LocalShellCallOutput<'a> {
    /// The call's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The call's, as some clients name it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Text<'a>>,
    /// JSON as text.
    #[serde(borrow)]
    pub output: Text<'a>,
    /// `in_progress`, `completed`, `incomplete`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ApplyPatchCall<'a> {
    /// `apc_…`
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// Ties the output to the call.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The change.
    #[serde(borrow)]
    pub operation: PatchOperation<'a>,
    /// Who calls.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// `in_progress`, `completed`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Text<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}

tagged! {
    /// A change of a file.
    pub enum PatchOperation<'a> {
        /// A new file.
        "create_file" => CreateFile(FileDiff<'a>),
        /// A changed file.
        "update_file" => UpdateFile(FileDiff<'a>),
        /// No more file.
        "delete_file" => DeleteFile(PatchPath<'a>),
    }
}

/// What changes in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct FileDiff<'a> {
    /// The file.
    #[serde(borrow)]
    pub path: Text<'a>,
    /// The change, in the V4A form.
    #[serde(borrow)]
    pub diff: Text<'a>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct PatchPath<'a> {
    /// The file.
    #[serde(borrow)]
    pub path: Text<'a>,
}

/// Whether a change was made.
#[derive(Debug, Clone, PartialEq, Serialize, Read)]
pub struct ApplyPatchCallOutput<'a> {
    /// The item's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text<'a>>,
    /// The call's.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// `completed` or `failed`.
    #[serde(borrow)]
    pub status: Text<'a>,
    /// What there is to say.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Text<'a>>,
    /// Who called.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller<'a>>,
    /// Who made the item.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Text<'a>>,
}
